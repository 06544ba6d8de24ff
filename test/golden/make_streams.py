# The golden models of XLNet: content streams, whose attention compares
# distances and types of tokens, those of both sides and of a memory, and the
# query stream beside them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from inputs import VOCAB, draw_ids
from reference import build, search
from writer import (set_generation, stable, store, write_forward,
                    write_rows)


def xlnet(**changes):
    return hf.XLNetConfig(**dict(dict(
        vocab_size=VOCAB, d_model=26, n_layer=2, n_head=2, d_inner=37,
        layer_norm_eps=1e-6), **changes))


# name, class, config, cases. A classifier takes the last column, as texts are
# padded on the left.
MODELS = (
    ("xlnet-model", hf.XLNetModel, xlnet(clamp_len=6),
     ("one", "ragged", "left", "longest", "types")),
    ("xlnet-lm", hf.XLNetLMHeadModel, xlnet(
        d_model=78, n_head=3, n_layer=3, ff_activation="relu"),
     ("ragged", "borders", "types")),
    ("xlnet-sequence", hf.XLNetForSequenceClassification, xlnet(
        num_labels=3, n_layer=1), ("one", "left", "longest")),
    ("xlnet-mean", hf.XLNetForSequenceClassification, xlnet(
        num_labels=3, n_layer=1, summary_type="mean", summary_use_proj=False),
     ("one", "longest")),
    ("xlnet-choice", hf.XLNetForMultipleChoice, xlnet(n_layer=1), ("left",)),
    ("xlnet-token", hf.XLNetForTokenClassification, xlnet(
        num_labels=5, d_model=30, n_head=3), ("ragged", "types")),
    ("xlnet-question", hf.XLNetForQuestionAnsweringSimple, xlnet(n_layer=1),
     ("ragged", "left")),
    # Tokens see those before them, and so what a memory has.
    ("xlnet-uni", hf.XLNetModel, xlnet(
        attn_type="uni", clamp_len=5, d_model=30, n_head=3),
     ("one", "ragged", "longest")),
    ("xlnet-uni-lm", hf.XLNetLMHeadModel, xlnet(
        attn_type="uni", mem_len=None, d_model=78, n_head=3, n_layer=3),
     ("ragged", "longest")),
    # Tokens that are asked for: rows of the query stream.
    ("xlnet-targets", hf.XLNetModel, xlnet(
        clamp_len=5, d_model=30, n_head=3, n_layer=3),
     ("next", "blanks", "edges")),
    ("xlnet-next", hf.XLNetLMHeadModel, xlnet(d_model=78, n_head=3),
     ("next", "blanks")),
)


def write_continued(folder, model, seed):
    """What transformers generates where each step asks for the token behind
    all others, which it reads anew. It looks at no mask."""
    set_generation(model, pad_token_id=5, eos_token_id=None)
    for attempt in range(1000):
        generator = torch.Generator().manual_seed(seed + attempt)
        inputs = {"input_ids": draw_ids(generator, 3, 5)}
        sequences, margins = search(model, inputs, 14, use_mems=False)
        # Rows settle soon: three tokens each are many.
        if stable(margins) and all(len(set(row[5:].tolist())) >= 3
                                   for row in sequences):
            store(folder, "inputs-continued", inputs)
            store(folder, "expected-continued", {"sequences": sequences})
            return
    raise SystemExit("no stable prompts for xlnet-next")


def write(out):
    for index, (name, cls, config, cases) in enumerate(MODELS):
        if not out.wants(name):
            continue
        seed = 961 + index
        # Queries, keys and values are products of all columns.
        out.save(name, build(cls, config, seed, layer=0.35))
        model = out.load(cls, name)
        if config.attn_type == "bi":
            write_forward(out.folder(name), model, cases, seed,
                          pad=config.pad_token_id, types=3, longest=40)
        else:
            # transformers takes no mask of several rows then.
            write_rows(out.folder(name), model, cases, seed,
                       pad=config.pad_token_id, types=3, longest=40)
        if name == "xlnet-next":
            write_continued(out.folder(name), model, seed)
        out.add(name, cases)
