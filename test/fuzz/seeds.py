# Inputs that the fuzzers begin with: made of what the repository has, or
# written down here. The words of a format are those that its reader knows.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import glob
import json
import os
import re
import struct

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
MODELS = os.path.join(ROOT, "test", "golden", "models")


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


SIZES = {"F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I64": 8, "I8": 1, "U8": 1,
         "F8_E4M3": 1, "F8_E8M0": 1}


def header_of(tensors):
    """The header of tensors [(name, shape, dtype)], F32 where none is said, and
    how long the data is."""
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, shape, *dtype in tensors:
        dtype = dtype[0] if dtype else "F32"
        size = SIZES[dtype]
        for axis in shape:
            size *= axis
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [end, end + size]}
        end += size
    return json.dumps(header).encode(), end


def sizes_of(tensors):
    """(name, bytes) of each, as header_of counts them."""
    for name, shape, *dtype in tensors:
        yield name, header_of([(name, shape, *dtype)])[1]


def tensors():
    """What FuzzTensors.cpp binds, whole and in parts; an index."""
    parts = [("model.embed.weight", [4, 2]),
             ("model.layers.0.mix.weight", [2, 6]),
             ("model.layers.1.mix.gamma", [2, 6]),
             ("head.bias", [4]), ("head.weight", [4, 2])]
    for count in range(1, len(parts) + 1):
        header, size = header_of(parts[:count])
        yield b"h" + struct.pack("<H", size) + header
    header, size = header_of(parts)
    yield b"f" + struct.pack("<Q", len(header)) + header + bytes(size)
    yield b"i" + json.dumps({"metadata": {"total_size": 96}, "weight_map": {
        name: "model-00001-of-00002.safetensors"
        for name, _ in parts}}).encode()


    yield from gguf()
    for config, parts in QUANTIZED:
        header, size = header_of(parts)
        yield b"q" + json.dumps({"quantization_config": config}).encode() + \
            b"\xff" + struct.pack("<H", size) + header
        # Shapes and groups that are not all zero.
        yield b"r" + json.dumps({"quantization_config": config}).encode() + \
            b"\xff" + struct.pack("<Q", len(header)) + header + \
            b"".join(struct.pack("<qq", 3, 16) if name.endswith("weight_shape")
                     else bytes([1, 0, 0, 0] * (count // 4)) + bytes(count % 4)
                     for name, count in sizes_of(parts))


def gguf():
    """A file with blocks of every kind that is read, one a row of heads."""
    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()
    values = [text("general.architecture") + struct.pack("<I", 8) +
              text("llama"),
              text("llama.attention.head_count") + struct.pack("<II", 4, 2),
              text("llama.list") + struct.pack("<IIQ2H", 9, 2, 2, 1, 2)]
    for kind, size in ((0, 4), (1, 2), (2, 18), (3, 20), (6, 22), (7, 24),
                       (8, 34), (12, 144), (13, 176), (14, 210), (30, 2),
                       (39, 17)):
        columns = 256 if kind in (12, 13, 14) else 32
        bytes_of_row = size * (32 if kind in (0, 1, 30) else 1)
        info = text("blk.0.attn_q.weight") + struct.pack(
            "<IQQIQ", 2, columns, 4, kind, 0)
        head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(values)) + \
            b"".join(values) + info
        yield b"f" + head + bytes(-len(head) % 32) + bytes(4 * bytes_of_row)
    # A part of a model, whose others are not there.
    for number, count in ((0, 2), (1, 2), (0, 1)):
        more = [text("split.no") + struct.pack("<IH", 2, number),
                text("split.count") + struct.pack("<IH", 2, count),
                text("split.tensors.count") + struct.pack("<Ii", 5, 1)]
        head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(values + more)) + \
            b"".join(values + more) + text("blk.0.ffn_up.weight") + \
            struct.pack("<IQQIQ", 2, 4, 4, 0, 0)
        yield b"f" + head + bytes(-len(head) % 32) + bytes(64)
    # Experts, and two tensors that are one.
    for kind, names in (("qwen3moe", ["ffn_up_exps"]),
                        ("gpt-oss", ["ffn_gate_exps", "ffn_up_exps",
                                     "ffn_down_exps"])):
        values = [text("general.architecture") + struct.pack("<I", 8) +
                  text(kind)]
        infos = [text(f"blk.0.{name}.weight") + struct.pack(
            "<IQQQIQ", 3, 8, 1, 2, 0, 64 * i)
            for i, name in enumerate(names)]
        head = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(values)) + \
            b"".join(values) + b"".join(infos)
        yield b"f" + head + bytes(-len(head) % 32) + bytes(64 * len(infos))
    # Heads that change places, of rows and of columns.
    values = [text("general.architecture") + struct.pack("<I", 8) +
              text("qwen35")] + [
        text("qwen35.ssm." + key) + struct.pack("<II", 4, value)
        for key, value in (("group_count", 2), ("time_step_rank", 4),
                           ("inner_size", 8), ("state_size", 1))]
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, len(values)) + \
        b"".join(values) + text("blk.0.ssm_alpha.weight") + struct.pack(
            "<IQQIQ", 2, 1, 4, 0, 0) + text("blk.0.ssm_out.weight") + \
        struct.pack("<IQQIQ", 2, 8, 1, 0, 32)
    yield b"f" + head + bytes(-len(head) % 32) + bytes(64)


