# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model writes: of a batch, as it comes, in a chat."""
from __future__ import annotations

import asyncio
import ctypes as c
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import (TYPE_CHECKING, AsyncIterator, Callable, Dict, Iterator,
                    List, Optional, Sequence, Tuple, Union)

import numpy as np

from tfcompiler import _structs as s
from tfcompiler._arrays import from_outputs, to_tensors
from tfcompiler._chat import ChatTemplate, apply_chat_template
from tfcompiler._decoding import EndTokens, decoding_options, new_tokens
from tfcompiler._draft import draft_pointer
from tfcompiler._error import Code, Error
from tfcompiler._library import Interrupt, runtime
from tfcompiler._numbers import UINT64, integer
from tfcompiler._session import Prompt, Session
from tfcompiler._sound import FRAMES, checked_features, heard_features
from tfcompiler._transcribe import Transcriber

if TYPE_CHECKING:
    from tfcompiler._model import Model

Texts = Union[str, Sequence[str]]
Stops = Union[str, Sequence[Prompt]]
ShouldStop = Callable[[], bool]
_NEW_TOKENS = 256  # at most, of texts, unless the caller says otherwise


@dataclass(frozen=True)
class Generated:
    """sequences: int64 [rows, prompt + new]; scores: float32 [rows] of beams,
    else None."""

    sequences: np.ndarray
    scores: Optional[np.ndarray]


