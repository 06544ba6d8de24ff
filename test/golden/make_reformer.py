# The golden models of Reformer: layers that see blocks that are near, and
# layers that hash queries.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import transformers as hf

import hashes
from inputs import VOCAB, draw_ids
from reference import build
from writer import find_greedy, set_generation, write_forward, write_rows


def reformer(layers, **changes):
    return hf.ReformerConfig(**dict(dict(
        vocab_size=VOCAB, hidden_size=26, num_attention_heads=3,
        attention_head_size=7, feed_forward_size=37,
        attn_layers=["local"] * layers, local_attn_chunk_length=4,
        axial_pos_shape=[7, 9], axial_pos_embds_dim=[11, 15],
        max_position_embeddings=61), **changes))


def circle(layers, **changes):
    """An encoder, whose last block is beside its first one."""
    return reformer(layers, **dict(dict(local_num_chunks_after=1), **changes))


# name, class, config, cases. transformers takes the last block of the longest
# row for that of all rows, where tokens see those after them; and pads rows to
# whole blocks, which have positions, too.
CAUSAL = (
    ("reformer-lm", hf.ReformerModelWithLMHead,
     reformer(3, is_decoder=True), ("one", "ragged", "longest")),
    ("reformer-question", hf.ReformerForQuestionAnswering, reformer(
        1, is_decoder=True, local_attn_chunk_length=6, hidden_size=30,
        local_num_chunks_before=0, axial_pos_embds=False), ("ragged",)),
)
BOTH_SIDES = (
    ("reformer-model", hf.ReformerModel, circle(2),
     ("one", "ragged", "longest")),
    ("reformer-mlm", hf.ReformerForMaskedLM, reformer(
        2, hidden_size=30, num_attention_heads=2, attention_head_size=15,
        hidden_act="gelu", local_attn_chunk_length=9,
        axial_pos_shape=[8, 9], axial_pos_embds_dim=[13, 17],
        max_position_embeddings=72), ("ragged", "borders")),
    ("reformer-sequence", hf.ReformerForSequenceClassification, circle(
        1, num_labels=3, local_num_chunks_before=0,
        local_attn_chunk_length=13), ("ragged", "middle", "longest")),
)
# An odd number of rows in chunks of 8 and of 6, where near blocks have as many
# positions, several rounds, one factor and two.
HASHED = (
    ("reformer-hashes", hf.ReformerModel, circle(
        4, attn_layers=["local", "lsh", "lsh", "local"],
        local_attn_chunk_length=8, lsh_attn_chunk_length=8,
        lsh_num_chunks_after=1, num_hashes=3, num_buckets=[2, 4],
        hash_seed=11), ("one", "ragged", "middle", "longest")),
    ("reformer-hashes-mlm", hf.ReformerForMaskedLM, reformer(
        2, attn_layers=["lsh", "lsh"], lsh_attn_chunk_length=6,
        num_hashes=2, num_buckets=10, hash_seed=2026, hidden_size=30,
        num_attention_heads=2, attention_head_size=33,
        axial_pos_shape=[8, 9], axial_pos_embds_dim=[13, 17],
        max_position_embeddings=72), ("ragged", "longest")),
)
LONGEST = 52


def write_hashed(out):
    for index, (name, cls, config, cases) in enumerate(HASHED):
        if not out.wants(name):
            continue
        out.save(name, build(cls, config, 1551 + index))
        model = out.load(cls, name)
        hashes.settle(lambda attempt: write_rows(
            out.folder(name), model, cases, 1551 + index + 10 * attempt, 0, 1,
            LONGEST))
        out.add(name, cases, [])


def write(out):
    for index, (name, cls, config, cases) in enumerate(CAUSAL + BOTH_SIDES):
        if not out.wants(name):
            continue
        seed = 1501 + index
        out.save(name, build(cls, config, seed))
        model, steps = out.load(cls, name), []
        if index < len(CAUSAL):
            write_forward(out.folder(name), model, cases, seed, types=1,
                          longest=LONGEST)
        else:
            write_rows(out.folder(name), model, cases, seed, 0, 1, LONGEST)
        if cls is hf.ReformerModelWithLMHead:
            # It generates without a mask.
            set_generation(model, pad_token_id=0)
            inputs, _ = find_greedy(
                model, lambda generator: {
                    "input_ids": draw_ids(generator, 3, 9).int()},
                100 * seed)
            steps = [out.write_step(name, model, "generate-rows", inputs,
                                    "none")]
        out.add(name, cases, steps)
    write_hashed(out)