# A config, and the tensors of a matrix.
QUANTIZED = [
    ({"quant_method": "gptq", "bits": 4, "group_size": 8, "sym": False}, [
        ("m.qweight", [2, 8], "I32"), ("m.qzeros", [2, 1], "I32"),
        ("m.scales", [2, 8], "F16"), ("m.g_idx", [16], "I32")]),
    ({"bits": 8, "checkpoint_format": "gptq_v2", "group_size": 3}, [
        ("m.qweight", [2, 8], "I32"), ("m.qzeros", [3, 2], "I32"),
        ("m.scales", [3, 8], "F16"), ("n.qweight", [1, 8], "I32"),
        ("n.qzeros", [1, 2], "I32"), ("n.scales", [1, 8], "F32")]),
    ({"quant_method": "awq", "version": "GEMM", "zero_point": True}, [
        ("m.qweight", [4, 2], "I32"), ("m.qzeros", [2, 2], "I32"),
        ("m.scales", [2, 16], "F16")]),
    ({"quant_method": "compressed-tensors", "format": "pack-quantized"}, [
        ("m.weight_packed", [3, 2], "I32"), ("m.weight_scale", [3, 2], "BF16"),
        ("m.weight_shape", [2], "I64"),
        ("m.weight_zero_point", [1, 2], "I32"),
        ("m.weight_g_idx", [16], "I32")]),
    ({"config_groups": {"g": {"weights": {"num_bits": 8}}}}, [
        ("model.embed.weight", [4, 2], "I8"),
        ("model.embed.weight_scale", [4, 1], "F32"),
        ("model.embed.weight_zero_point", [4, 1], "I8"),
        ("model.embed.input_scale", [1], "F32")]),
    ({"quant_method": "fp8", "weight_block_size": [2, 3]}, [
        ("m.weight", [3, 4], "F8_E4M3"),
        ("m.weight_scale_inv", [2, 2], "F8_E8M0")]),
    ({"quant_method": "fbgemm_fp8"}, [
        ("m.weight", [3, 4], "F8_E4M3"), ("m.weight_scale", [3, 1], "F32")]),
    ({"format": "nvfp4-pack-quantized", "config_groups": {}}, [
        ("m.weight_packed", [2, 16], "U8"), ("m.weight_scale", [2, 2],
                                             "F8_E4M3"),
        ("m.weight_global_scale", [1], "F32")]),
    ({"format": "mxfp4-pack-quantized", "config_groups": {}}, [
        ("m.weight_packed", [2, 16], "U8"), ("m.weight_scale", [2, 1], "U8")]),
    ({"quant_method": "bitsandbytes"}, [
        ("m.weight", [2, 2], "I8"), ("m.SCB", [2], "F32")])]


