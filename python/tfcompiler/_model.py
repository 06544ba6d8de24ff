# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models: forward passes, generation, streams."""
from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import (Callable, Dict, Iterator, List, Optional, Sequence, Tuple,
                    Union)

import numpy as np

from tfcompiler import _attention
from tfcompiler import _structs as s
from tfcompiler._arrays import (as_ids, from_outputs, names_array, pad_rows,
                                to_tensors)
from tfcompiler._decoding import EndTokens, decoding_options, token_lists
from tfcompiler._error import Code, Error
from tfcompiler._library import Interrupt, path_bytes, runtime
from tfcompiler._tokenizer import Encoding, Tokenizer, ids_array

Texts = Union[str, Sequence[str]]
_NEW_TOKENS = 256  # at most, of texts, unless the caller says otherwise


@dataclass(frozen=True)
class Port:
    """An input or an output. rank 2: [batch, length] or [batch, width]; 3:
    [batch, length, width]. Values of inputs are in [0, limit)."""

    name: str
    rank: int
    width: int
    limit: int
    required: bool


@dataclass(frozen=True)
class ModelInfo:
    """What a model says of itself."""

    name: str
    kind: str  # "encoder", "decoder" or "encoder-decoder"
    producer: str  # compiler and version
    program: str  # in use, as "x86-64-v3"
    spec: str  # the canonical spec, JSON
    max_positions: int  # longest sequence in tokens; 0: no limit
    pad: Optional[int]
    bos: Optional[int]
    eos: Tuple[int, ...]
    can_generate: bool
    inputs: Tuple[Port, ...]
    outputs: Tuple[Port, ...]
    threads: int
    weight_bytes: int
    cache_bytes_per_token: int


@dataclass(frozen=True)
class Generated:
    """sequences: int64 [rows, prompt + new]; scores: float32 [rows] of beams,
    else None."""

    sequences: np.ndarray
    scores: Optional[np.ndarray]


def load(library, weights=None, *, tokenizer=None, threads: int = 0,
         program: Optional[str] = None, packed=None,
         share_packed: bool = False) -> "Model":
    """Loads a compiled model.

    library: what `tfc compile` wrote. weights: the Hugging Face folder or
    safetensors file; None where `packed`, a file of packed weights, is there.
    tokenizer: a file, a Tokenizer, or any object with encode and decode; by
    default the one in the folder of weights. threads: 0 for as many as the
    process may use. program: one of the library's by name instead of the best.
    packed, share_packed: as in tfc/runtime.h.
    Raises Error: NOT_FOUND, INCOMPATIBLE, INVALID_ARGUMENT, IO, EXHAUSTED."""
    return Model(library, weights, tokenizer, threads, program, packed,
                 share_packed)


