# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The structs of tfc/runtime.h, text.h and scheduler.h, member by member. A test
holds their sizes and offsets to those of the C compiler."""
from __future__ import annotations

import ctypes as c

STOP = c.CFUNCTYPE(c.c_int, c.c_void_p)
TOKEN = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_int64, c.c_int64, c.c_int)
TAP = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p, c.c_int64, c.c_int64,
                  c.c_int64, c.POINTER(c.c_float))
LOGITS = c.CFUNCTYPE(None, c.c_void_p, c.c_uint64, c.POINTER(c.c_float),
                     c.c_int64)
PROGRESS = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint64, c.c_uint64)
LOOP = c.CFUNCTYPE(None, c.c_void_p, c.c_int64, c.c_int64, c.c_uint32)
REDUCE = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_float), c.c_int64)
PARALLEL_FOR = c.CFUNCTYPE(None, c.c_void_p, c.c_int64, LOOP, c.c_void_p)


class Sized(c.Structure):
    """A struct that begins with its size."""

    def __init__(self, **members):
        super().__init__(struct_size=c.sizeof(type(self)), **members)


class DecodingOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64),
        ("forced_bos", c.c_int64), ("forced_eos", c.c_int64),
        ("min_length", c.c_int64), ("min_new_tokens", c.c_int64),
        ("no_repeat_ngram", c.c_int64), ("repetition_penalty", c.c_double),
        ("num_beams", c.c_uint32), ("num_return_sequences", c.c_uint32),
        ("early_stopping", c.c_uint32), ("do_sample", c.c_uint32),
        ("top_k", c.c_uint32), ("reserved", c.c_uint32),
        ("length_penalty", c.c_double), ("temperature", c.c_double),
        ("top_p", c.c_double), ("min_p", c.c_double), ("seed", c.c_uint64),
        ("presence_penalty", c.c_double), ("frequency_penalty", c.c_double),
        ("suppress", c.POINTER(c.c_int64)),
        ("begin_suppress", c.POINTER(c.c_int64)),
        ("n_suppress", c.c_uint32), ("n_begin_suppress", c.c_uint32),
        ("timestamp_begin", c.c_int64), ("max_initial_timestamp", c.c_int64),
    ]


class ModelOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("library_path", c.c_char_p),
        ("weights_path", c.c_char_p), ("program", c.c_char_p),
        ("threads", c.c_uint32), ("reserved", c.c_uint32), ("tap", TAP),
        ("tap_user", c.c_void_p), ("packed_path", c.c_char_p),
        ("share_packed", c.c_uint32), ("reserved2", c.c_uint32),
        ("weights_paths", c.POINTER(c.c_char_p)),
        ("n_weights_paths", c.c_uint32), ("reserved3", c.c_uint32),
        ("progress", PROGRESS), ("progress_user", c.c_void_p),
        ("parallel_for", PARALLEL_FOR), ("parallel_user", c.c_void_p),
        ("next", c.c_void_p), ("library", c.c_void_p),
        ("rank", c.c_uint32), ("reserved4", c.c_uint32),
        ("reduce", REDUCE), ("reduce_user", c.c_void_p),
    ]


class PortInfo(c.Structure):
    _fields_ = [
        ("name", c.c_char_p), ("rank", c.c_uint32), ("required", c.c_int32),
        ("width", c.c_int64), ("limit", c.c_int64),
    ]


class ModelInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("name", c.c_char_p),
        ("kind", c.c_char_p), ("producer", c.c_char_p),
        ("program", c.c_char_p), ("spec", c.c_char_p),
        ("spec_hash", c.c_uint64), ("max_positions", c.c_int64),
        ("pad", c.c_int64), ("bos", c.c_int64),
        ("eos", c.POINTER(c.c_int64)), ("n_eos", c.c_uint32),
        ("can_generate", c.c_int32), ("inputs", c.POINTER(PortInfo)),
        ("outputs", c.POINTER(PortInfo)), ("n_inputs", c.c_uint32),
        ("n_outputs", c.c_uint32), ("threads", c.c_uint32),
        ("reserved", c.c_uint32), ("weight_bytes", c.c_uint64),
        ("cache_bytes_per_token", c.c_uint64),
        ("decoding", c.POINTER(DecodingOptions)),
        ("cross_bytes_per_token", c.c_uint64), ("packed_fault", c.c_char_p),
    ]


class Tensor(c.Structure):
    _fields_ = [
        ("name", c.c_char_p), ("dtype", c.c_uint32), ("rank", c.c_uint32),
        ("shape", c.c_int64 * 3), ("data", c.c_void_p),
    ]


class EncodeOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("inputs", c.POINTER(Tensor)),
        ("n_inputs", c.c_uint32), ("n_outputs", c.c_uint32),
        ("outputs", c.POINTER(c.c_char_p)), ("should_stop", STOP),
        ("stop_user", c.c_void_p), ("head_rows", c.POINTER(c.c_int64)),
        ("n_head_rows", c.c_uint64),
    ]


class GenerateOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("inputs", c.POINTER(Tensor)),
        ("n_inputs", c.c_uint32), ("own_eos", c.c_int32),
        ("eos", c.POINTER(c.c_int64)), ("n_eos", c.c_uint32),
        ("reserved", c.c_uint32), ("max_new_tokens", c.c_int64),
        ("max_cache_bytes", c.c_uint64),
        ("decoding", c.POINTER(DecodingOptions)), ("should_stop", STOP),
        ("stop_user", c.c_void_p), ("max_drafts", c.c_uint64),
        ("draft", c.c_void_p),
    ]


class SessionOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("max_cache_bytes", c.c_uint64),
        ("should_stop", STOP), ("stop_user", c.c_void_p),
        ("max_step_tokens", c.c_uint64), ("on_logits", LOGITS),
        ("logits_user", c.c_void_p), ("next", c.c_void_p),
        ("max_drafts", c.c_uint64),
        ("draft", c.c_void_p),
    ]


class TokenList(c.Structure):
    _fields_ = [("tokens", c.POINTER(c.c_int64)), ("n_tokens", c.c_int64)]


class LogitBias(c.Structure):
    _fields_ = [("token", c.c_int64), ("bias", c.c_float),
                ("reserved", c.c_uint32)]


class Request(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("tokens", c.POINTER(c.c_int64)),
        ("n_tokens", c.c_int64), ("max_new_tokens", c.c_int64),
        ("eos", c.POINTER(c.c_int64)), ("n_eos", c.c_uint32),
        ("own_eos", c.c_int32), ("decoding", c.POINTER(DecodingOptions)),
        ("decoder_tokens", c.POINTER(c.c_int64)),
        ("n_decoder_tokens", c.c_int64), ("stops", c.POINTER(TokenList)),
        ("n_stops", c.c_uint32), ("n_logprobs", c.c_uint32),
        ("logit_bias", c.POINTER(LogitBias)), ("n_logit_bias", c.c_uint64),
        ("n", c.c_uint32), ("index", c.c_uint32), ("keep", c.c_uint32),
        ("echo", c.c_uint32), ("prefix", c.c_uint64),
        ("head_rows", c.POINTER(c.c_int64)), ("n_head_rows", c.c_uint64),
    ]


class NewToken(c.Structure):
    _fields_ = [("sequence", c.c_uint64), ("token", c.c_int64),
                ("state", c.c_uint32), ("reserved", c.c_uint32)]


class LogProbs(c.Structure):
    _fields_ = [("chosen", c.c_float), ("n", c.c_uint32),
                ("tokens", c.POINTER(c.c_int64)),
                ("values", c.POINTER(c.c_float))]


class SequenceFault(c.Structure):
    _fields_ = [("sequence", c.c_uint64), ("token", c.c_int64),
                ("reason", c.c_uint32), ("code", c.c_uint32)]


class StepResult(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("tokens", c.POINTER(NewToken)),
        ("n_tokens", c.c_uint64), ("logprobs", c.POINTER(LogProbs)),
        ("n_sequences", c.c_uint64), ("n_paused", c.c_uint64),
        ("faults", c.POINTER(SequenceFault)), ("n_faults", c.c_uint64),
        ("waiting", c.POINTER(c.c_uint64)), ("n_waiting", c.c_uint64),
        ("prompts", c.c_void_p), ("n_prompts", c.c_uint64),
        ("n_held", c.c_uint64),
    ]


class ForkOptions(Sized):
    _fields_ = [("struct_size", c.c_uint64),
                ("decoding", c.POINTER(DecodingOptions))]


class SessionInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("n_sequences", c.c_uint64),
        ("cache_bytes", c.c_uint64), ("max_cache_bytes", c.c_uint64),
        ("n_paused", c.c_uint64), ("n_held", c.c_uint64),
        ("n_kept", c.c_uint64), ("drafted_tokens", c.c_uint64),
        ("accepted_tokens", c.c_uint64),
    ]


class TokenizeOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("text", c.c_char_p),
        ("text_bytes", c.c_uint64), ("pair", c.c_char_p),
        ("pair_bytes", c.c_uint64), ("max_tokens", c.c_uint64),
        ("truncate", c.c_uint32), ("truncate_left", c.c_uint32),
        ("no_special", c.c_uint32), ("special_as_text", c.c_uint32),
        ("offsets", c.c_uint32), ("reserved", c.c_uint32),
        ("should_stop", STOP), ("stop_user", c.c_void_p),
    ]


class TokensInfo(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("n_tokens", c.c_uint64),
        ("ids", c.POINTER(c.c_int64)), ("type_ids", c.POINTER(c.c_int64)),
        ("begins", c.POINTER(c.c_int64)), ("ends", c.POINTER(c.c_int64)),
        ("sequences", c.POINTER(c.c_int32)),
    ]


class SchedulerOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("max_cache_bytes", c.c_uint64),
        ("max_step_tokens", c.c_uint64), ("max_batch_tokens", c.c_uint64),
        ("max_queue_tokens", c.c_uint64), ("no_prefix_cache", c.c_uint32),
        ("no_thread", c.c_uint32), ("next", c.c_void_p),
        ("max_drafts", c.c_uint64),
        ("draft", c.c_void_p),
    ]


class JobOptions(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("request", c.POINTER(Request)),
        ("priority", c.c_int32), ("needs_mask", c.c_uint32),
        ("salt", c.c_uint64), ("queue_deadline_us", c.c_uint64),
        ("deadline_us", c.c_uint64), ("next", c.c_void_p),
    ]


class EncodeJob(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("texts", c.POINTER(TokenList)),
        ("n_texts", c.c_uint64), ("type_ids", c.POINTER(TokenList)),
        ("outputs", c.POINTER(c.c_char_p)), ("n_outputs", c.c_uint32),
        ("priority", c.c_int32), ("queue_deadline_us", c.c_uint64),
        ("deadline_us", c.c_uint64), ("next", c.c_void_p),
        ("n_unseen", c.POINTER(c.c_uint64)),
    ]


class JobEvent(c.Structure):
    _fields_ = [
        ("job", c.c_uint64), ("index", c.c_uint32), ("kind", c.c_uint32),
        ("first", c.c_uint64), ("count", c.c_uint64), ("at", c.c_uint64),
        ("finish", c.c_uint32), ("code", c.c_uint32),
        ("prompt_tokens", c.c_uint64), ("cached_tokens", c.c_uint64),
        ("new_tokens", c.c_uint64), ("preemptions", c.c_uint64),
        ("queue_us", c.c_uint64), ("run_us", c.c_uint64),
        ("message", c.c_char_p),
    ]


class JobEvents(Sized):
    _fields_ = [
        ("struct_size", c.c_uint64), ("events", c.POINTER(JobEvent)),
        ("n_events", c.c_uint64), ("tokens", c.POINTER(c.c_int64)),
        ("n_tokens", c.c_uint64), ("logprobs", c.POINTER(LogProbs)),
        ("n_logprobs", c.c_uint64),
    ]


class SchedulerStats(Sized):
    _fields_ = [(name, c.c_uint64) for name in (
        "struct_size", "n_jobs", "n_waiting", "n_running", "queue_tokens",
        "cache_bytes", "remembered_bytes", "max_cache_bytes", "n_steps",
        "n_encodes", "prompt_tokens", "cached_tokens", "new_tokens",
        "encoded_tokens", "n_preemptions", "n_evictions")] + [
            ("n_finished", c.c_uint64 * 8), ("drafted_tokens", c.c_uint64),
            ("accepted_tokens", c.c_uint64), ("block_tokens", c.c_uint64),
            ("max_blocks", c.c_uint64)]


# The name of each struct in C.
C_NAMES = {
    DecodingOptions: "tfc_decoding_options", ModelOptions: "tfc_model_options",
    PortInfo: "tfc_port_info", ModelInfo: "tfc_model_info",
    Tensor: "tfc_tensor", EncodeOptions: "tfc_encode_options",
    GenerateOptions: "tfc_generate_options",
    SessionOptions: "tfc_session_options", TokenList: "tfc_token_list",
    LogitBias: "tfc_logit_bias", Request: "tfc_request",
    NewToken: "tfc_new_token", LogProbs: "tfc_logprobs",
    SequenceFault: "tfc_sequence_fault",
    StepResult: "tfc_step_result", ForkOptions: "tfc_fork_options",
    SessionInfo: "tfc_session_info",
    TokenizeOptions: "tfc_tokenize_options", TokensInfo: "tfc_tokens_info",
    SchedulerOptions: "tfc_scheduler_options", JobOptions: "tfc_job_options",
    EncodeJob: "tfc_encode_job", JobEvent: "tfc_job_event",
    JobEvents: "tfc_job_events", SchedulerStats: "tfc_scheduler_stats",
}