def packed():
    """The good file; sums made right, or not; cut; changed in the header."""
    for sums in range(4):
        yield bytes([sums, 0, 0])
        yield bytes([sums, 1, 0]) + struct.pack("<HB", 5000, 7)
    for place in range(0, 320, 8):
        yield b"\x03\x00\x00" + struct.pack("<HB", place, 1)


def spec():
    for path in sorted(glob.glob(os.path.join(ROOT, "examples", "specs",
                                              "*.json"))):
        yield read(path)


def config():
    """Every golden model's own, where its weights are one file."""
    for path in sorted(glob.glob(os.path.join(MODELS, "*", "config.json"))):
        folder = os.path.dirname(path)
        if not os.path.exists(os.path.join(folder, "model.safetensors")):
            continue
        lines = [os.path.basename(folder)]
        for name in ("config.json", "generation_config.json"):
            whole = os.path.join(folder, name)
            value = json.loads(read(whole)) if os.path.exists(whole) else None
            lines.append(json.dumps(value) if value is not None else "")
        yield "\n".join(lines).encode()


def text():
    """Small tokenizers, without the texts of their merges and tokens that make
    them long, and awkward texts for them."""
    yield from vocabularies()
    path = os.path.join(ROOT, "test", "unit", "text", "golden.jsonl")
    with open(path, encoding="utf-8") as stream:
        pipelines = [json.loads(line) for line in stream]
    for number, pipeline in enumerate(pipelines):
        spec = json.loads(pipeline["tokenizer"])
        model, texts = spec["model"], [c["text"] for c in pipeline["cases"]]
        if isinstance(model["vocab"], dict):
            most = 12 if not spec["added_tokens"] else \
                max(t["id"] for t in spec["added_tokens"]) + 12
            model["vocab"] = {token: i for token, i in model["vocab"].items()
                              if i < most}
        else:
            model["vocab"] = model["vocab"][:12]
        if "merges" in model:
            model["merges"] = [m for m in model["merges"]
                               if {*m, "".join(m)} <= set(model["vocab"])]
        yield b"t" + json.dumps(spec).encode() + b"\0" + texts[2].encode()
        for one in texts[:12]:
            yield b"f" + bytes([number]) + one.encode()
    yield from budgets()


def budgets():
    """Files that ask for much of a text: tokens that take what is beside them,
    long tokens, patterns that go back, decoders that make texts longer."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    many = "a" * 300

    def split(pattern):
        return {"pre_tokenizer": {"type": "Split", "behavior": "Isolated",
                                  "pattern": {"Regex": pattern},
                                  "invert": False}}

    def added(*texts):
        return {"added_tokens": [
            {"id": 2 + i, "content": text,
             **{flag: (i + place) % 2 == 0 for place, flag in enumerate(flags)}}
            for i, text in enumerate(texts)]}

    grow = {"type": "Replace", "pattern": {"String": "a"}, "content": many}
    level = {"type": "ByteLevel", "add_prefix_space": True,
             "trim_offsets": True, "use_regex": True}
    words = {"type": "WordLevel", "unk_token": "u", "vocab": {"u": 0, "a": 1}}
    pieces = {"type": "WordPiece", "unk_token": "u",
              "continuing_subword_prefix": "##",
              "max_input_chars_per_word": 1 << 20,
              "vocab": {"u": 0, "a": 1, "##a": 2, "##" + many + "b": 3}}
    scores = {"type": "Unigram", "unk_id": 0, "byte_fallback": True, "vocab": [
        ["u", -2.5], ["a", -1.7231812103833013], [many + "b", -1e-3],
        ["<0xE2>", -3], ["<0x96>", -3], ["<0x81>", -3]]}
    bytes_then = {"decoder": {"type": "Sequence", "decoders": [
        {"type": "ByteFallback"},
        {"type": "WordPiece", "prefix": "##", "cleanup": True}]}}
    for text, file in (
            ("<x>\n\n\nab<x> <x", added("<x>", "\n\n", " ", "<x")),
            (many + "b" + many, added("a" * 30 + "b", "aa", many)),
            (many * 4, {"model": pieces}), (many * 4, {"model": scores}),
            ("\u2581\u7b97 a", {"model": scores, **bytes_then}),
            ("a " + " " * 300 + "b", split(r"\s+$|x*\s+?\z")),
            (many, split("(a+)+b")), ("m\u00b2 a-1", split(r"[\w']+|[^\W\d]")),
            ("a\u00b2 B", split(r"[[:alpha:]]+|\p{Letter}|[[:^punct:]]")),
            (" a ", {"post_processor": level}),
            ("a a", {"decoder": {"type": "Sequence",
                                 "decoders": [grow, grow, grow]}})):
        spec = {"version": "1.0", "added_tokens": [], "model": words, **file}
        yield b"t" + json.dumps(spec).encode() + b"\0" + text.encode()


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    """Of a protobuf: a number, or the bytes of a text or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def sentencepiece(kind, is_plain=False):
    """A model of a few pieces: kind 1 is Unigram, 2 BPE; plain ones are no
    bytes and nobody's."""
    pieces = [("<unk>", 2), ("<s>", 3), ("</s>", 3), ("\u2581", 1), ("t", 1),
              ("\u2581t", 1), ("<0x0A>", 6), ("<sep>", 4), ("\u00e9", 1)]
    if is_plain:
        pieces = [piece for piece in pieces if piece[1] < 4]
    return b"".join(
        field(1, field(1, text.encode()) + varint(2 << 3 | 5) +
              struct.pack("<f", -number) + field(3, sort))
        for number, (text, sort) in enumerate(pieces)) + field(
            2, field(3, kind) + field(35, 1) + field(40, 0)) + field(
                3, field(1, b"identity") + field(3, 1))


