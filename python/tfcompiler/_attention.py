# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a model looks, as numbers and as a page."""
from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path
from typing import Dict, List, Optional, Sequence

import numpy as np

from tfcompiler import _safetensors
from tfcompiler._error import Code, Error
from tfcompiler._tokenizer import Encoding
from tfcompiler._tool import find_compiler, run_tool

_NAMES = {"attentions": "self-attention",
          "encoder_attentions": "the encoder's self-attention",
          "decoder_attentions": "the decoder's self-attention",
          "cross_attentions": "the decoder's attention to the encoder"}


def attentions(model, inputs: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    """Of one sequence; the compiler's interpreter computes them, since a
    library never has probabilities in one piece."""
    if len(model.weights) != 1:
        raise Error(Code.UNSUPPORTED, "attentions: expected a model that was "
                    "loaded with one folder or file of weights (packed ones "
                    f"are the library's own), got {len(model.weights)}")
    with tempfile.TemporaryDirectory(prefix="tfc-") as scratch:
        spec, given, made = (str(Path(scratch) / name) for name in (
            "model.json", "inputs.safetensors", "attentions.safetensors"))
        Path(spec).write_text(model.info.spec, encoding="utf-8")
        _safetensors.write_ids(given, inputs)
        run_tool([find_compiler(), "attention", spec, "--weights",
                  str(model.weights[0]), "--inputs", given, "-o", made])
        return _safetensors.read(made)


def labels(tokenizer, encoding: Encoding, texts: Sequence[Optional[str]]
           ) -> List[str]:
    """What each token is of the texts; its name where it is of none."""
    found = []
    for id, (begin, end), part in zip(encoding.ids, encoding.offsets,
                                      encoding.sequences):
        text = texts[part][begin:end] if part is not None else ""
        if not text.strip(" "):
            text = "\u2423" * len(text)  # a space that is seen
        found.append(text if text.strip() else name_of(tokenizer, id))
    return found


def name_of(tokenizer, id: int) -> str:
    name = tokenizer.id_to_token(int(id))
    return str(int(id)) if name is None else name


def page(title: str, maps: Dict[str, np.ndarray], source: List[str],
         target: List[str]) -> str:
    """One page of HTML that needs nothing else; a probability is a byte."""
    described = []
    for name, values in maps.items():
        layers, heads = values.shape[:2]
        is_cross = name == "cross_attentions"
        own = target if name == "decoder_attentions" else source
        described.append({
            "name": _NAMES.get(name, name), "layers": layers, "heads": heads,
            "queries": target if is_cross else own, "keys": source
            if is_cross else own,
            "bytes": base64.b64encode(np.rint(values * 255).astype(
                np.uint8).tobytes()).decode()})
    data = json.dumps({"title": title, "maps": described})
    # Texts are anybody's: none ends the script that it stands in.
    for sign in "<>&":
        data = data.replace(sign, f"\\u{ord(sign):04x}")
    template = Path(__file__).with_name("attention.html")
    return template.read_text(encoding="utf-8").replace("@DATA@", data)
