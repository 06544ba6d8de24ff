# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said as subtitles, of SubRip (.srt) or WebVTT (.vtt)."""
from __future__ import annotations

import html
from typing import Sequence

from tfcompiler._transcribe import Segment


def subtitles(form: str, segments: Sequence[Segment]) -> str:
    """form: "srt" or "vtt"."""
    return ("WEBVTT\n\n" if form == "vtt" else "") + "".join(
        _cue(form, number, segment)
        for number, segment in enumerate(segments, 1))


def _cue(form: str, number: int, segment: Segment) -> str:
    said = " ".join(segment.text.split())
    begin, end = (_clock(each, "," if form == "srt" else ".")
                  for each in (segment.start, segment.end))
    if form == "vtt":
        return f"{begin} --> {end}\n{html.escape(said, quote=False)}\n\n"
    return f"{number}\n{begin} --> {end}\n{said.replace('-->', '->')}\n\n"


def _clock(seconds: float, point: str) -> str:
    whole = round(1000 * seconds)
    minutes, rest = divmod(whole, 60_000)
    return (f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{point}"
            f"{rest % 1000:03}")
