# The inputs of the golden models, by the name of a case.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import torch

VOCAB = 97
# Rows on both sides of where tiles of a device end, and steps of as many tokens
# as one of its kernels is for.
BORDERS = {"few": (3, 17), "middle": (20, 25), "borders": (63, 64, 65),
           "far": (127, 129, 256), "limit": (36, 37, 61)}


def draw_ids(generator, rows, columns):
    # 0 to 2 are pad, bos and eos.
    return torch.randint(3, VOCAB, (rows, columns), generator=generator)


# Rows with tokens that are asked for, by the lengths of the rows; the next one
# of each row alone, which are padded on the left, or about every third one.
TARGETS = {"next": (6, 10, 2), "blanks": (11, 7, 1), "edges": (63, 64, 65)}


def target_inputs(name, generator, pad, types):
    lengths = torch.tensor(TARGETS[name])
    columns = torch.arange(int(lengths.max()))
    if name == "next":
        mask = columns >= columns.numel() - lengths[:, None]
        targets = (columns == columns[-1]).expand(mask.shape)
    else:
        mask = columns < lengths[:, None]
        targets = torch.rand(mask.shape, generator=generator) < 0.35
        # One token of a row is told.
        targets[range(len(lengths)), (lengths - 1) // 2] = False
    ids = draw_ids(generator, *mask.shape)
    ids[~mask] = pad
    inputs = {"input_ids": ids, "attention_mask": mask.long(),
              "targets": (targets & mask).long()}
    if name == "blanks":
        inputs["token_type_ids"] = torch.randint(
            0, types, mask.shape, generator=generator)
    return inputs


def forward_inputs(name, generator, longest, pad, types):
    """The inputs of one named case."""
    def masked(mask):
        mask = torch.tensor(mask)
        ids = draw_ids(generator, *mask.shape)
        ids[mask == 0] = pad
        return {"input_ids": ids, "attention_mask": mask}

    if name in TARGETS:
        return target_inputs(name, generator, pad, types)
    if name == "one":
        return {"input_ids": draw_ids(generator, 1, 1)}
    if name == "ragged":
        return masked([[1] * n + [0] * (9 - n) for n in (5, 9, 1)])
    if name in BORDERS:
        lengths = BORDERS[name]
        return masked([[1] * n + [0] * (max(lengths) - n) for n in lengths])
    if name == "left":
        inputs = masked([[0] * (7 - n) + [1] * n for n in (3, 7, 1)])
        return {key: value.int() for key, value in inputs.items()}
    if name == "holes":
        inputs = masked([[1, 0, 1, 1, 0, 0, 1, 1], [0, 1, 1, 0, 1, 1, 1, 0]])
        # What a masked token is must not matter.
        inputs["input_ids"][0, 1] = 17
        return inputs
    if name == "longest":
        return {"input_ids": draw_ids(generator, 1, longest)}
    if name == "positions":
        inputs = masked([[1] * 6, [0, 0, 1, 1, 1, 1]])
        inputs["position_ids"] = torch.tensor(
            [[4, 0, 9, 9, 1, longest - 1], [0, 0, 0, 1, 2, 3]])
        return inputs
    assert name == "types"
    inputs = masked([[1] * 6, [1, 1, 1, 1, 0, 0]])
    inputs["token_type_ids"] = torch.randint(
        0, types, (2, 6), generator=generator)
    return inputs


def pair_inputs(name, generator, longest, pad):
    """The same for an encoder-decoder."""
    def masked(lengths, side, prefix=""):
        width = max(lengths)
        mask = torch.tensor([
            [0] * (width - n) + [1] * n if side == "left" else
            [1] * n + [0] * (width - n) for n in lengths])
        ids = draw_ids(generator, *mask.shape)
        ids[mask == 0] = pad
        return {prefix + "input_ids": ids, prefix + "attention_mask": mask}

    def whole(columns):
        return {"input_ids": draw_ids(generator, 1, columns),
                "decoder_input_ids": draw_ids(generator, 1, columns)}

    if name == "one":
        return whole(1)
    if name in ("longest", "far"):
        return whole(longest)
    if name == "ragged":
        return {**masked((5, 9, 1), "right"),
                **masked((3, 1, 6), "right", "decoder_")}
    if name == "left":
        inputs = {**masked((3, 7, 1), "left"),
                  **masked((1, 5, 4), "left", "decoder_")}
        return {key: value.int() for key, value in inputs.items()}
    if name == "mixed":  # all of the decoder's tokens, whatever they are
        inputs = {**masked((6, 2), "left"), "decoder_input_ids":
                  draw_ids(generator, 2, 4)}
        inputs["decoder_input_ids"][1, 2:] = pad
        return inputs
    assert name == "holes"
    inputs = masked((8, 8), "right")
    inputs["attention_mask"][:] = torch.tensor(
        [[1, 0, 1, 1, 0, 0, 1, 1], [0, 1, 1, 0, 1, 1, 1, 0]])
    return {**inputs, "decoder_input_ids": draw_ids(generator, 2, 3)}


def prompts(side, generator):
    lengths = (4, 8, 1)
    width = max(lengths)
    ids = draw_ids(generator, len(lengths), width)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(lengths):
        columns = slice(width - length, width)
        if side == "right":
            columns = slice(0, length)
        mask[row, columns] = 1
    ids[mask == 0] = 0
    return {"input_ids": ids, "attention_mask": mask}
