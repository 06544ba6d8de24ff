# What must hold for every model without any reference: threads, integer width
# and company change no bit, and decoding is prefilling.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
from compare import check_equal, check_floats, check_same
from tensors import Tensor

# Where a token alone is: at the position that the caller gives it, at its
# column, nowhere in particular, or nowhere that the caller could say.
GIVEN, COLUMNS, RELATIVE, UNSAID = "given", "columns", "relative", "unsaid"
# The most tokens that kernels for few of them do.
FEW = 64


def after_padding(pad):
    """Positions begin after the pad token's id and count the tokens that are
    something else."""
    def positions(ids):
        found, count = [], 0
        for token in ids:
            count += token != pad
            found.append(pad + count if token != pad else pad)
        return found
    return positions


def without_first(inputs, prefix):
    """The inputs without the first of the columns of one side, and without its
    mask, whose rows might be empty then."""
    rows, length = inputs[prefix + "input_ids"].shape
    out = {}
    for name, value in inputs.items():
        if name.startswith("decoder_") == bool(prefix):
            if name.endswith("attention_mask"):
                continue
            value = Tensor(value.dtype, [rows, length - 1], [
                x for row in value.rows() for x in row[1:]])
        out[name] = value
    return out


def is_of_tokens(run, inputs, name, value, prefix=""):
    """Whether an output has a value, or several, for each token of one side. A
    number for each token and a vector of as many numbers have the same shape:
    then it is asked for fewer tokens."""
    rows, length = inputs[prefix + "input_ids"].shape
    if value.shape[:2] != [rows, length] or len(value.shape) > 2:
        return value.shape[:2] == [rows, length]
    if length == 1:
        return True
    fewer = run(without_first(inputs, prefix))
    return fewer[name].shape[:2] == [rows, length - 1]


def check_threads(run, inputs, result):
    return check_same("2 threads against 1", result,
                      run(inputs, "--threads", "2"))


def check_integers(run, inputs, result):
    """int32 and int64 inputs mean the same."""
    others = {"I32": "I64", "I64": "I32"}
    swapped = {name: value.cast(others.get(value.dtype, value.dtype))
               for name, value in inputs.items()}
    return check_same("other integer width", result, run(swapped))


def check_drafts(generate, inputs, result):
    """Guesses of the next tokens change none of them."""
    return check_same("without guesses against some", result,
                      generate(inputs, "--max-drafts", "12"))


def repeat(inputs, times):
    """The same rows again, in one batch."""
    return {name: Tensor(tensor.dtype,
                         [times * tensor.shape[0], *tensor.shape[1:]],
                         tensor.data * times)
            for name, tensor in inputs.items()}


def count_tokens(inputs):
    """By prefix, the tokens that are not masked."""
    counts = {prefix: sum(map(sum, mask_rows(inputs, prefix)))
              for prefix in columns_of(inputs, 0)}
    if "patches" in inputs:  # but for those of the model's own
        rows, length, _ = inputs["patches"].shape
        counts[""] = sum(map(sum, inputs["attention_mask"].rows())) \
            if "attention_mask" in inputs else rows * length
    return counts


def check_crowd(run, inputs, result):
    """Tokens have the same bits in a step of more tokens than a device's kernels
    for few take."""
    times = FEW // max(1, min(count_tokens(inputs).values())) + 1
    return check_same("in a crowd", repeat(result, times),
                      run(repeat(inputs, times)))


def check_prefix(run, inputs, result):
    """What a causal decoder says of a token does not depend on the tokens
    behind it: those of each row's second half come in another order."""
    ids = inputs["input_ids"]
    if not all(is_of_tokens(run, inputs, name, value)
               for name, value in result.items()):
        return []  # it is the tokens that say which of them is asked
    length = ids.shape[1]
    half = (length + 1) // 2
    changed = [token for row in ids.rows()
               for token in [*row[:half], *reversed(row[half:])]]
    other = run({**inputs, "input_ids": Tensor(ids.dtype, ids.shape, changed)})
    faults = []
    for name, value in result.items():
        width = len(value.data) // (ids.shape[0] * length)
        first, second = (
            Tensor("F32", [ids.shape[0], half, width],
                   [x for row in each.rows() for x in row[:half * width]])
            for each in (value, other[name]))
        faults += check_equal(f"other tokens behind: {name}", first, second)
    return faults


def turn_rows(value, rows, length):
    """The tokens of each row in the other order."""
    width = len(value.data) // (rows * length)
    return Tensor(value.dtype, value.shape, [
        x for row in value.rows() for at in reversed(range(length))
        for x in row[at * width:(at + 1) * width]])