class Generates:
    """A Model's generation."""

    def generate_ids(self, input_ids=None, attention_mask=None, *,
                     max_new_tokens: int, eos_token_id="model",
                     on_token: Optional[
                         Callable[[int, int, bool], bool]] = None,
                     should_stop: Optional[ShouldStop] = None,
                     decoder_input_ids=None, decoder_attention_mask=None,
                     max_drafts: int = 0, draft: Optional["Model"] = None,
                     input_features=None, patches=None, **words) -> Generated:
        """Generation, as Hugging Face's generate, for ids [batch, length], or
        of an encoder of sound for input_features or patches, as in a call.
        Words are generate's (num_beams, do_sample, top_p, ...), and `seed`;
        the others are the model's own. max_new_tokens: 1 or more.
        eos_token_id: an id, several, or None
        for no end but the length. on_token(row, token, is_last) sees each new
        token, and ends the generation by returning True. max_drafts, draft:
        as in Session."""
        given = dict(input_ids=input_ids, attention_mask=attention_mask,
                     decoder_input_ids=decoder_input_ids,
                     decoder_attention_mask=decoder_attention_mask)
        # Names that the model does not know are its own to refuse.
        given.update((name, value) for name, value in (
            ("input_features", input_features), ("patches", patches))
                     if value is not None)
        arrays = self._arrays(given)
        tensors = to_tensors(arrays)
        most = new_tokens(max_new_tokens)
        ends = EndTokens(eos_token_id)
        made = c.c_void_p()
        with Interrupt(should_stop) as interrupt:
            options = s.GenerateOptions(
                inputs=tensors, n_inputs=len(arrays),
                max_new_tokens=most, should_stop=interrupt.ask,
                max_drafts=integer("max_drafts", max_drafts, *UINT64))
            ends.set_on(options)
            with self._handle as pointer, \
                    draft_pointer(self, draft) as options.draft:
                decoding = decoding_options(pointer, words)
                options.decoding = c.pointer(decoding)
                runtime().tfc_generate(
                    pointer, c.byref(options),
                    _token_callback(on_token, interrupt), None, c.byref(made))
        found = from_outputs(made)
        return Generated(found["sequences"], found.get("sequences_scores"))

    def generate(self, texts: Optional[Texts] = None, *,
                 input_features=None, sound=None,
                 language: Optional[str] = None, task: Optional[str] = None,
                 prompt: Optional[str] = None,
                 return_timestamps: Optional[bool] = None,
                 max_new_tokens: Optional[int] = None,
                 eos_token_id="model", skip_special: bool = True,
                 stop: Stops = (), should_stop: Optional[ShouldStop] = None,
                 **words):
        """What the model writes behind a text (a decoder) or for it (an
        encoder-decoder): a str for a str, a list for a list; with
        num_return_sequences a list for each text. max_new_tokens: None for
        256, or what the model's positions leave. stop: as in stream, for one
        beam. Words as in generate_ids.

        Of an encoder of sound, in place of texts: input_features [batch, mels,
        frames] of a feature extractor, or sound, the path of a WAV file or
        samples at 16000 a second, or a list of those. language ("en") and task
        ("transcribe", "translate") are what its generation_config.json has;
        without a language the model hears it. prompt: what was said before it,
        by which names are spelt. return_timestamps: True for a
        Transcript, which has segments with their times, in place of each
        text. What is longer than the model hears at once (30 seconds) is heard
        window by window, each from the last time of the one before;
        max_new_tokens are those of a window then, None what the positions
        leave."""
        if texts is None:
            return self._written_of_sound(
                input_features, sound, stop, return_timestamps, should_stop,
                language=language, task=task, prompt=prompt, skip_special=skip_special,
                max_new_tokens=max_new_tokens, eos_token_id=eos_token_id,
                **words)
        for name, value in (("input_features", input_features),
                            ("sound", sound), ("language", language),
                            ("task", task), ("prompt", prompt),
                            ("return_timestamps", return_timestamps)):
            if value is not None:
                raise Error(Code.INVALID_ARGUMENT, f"{name}: expected none "
                            "beside texts, got one")
        encodings = self.tokenize(texts)
        if not encodings:
            return []
        is_pair = self.info.kind == "encoder-decoder"
        if max_new_tokens is None:
            max_new_tokens = self._most_new(
                0 if is_pair else max(map(len, encodings)))
        words.update(max_new_tokens=max_new_tokens, eos_token_id=eos_token_id,
                     should_stop=should_stop)
        if len(stop):
            written = self._until_stops(encodings, stop, skip_special, **words)
            return written[0] if isinstance(texts, str) else written
        inputs = self.batch(encodings, left=not is_pair)
        result = self.generate_ids(**inputs, **words)
        start = 0 if is_pair else inputs["input_ids"].shape[1]
        ends = self._end_ids(eos_token_id)
        written = [self.tokenizer.decode(until(row[start:], ends),
                                         skip_special)
                   for row in result.sequences]
        each = len(written) // len(encodings)
        if words.get("num_return_sequences", 1) > 1:
            written = [written[i:i + each]
                       for i in range(0, len(written), each)]
        return written[0] if isinstance(texts, str) else written

    def _written_of_sound(self, features, sound, stop, return_timestamps,
                          should_stop, **words):
        is_one = isinstance(sound, (str, Path)) or getattr(
            sound, "ndim", 2) == 1
        if (features is not None or sound is not None) and not self.hears:
            raise Error(Code.UNSUPPORTED, f"{self.info.name}: expected a model "
                        "that writes what it hears, got another")
        if (features is None) == (sound is None) or len(stop):
            raise Error(Code.INVALID_ARGUMENT, "generate: expected texts, "
                        "input_features or sound, the last two without stop, "
                        "got none, several or stop")
        durations = None
        if sound is not None:
            found = [self._features(each)
                     for each in ([sound] if is_one else sound)]
            if not found:
                return []
            features, durations = zip(*found)
        else:
            features = checked_features(features, self._mels())
        heard = Transcriber(self, features, durations,
                            return_timestamps=return_timestamps, **words)
        while not heard.is_done:
            heard.step(should_stop)
        made = [[each if return_timestamps else each.text for each in rows]
                for rows in heard.transcripts()]
        if words.get("num_return_sequences", 1) <= 1:
            made = [rows[0] for rows in made]
        return made[0] if is_one else made

    @property
    def hears(self) -> bool:
        """Whether it writes what it hears."""
        return self._mels() > 0 and self.info.kind == "encoder-decoder"

    def _mels(self) -> int:
        return next((port.width for port in self.info.inputs
                     if port.rank == 3), 0) // FRAMES

    def _features(self, sound) -> Tuple[np.ndarray, float]:
        """A sound as a Transcriber takes it, and its seconds."""
        return heard_features(sound, self._mels(),
                              FRAMES * self._most_rows())

    def _until_stops(self, encodings, stop, skip_special, should_stop,
                     max_drafts: int = 0, draft: Optional["Model"] = None,
                     **words) -> List[str]:
        """A text for each encoding: one session has them all."""
        self._refuse_beams(words)
        with Session(self, should_stop=should_stop, max_drafts=max_drafts,
                     draft=draft) as session:
            written = {session.add(encoding.ids, stop=stop, text=True,
                                   skip_special=skip_special, **words): ""
                       for encoding in encodings}
            for new in session:
                written[new.sequence] += new.text
        return list(written.values())

    def _refuse_beams(self, words: dict) -> None:
        own = {word: value for word, value in words.items()
               if word not in ("max_new_tokens", "eos_token_id")}
        with self._handle as pointer:
            beams = decoding_options(pointer, own).num_beams
        if beams > 1:
            raise Error(Code.UNSUPPORTED, "stop: expected num_beams=1, got "
                        f"{beams} beams")

    def stream(self, prompt: Prompt, *, max_new_tokens: Optional[int] = None,
               eos_token_id="model", stop: Stops = (),
               should_stop: Optional[ShouldStop] = None, max_drafts: int = 0,
               draft: Optional["Model"] = None, **words) -> Iterator[str]:
        """What generate writes for one text (or for the ids of one), in pieces
        as it comes; the pieces together are its result. stop: texts behind
        which it ends, wherever tokens begin and end, and lists of tokens.
        max_drafts, draft: as in Session. Leaving the loop ends the
        generation."""
        with Session(self, should_stop=should_stop, max_drafts=max_drafts,
                     draft=draft) as session:
            session.add(prompt, max_new_tokens=max_new_tokens, stop=stop,
                        eos_token_id=eos_token_id, text=True, **words)
            for new in session:
                new.expect_token()
                if new.text:
                    yield new.text

    async def stream_async(self, prompt: Prompt, *,
                           should_stop: Optional[ShouldStop] = None, **words
                           ) -> AsyncIterator[str]:
        """The same for `async for`: steps run in threads beside the event
        loop. Leaving the loop, or cancelling its task, ends the generation
        within a part of a layer."""
        is_left = False
        pieces = self.stream(prompt, should_stop=lambda: is_left or bool(
            should_stop and should_stop()), **words)
        loop = asyncio.get_running_loop()
        step = None
        try:
            while True:
                step = loop.run_in_executor(None, next, pieces, None)
                # Who is cancelled still waits for the thread, below.
                piece = await asyncio.shield(step)
                if piece is None:
                    return
                yield piece
        finally:
            is_left = True
            if step is not None:
                await asyncio.wait([step])
                step.exception()
            pieces.close()

    def stream_ids(self, ids: Sequence[int], *, max_new_tokens: int,
                   should_stop: Optional[ShouldStop] = None,
                   max_drafts: int = 0, draft: Optional["Model"] = None,
                   **words) -> Iterator[int]:
        """The new tokens of one sequence, as they come; words as in stream."""
        with Session(self, should_stop=should_stop, max_drafts=max_drafts,
                     draft=draft) as session:
            session.add(ids, max_new_tokens=new_tokens(max_new_tokens),
                        **words)
            for new in session:
                new.expect_token()
                yield new.token

    # ---- Chats ----

    def apply_chat_template(self, messages: Sequence[Dict], **how
                            ) -> Union[str, List[int]]:
        """The token ids of a chat, each message {"role": ..., "content": ...},
        by the folder's chat template, or by chat_template=, a text.

        add_generation_prompt=True: an answer is to follow. tokenize=False
        gives the text. special_as_text: special tokens that stand in messages
        are text, and only those of the template are special; False makes them
        special, as transformers does unless it is asked otherwise, and so
        does whoever tokenizes the text. tools=, documents= and other words are
        the template's.

        A template is a stranger's program: it runs in Jinja2's sandbox, in a
        process of its own, with limits of time, memory and size. Needs the
        package jinja2. Raises Error (NOT_FOUND, INVALID_ARGUMENT,
        EXHAUSTED)."""
        return apply_chat_template(self.tokenizer, lambda: self._template,
                                   messages, **how)

    @functools.cached_property
    def _template(self) -> ChatTemplate:
        folder = self.folder or getattr(self.tokenizer, "path", None)
        if folder is None:
            raise Error(Code.NOT_FOUND, f"{self.info.name}: expected a folder "
                        "with a chat template, got none (chat_template= names "
                        "one)")
        folder = Path(folder)
        return ChatTemplate(folder if folder.is_dir() else folder.parent,
                            gguf=self._gguf, tokenizer=self.tokenizer)

    def chat(self, messages: Sequence[Dict], *,
             template: Optional[Dict] = None, **words) -> str:
        """The answer to a chat. template: words of apply_chat_template; others
        are stream's."""
        return "".join(self.stream_chat(messages, template=template, **words))

    def stream_chat(self, messages: Sequence[Dict], *,
                    template: Optional[Dict] = None, **words
                    ) -> Iterator[str]:
        """The same in pieces, as they come."""
        ids = self.apply_chat_template(messages, **{
            "add_generation_prompt": True, **(template or {})})
        return self.stream(ids, **words)

    def _most_new(self, prompt: int, is_bounded: bool = True) -> int:
        """What is left behind a prompt, of 256 unless that is no bound; a
        decoder with an encoder has a first token of its own."""
        limit = self._positions()
        left = limit - max(prompt, 1) if limit else _NEW_TOKENS
        return max(1, min(_NEW_TOKENS, left) if is_bounded else left)

    def _positions(self) -> int:
        """Of what is written; 0 where there is no bound."""
        return next((port.limit for port in self.info.inputs
                     if port.name == "decoder_position_ids"),
                    self.info.max_positions)

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


def until(row, ends):
    """A row up to its end token, which is left out."""
    for index, token in enumerate(row):
        if int(token) in ends:
            return row[:index]
    return row


def listed(texts: Texts) -> List[str]:
    return [texts] if isinstance(texts, str) else list(texts)
