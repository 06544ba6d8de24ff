# Texts for the tokenizers' differential test: what the machine's programs say
# in all languages that it has, code, and random texts of awkward characters.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import gettext
import glob
import os
import re
import unicodedata

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
BYTES_A_LANGUAGE = 60000
# First and last character of what random texts are made of.
BLOCKS = [(0x20, 0x7e), (0x20, 0x7e), (0xa0, 0x24f), (0x250, 0x36f),
          (0x300, 0x36f), (0x370, 0x5ff), (0x600, 0x7ff), (0x900, 0xdff),
          (0xe00, 0x11ff), (0x1100, 0x11ff), (0x1e00, 0x20ff),
          (0x2000, 0x206f), (0x2100, 0x2bff), (0x3000, 0x33ff),
          (0x4e00, 0x51ff), (0xac00, 0xd7a3), (0xf900, 0xfb4f),
          (0xfb00, 0xfeff), (0xff00, 0xffef), (0x10000, 0x10ffe),
          (0x1d400, 0x1d7ff), (0x1e000, 0x1e94f), (0x1f300, 0x1faff),
          (0x20000, 0x200ff), (0xe0000, 0xe01ff), (1, 0x1f)]
SPICE = list(" \t\n\r  \u00a0\u3000'\"-_.,0123456789") + [
    "'s", "'t", "'re", "\u017f", " '\u017f", "<s>", "</s>", "[CLS]", "[MASK]",
    " [MASK] ", "<unk>", "<|endoftext|>", "<mask>", "\u2581", "\r\n", "\n\n",
    "e\u0301", "\u212a", "\u0130", "\ufb06", "\u200d", "\ufeff",
    "\u0345\u0301", "\u0602", "\u0600a", "\u1100\u1161\u11a8",
    "\u0915\u094d\u0937", "\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea", "\u00a9\u200d\u2603"]
CORNERS = ["", " ", "  ", " " * 100, "a" * 300, "\u4e2d" * 50, "\n\n\n  x",
           "\u0301", "'", "I'll've", "\x00a\x00"]


def of_programs():
    """What installed programs say, at most so much of a language."""
    amounts, texts = {}, []
    for path in sorted(glob.glob("/usr/share/locale*/*/LC_MESSAGES/*.mo") +
                       glob.glob("/usr/lib/python3*/**/*.mo", recursive=True)):
        language = path.split("/LC_MESSAGES/")[0].split("/")[-1]
        if amounts.get(language, 0) > BYTES_A_LANGUAGE:
            continue
        try:
            with open(path, "rb") as stream:
                catalog = gettext.GNUTranslations(stream)._catalog
        except (OSError, ValueError, LookupError):
            continue
        for text in catalog.values():
            if isinstance(text, str) and 0 < len(text) < 4000:
                texts.append(text)
                amounts[language] = amounts.get(language, 0) + \
                    len(text.encode())
    return texts, len(amounts)


def of_code():
    texts = []
    for path in sorted(glob.glob(os.path.join(ROOT, "runtime/src/*.cpp")) +
                       glob.glob(os.path.join(ROOT, "docs/*.md")) +
                       glob.glob(os.path.join(ROOT, "test/*/*.py"))):
        with open(path, encoding="utf-8") as stream:
            texts += re.split(r"(?<=\n)\n", stream.read())
    return texts


def draw(random):
    """A random text; halves of pairs of UTF-16 are no characters."""
    def piece():
        if random.random() < 0.35:
            return random.choice(SPICE)
        return chr(random.randint(*random.choice(BLOCKS)))

    text = "".join(piece() for _ in range(random.randint(1, 24)))
    return "".join(c for c in text if unicodedata.category(c) != "Cs")