def check_targets(run, inputs, result):
    """What stands where a token is asked for changes no bit."""
    ids, targets = inputs["input_ids"], inputs["targets"]
    # Another one, none of those that mean something.
    changed = [3 + (token + 7) % 90 if asked else token
               for token, asked in zip(ids.data, targets.data)]
    return check_same("other tokens at targets", result, run(
        {**inputs, "input_ids": Tensor(ids.dtype, ids.shape, changed)}))


def check_permuted(run, inputs, result, compare=check_floats):
    """To an encoder whose tokens are all at one place their order is nothing:
    in another order they get the same, each its own, by `compare`."""
    rows, length = inputs["input_ids"].shape
    given = {**inputs, "position_ids": Tensor("I64", [rows, length],
                                              [1] * (rows * length))}
    one = run(given)
    other = run({name: turn_rows(value, rows, length)
                 for name, value in given.items()})
    faults = []
    for name, value in one.items():
        if is_of_tokens(run, given, name, value):
            faults += compare(f"the other way round: {name}", value,
                                   turn_rows(other[name], rows, length))
    return faults


def mask_rows(inputs, prefix=""):
    """The mask of the inputs with this prefix, "" or "decoder_"."""
    ids = inputs[prefix + "input_ids"]
    if prefix + "attention_mask" in inputs:
        return [list(row)
                for row in inputs[prefix + "attention_mask"].rows()]
    return [[1] * ids.shape[1] for _ in range(ids.shape[0])]


def columns_of(inputs, row):
    """By prefix, the row's columns that are not masked."""
    found = {}
    for prefix in ("", "decoder_"):
        if prefix + "input_ids" in inputs:
            mask = mask_rows(inputs, prefix)[row]
            found[prefix] = [i for i, exists in enumerate(mask) if exists]
    return found


def alone(inputs, row, columns, positions):
    """The row's tokens at `columns`, which columns_of gave."""
    given = dict(inputs)
    if ((positions == GIVEN or callable(positions)) and
            "position_ids" not in inputs):
        rows, length = inputs["input_ids"].shape
        count = positions if callable(positions) else lambda ids: range(length)
        given["position_ids"] = Tensor("I64", [rows, length], [
            at for ids in inputs["input_ids"].rows() for at in count(ids)])
    out = {}
    for name, value in given.items():
        if name.endswith("attention_mask"):
            continue
        kept = columns["decoder_" if name.startswith("decoder_") else ""]
        data = value.rows()[row]
        out[name] = Tensor(value.dtype, [1, len(kept)],
                           [data[column] for column in kept])
    return out


def check_alone(run, inputs, result, positions=GIVEN, few=None):
    """A row of a batch has the bits it has alone, without its padding; with
    `few` where both have at most so many tokens, or both more."""
    def which(given):
        return few and {prefix: count <= few
                        for prefix, count in count_tokens(given).items()}

    faults = []
    pair = "encoder_last_hidden_state" in result
    for row in range(inputs["input_ids"].shape[0]):
        columns = columns_of(inputs, row)
        left = {prefix for prefix, kept in columns.items()
                if kept != list(range(len(kept)))}
        if left and positions == COLUMNS:
            continue
        own = alone(inputs, row, columns, positions)
        if which(own) != which(inputs):
            continue
        single = run(own)
        for name, value in single.items():
            prefix = ("decoder_" if pair and "decoder_" in columns and
                      name != "encoder_last_hidden_state" else "")
            length = inputs[prefix + "input_ids"].shape[1]
            whole, data = result[name], result[name].rows()[row]
            if is_of_tokens(run, inputs, name, whole, prefix):
                width = len(data) // length
                data = [x for i in columns[prefix]
                        for x in data[i * width:(i + 1) * width]]
            elif left:
                # The first or last column may be a masked one.
                continue
            faults += check_equal(f"row {row} alone: {name}",
                                  Tensor("F32", value.shape, data), value)
    return faults


def picture_alone(inputs, row):
    """A picture or a sound, without what masks leave out of it."""
    patches = inputs["patches"]
    rows, count, width = patches.shape
    gone = list(inputs["attention_mask"].rows()[row]).count(0) \
        if "attention_mask" in inputs else 0
    kept = count - gone
    own = {"patches": Tensor("F32", [1, kept, width],
                             patches.rows()[row][:kept * width])}
    columns = columns_of(inputs, row).get("decoder_")
    for name, value in inputs.items():
        if name.startswith("decoder_") and not name.endswith("mask"):
            data = value.rows()[row]
            own[name] = Tensor(value.dtype, [1, len(columns)],
                               [data[column] for column in columns])
    return own