class Model:
    """A compiled model with its weights; made by load() or compile().
    Immutable: any number of threads may use it."""

    def __init__(self, library, weights, tokenizer, threads, program, packed,
                 share_packed):
        options = s.ModelOptions(
            library_path=path_bytes(library),
            weights_path=None if weights is None else path_bytes(weights),
            program=None if program is None else program.encode(),
            threads=threads,
            packed_path=None if packed is None else path_bytes(packed),
            share_packed=int(share_packed))
        self._handle = c.c_void_p()
        self.weights = weights
        self.folder = _folder_of(weights)
        self._tokenizer = tokenizer
        runtime().tfc_model_load(c.byref(options), c.byref(self._handle))

    def __del__(self):
        if getattr(self, "_handle", None):
            runtime().tfc_model_free(self._handle)

    @cached_property
    def info(self) -> ModelInfo:
        """What the model says of itself."""
        info = s.ModelInfo()
        runtime().tfc_model_get_info(self._handle, c.byref(info))
        return ModelInfo(
            info.name.decode(), info.kind.decode(), info.producer.decode(),
            info.program.decode(), info.spec.decode(), info.max_positions,
            _id(info.pad), _id(info.bos), tuple(info.eos[:info.n_eos]),
            bool(info.can_generate), _ports(info.inputs, info.n_inputs),
            _ports(info.outputs, info.n_outputs), info.threads,
            info.weight_bytes, info.cache_bytes_per_token)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer. Raises Error where it has none, or one of
        another vocabulary."""
        given = self._tokenizer
        if given is not None and not isinstance(given, (str, Path)):
            return given
        path = given if given is not None else self.folder
        if path is None:
            raise Error(Code.NOT_FOUND, f"{self.info.name}: expected a folder "
                        "with a tokenizer for texts, got none (tokenizer= "
                        "names one; arrays of ids need none)")
        tokenizer = Tokenizer(path)
        limit = self.info.inputs[0].limit
        # Embeddings are often rounded up, but hardly to the double.
        if not limit // 2 < len(tokenizer) <= limit:
            raise Error(Code.INCOMPATIBLE, f"{path}: expected the tokenizer of "
                        f"a model with {limit} tokens, got one with "
                        f"{len(tokenizer)}")
        return tokenizer

    # ---- Forward passes ----

    def __call__(self, *, outputs: Optional[Sequence[str]] = None,
                 should_stop: Optional[Callable[[], bool]] = None,
                 **inputs) -> Dict[str, np.ndarray]:
        """A forward pass, as Hugging Face's: model(input_ids=...,
        attention_mask=...). Inputs are integers [batch, length]; int32 and
        int64 in one piece are not copied. Gives the outputs by name, float32,
        read-only; `outputs` names those that are wanted, others are not
        computed. Raises Error as tfc_encode, CANCELLED when should_stop, asked
        several times a layer, says so."""
        arrays = {name: as_ids(name, value) for name, value in inputs.items()
                  if value is not None}
        tensors = to_tensors(arrays)
        names = None if outputs is None else names_array(list(outputs))
        made = c.c_void_p()
        with Interrupt(should_stop) as interrupt:
            options = s.EncodeOptions(
                inputs=tensors, n_inputs=len(arrays), outputs=names,
                n_outputs=0 if names is None else len(names),
                should_stop=interrupt.ask)
            runtime().tfc_encode(self._handle, c.byref(options),
                                 c.byref(made))
        return from_outputs(made)

    def encode(self, texts: Texts, pairs: Optional[Texts] = None, *,
               truncate: bool = False, outputs: Optional[Sequence[str]] = None
               ) -> Dict[str, np.ndarray]:
        """A forward pass over texts, or over texts and their pairs, padded at
        the end. A text longer than the model's positions is an Error, unless
        truncate cuts it."""
        encodings = self.tokenize(texts, pairs, truncate=truncate)
        return self(outputs=outputs, **self.batch(encodings))

    def tokenize(self, texts: Texts, pairs: Optional[Texts] = None, *,
                 truncate: bool = False,
                 max_tokens: Optional[int] = None) -> List[Encoding]:
        """The tokens of texts, at most the model's positions (or max_tokens)
        each."""
        texts, pairs = _listed(texts), pairs and _listed(pairs)
        if pairs and len(pairs) != len(texts):
            raise Error(Code.INVALID_ARGUMENT, f"pairs: expected {len(texts)},"
                        f" one a text, got {len(pairs)}")
        most = max_tokens or self.info.max_positions or None
        how = {"max_tokens": most} if truncate and most else {}
        if pairs and how:
            how["truncate"] = "only_second"
        made = [self.tokenizer.encode(text, *(pairs[i:i + 1] if pairs else ()),
                                      **how)
                for i, text in enumerate(texts)]
        for text, encoding in zip(texts, made):
            count = len(encoding.ids)
            if count == 0 or most and count > most:
                raise Error(
                    Code.INVALID_ARGUMENT, f"{text[:40]!r}: expected "
                    + (f"at most {most} tokens (truncate=True cuts), got "
                       f"{count}" if count else "a token or more, got none"))
        return made

    def batch(self, encodings: Sequence[Encoding], left: bool = False
              ) -> Dict[str, np.ndarray]:
        """Encodings as the model's inputs, padded."""
        pad = self.info.pad if self.info.pad is not None else 0
        ids, mask = pad_rows([each.ids for each in encodings], pad, left)
        inputs = {"input_ids": ids, "attention_mask": mask}
        types = [each.type_ids for each in encodings]
        if any(port.name == "token_type_ids" for port in self.info.inputs) \
                and self.info.kind == "encoder":
            inputs["token_type_ids"] = pad_rows(types, 0, left)[0]
        return inputs

    def attentions(self, text: str, pair: Optional[str] = None, *,
                   target_ids: Optional[Sequence[int]] = None
                   ) -> Dict[str, np.ndarray]:
        """Where the model looks: probabilities float32 [layers, heads, queries,
        keys] under Hugging Face's names: "attentions", or of an
        encoder-decoder "encoder_attentions", "decoder_attentions" and
        "cross_attentions". target_ids: what the decoder of such a one reads,
        its start token first; None: what it writes, greedily.

        The compiler's reference interpreter computes them from the spec and
        the weights, in double precision and slowly. Raises Error: NOT_FOUND
        without the compiler, UNSUPPORTED without weights."""
        inputs, _, _ = self._attended(text, pair, target_ids)
        return _attention.attentions(self, inputs)

    def attention_page(self, text: str, pair: Optional[str] = None, *,
                       target_ids: Optional[Sequence[int]] = None) -> str:
        """The same as a page of HTML, which needs no network and nothing
        else: Path("page.html").write_text(model.attention_page("a text"),
        encoding="utf-8")."""
        inputs, source, target = self._attended(text, pair, target_ids)
        return _attention.page(f"attention of {self.info.name}",
                               _attention.attentions(self, inputs), source,
                               target)

    def _attended(self, text, pair, target_ids):
        """The inputs of one sequence, and what its tokens are."""
        encoding, = self.tokenize(text, pair)
        inputs = self.batch([encoding])
        del inputs["attention_mask"]
        source = _attention.labels(self.tokenizer, encoding, [text, pair])
        if self.info.kind != "encoder-decoder":
            return inputs, source, []
        if target_ids is None:
            row = self.generate_ids(
                max_new_tokens=self._most_new(0), num_beams=1, do_sample=False,
                **inputs).sequences[0]
            target_ids = [row[0], *_until(row[1:], self.info.eos)]
        inputs["decoder_input_ids"] = np.array([target_ids], np.int64)
        return inputs, source, [_attention.name_of(self.tokenizer, id)
                                for id in target_ids]

    # ---- Generation ----

    def generate_ids(self, input_ids, attention_mask=None, *,
                     max_new_tokens: int, eos_token_id="model",
                     on_token: Optional[Callable[[int, int, bool], bool]] = None,
                     should_stop: Optional[Callable[[], bool]] = None,
                     decoder_input_ids=None, decoder_attention_mask=None,
                     **words) -> Generated:
        """Generation, as Hugging Face's generate, for ids [batch, length].
        Words are generate's (num_beams, do_sample, top_p, ...), and `seed`;
        the others are the model's own. eos_token_id: an id, several, or None
        for no end but the length. on_token(row, token, is_last) sees each new
        token, and ends the generation by returning True."""
        arrays = {name: as_ids(name, value) for name, value in (
            ("input_ids", input_ids), ("attention_mask", attention_mask),
            ("decoder_input_ids", decoder_input_ids),
            ("decoder_attention_mask", decoder_attention_mask))
                  if value is not None}
        tensors = to_tensors(arrays)
        decoding = decoding_options(self._handle, words)
        ends = EndTokens(eos_token_id)
        made = c.c_void_p()
        with Interrupt(should_stop) as interrupt:
            options = s.GenerateOptions(
                inputs=tensors, n_inputs=len(arrays),
                max_new_tokens=max_new_tokens, decoding=c.pointer(decoding),
                should_stop=interrupt.ask)
            ends.set_on(options)
            runtime().tfc_generate(
                self._handle, c.byref(options),
                _token_callback(on_token, interrupt), None, c.byref(made))
        found = from_outputs(made)
        return Generated(found["sequences"], found.get("sequences_scores"))

    def generate(self, texts: Texts, *, max_new_tokens: Optional[int] = None,
                 eos_token_id="model", skip_special: bool = True, **words):
        """What the model writes behind a text (a decoder) or for it (an
        encoder-decoder): a str for a str, a list for a list; with
        num_return_sequences a list for each text. max_new_tokens: None for
        256, or what the model's positions leave. Words as in generate_ids."""
        encodings = self.tokenize(texts)
        is_pair = self.info.kind == "encoder-decoder"
        inputs = self.batch(encodings, left=not is_pair)
        start = 0 if is_pair else inputs["input_ids"].shape[1]
        result = self.generate_ids(
            max_new_tokens=max_new_tokens or self._most_new(start),
            eos_token_id=eos_token_id, **inputs, **words)
        ends = self._end_ids(eos_token_id)
        written = [self.tokenizer.decode(_until(row[start:], ends),
                                         skip_special)
                   for row in result.sequences]
        each = len(written) // len(encodings)
        if words.get("num_return_sequences", 1) > 1:
            written = [written[i:i + each]
                       for i in range(0, len(written), each)]
        return written[0] if isinstance(texts, str) else written

    def stream(self, text: str, *, max_new_tokens: Optional[int] = None,
               eos_token_id="model", stop: Sequence[str] = (), **words
               ) -> Iterator[str]:
        """What generate writes for one text, in pieces as it comes; the pieces
        together are its result. stop: texts behind which it ends. Leaving the
        loop ends the generation."""
        encoding, = self.tokenize(text)
        stops = [self.tokenizer.encode(each, add_special_tokens=False).ids
                 for each in stop]
        shown = self.tokenizer.stream()
        ends = self._end_ids(eos_token_id)
        is_pair = self.info.kind == "encoder-decoder"
        most = max_new_tokens or self._most_new(0 if is_pair else
                                                len(encoding.ids))
        for token in self.stream_ids(encoding.ids, max_new_tokens=most,
                                     eos_token_id=eos_token_id, stop=stops,
                                     **words):
            piece = "" if token in ends else shown.push(token)
            if piece:
                yield piece
        rest = shown.finish()
        if rest:
            yield rest

    def stream_ids(self, ids: Sequence[int], *, max_new_tokens: int,
                   eos_token_id="model", stop: Sequence[Sequence[int]] = (),
                   **words) -> Iterator[int]:
        """The new tokens of one sequence, as they come."""
        with Interrupt() as interrupt:
            session = c.c_void_p()
            library = runtime()
            library.tfc_session_create(
                self._handle,
                c.byref(s.SessionOptions(should_stop=interrupt.ask)),
                c.byref(session))
            try:
                self._add(session, ids, max_new_tokens, eos_token_id, stop,
                          words)
                result = s.StepResult()
                state = 0
                while state == 0:
                    library.tfc_session_step(session, c.byref(result))
                    if not result.n_tokens:
                        break
                    token, state = result.tokens[0].token, \
                        result.tokens[0].state
                    yield token
            finally:
                library.tfc_session_free(session)

    def _add(self, session, ids, max_new_tokens, eos_token_id, stop, words):
        array = ids_array(ids)
        decoding = decoding_options(self._handle,
                                    {"num_beams": 1, **words})
        stops, kept = token_lists([list(each) for each in stop])
        ends = EndTokens(eos_token_id)
        request = s.Request(
            tokens=c.cast(array, c.POINTER(c.c_int64)), n_tokens=len(array),
            max_new_tokens=max_new_tokens, decoding=c.pointer(decoding),
            stops=stops, n_stops=len(kept))
        ends.set_on(request)
        sequence = c.c_uint64()
        runtime().tfc_session_add(session, c.byref(request),
                                  c.byref(sequence))

    def _most_new(self, prompt: int) -> int:
        """What is left behind a prompt; a decoder with an encoder has a first
        token of its own."""
        limit = self.info.max_positions
        left = limit - max(prompt, 1) if limit else _NEW_TOKENS
        return max(1, min(_NEW_TOKENS, left))

    def _end_ids(self, eos_token_id) -> Tuple[int, ...]:
        ends = EndTokens(eos_token_id)
        return tuple(ends.array) if ends.is_own else self.info.eos


def _token_callback(on_token, interrupt: Interrupt):
    if on_token is None:
        return s.TOKEN()

    def call(user, row, token, finished):
        try:
            return int(bool(on_token(row, token, bool(finished))))
        except BaseException as error:  # a callback of C cannot raise
            interrupt.raised = error
            return 1

    return s.TOKEN(call)


def _until(row, ends):
    """A row up to its end token, which is left out."""
    for index, token in enumerate(row):
        if int(token) in ends:
            return row[:index]
    return row


def _listed(texts: Texts) -> List[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _folder_of(weights) -> Optional[Path]:
    if weights is None:
        return None
    path = Path(weights)
    return path if path.is_dir() else path.parent


def _id(value: int) -> Optional[int]:
    return None if value < 0 else value


def _ports(ports, count) -> Tuple[Port, ...]:
    return tuple(Port(port.name.decode(), port.rank, port.width, port.limit,
                      bool(port.required)) for port in ports[:count])