def vocabularies():
    """As FuzzText.cpp numbers the classes."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "time", "##s"]
    config = {"do_lower_case": False, "mask_token": {"content": "[MASK]"},
              "added_tokens_decoder": {"7": {"content": "<a>"}}}
    yield b"v\0" + "\n".join(tokens).encode()
    yield b"v\0" + "\n".join(tokens).encode() + b"\xff" + \
        json.dumps({"tokenizer_class": "BertTokenizer", **config}).encode()
    yield b'v\1{"t": 0, "i": 1, "ti": 2}\xff#version: 0.2\nt i\n'
    for number, kind in ((2, 1), (3, 2), (4, 1)):
        yield b"v" + bytes([number]) + sentencepiece(kind)
    ids = {text: i for i, text in enumerate(
        ("<s>", "<pad>", "</s>", "<unk>", "\u2581t", ">>fra<<"))}
    for number, kind in ((5, 1), (6, 2)):
        yield b"v" + bytes([number]) + json.dumps(ids).encode() + b"\xff" + \
            sentencepiece(kind, True)


def api():
    """Bytes of every kind: the fuzzer finds the calls by itself."""
    for first in range(0, 256, 8):
        yield bytes((first + 37 * i * i) % 256 for i in range(256))


# Fuzzer -> its first inputs, and the sources whose strings are its words.
TARGETS = {"tensors": (tensors, ["runtime/src/files/Safetensors*.cpp",
                        "runtime/src/files/gguf/*.cpp",
                        "runtime/src/files/quantized/*.cpp"]),
           "packed": (packed, []),
           "spec": (spec, ["compiler/spec/*.cpp"]),
           "config": (config, ["compiler/huggingface/*.cpp"]),
           "text": (text, ["runtime/text/Read*.cpp",
                    "runtime/text/*Classes.cpp",
                    "runtime/text/Tokenizer*.cpp"]),
           "api": (api, [])}


def words(target):
    """libFuzzer's dictionary: the words of the sources, as JSON strings."""
    found = set()
    for pattern in TARGETS[target][1]:
        for path in glob.glob(os.path.join(ROOT, pattern)):
            found |= set(re.findall(r'"([A-Za-z0-9_.+$-]{2,40})"',
                                    read(path).decode()))
    return "".join(f'"\\"{word}\\""\n' for word in sorted(found))


def write(target, folder):
    """The first inputs of a fuzzer, in a folder."""
    os.makedirs(folder, exist_ok=True)
    for number, content in enumerate(TARGETS[target][0]()):
        with open(os.path.join(folder, f"{number:03}"), "wb") as stream:
            stream.write(content)
