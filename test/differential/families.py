# The families of the differential test: how their cases are drawn and made
# smaller, and what transformers calls them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import draw
import draw_clip
import draw_llama
import draw_pairs
import draw_pictures
import draw_sound
import draw_tables
from draw_relatives import class_of

ROOT = os.path.dirname(os.path.abspath(__file__))
CLASSES = {"bert": draw.BERT, "gpt2": draw.GPT2, "llama": draw_llama.LLAMA,
           "mistral": draw_llama.MISTRAL, "qwen2": draw_llama.QWEN2,
           "t5": draw_pairs.T5, "mt5": draw_pairs.MT5,
           "umt5": draw_pairs.UMT5, "longt5": draw_pairs.LONGT5,
           "switch": draw_pairs.SWITCH,
           "t5gemma": draw_pairs.T5GEMMA[:2],
           "t5gemmaencoder": draw_pairs.T5GEMMA[2:],
           "bart": draw_pairs.BART, **draw_tables.CLASSES,
           **draw_pictures.CLASSES, **draw_clip.CLASSES,
           **draw_sound.CLASSES}
MODULES = {"bert": draw, "gpt2": draw, "llama": draw_llama,
           "mistral": draw_llama, "qwen2": draw_llama, "t5": draw_pairs,
           "mt5": draw_pairs, "umt5": draw_pairs, "bart": draw_pairs,
           "longt5": draw_pairs, "switch": draw_pairs,
           "t5gemma": draw_pairs, "t5gemmaencoder": draw_pairs,
           **dict.fromkeys(draw_tables.CLASSES, draw_tables),
           **dict.fromkeys(draw_pictures.CLASSES, draw_pictures),
           **dict.fromkeys(draw_clip.CLASSES, draw_clip),
           **dict.fromkeys(draw_sound.CLASSES, draw_sound)}
# Deviations of the random weights with which tokens do not repeat for ever.
SCALES = {"bert": dict(token=0.3, position=1.5),
          "gpt2": dict(token=0.3, position=1.5),
          "llama": dict(token=0.3, layer=2.0),
          "mistral": dict(token=0.3, layer=2.0),
          "qwen2": dict(token=0.3, layer=2.0),
          "t5": dict(token=0.3, layer=2.0, cross=0.4, final=4),
          "mt5": dict(token=0.3, layer=2.0, cross=0.4, final=4),
          "umt5": dict(token=0.3, layer=2.0, cross=0.4, final=4),
          "longt5": dict(token=0.3, layer=2.0, cross=0.4, final=4),
          "switch": dict(token=0.3, layer=2.0, cross=0.4, final=4),
          "t5gemma": dict(token=0.3, layer=2.0),
          "t5gemmaencoder": dict(token=0.3, layer=2.0),
          "bart": dict(token=0.3, position=1.5, bias=0.06, cross=0.3),
          **dict.fromkeys([*draw_pictures.CLASSES, *draw_clip.CLASSES],
                          dict(token=0.3)),
          **dict.fromkeys(draw_sound.CLASSES, dict(
              token=0.3, position=1.5, bias=0.06)),
          **dict.fromkeys(draw_tables.ENCODERS, dict(token=0.3,
                                                     position=1.5)),
          **dict.fromkeys(draw_tables.DECODERS, dict(
              token=0.3, position=1.5, layer=2.0)),
          **dict.fromkeys(draw_tables.PAIRS, dict(
              token=0.3, position=1.5, bias=0.06, cross=0.3))}


def switched_on():
    """The families that tfc has by now."""
    path = os.path.join(ROOT, "..", "golden", "families.txt")
    with open(path) as stream:
        return [name for name in stream.read().split() if name in CLASSES]


def family_of(cls):
    return next(family for family, classes in CLASSES.items()
                if cls in classes)


def draw_case(random, classes=None):
    """A case of one of these classes, else of a family that tfc has."""
    names = classes or CLASSES[random.choice(switched_on())]
    cls = random.choice(names)
    return MODULES[family_of(cls)].draw_case(random, cls)


def smaller(case):
    """Simpler cases, the boldest first."""
    return MODULES[family_of(case["class"])].smaller(case)
