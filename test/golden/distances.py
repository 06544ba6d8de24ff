# The contract of programs whose values are rounded to 16 or 8 bits: how far they
# may be from f32 is what Hugging Face's own model is with them, by distances.json.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import os

from compare import check_names

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "distances.json")
# Of Hugging Face's distance.
FACTOR = 1.25
# Where both are nearly exact: about what rounding every value once makes.
LEAST = {"bf16": 2.0 ** -9, "f16": 2.0 ** -12, "int8": 2.0 ** -8}
# Of what is nothing but chance: standard deviations of the quotient of two
# distances, and, of scores, six, which are four of the difference of two.
CHANCE = 4
MARGIN = 6


class Distance:
    """Of all values of an output: the deviation of the differences from what is
    expected, root of the mean square, over that of what is expected."""

    def __init__(self):
        self.noise = self.signal = 0.0
        self.count = 0

    def add(self, expected, got):
        """Flat sequences of numbers. What both have as zero, as masked tokens
        are, does not count."""
        for want, have in zip(expected, got):
            if want or have:
                self.noise += (want - have) ** 2
                self.signal += want * want
                self.count += 1

    def value(self):
        if not self.signal:
            return math.inf if self.noise else 0.0
        return math.sqrt(self.noise / self.signal)

    def size(self):
        """Of an expected value."""
        return math.sqrt(self.signal / self.count) if self.count else 0.0


def allowed(theirs, count, dtype):
    """How far an output of so many values may be. The fewer there are, the
    less a distance says: the quotient of two of `count` values deviates by
    the root of 1/count by chance."""
    return max(LEAST[dtype], FACTOR * theirs * (1 + CHANCE / math.sqrt(count)))


def greatest_two(row):
    """Where the greatest is, and its distance to the next."""
    best = max(range(len(row)), key=row.__getitem__)
    second = max(value for at, value in enumerate(row) if at != best)
    return best, row[best] - second


class Contract:
    """Holds the outputs of a model, case by case, to its row of the table."""

    def __init__(self, theirs, dtype):
        self.theirs = theirs
        self.dtype = dtype
        self.cases = []  # (name, expected, got)

    def add(self, name, expected, got):
        """Messages about what can be no question of distance."""
        faults = check_names(expected, got)
        faults += [f"{key}: expected a distance in distances.json, which "
                   "make_distances.py writes, got none"
                   for key in expected if key not in self.theirs]
        for key in expected:
            if not faults and (got[key].dtype != "F32" or
                               got[key].shape != expected[key].shape):
                faults.append(f"{key}: expected F32 {expected[key].shape}, "
                              f"got {got[key].dtype} {got[key].shape}")
        if not faults:
            self.cases.append((name, expected, got))
        return faults

    def compare(self, name, expected, got):
        """check_floats of two results of one program, which are both as far
        from f32 as they are; `name` ends in the output's."""
        own = Distance()
        own.add(expected.data, got.data)
        limit = max((allowed(theirs, max(1, own.count), self.dtype)
                     for key, theirs in self.theirs.items()
                     if name.endswith(key)), default=0.0)
        if own.value() <= limit:
            return []
        return [f"{name}: expected it within {limit:.3g}, got "
                f"{own.value():.3g}"]

    def noise(self, scores):
        """By how much the greatest of some logits may seem to be another."""
        theirs = self.theirs.get("logits", LEAST[self.dtype])
        one = Distance()
        one.add(scores, scores)
        return MARGIN * allowed(theirs, one.count, self.dtype) * one.size()

    def check(self):
        """The messages about all cases together."""
        faults = []
        for key, theirs in self.theirs.items():
            own = Distance()
            for _, expected, got in self.cases:
                own.add(expected[key].data, got[key].data)
            if not own.count:
                continue
            limit = allowed(theirs, own.count, self.dtype)
            # NaN is no smaller than anything.
            if not own.value() <= limit:
                faults.append(
                    f"{key}: distance to f32 {own.value():.3g}, Hugging "
                    f"Face's {theirs:.3g}, allowed {limit:.3g} of {own.count} "
                    "values")
            if key == "logits":
                faults += self.check_choices(limit * own.size())
        return faults

    def check_choices(self, deviation):
        """Of scores of tokens, the greatest is the expected one wherever it is
        further from the next than scores deviate."""
        faults = []
        for name, expected, got in self.cases:
            shape = expected["logits"].shape
            if len(shape) != 3 or shape[2] < 2:
                continue
            pairs = zip(cut(expected["logits"].data, shape[2]),
                        cut(got["logits"].data, shape[2]))
            for at, (wanted, have) in enumerate(pairs):
                best, margin = greatest_two(wanted)
                chosen, _ = greatest_two(have)
                if margin > MARGIN * deviation and chosen != best:
                    faults.append(
                        f"{name}: row {at // shape[1]}, column "
                        f"{at % shape[1]}: expected the greatest of logits at "
                        f"{best}, {margin:.3g} above the next, got {chosen}")
        return faults


def find_contract(name, dtype):
    """That of a model with such values; none without a type. A model without
    forward cases has no row in the table."""
    if not dtype:
        return None
    with open(TABLE) as stream:
        row = json.load(stream)["models"].get(name, {dtype: {}})
    return Contract(row[dtype], dtype)


def cut(data, width):
    return [data[at:at + width] for at in range(0, len(data), width)]
