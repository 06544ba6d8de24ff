# What must hold for every model without any reference: threads, integer width
# and company change no bit, and decoding is prefilling.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from compare import check_equal, check_same
from tensors import Tensor


def check_threads(run, inputs, result):
    return check_same("2 threads against 1", result,
                      run(inputs, "--threads", "2"))


def check_integers(run, inputs, result):
    """int32 and int64 inputs mean the same."""
    swapped = {name: value.cast("I32" if value.dtype == "I64" else "I64")
               for name, value in inputs.items()}
    return check_same("other integer width", result, run(swapped))


def mask_rows(inputs):
    ids = inputs["input_ids"]
    if "attention_mask" in inputs:
        return [list(row) for row in inputs["attention_mask"].rows()]
    return [[1] * ids.shape[1] for _ in range(ids.shape[0])]


def alone(inputs, row, columns):
    """The row's tokens at `columns`, at the positions they had."""
    length = inputs["input_ids"].shape[1]
    given = {"position_ids": Tensor(
        "I64", inputs["input_ids"].shape,
        list(range(length)) * inputs["input_ids"].shape[0])}
    given.update(inputs)
    given.pop("attention_mask", None)
    out = {}
    for name, value in given.items():
        data = value.rows()[row]
        out[name] = Tensor(value.dtype, [1, len(columns)],
                           [data[column] for column in columns])
    return out


def check_alone(run, inputs, result):
    """A row of a batch has the bits it has alone, without its padding."""
    faults = []
    length = inputs["input_ids"].shape[1]
    for row, mask in enumerate(mask_rows(inputs)):
        columns = [i for i in range(length) if mask[i]]
        single = run(alone(inputs, row, columns))
        for name, value in single.items():
            whole, data = result[name], result[name].rows()[row]
            per_token = whole.shape[:2] == inputs["input_ids"].shape
            if per_token:
                width = len(data) // length
                data = [x for i in columns
                        for x in data[i * width:(i + 1) * width]]
            elif columns != list(range(len(columns))):
                # The first or last column may be a masked one.
                continue
            faults += check_equal(f"row {row} alone: {name}",
                                  Tensor("F32", value.shape, data), value)
    return faults


def full_inputs(inputs, sequences, ends):
    """A forward pass over generated sequences, up to their ends."""
    rows, prompt = inputs["input_ids"].shape
    length = sequences.shape[1]
    masks, positions = [], []
    for row, mask in enumerate(mask_rows(inputs)):
        generated = list(sequences.rows()[row])[prompt:]
        stop = next((i + 1 for i, token in enumerate(generated)
                     if token in ends), len(generated))
        mask = mask + [1] * stop + [0] * (len(generated) - stop)
        masks += mask
        positions += [max(0, sum(mask[:i + 1]) - 1) for i in range(length)]
    return {"input_ids": sequences.cast("I64"),
            "attention_mask": Tensor("I64", [rows, length], masks),
            "position_ids": Tensor("I64", [rows, length], positions)}


def check_decoding(run, inputs, sequences, ends):
    """The tokens that decoding chose are those of one whole forward pass."""
    prompt = inputs["input_ids"].shape[1]
    full = full_inputs(inputs, sequences, ends)
    logits = run(full)["logits"]
    vocab = logits.shape[2]
    faults = []
    for row, mask in enumerate(mask_rows(full)):
        if not mask[prompt - 1]:
            continue  # right padding: its positions are generate's own
        scores, tokens = logits.rows()[row], sequences.rows()[row]
        for column in range(prompt, sequences.shape[1]):
            if not mask[column]:
                break
            step = scores[(column - 1) * vocab:column * vocab]
            best = max(range(vocab), key=step.__getitem__)
            if best != tokens[column]:
                faults.append(
                    f"row {row}, column {column}: a forward pass over the "
                    f"whole chooses {best}, decoding chose {tokens[column]}")
                break
    return faults
