# Specs that are none, through `tfc compile` and `tfc spec`: each is refused
# with one line a fault, and leaves nothing behind.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import sys

from expect import problems

# Name; what is replaced in the good spec, and by what (None: the whole text is
# given); the place and the message of each fault, * standing for any text.
CASES = [
    ("empty", None, b"", ["1:1: /: expected *got *"]),
    ("blank", None, b" \n ", ["2:1: /: expected *end of input*"]),
    ("binary", None, bytes(range(256)), ["1:1: /: expected *"]),
    ("null", None, b"null", ["1:1: /: expected an object*"]),
    ("list", None, b"[]", ["1:1: /: expected an object*"]),
    ("number", None, b"1e999999", ["1:1: /: expected *"]),
    ("cut short", '"max_positions": 64', '"max_pos', ["*: expected *"]),
    ("trailing comma", '"name": "tiny-bert",', '"name": "tiny-bert",,',
     ["4:*: expected *"]),
    ("text behind", '"{p}pooler.dense" } }\n}', '"{p}pooler.dense" } }\n} x',
     ["2*: expected *"]),
    ("comment", '"tfc": 1,', '"tfc": 1, // one', ["2:*: expected *"]),
    ("not UTF-8", "tiny-bert", b"tiny-\xff", ["4:*: expected *"]),
    ("duplicate key", '"tfc": 1,', '"tfc": 1, "tfc": 1,',
     ["2:*: /tfc: expected *"]),
    ("too deep", '"tfc": 1,',
     '"tfc": 1, "meta": ' + "[" * 100 + "]" * 100 + ",", ["2:*: *64*"]),
    ("another version", '"tfc": 1', '"tfc": 2', ["2:*: /tfc: expected the number 1*got 2*"]),
    ("nothing", None, b"{}",
     ["1:1: /dims: expected *", "1:1: /kind: expected *",
      "1:1: /tfc: expected *"]),
    ("unknown key", '"vocab": 97', '"vocab": 97, "hiden": 1',
     ["5:*: /dims/hiden: *hidden*"]),
    ("unknown preset", "preset:bert", "preset:berta",
     ["3:*: /extends: expected *bert*berta*"]),
    ("missing base", "preset:bert", "none.json",
     ["3:*: /extends: expected *none.json*"]),
    ("itself as base", "preset:bert", "m.json", ["*/extends: expected *"]),
    ("text for a number", '"hidden": 104', '"hidden": "104"',
     ["5:*: /dims/hidden: expected *got \"104\"*"]),
    ("fraction for a count", '"repeat": 2', '"repeat": 2.5',
     ["8:*: /encoder/layers/repeat: expected *got 2.5*"]),
    ("negative width", '"width": 150', '"width": -150',
     ["9:*: /encoder/layers/block/ffn/width: expected *got -150*"]),
    ("zero heads", '"num_heads": 4', '"num_heads": 0',
     ["9:*: /encoder/layers/block/attn/num_heads: expected *got 0*"]),
    ("heads that do not divide", '"num_heads": 4', '"num_heads": 5',
     ["9:*: /encoder/layers/block/attn/*: expected *5*"]),
    ("groups that do not divide", '"num_heads": 4',
     '"num_heads": 4, "num_kv_heads": 3',
     ["9:*: /encoder/layers/block/attn/num_kv_heads: expected *got 3*"]),
    ("more than an integer holds", '"hidden": 104',
     '"hidden": 99999999999999999999', ["5:*: /dims/hidden: expected *"]),
    ("a size that overflows", '"vocab": 97', '"vocab": 9000000000000000000',
     ["5:*: /dims/vocab: expected *"]),
    ("too many layers", '"repeat": 2', '"repeat": 1000000',
     ["8:*: /encoder/layers/repeat: expected *"]),
    ("unknown activation", '"act": "tanh"', '"act": "tanhh"',
     ["17:*: /heads/pooler/steps/1/act: *mean \"tanh\"*"]),
    ("activation of another name", '"act": "tanh"', '"act": "swish"',
     ["17:*: /heads/pooler/steps/1/act: expected *"]),
    ("unknown step", '"op": "take"', '"op": "tak"',
     ["16:*: /heads/pooler/steps/0/op: *mean \"take\"*"]),
    ("head of nothing", '"from": "encoder"', '"from": "decoder"',
     ["14:*: /heads/pooler/from: expected *decoder*"]),
    ("output of nothing", '"pooler_output": "pooler"',
     '"pooler_output": "pool"',
     ["23:*: /outputs/pooler_output: expected *pool*"]),
    ("pad beyond the vocabulary", '"pad": 0', '"pad": 97',
     ["25:*: /tokens/pad: expected *(0 to 96), got 97*"]),
    ("map of no parameter", "heads.pooler.dense", "heads.poller.dense",
     ["26:*: /weights/map/heads.poller.dense*: *heads.pooler.dense*"]),
    ("a kind that needs more", '"name": "tiny-bert",',
     '"name": "tiny-bert", "kind": "encoder_decoder",',
     ["4:*: /decoder: expected \"decoder\" *[TFC010]"]),
    ("what cannot be compiled", '"name": "tiny-bert",',
     '"name": "tiny-bert", "quant": {},', ["4:*: /quant: *[TFC090]"]),
    ("two faults", '"hidden": 104, "vocab": 97', '"hidden": 0, "vocab": "x"',
     ["5:*: /dims/hidden: expected *got 0*",
      "5:*: /dims/vocab: expected *got \"x\"*"]),
]


def textOf(good, old, new):
    if old is None:
        return new
    new = new if isinstance(new, bytes) else new.encode()
    assert old.encode() in good, old
    return good.replace(old.encode(), new, 1)


def main():
    with open(sys.argv[1], "rb") as stream:
        good = stream.read()
    failures = 0
    for name, old, new, faults in CASES:
        with open("m.json", "wb") as stream:
            stream.write(textOf(good, old, new))
        lines = ["tfc: error: m.json:" + fault for fault in faults]
        for command in (["tfc", "compile", "m.json", "-o", "m.so"],
                        ["tfc", "spec", "m.json", "--canonical", "-o", "c"]):
            for problem in problems(command, 1, lines):
                failures += 1
                print(f"{name}: {' '.join(command)}: {problem}")
    os.remove("m.json")
    print(f"{len(CASES)} malformed specs, {failures} problems")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
