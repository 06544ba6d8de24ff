#!/usr/bin/env python3
# Loading and encoding of real tokenizers beside Hugging Face's `tokenizers`, in
# turns, on one thread. Prints a row of Markdown a tokenizer.
#   text_speed.py --library libtfc_runtime.so TOKENIZER.json...
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import ctypes
import os
import statistics
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "test", "differential"))

import text_corpus
from text_binding import Library, Options, Tokenizer

ROUNDS = 7


def seconds(call):
    """CPU time, so that what else the machine does counts less."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def encode_ours(ours, texts):
    """Tokens and places, without the lists that Python would make of them, as
    in `tokenizers`, which makes them when they are asked for."""
    api, tokens = ours.library.api, ctypes.c_void_p()
    for text in texts:
        text = text.encode()
        given = Options(struct_size=ctypes.sizeof(Options), text=text,
                        text_bytes=len(text))
        ours.library.call("tfc_tokenizer_encode", ours.handle,
                          ctypes.byref(given), ctypes.byref(tokens))
        api.tfc_tokens_free(tokens)


def encode_theirs(theirs, texts):
    for text in texts:
        theirs.encode(text)


def main():
    import tokenizers
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", required=True)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    library = Library(os.path.abspath(options.library))
    texts = [text for text in text_corpus.of_code() if len(text) < 4000][:1500]
    size = sum(len(text.encode()) for text in texts)
    print(f"{len(texts)} texts of {size / 1e6:.2f} MB, medians of {ROUNDS} "
          "rounds, CPU time")
    print("| tokenizer | load | tokenizers | encode MB/s | tokenizers |")
    print("|---|---|---|---|---|")
    for path in options.files:
        load, encode = ([], []), ([], [])
        for _ in range(ROUNDS):
            made = [None, None]

            def load_ours():
                made[0] = Tokenizer(library, path)

            def load_theirs():
                made[1] = tokenizers.Tokenizer.from_file(path)

            load[0].append(seconds(load_ours))
            load[1].append(seconds(load_theirs))
            made[1].no_truncation()
            made[1].no_padding()
            encode[0].append(seconds(lambda: encode_ours(made[0], texts)))
            encode[1].append(seconds(lambda: encode_theirs(made[1], texts)))
        median = statistics.median
        print(f"| {os.path.basename(os.path.dirname(path))} "
              f"| {median(load[0]):.3f} s | {median(load[1]):.3f} s "
              f"| {size / median(encode[0]) / 1e6:.1f} "
              f"| {size / median(encode[1]) / 1e6:.1f} |", flush=True)


if __name__ == "__main__":
    main()
