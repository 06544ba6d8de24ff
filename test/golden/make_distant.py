# The golden models whose attention counts distances or blocks: those that
# transformers has no more, by the formulas of their papers put into a model of
# its own, and those that it computes right for one row at a time.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os

import torch
import transformers as hf
from safetensors.torch import load_file, save_file
from transformers.models.bert import modeling_bert
from transformers.models.roberta import modeling_roberta

from inputs import VOCAB, forward_inputs, pair_inputs
from make_bart import padded
from make_families import encoder, pair, positions_of, some_tokens
from make_llama import left
from reference import build, forward, load
from writer import (find_greedy, row_by_row, set_generation, store,
                    write_forward)

FARTHEST = 5  # of NEZHA's distances


def nezha_table(width):
    """Sine and cosine, in turns, of a row's number: -FARTHEST has row 0 (Wei et
    al. 2019, arXiv:1909.00204)."""
    angles = torch.outer(
        torch.arange(2 * FARTHEST + 1, dtype=torch.float32),
        10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float32) / width))
    return torch.stack((angles.sin(), angles.cos()), -1).flatten(1)


def attend(module, query, key, value, attention_mask, scaling=None, **_):
    """Attention whose keys (Shaw et al. 2018, arXiv:1803.02155), queries (Huang
    et al. 2020, arXiv:2009.13658) or values have a row for their distance."""
    kind, places = module.kind, torch.arange(query.shape[2])
    behind = places[:, None] - places[None, :]
    if kind == "nezha":
        rows = (-behind).clamp(-FARTHEST, FARTHEST) + FARTHEST
        table = nezha_table(query.shape[3])[rows]
    else:
        table = module.distance_embedding.weight
        table = table[behind + len(table) // 2]
    scores = query @ key.transpose(2, 3)
    scores = scores + torch.einsum("bhid,ijd->bhij", query, table)
    if kind == "relative_key_query":
        scores = scores + torch.einsum("bhjd,ijd->bhij", key, table)
    scores = scores * scaling
    if attention_mask is not None:
        scores = scores + attention_mask
    weights = scores.softmax(-1)
    result = weights @ value
    if kind == "nezha":
        result = result + torch.einsum("bhij,ijd->bhid", weights, table)
    return result.transpose(1, 2).contiguous(), weights


# name, class, config, kind, cases, the model type and the class's name where
# transformers has none.
DISTANCES = (
    ("bert-key", hf.BertModel, hf.BertConfig(**encoder()), "relative_key",
     ("one", "ragged", "longest"), None),
    ("bert-keyquery", hf.BertForMaskedLM, hf.BertConfig(
        **encoder(hidden_size=30, num_attention_heads=3)),
     "relative_key_query", ("ragged", "left", "types"), None),
    ("roberta-key", hf.RobertaForSequenceClassification, hf.RobertaConfig(
        **encoder(num_labels=3, max_position_embeddings=42)), "relative_key",
     ("ragged", "longest"), None),
    ("nezha-model", hf.BertModel, hf.BertConfig(
        **encoder(hidden_size=28)), "nezha",
     ("one", "ragged", "longest"), ("nezha", "NezhaModel")),
    ("nezha-token", hf.BertForTokenClassification, hf.BertConfig(
        **encoder(hidden_size=36, num_attention_heads=3, num_labels=3)),
     "nezha", ("ragged", "types"), ("nezha", "NezhaForTokenClassification")),
)


def give_tables(model, kind, generator):
    """What the attention of each layer has of the kind; positions add nothing
    to the embeddings then."""
    config = model.config
    for module in model.modules():
        if type(module).__name__.endswith("SelfAttention"):
            module.kind = kind
            if kind != "nezha":
                table = torch.nn.Embedding(
                    2 * config.max_position_embeddings - 1,
                    module.attention_head_size)
                with torch.no_grad():
                    table.weight.copy_(torch.randn(
                        table.weight.shape, generator=generator))
                module.distance_embedding = table
        if hasattr(module, "position_embeddings"):
            with torch.no_grad():
                module.position_embeddings.weight.zero_()


def save_distant(out, name, model, kind, other):
    out.save(name, model)
    path = os.path.join(out.folder(name), "model.safetensors")
    tensors = load_file(path)
    if not other:
        out.patch(name, "config.json", position_embedding_type=kind)
        return
    model_type, class_name = other
    out.patch(name, "config.json", model_type=model_type,
              architectures=[class_name], max_relative_position=FARTHEST,
              position_embedding_type=...)
    tensors = {key.replace("bert.", model_type + "."): value
               for key, value in tensors.items()
               if "position_embeddings" not in key}
    save_file(tensors, path, metadata={"format": "pt"})


def write_distances(out):
    own = modeling_bert.eager_attention_forward
    modeling_bert.eager_attention_forward = attend
    modeling_roberta.eager_attention_forward = attend
    for index, (name, cls, config, kind, cases, other) in enumerate(DISTANCES):
        if not out.wants(name):
            continue
        seed = 901 + index
        model = build(cls, config, seed)
        give_tables(model, kind, torch.Generator().manual_seed(seed))
        save_distant(out, name, model, kind, other)
        write_forward(out.folder(name), model, cases, seed,
                      pad=config.pad_token_id, types=2,
                      longest=positions_of(config))
        out.add(name, cases)
    modeling_bert.eager_attention_forward = own
    modeling_roberta.eager_attention_forward = own


def big(**changes):
    return hf.BigBirdConfig(**encoder(**dict(dict(
        block_size=4, num_random_blocks=2, max_position_embeddings=72,
        attention_type="block_sparse"), **changes)))


# name, class, config, cases. transformers takes the last block of the longest
# row for that of all rows, and stays with full attention once a row was short.
SPARSE = (
    ("bigbird-sparse", hf.BigBirdModel, big(), ("limit", "borders")),
    ("bigbird-blocks", hf.BigBirdForMaskedLM, big(
        block_size=9, num_random_blocks=1, hidden_size=30,
        num_attention_heads=3, use_bias=False, num_hidden_layers=1),
     ("borders", "ragged")),
    ("bigbird-long", hf.BigBirdForSequenceClassification, big(
        block_size=16, num_random_blocks=1, max_position_embeddings=1600,
        num_hidden_layers=2, num_labels=3), ("longest",)),
)


def forward_alone(model, part, inputs):
    def compute(own):
        part.set_attention_type("block_sparse")
        return forward(model, own)

    return row_by_row(compute, inputs)


def write_sparse(out):
    for index, (name, cls, config, cases) in enumerate(SPARSE):
        if not out.wants(name):
            continue
        seed = 921 + index
        out.save(name, build(cls, config, seed))
        model = out.load(cls, name)
        for number, case in enumerate(cases):
            generator = torch.Generator().manual_seed(100 * seed + number)
            inputs = forward_inputs(case, generator, 1570, 0, 2)
            store(out.folder(name), "inputs-" + case, inputs)
            store(out.folder(name), "expected-" + case, forward_alone(
                model, getattr(model, "bert", model), inputs))
        out.add(name, cases)


def write_pegasus(out):
    """Its encoder sees blocks, its decoder all."""
    name, cases = "bigbirdpegasus-lm", ("ragged", "left", "longest")
    if not out.wants(name):
        return
    config = hf.BigBirdPegasusConfig(**pair(
        block_size=4, num_random_blocks=1, max_position_embeddings=61,
        encoder_layers=2, decoder_start_token_id=2, use_bias=True))
    cls = hf.BigBirdPegasusForConditionalGeneration
    out.save(name, build(cls, config, 941, token=0.3, position=1.5, bias=0.06,
                         cross=0.3))
    model = out.load(cls, name)
    for number, case in enumerate(cases):
        generator = torch.Generator().manual_seed(94100 + number)
        inputs = pair_inputs(case, generator, 61, 0)
        model.model.encoder.set_attention_type("block_sparse")
        store(out.folder(name), "inputs-" + case, inputs)
        store(out.folder(name), "expected-" + case, forward(model, inputs))
    set_generation(model, pad_token_id=0, decoder_start_token_id=2)

    def draw(generator):
        inputs = padded(left)(generator)
        inputs["input_ids"][inputs["attention_mask"] == 0] = 0
        return inputs

    inputs, _ = find_greedy(model, draw, 94100, accept=some_tokens)
    out.add(name, cases, [
        out.write_step(name, model, "generate-left", inputs, "none")])


def falcon(**changes):
    return hf.FalconConfig(**dict(dict(
        vocab_size=VOCAB, hidden_size=30, num_hidden_layers=2,
        num_attention_heads=3, ffn_hidden_size=37, alibi=True, bias=True,
        bos_token_id=1, eos_token_id=2, pad_token_id=0), **changes))


# Positions beyond 256 are no numbers of bf16. By its plain attention
# transformers adds the slopes twice, once with the mask; by torch's own once, as
# it is used and as the models were trained.
DECODERS = (
    ("falcon-alibi", falcon(), (
        "ragged", "left", "longest")),
    ("falcon-sequential", falcon(
        hidden_size=40, num_attention_heads=4, multi_query=False,
        parallel_attn=False), ("ragged", "left")),
)


def write_falcons(out):
    cls = hf.FalconForCausalLM
    for index, (name, config, cases) in enumerate(DECODERS):
        if not out.wants(name):
            continue
        seed = 951 + index
        out.save(name, build(cls, config, seed, token=0.3, layer=4.0,
                             bias=0.05))
        model = load(cls, out.folder(name), attn_implementation="sdpa")
        write_forward(out.folder(name), model, cases, seed, longest=300)
        set_generation(model, pad_token_id=0)
        inputs, _ = find_greedy(model, left, 100 * seed)
        out.add(name, cases, [
            out.write_step(name, model, "generate-left", inputs, "none")])


def write(out):
    write_falcons(out)
    write_distances(out)
    write_sparse(out)
    write_pegasus(out)
