#!/usr/bin/env python3
# Every key and word of the schema is in a spec that a seed draws, or listed
# here: what is added to the format is drawn, or this fails.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import re
import sys

import draw_spec
import schema_keys

SEEDS = 8000

# What no seed draws, and why.
LEFT_OUT = {
    r"extends|defs": "another way to write the same spec",
    r"weights($|\.).*": "draw_storage.py draws it for a spec that is drawn",
    r".*\.cross\.(qk_norm|rotary|window|relative|sparse)\..*": "refused but for \"none\"",
    r".*\.cross\.slopes=alibi": "refused",
    r".*\.attn\.parallel": "of a block's first sublayer it is refused",
    r"precision\.compute=bf16": "other numbers than the formulas'; golden "
                                "models are held to Hugging Face's in bf16",
    r"precision\.(weights|compute)=int[48]": "other numbers than the formulas'; "
                                          "golden models are held to a "
                                          "reference that rounds the same",
    r"precision\.(rules|group|zeros|scales).*": "of integers alone",
    r".*_norm\.kind=none": "a norm that is \"none\" says it, too",
    r".*\.moe($|\.).*": "scores that are near choose other experts in f32; "
                         "golden models and drawn ones of families have them "
                         "apart",
    r".*\.(conv|recurrent)($|\.).*": "their batches have no holes; golden "
                                     "models and drawn ones of families have "
                                     "them, and run_passes.py their passes",
    r".*\.cross\.gate(_per)?=(sigmoid|softplus|head)": "refused",
    r".*\.ngram\.(pre_norm[.=].*|parallel)": "refused",
    r".*\.ngram\.post_norm=none": "as that of the other sublayers",
    r".*\.cross\.v_norm[.=].*": "refused but for \"none\"",
    r".*\.(layer_inputs|streams)\.norm(\.kind)?=none": "refused",
    r".*\.(attn|cross)\.latent($|[.=]).*": "of DeepSeek's golden models and "
                                          "of drawn ones of its families",
    r".*\.cross\.inner_norm[.=].*": "refused but for \"none\"",
    r".*\.cross\.post_norm[.=].*": "as those of the other sublayers",
    r".*\.sparse\.(hashes|buckets|seed|multiple|kind=lsh)($|[.=]).*":
        "products that are near choose other buckets in f32; golden models "
        "have them apart",
    r".*\.steps\.(probe($|[.=]).*|op=probe)": "of SigLIP's golden models and "
                                             "of drawn ones of its family",
}


def written(keys):
    """A block's sublayers may be listed or named: both are one key."""
    return {key.replace(".sublayers.", ".") for key in keys}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    keys = schema_keys.Keys(schema_keys.read_schema(parser.parse_args().tfc))
    drawn = set()
    for seed in range(SEEDS):
        drawn |= written(keys.of(draw_spec.draw(seed)))
    known = written(keys.known())
    missing = sorted(key for key in known - drawn if not any(
        re.fullmatch(pattern, key) for pattern in LEFT_OUT))
    for key in missing:
        print(f"error: expected {key} in a spec of {SEEDS} seeds "
              "(test/random/draw_spec.py draws them), got none")
    print(f"{len(known & drawn)} of {len(known)} keys and words are drawn")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
