# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m tfcompiler chat HF_DIR: talks with a model on the terminal;
python -m tfcompiler serve HF_DIR: answers at an address; python -m tfcompiler
replay RECEIPT --model HF_DIR: computes such an answer again;
python -m tfcompiler transcribe HF_DIR FILE.wav: what is said in a sound;
python -m tfcompiler compare-batches HF_DIR --texts FILE: whether an answer
depends on who else asks."""
from __future__ import annotations

import argparse
import dataclasses
import json
import sys

from tfcompiler import Error, _compare, compile
from tfcompiler._subtitles import subtitles
from tfcompiler.serve import _main as server
from tfcompiler.serve import _replay as replayed


def chat(options) -> int:
    """A turn for each line of standard input."""
    model = compile(options.folder, target=options.target)
    messages = []
    if options.system:
        messages.append({"role": "system", "content": options.system})
    words = {"do_sample": True, "temperature": options.temperature} \
        if options.temperature else {"do_sample": False}
    while True:
        print("> " if sys.stdin.isatty() else "", end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            return 0
        messages.append({"role": "user", "content": line.rstrip("\n")})
        answer = ""
        for piece in model.stream_chat(
                messages, max_new_tokens=options.max_tokens, **words):
            answer += piece
            print(piece, end="", flush=True)
        print(flush=True)
        messages.append({"role": "assistant", "content": answer})


def transcribe(options) -> int:
    """Of each file what is said, on standard output."""
    model = compile(options.folder, target=options.target)
    has_times = options.format != "text"
    for path in options.sounds:
        made = model.generate(
            sound=path, language=options.language, task=options.task,
            prompt=options.prompt,
            return_timestamps=True if has_times else None)
        if options.format == "json":
            print(json.dumps({"file": path, **dataclasses.asdict(made)},
                             ensure_ascii=False), flush=True)
        else:
            print(subtitles(options.format, made.segments) if has_times
                  else made.strip() + "\n", end="", flush=True)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="tfc",
                                     description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    talk = commands.add_parser("chat", help="talk with a model; a line a turn")
    talk.add_argument("folder", help="a Hugging Face folder")
    talk.add_argument("--system", help="what the model is told first")
    talk.add_argument("--temperature", type=float, default=0.0,
                      help="0 (default): the likeliest token")
    talk.add_argument("--max-tokens", type=int, default=512,
                      help="of an answer")
    talk.add_argument("--target", help="tfc compile's --target")
    talk.set_defaults(run=chat)
    serve = commands.add_parser(
        "serve", help="answer requests of OpenAI's, Cohere's and other clients")
    server.add_arguments(serve)
    serve.set_defaults(run=server.serve)
    again = commands.add_parser(
        "replay", help="compute a served answer again, by its receipt")
    replayed.add_arguments(again)
    again.set_defaults(run=replayed.replay)
    compares = commands.add_parser(
        "compare-batches", help="answer texts alone and in random mixtures, "
        "of a folder or of any server with OpenAI's addresses")
    _compare.add_arguments(compares)
    compares.set_defaults(run=_compare.run)
    hears = commands.add_parser(
        "transcribe", help="write what is said in WAV files, and when")
    hears.add_argument("folder", help="a Hugging Face folder")
    hears.add_argument("sounds", nargs="+", metavar="FILE.wav",
                       help="16000 samples a second of 16 bits")
    hears.add_argument("--language", help="as de or german; by default the one "
                       "that is heard")
    hears.add_argument("--task", choices=("transcribe", "translate"),
                       help="translate: into English")
    hears.add_argument("--prompt", metavar="TEXT", help="what was said before, "
                       "as names that are to be spelt so")
    hears.add_argument("--format", default="text",
                       choices=("text", "srt", "vtt", "json"),
                       help="text (default), or with times: subtitles, or an "
                       "object a line and file")
    hears.add_argument("--target", help="tfc compile's --target")
    hears.set_defaults(run=transcribe)
    options = parser.parse_args()
    try:
        return options.run(options)
    except Error as error:
        print(f"tfcompiler: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
