# How far a result may be from its reference, and what a failure says.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import math

# In f32, relative to the largest reference value where that is above 1.
TOLERANCE = 1e-4


def place(flat, shape):
    """A flat index as [i, j, ...]."""
    index = []
    for size in reversed(shape):
        index.insert(0, flat % size)
        flat //= size
    return index


def check_names(expected, got):
    if sorted(expected) != sorted(got):
        return [f"expected outputs {sorted(expected)}, got {sorted(got)}"]
    return []


def check_floats(name, expected, got):
    """The differences of two float tensors, as a list of messages."""
    if got.dtype != "F32" or got.shape != expected.shape:
        return [f"{name}: expected F32 {expected.shape}, got {got.dtype} "
                f"{got.shape}"]
    largest = max((abs(value) for value in expected.data), default=0)
    limit = TOLERANCE * max(1, largest)
    first, max_abs, max_rel = None, 0, 0
    for index, (want, have) in enumerate(zip(expected.data, got.data)):
        error = abs(want - have)
        if not error <= limit and first is None:
            first = index
        max_abs = max(max_abs, error)
        max_rel = max(max_rel, error / abs(want) if want else 0)
    if first is None:
        return []
    return [f"{name}: max abs {max_abs:.3g} (allowed {limit:.3g}), max rel "
            f"{max_rel:.3g}, first bad index {place(first, expected.shape)}: "
            f"expected {expected.data[first]:.9g}, got {got.data[first]:.9g}"]


def check_noise(name, expected, got, least):
    """Like check_floats, of values that were rounded on their way: the power of
    the expected ones is `least` decibels above that of the differences."""
    if got.dtype != "F32" or got.shape != expected.shape:
        return [f"{name}: expected F32 {expected.shape}, got {got.dtype} "
                f"{got.shape}"]
    signal = sum(value * value for value in expected.data)
    noise = sum((want - have) ** 2
                for want, have in zip(expected.data, got.data))
    if noise * 10 ** (least / 10) <= signal:
        return []
    decibels = 10 * math.log10(signal / noise) if signal else -math.inf
    return [f"{name}: expected {least:g} dB above its noise, got "
            f"{decibels:.1f}"]


def check_equal(name, expected, got):
    """Exact equality: tokens, and results that must agree bit for bit."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return [f"{name}: expected {expected.dtype} {expected.shape}, got "
                f"{got.dtype} {got.shape}"]
    if got.data.tobytes() == expected.data.tobytes():
        return []
    size = got.data.itemsize
    wanted, have = expected.data.tobytes(), got.data.tobytes()
    first = next(i for i in range(len(got.data)) if
                 wanted[i * size:(i + 1) * size] !=
                 have[i * size:(i + 1) * size])
    return [f"{name}: first difference at {place(first, got.shape)}: expected "
            f"{expected.data[first]!r}, got {got.data[first]!r}"]


def check_same(label, expected, got):
    """All tensors of two results, bit for bit."""
    faults = check_names(expected, got)
    if not faults:
        for name in expected:
            faults += check_equal(f"{label}: {name}", expected[name],
                                  got[name])
    return faults
