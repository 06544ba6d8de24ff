#!/usr/bin/env python3
# Writes UnicodeTables.inc: what Hugging Face's `tokenizers` does to single
# characters, asked from the package itself, whose parts follow different
# versions of Unicode. test/differential/run_text_tables.py asks again.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import struct
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = os.path.join(HERE, "UnicodeTables.inc")
# The characters that are asked for: every one, unless a test takes a sample.
# Halves of pairs of UTF-16 are none.
POINTS = [p for p in range(0x110000) if not 0xd800 <= p < 0xe000]
ALL = "".join(map(chr, POINTS))
# What no normal form and no mapping to lower case touches.
MARK = "\x01"
PROPERTIES = (
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk "
    "So Z Zs Zl Zp C Cc Cf Co Han Hiragana Katakana Hangul Latin Greek "
    "Cyrillic Arabic Hebrew Thai Alphabetic Uppercase Lowercase").split()


def to_ranges(points):
    found = []
    for point in sorted(points):
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def ask_property(pattern):
    """The characters that a pattern of one character matches."""
    from tokenizers import Regex, pre_tokenizers
    split = pre_tokenizers.Split(Regex(f"(?:{pattern})+"), "removed")
    return outside(split.pre_tokenize_str(ALL))


def outside(pieces):
    """The characters of ALL that no piece has."""
    inside = bytearray(len(ALL))
    for _, (begin, end) in pieces:
        inside[begin:end] = b"\x01" * (end - begin)
    return {POINTS[i] for i in range(len(ALL)) if not inside[i]}


