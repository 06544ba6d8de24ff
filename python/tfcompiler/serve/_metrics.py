# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a server counts, as Prometheus reads it (text format 0.0.4). Names are
vLLM's where the meaning is the same, so that dashboards serve both."""
from __future__ import annotations

import bisect
import time
from typing import Dict, Iterable, List, Mapping, Tuple

from tfcompiler._library import version

Labels = Tuple[Tuple[str, str], ...]
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
            10, 30, 60, 300)
_HELP = {
    "vllm:num_requests_running": "Answers, texts and sounds that run.",
    "vllm:num_requests_waiting": "Those that have not begun, and sounds that "
                                 "wait for their turn.",
    "vllm:kv_cache_usage_perc": "Keys and values of running answers, of what "
                                "there can be (0 to 1).",
    "vllm:gpu_cache_usage_perc": "The same under its older name.",
    "vllm:cache_config_info": "Blocks of keys and values, of so many tokens "
                              "each: always 1.",
    "vllm:lora_requests_info": "Adapters, of which there are none; its value "
                               "is the time.",
    "vllm:request_queue_time_seconds": "From a request to when it began.",
    "tfc_build_info": "What serves: always 1.",
    "vllm:prompt_tokens_total": "Tokens of prompts that began.",
    "vllm:generation_tokens_total": "Tokens that were generated.",
    "vllm:prefix_cache_queries_total": "Tokens of prompts that were looked up.",
    "vllm:prefix_cache_hits_total": "Tokens of prompts that were remembered.",
    "vllm:num_preemptions_total": "Answers that gave their cache back.",
    "vllm:request_success_total": "Answers that ended, by how.",
    "vllm:time_to_first_token_seconds": "From a request to its first token.",
    "vllm:inter_token_latency_seconds": "Between two pieces of an answer.",
    "vllm:e2e_request_latency_seconds": "From a request to its answer's end.",
    "tfc_cached_bytes": "Keys and values that are only remembered.",
    "tfc_encode_tokens_total": "Tokens of texts that were encoded.",
    "tfc_queue_tokens": "Tokens of what has not begun.",
    "tfc_steps_total": "Steps that generate.",
    "tfc_encodes_total": "Steps that encode.",
    "tfc_http_requests_total": "Requests, by address and status.",
}


class _Histogram:
    def __init__(self):
        self.counts = [0] * (len(_SECONDS) + 1)
        self.sum = 0.0

    def observe(self, value: float) -> None:
        self.counts[bisect.bisect_left(_SECONDS, value)] += 1
        self.sum += value

    def lines(self, name: str, labels: Labels) -> Iterable[str]:
        total = 0
        bounds = [f"{bound:g}" for bound in _SECONDS] + ["+Inf"]
        for bound, count in zip(bounds, self.counts):
            total += count
            yield _line(name + "_bucket", labels + (("le", bound),), total)
        yield _line(name + "_sum", labels, self.sum)
        yield _line(name + "_count", labels, total)


class Metrics:
    """Counters and distributions, by name and labels; one thread."""

    def __init__(self):
        self._counters: Dict[str, Dict[Labels, float]] = {}
        self._histograms: Dict[str, Dict[Labels, _Histogram]] = {}

    def count(self, name: str, by: float = 1, **labels: str) -> None:
        found = self._counters.setdefault(name, {})
        key = tuple(labels.items())
        found[key] = found.get(key, 0) + by

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        self._histograms.setdefault(name, {}).setdefault(
            tuple(labels.items()), _Histogram()).observe(seconds)

    def text(self, engines) -> str:
        """Everything, and what the engines' schedulers say of themselves."""
        lines: List[str] = []
        for kind, found in (("gauge", _gauges(engines)),
                            ("counter", {**_totals(engines),
                                         **self._counters})):
            for name, values in found.items():
                lines += _head(name, kind)
                lines += [_line(name, labels, value)
                          for labels, value in values.items()]
        for name, made in self._histograms.items():
            lines += _head(name, "histogram")
            for labels, histogram in made.items():
                lines += histogram.lines(name, labels)
        return "\n".join(lines) + "\n"


def _gauges(engines) -> Dict[str, Dict[Labels, float]]:
    made: Dict[str, Dict[Labels, float]] = {}
    for engine in engines:
        stats = engine.scheduler.stats
        most = stats.max_cache_bytes
        usage = stats.cache_bytes / most if most else 0
        sounds = engine.listener.n_jobs if engine.listener else 0
        _put(made, engine, {
            # Of sounds one is heard, and the others wait for their turn.
            "vllm:num_requests_running": stats.n_running + min(sounds, 1),
            "vllm:num_requests_waiting":
                stats.n_waiting + max(sounds - 1, 0),
            "vllm:kv_cache_usage_perc": usage,
            "vllm:gpu_cache_usage_perc": usage,
            "tfc_cached_bytes": stats.remembered_bytes,
            "tfc_queue_tokens": stats.queue_tokens})
        info = engine.model.info
        made.setdefault("tfc_build_info", {})[(
            ("model_name", engine.name), ("version", version()),
            ("program", info.program), ("producer", info.producer))] = 1
        if stats.max_blocks:
            made.setdefault("vllm:cache_config_info", {})[(
                ("model_name", engine.name),
                ("block_size", str(stats.block_tokens)),
                ("num_gpu_blocks", str(stats.max_blocks)),
                ("enable_prefix_caching",
                 str(engine.scheduler.has_prefix_cache)))] = 1
    # Which the Inference Gateway asks for, by Kubernetes' model server
    # protocol.
    made["vllm:lora_requests_info"] = {(
        ("max_lora", "0"), ("running_lora_adapters", ""),
        ("waiting_lora_adapters", "")): round(time.time(), 3)}
    return made


def _totals(engines) -> Dict[str, Dict[Labels, float]]:
    made: Dict[str, Dict[Labels, float]] = {}
    for engine in engines:
        stats = engine.scheduler.stats
        _put(made, engine, {
            "vllm:prompt_tokens_total": stats.prompt_tokens,
            "vllm:generation_tokens_total": stats.new_tokens,
            "vllm:prefix_cache_queries_total": stats.prompt_tokens,
            "vllm:prefix_cache_hits_total": stats.cached_tokens,
            "vllm:num_preemptions_total": stats.n_preemptions,
            "vllm:spec_decode_num_draft_tokens_total": stats.drafted_tokens,
            "vllm:spec_decode_num_accepted_tokens_total":
                stats.accepted_tokens,
            "tfc_encode_tokens_total": stats.encoded_tokens,
            "tfc_steps_total": stats.n_steps,
            "tfc_encodes_total": stats.n_encodes})
    return made


def _put(made, engine, values: Mapping[str, float]) -> None:
    for name, value in values.items():
        made.setdefault(name, {})[(("model_name", engine.name),)] = value


def _head(name: str, kind: str) -> List[str]:
    return [f"# HELP {name} {_HELP.get(name, name)}", f"# TYPE {name} {kind}"]


def _line(name: str, labels: Labels, value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels)
    return f"{name}{{{inside}}} {value:.15g}" if isinstance(value, float) else \
        f"{name}{{{inside}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
