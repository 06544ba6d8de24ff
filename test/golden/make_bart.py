# The golden models of BART.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch
import transformers as hf

from inputs import VOCAB, draw_ids
from make_llama import BEAMS, left, right
from reference import build, forward
from writer import (find_beams, find_greedy, set_generation, store,
                    write_pairs)

ALL = ("one", "ragged", "left", "mixed", "longest", "holes")
SOME = ("ragged", "left", "mixed", "holes")
# Tokens of a model that repeats itself less.
SCALES = dict(token=0.3, position=1.5, bias=0.06, cross=0.3)


def config(**changes):
    keys = dict(vocab_size=VOCAB, d_model=26, encoder_layers=1,
                decoder_layers=1, encoder_attention_heads=1,
                decoder_attention_heads=2, encoder_ffn_dim=37,
                decoder_ffn_dim=43, max_position_embeddings=44)
    keys.update(changes)
    return hf.BartConfig(**keys)


def padded(draw):
    """Prompts as of the other families, with BART's token for padding."""
    def drawn(generator):
        inputs = draw(generator)
        inputs["input_ids"][inputs["attention_mask"] == 0] = 1
        return inputs
    return drawn


def lengths(sequences):
    """How many tokens the rows have up to their first end (2), which is also
    what each begins with."""
    return [(row[1:].tolist() + [2]).index(2) for row in sequences]


def ends_apart(sequences, new_tokens):
    """Whether rows end on their own, at different places, one does not, and
    they do not settle on a few tokens before."""
    ends = lengths(sequences)
    return (len(set(ends)) == 3 and new_tokens - 1 in ends and
            all(len(set(row.tolist())) > 6 for row in sequences))


def bart_generation(out):
    base = "bart-lm"
    model = build(hf.BartForConditionalGeneration, config(
        d_model=52, encoder_attention_heads=2, decoder_attention_heads=4,
        decoder_layers=2, encoder_ffn_dim=75, decoder_ffn_dim=59), 301,
        **SCALES)
    # The end must come, but not at once.
    model.final_logits_bias[0, 2] = 3.5
    out.save(base, model)
    model = out.load(hf.BartForConditionalGeneration, base)
    write_pairs(out.folder(base), model, ALL, 301)
    assert model.generation_config.forced_eos_token_id == 2
    inputs, _ = find_greedy(model, padded(left), 21000, ends_apart,
                            min_length=30)
    steps = [out.write_step(base, model, "generate-left", inputs),
             out.write_step(base, model, "generate-min", inputs,
                            min_length=30),
             out.write_step(base, model, "generate-few", inputs, new_tokens=6)]
    given, _ = find_greedy(model, padded(right), 22000)
    steps.append(out.write_step(base, model, "generate-right", given))
    given = find_beams(model, padded(left), 23000, [way for _, way in BEAMS])
    steps += [out.write_step(base, model, step, given, **way)
              for step, way in BEAMS]
    out.add(base, ALL, steps)

    # The beams of the file, and its forced tokens.
    for name, keys in (
            ("bart-lm-forced", dict(forced_bos_token_id=0, num_beams=4,
                                    length_penalty=2.0, early_stopping=True,
                                    no_repeat_ngram_size=3, min_length=12,
                                    max_length=30)),
            ("bart-lm-free", dict(forced_eos_token_id=None,
                                  forced_bos_token_id=7))):
        out.patch(name, "generation_config.json", base, **keys)
        model = out.load(hf.BartForConditionalGeneration, name, base)
        way = {key: keys[key] for key in ("num_beams",) if key in keys}
        if way:
            given = find_beams(model, padded(left), 25000, [way])
            step = out.write_step(name, model, "generate", given, **way)
            del step["options"]
        else:
            given, _ = find_greedy(model, padded(left), 26000,
                                   ends_apart)
            step = out.write_step(name, model, "generate", given)
        out.add(name, generate=[step], base=base)


def bart_scaled(out):
    name = "bart-scaled"  # without a prefix, as facebook/bart-base is stored
    model = build(hf.BartForConditionalGeneration, config(
        scale_embedding=True, activation_function="relu", encoder_layers=2,
        forced_eos_token_id=None), 311, **SCALES)
    out.save(name, model)
    out.rename(name, lambda key: key.removeprefix("model."), {
        "encoder.embed_tokens.weight": model.model.shared.weight.detach(),
        "decoder.embed_tokens.weight":
            model.model.shared.weight.detach().clone()})
    model = out.load(hf.BartForConditionalGeneration, name)
    assert float(model.final_logits_bias.abs().max()) > 0
    write_pairs(out.folder(name), model, SOME, 311)
    set_generation(model, pad_token_id=1, decoder_start_token_id=2)
    inputs, _ = find_greedy(model, padded(left), 27000)
    out.add(name, SOME, [
        out.write_step(name, model, "generate", inputs, "none")])


def bart_classes(out):
    name = "bart-model"
    out.save(name, build(hf.BartModel, config(), 321))
    model = out.load(hf.BartModel, name)
    write_pairs(out.folder(name), model, ALL, 321)
    generator = torch.Generator().manual_seed(322)
    # It would read its own input, one to the right; tfc asks for it instead.
    store(out.folder(name), "inputs-shifted",
          {"input_ids": draw_ids(generator, 2, 4)})
    out.add(name, ALL, refused={"shifted": "decoder_input_ids"})

    name = "bart-question"
    out.save(name, build(hf.BartForQuestionAnswering, config(), 323))
    write_pairs(out.folder(name), out.load(hf.BartForQuestionAnswering, name),
                SOME, 323)
    out.add(name, SOME)


def sentences(generator, rows):
    """Rows of (tokens, position of an earlier end or None, padding left,
    padding right), each with its end."""
    width = sum(rows[0][::2]) + rows[0][3]
    ids = draw_ids(generator, len(rows), width)
    mask = torch.ones_like(ids)
    for row, (length, early, before, after) in enumerate(rows):
        ids[row, width - after - 1] = 2
        if early is not None:
            ids[row, before + early] = 2
        ids[row, :before] = ids[row, width - after:] = 1
        mask[row, :before] = mask[row, width - after:] = 0
    return {"input_ids": ids, "attention_mask": mask}


def bart_sequence(out):
    """Takes the token under the last end; its decoder reads the input one to
    the right, padding too."""
    name = "bart-sequence"
    out.save(name, build(hf.BartForSequenceClassification, config(
        num_labels=4), 331))
    model = out.load(hf.BartForSequenceClassification, name)
    generator = torch.Generator().manual_seed(332)
    ragged = sentences(generator, [(5, None, 0, 3), (8, None, 0, 0),
                                   (1, None, 0, 7)])
    before = sentences(generator, [(5, None, 2, 0), (7, None, 0, 0)])
    pairs = sentences(generator, [(6, 2, 0, 1), (7, 4, 0, 0)])
    given = {**sentences(generator, [(4, None, 0, 2), (6, None, 0, 0)]),
             "decoder_input_ids": draw_ids(generator, 2, 6),
             "decoder_attention_mask": torch.tensor(
                 [[1, 1, 1, 1, 0, 0], [1] * 6])}
    one = {"input_ids": torch.tensor([[2]])}
    cases = {"one": one, "ragged": ragged, "left": before, "pairs": pairs,
             "given": given}
    for case, inputs in cases.items():
        store(out.folder(name), "inputs-" + case, inputs)
        store(out.folder(name), "expected-" + case, forward(model, inputs))
    out.add(name, tuple(cases))


def write(out):
    bart_generation(out)
    bart_scaled(out)
    bart_classes(out)
    bart_sequence(out)
