# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled models: forward passes, and what a model is."""
from __future__ import annotations

import ctypes as c
import os
from functools import cached_property
from pathlib import Path
from typing import Callable, Dict, List, Optional, Sequence

import numpy as np

from tfcompiler import _attention
from tfcompiler import _structs as s
from tfcompiler._arrays import (as_ids, from_outputs, names_array, pad_rows,
                                to_tensors)
from tfcompiler._error import Code, Error
from tfcompiler._generate import Generates, Texts, listed, until
from tfcompiler._gguf import find_gguf
from tfcompiler._handle import Closes, Handle
from tfcompiler._info import ModelInfo, read_info
from tfcompiler._library import Interrupt, runtime
from tfcompiler._load import Load
from tfcompiler._numbers import (UINT32, c_string, ids_array, integer, optional,
                                 path_bytes)
from tfcompiler._patches import as_rows, to_patches
from tfcompiler._sound import to_rows
from tfcompiler._sum import Sum
from tfcompiler._tokenizer import Encoding, Tokenizer


def load(library, weights=None, *, tokenizer=None, threads: int = 0,
         program: Optional[str] = None, packed=None,
         share_packed: bool = False,
         progress: Optional[Callable[[int, int], bool]] = None,
         rank: int = 0,
         reduce: Optional[Callable[[np.ndarray], None]] = None) -> "Model":
    """Loads a compiled model.

    library: what `tfc compile` wrote. weights: the Hugging Face folder,
    safetensors or GGUF file, or a list of those, whose tensors are one set;
    None where `packed`, a file of packed weights, is there.
    tokenizer: a file, a Tokenizer, or any object with encode and decode; by
    default the one in the folder of weights. threads: 0 for as many as the
    process may use. program: one of the library's by name instead of the best;
    "cuda:1": the best one on that device.
    packed, share_packed: as in tfc/runtime.h. progress(done, total), in bytes,
    is called by another thread while this one waits, and ends the load by
    returning True.
    rank, reduce: of a library that several ranks share (`tfc compile --ranks`),
    which of them this is, and what adds up what they have: reduce(values) is
    called with a flat float32 array, rank by rank the same number of times, and
    leaves in it the sum over all ranks, added in their order (docs/c.md). Ranks
    make the same calls in the same order, one at a time.
    Raises Error: NOT_FOUND, INCOMPATIBLE, INVALID_ARGUMENT, IO, EXHAUSTED,
    CANCELLED."""
    return Model(library, weights, tokenizer, threads, program, packed,
                 share_packed, progress, rank, reduce)