def ask_isolated(splitter):
    """The characters that become a piece of their own between letters."""
    pieces = splitter.pre_tokenize_str("".join(f"a{c}a" for c in ALL))
    return {POINTS[begin // 3] for _, (begin, end) in pieces
            if begin % 3 == 1 and end == begin + 1}


def ask_joined(splitter):
    """The characters that join two letters to one piece."""
    pieces = splitter.pre_tokenize_str("".join(f"a{c}a " for c in ALL))
    return {POINTS[begin // 4] for _, (begin, end) in pieces
            if begin % 4 == 0 and end == begin + 3}


def ask_map(normalizer, mark=MARK):
    """Character -> what it becomes, where that is something else."""
    points = [p for p in POINTS if chr(p) != mark]
    text = normalizer.normalize_str("".join(mark + chr(p) for p in points))
    parts = text.split(mark)[1:]
    assert len(parts) == len(points)
    return {p: part for p, part in zip(points, parts) if part != chr(p)}


def ask_clusters():
    """Classes of grapheme clusters, by a map that makes Y of a cluster that
    begins with A, Z of any that begins beyond ASCII, and forgets the rest of a
    cluster of less than six bytes."""
    from tokenizers import normalizers
    units = [0] * 1024
    units[0] = 256 << 10
    for byte in [ord("A"), *range(0xc2, 0xf5)]:
        units[256 + byte] = 512 << 10 | 1 << 8 | byte
        units[768 + byte] = 0 if byte == ord("A") else 2
    array = struct.pack(f"<{len(units)}I", *units)
    clusters = normalizers.Precompiled(
        struct.pack("<I", len(array)) + array + b"Y\0Z\0")

    def ask(before, after, points, wanted):
        text = "\n".join(before + chr(p) + after for p in points)
        lines = clusters.normalize_str(text).split("\n")
        assert len(lines) == len(points)
        return {p for p, line in zip(points, lines) if line == wanted}

    others = [p for p in POINTS if p >= 0x80]
    extend = ask("A", "", others, "Y")
    # Two marks behind one that ends a cluster are a short one, too long else.
    control = ask("", "\u0301\u0301", others, "ZZ")
    pictographic = ask("\u00a9\u200d", "", others, "ZZZ") - extend
    return {"cluster.extend": extend,
            "cluster.prepend": ask("", "A", others, "Z"),
            "cluster.control": control | set(range(0x20)) | {0x7f},
            "cluster.pictographic": pictographic}


def bert(**switches):
    from tokenizers import normalizers
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return normalizers.BertNormalizer(
        **{name: switches.get(name, False) for name in names})


def make_sets():
    from tokenizers import normalizers, pre_tokenizers
    sets = {name: ask_property(f"\\p{{{name}}}") for name in PROPERTIES}
    sets["pattern.space"] = ask_property(r"\s")
    sets["pattern.word"] = ask_property(r"\w")
    sets["pattern.hex"] = ask_property(r"\h")
    sets["white_space"] = outside(
        pre_tokenizers.WhitespaceSplit().pre_tokenize_str(ALL))
    sets["word"] = ask_joined(pre_tokenizers.Whitespace())
    sets["numeric"] = ask_isolated(pre_tokenizers.Digits(True))
    sets["bert.punctuation"] = ask_isolated(pre_tokenizers.BertPreTokenizer())
    cleaned = ask_map(bert(clean_text=True), "a")
    sets["bert.gone"] = {p for p, to in cleaned.items() if to == ""}
    sets["bert.space"] = {p for p, to in cleaned.items() if to == " "}
    assert set(cleaned.values()) <= {"", " "}
    sets["bert.chinese"] = set(ask_map(bert(handle_chinese_chars=True)))
    stripped = ask_map(bert(strip_accents=True))
    sets["bert.mark"] = {p for p, to in stripped.items() if to == ""}
    sets["accent"] = set(ask_map(normalizers.StripAccents()))
    sets.update(ask_clusters())
    return sets


def make_compositions(decompositions):
    """(first, second) -> the character that NFC makes of them."""
    from tokenizers import normalizers
    nfc = normalizers.NFC().normalize_str
    pairs = {}
    for point, parts in decompositions.items():
        first, second = nfc(parts[:-1]), parts[-1]
        if len(parts) > 1 and len(first) == 1 and \
                nfc(first + second) == chr(point):
            pairs[ord(first), ord(second)] = point
    return pairs


def make_classes():
    """Character -> canonical combining class. Only order counts, and whether
    it is 0, which is asked: U+0345 is behind all others."""
    from tokenizers import normalizers
    nfd = normalizers.NFD().normalize_str
    return {p: unicodedata.combining(chr(p)) for p in POINTS
            if unicodedata.combining(chr(p)) and (
                p == 0x345 or nfd("a\u0345" + chr(p))[-1] == "\u0345")}


def is_hangul(point):
    return 0xac00 <= point < 0xd7a4


def rows(items, columns):
    line = ""
    for item in items:
        if len(line) + len(item) + 1 > columns:
            yield line.rstrip()
            line = ""
        line += item + " "
    if line:
        yield line.rstrip()


def write_array(out, declaration, items):
    out.append(f"static constexpr {declaration}[] = {{")
    out.extend(rows((f"{item}," for item in items), 80))
    out.append("};")


def write_sets(out, sets):
    ranges, places = [], []
    for name, points in sets.items():
        begin = len(ranges)
        ranges += to_ranges(points)
        places.append(f'{{"{name}", {begin}, {len(ranges)}}}')
    write_array(out, "CharacterRange allRanges",
                (f"{{{first:#x}, {last:#x}}}" for first, last in ranges))
    write_array(out, "NamedRanges allSets", places)


def write_map(out, name, mapping):
    """Sorted by character; where in one text the others stand, how many."""
    text, places = "", []
    for point, to in sorted(mapping.items()):
        at = text.find(to)
        if at < 0:
            at, text = len(text), text + to
        places.append(f"{{{point:#x}, {at}, {len(to)}}}")
    write_array(out, f"char32_t {name}Text",
                (f"{ord(c):#x}" for c in text))
    write_array(out, f"CharacterMapping {name}Map", places)


def ask_tables():
    """What the file holds: sets of characters by name; what characters become,
    by the name of the map; pairs that compose; combining classes."""
    from tokenizers import normalizers
    forms = {"canonical": normalizers.NFD(), "compatible": normalizers.NFKD(),
             "lower": normalizers.Lowercase()}
    maps = {name: {p: to for p, to in ask_map(form).items()
                   if not is_hangul(p)} for name, form in forms.items()}
    # What only the compatible form changes.
    maps["compatible"] = {p: to for p, to in maps["compatible"].items()
                          if maps["canonical"].get(p) != to}
    return {"sets": make_sets(), "maps": maps,
            "compositions": make_compositions(maps["canonical"]),
            "classes": make_classes()}


def make_tables():
    import tokenizers
    out = ["// What Hugging Face's tokenizers " + tokenizers.__version__ +
           " does to single characters.",
           "// Made by make_tables.py; read by "
           "UnicodeTables.cpp.",
           "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"]
    asked = ask_tables()
    write_sets(out, asked["sets"])
    for name, mapping in asked["maps"].items():
        write_map(out, name, mapping)
    write_array(out, "Composition allCompositions",
                (f"{{{a:#x}, {b:#x}, {c:#x}}}"
                 for (a, b), c in sorted(asked["compositions"].items())))
    write_array(out, "CombiningClass allClasses",
                (f"{{{p:#x}, {k}}}"
                 for p, k in sorted(asked["classes"].items())))
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    with open(TABLES, "w", encoding="utf-8") as stream:
        stream.write(make_tables())