def check_pictures_alone(run, inputs, result, few=None):
    """The same of pictures and sounds, whose masks leave the first columns of a
    row: these alone are given then."""
    faults = []
    for row in range(inputs["patches"].shape[0]):
        columns = columns_of(inputs, row).get("decoder_", [])
        if columns != list(range(len(columns))):
            continue  # its positions are others
        own = picture_alone(inputs, row)
        if few and any((count <= few) != (count_tokens(inputs)[side] <= few)
                       for side, count in count_tokens(own).items()):
            continue
        for name, value in run(own).items():
            data = result[name].rows()[row][:len(value.data)]
            faults += check_equal(f"row {row} alone: {name}",
                                  Tensor("F32", value.shape, data), value)
    return faults


def full_inputs(inputs, sequences, ends, pair, places=GIVEN):
    """A forward pass over generated sequences, up to their ends, and the
    column where they begin. `pair`: of an encoder-decoder."""
    rows, length = sequences.shape
    prompt = 1 if pair else inputs["input_ids"].shape[1]
    if "decoder_input_ids" in inputs:
        prompt = inputs["decoder_input_ids"].shape[1]
    masks, positions = [], []
    for row in range(rows):
        generated = list(sequences.rows()[row])[prompt:]
        stop = next((i + 1 for i, token in enumerate(generated)
                     if token in ends), len(generated))
        mask = [1] * (prompt + stop) if pair else \
            mask_rows(inputs)[row] + [1] * stop
        mask += [0] * (length - len(mask))
        masks += mask
        positions += [max(0, sum(mask[:i + 1]) - 1) for i in range(length)]
    prefix = "decoder_" if pair else ""
    full = dict(inputs) if pair else {
        "position_ids": Tensor("I64", [rows, length], positions)}
    if places == UNSAID:
        full.pop("position_ids", None)
    full[prefix + "input_ids"] = sequences.cast("I64")
    full[prefix + "attention_mask"] = Tensor("I64", [rows, length], masks)
    return full, prompt


def choose(scores, column, prompt, last, ends, decoding):
    """The token that greedy decoding puts at a column."""
    for key, place in (("forced_bos_token_id", 1),
                       ("forced_eos_token_id", last)):
        if decoding.get(key) is not None and column == place:
            return decoding[key]
    banned = set(ends if column < (decoding.get("min_length") or 0) else [])
    banned.update(decoding.get("suppress_tokens") or [])
    if column == prompt:
        banned.update(decoding.get("begin_suppress_tokens") or [])
    return max((token for token in range(len(scores)) if token not in banned),
               key=scores.__getitem__)


def check_decoding(run, inputs, sequences, new_tokens, ends, decoding, pair,
                   places=GIVEN, noise=None):
    """The tokens that decoding chose are those of one whole forward pass, or no
    further behind them than noise(scores of all tokens), where there is some.
    `decoding` has the keys of a generation_config.json."""
    full, prompt = full_inputs(inputs, sequences, ends, pair, places)
    logits = run(full)["logits"]
    vocab = logits.shape[2]
    faults = []
    for row, mask in enumerate(mask_rows(full, "decoder_" if pair else "")):
        if not mask[prompt - 1]:
            continue  # right padding: its positions are generate's own
        scores, tokens = logits.rows()[row], sequences.rows()[row]
        for column in range(prompt, sequences.shape[1]):
            if not mask[column]:
                break
            at = scores[(column - 1) * vocab:column * vocab]
            best = choose(at, column, prompt, prompt + new_tokens - 1, ends,
                          decoding)
            is_near = noise and at[best] - at[tokens[column]] <= noise(at)
            if best != tokens[column] and not is_near:
                faults.append(
                    f"row {row}, column {column}: a forward pass over the "
                    f"whole chooses {best}, decoding chose {tokens[column]}")
                break
    return faults


def check_generated_alone(generate, inputs, sequences, returned, pair):
    """What is generated for a row does not depend on the others. `returned`
    is the number of sequences that each row gives."""
    faults = []
    if "patches" in inputs:
        for row in range(inputs["patches"].shape[0]):
            single = generate(picture_alone(inputs, row))["sequences"]
            tokens, found = list(sequences.rows()[row]), list(single.data)
            if found != tokens[:len(found)]:
                faults.append(f"row {row} alone: expected {tokens}, got "
                              f"{found}")
        return faults
    for row, mask in enumerate(mask_rows(inputs)):
        # A pair's tokens move with the padding on their left; a decoder goes
        # on from the padding on the right.
        if not mask[0 if pair else -1]:
            continue
        columns = columns_of(inputs, row)
        single = generate(alone(inputs, row, columns, COLUMNS))["sequences"]
        skipped = 0 if pair else len(mask) - len(columns[""])
        for index in range(returned):
            tokens = list(sequences.rows()[row * returned + index])[skipped:]
            found = list(single.rows()[index])
            # The longest of the batch fills up the others.
            if found != tokens[:len(found)]:
                faults.append(f"row {row} alone: expected {tokens}, got "
                              f"{found}")
    return faults