class Model(Generates, Closes):
    """A compiled model with its weights; made by load() or compile().
    Immutable: any number of threads may use it, a copy of it is itself, and a
    pickle the words it was loaded by. close(), or the end of a `with`, gives
    its memory back; its tokenizer and its sessions live on, but a closed
    model's session takes no new sequences."""

    def __init__(self, library, weights, tokenizer, threads, program, packed,
                 share_packed, progress=None, rank=0, reduce=None):
        places = _places(weights)
        paths = (c.c_char_p * len(places))(
            *[path_bytes(place, "weights") for place in places])
        options = s.ModelOptions(
            library_path=path_bytes(library, "library"),
            weights_paths=paths, n_weights_paths=len(places),
            program=None if program is None else c_string("program", program),
            threads=integer("threads", threads, *UINT32),
            packed_path=None if packed is None
            else path_bytes(packed, "packed"),
            share_packed=int(bool(share_packed)),
            rank=integer("rank", rank, *UINT32))
        self._sum = None if reduce is None else Sum(reduce)
        if self._sum:
            options.reduce = self._sum.called
        self.weights = places
        self.folder = _folder_of(places)
        self._gguf = find_gguf(Path(places[0])) if places else None
        self._tokenizer = tokenizer
        self._loaded_by = (
            _absolute(library), [_absolute(place) for place in places],
            tokenizer if tokenizer is None or hasattr(tokenizer, "encode")
            else _absolute(tokenizer), threads, program,
            packed and _absolute(packed), share_packed)
        made = Load(options, progress).run()
        self._handle = Handle("model", runtime().tfc_model_free)
        self._handle.pointer = made

    def __copy__(self):
        return self

    def __deepcopy__(self, known):
        return self

    def __reduce__(self):
        if self._sum:
            raise TypeError("a model that ranks share is none without them")
        with self._handle:
            return Model, self._loaded_by

    @cached_property
    def info(self) -> ModelInfo:
        """What the model says of itself."""
        with self._handle as pointer:
            return read_info(pointer)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The model's tokenizer. Raises Error where it has none, or one of
        another vocabulary."""
        given = self._tokenizer
        if hasattr(given, "encode") and not isinstance(given, str):
            return given
        path = given if given is not None else self.folder
        if given is None and self._gguf is not None and not (
                self.folder / "tokenizer.json").exists():
            path = self._gguf
        if path is None:
            raise Error(Code.NOT_FOUND, f"{self.info.name}: expected a folder "
                        "with a tokenizer for texts, got none (tokenizer= "
                        "names one; arrays of ids need none)")
        tokenizer = Tokenizer(path)
        # Of an encoder of floats the decoder has the tokens.
        limit = next((port for port in self.info.inputs
                      if port.name.endswith("input_ids")),
                     self.info.inputs[0]).limit
        # Embeddings are often rounded up, but hardly to the double.
        if not limit // 2 < len(tokenizer) <= limit:
            raise Error(Code.INCOMPATIBLE, f"{path}: expected the tokenizer of "
                        f"a model with {limit} tokens, got one with "
                        f"{len(tokenizer)}")
        return tokenizer

    # ---- Forward passes ----

    def __call__(self, *, outputs: Optional[Sequence[str]] = None,
                 should_stop: Optional[Callable[[], bool]] = None,
                 head_rows: Optional[Sequence[int]] = None,
                 **inputs) -> Dict[str, np.ndarray]:
        """A forward pass, as Hugging Face's: model(input_ids=...,
        attention_mask=...), or model(pixel_values=...) of an encoder of
        images, whose inputs are an image processor's, or
        model(input_features=..., decoder_input_ids=...) of one of sound, whose
        inputs are a feature extractor's, also of fewer frames. Inputs are
        integers [batch, length]; int32 and int64 in one piece are not copied.
        In place of these floats it takes `patches`, [batch, length, width] in
        float32. Gives the outputs by name, float32,
        read-only; `outputs` names those that are wanted, others are not
        computed. With head_rows, logits over the vocabulary have the columns
        of these tokens alone, in this order, bit for bit those of the whole;
        where the program can, others are not computed. Raises Error as
        tfc_encode, CANCELLED when should_stop, asked
        several times a layer, says so."""
        arrays = self._arrays(inputs)
        tensors = to_tensors(arrays)
        names = None if outputs is None else names_array(list(outputs))
        columns = ids_array(() if head_rows is None else head_rows,
                            "head_rows")
        made = c.c_void_p()
        with Interrupt(should_stop) as interrupt:
            options = s.EncodeOptions(
                inputs=tensors, n_inputs=len(arrays), outputs=names,
                n_outputs=0 if names is None else len(names),
                should_stop=interrupt.ask,
                head_rows=c.cast(columns, c.POINTER(c.c_int64)),
                n_head_rows=len(columns))
            with self._handle as pointer:
                runtime().tfc_encode(pointer, c.byref(options), c.byref(made))
        return from_outputs(made)

    def _arrays(self, inputs) -> Dict[str, np.ndarray]:
        rows = next((port for port in self.info.inputs if port.rank == 3), None)
        arrays = {}
        for name, value in inputs.items():
            if value is None:
                continue
            if rows and name == "pixel_values":
                arrays[rows.name] = to_patches(
                    value, rows.width, self.info.max_positions - rows.limit)
            elif rows and name == "input_features":
                arrays[rows.name] = to_rows(value, rows.width,
                                            self._most_rows())
            elif rows and name == rows.name:
                arrays[name] = as_rows(name, value)
            else:
                arrays[name] = as_ids(name, value)
        return arrays

    def _most_rows(self) -> int:
        """Positions of the encoder."""
        return next((port.limit for port in self.info.inputs
                     if port.name == "position_ids"), self.info.max_positions)

    def encode(self, texts: Texts, pairs: Optional[Texts] = None, *,
               truncate: bool = False, outputs: Optional[Sequence[str]] = None
               ) -> Dict[str, np.ndarray]:
        """A forward pass over texts, or over texts and their pairs, padded at
        the end. A text longer than the model's positions is an Error, unless
        truncate cuts it. No texts give no rows."""
        if not listed(texts):
            return self._no_rows(outputs)
        encodings = self.tokenize(texts, pairs, truncate=truncate)
        return self(outputs=outputs, **self.batch(encodings))

    def tokenize(self, texts: Texts, pairs: Optional[Texts] = None, *,
                 truncate: bool = False,
                 max_tokens: Optional[int] = None) -> List[Encoding]:
        """The tokens of texts, at most the model's positions (or max_tokens)
        each."""
        texts = listed(texts)
        pairs = None if pairs is None else listed(pairs)
        if pairs and len(pairs) != len(texts):
            raise Error(Code.INVALID_ARGUMENT, f"pairs: expected {len(texts)},"
                        f" one a text, got {len(pairs)}")
        most = optional("max_tokens", max_tokens, 1) or \
            self.info.max_positions or None
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

    def _no_rows(self, names) -> Dict[str, np.ndarray]:
        return {port.name: np.zeros((0,) * (port.rank - 1) + (port.width,),
                                    np.float32)
                for port in self.info.outputs
                if names is None or port.name in names}

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
            target_ids = [row[0], *until(row[1:], self.info.eos)]
        inputs["decoder_input_ids"] = np.array([target_ids], np.int64)
        return inputs, source, [_attention.name_of(self.tokenizer, id)
                                for id in target_ids]


def _places(weights) -> list:
    if weights is None:
        return []
    return list(weights) if isinstance(weights, (list, tuple)) else [weights]


def _folder_of(places) -> Optional[Path]:
    """Where a model's other files are: with its first weights."""
    if not places:
        return None
    path = Path(places[0])
    return path if path.is_dir() else path.parent


def _absolute(path) -> str:
    """A path that serves a process in another folder, too."""
    return os.path.abspath(os.fsdecode(os.fspath(path)))
