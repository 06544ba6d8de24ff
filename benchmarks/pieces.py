# Results of single workloads: kept in files, merged, and what follows from
# their numbers.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import os
import re
import statistics

import turns

# Of the largest value of the reference, at least of 1.
TOLERANCE = 1e-4
# Signal to noise that another may have less than tfc, in dB.
QUALITY_MARGIN = 3
# So many turns that nobody disturbed are enough to leave the others out.
LEAST_QUIET = 2
# What all pieces of a result have in common.
COMMON = ("cpu", "commit")


def models_of(dtype):
    """Those that are measured in it. Four bits are for weights that are read
    from memory for every token: decoders, and one as large as they are for."""
    if dtype == "int4":
        return ("gpt2-124m", "llama-1.1b")
    return ("minilm-l6", "bert-base", "gpt2-124m") + (
        ("deberta-v3-base",) if dtype == "f32" else ())


def name_of(model, dtype):
    """Of a model that is measured in f32, bf16, f16, int8 or int4; of its
    folder, too."""
    return model if dtype == "f32" else f"{model}-{dtype}"


def difference(values, reference):
    """The largest difference of two lists of numbers, in parts of the largest
    one of the reference (at least 1); infinite when they cannot be compared."""
    if len(values) != len(reference) or not all(map(math.isfinite, values)):
        return math.inf
    scale = max(1.0, max(map(abs, reference)))
    return max(abs(a - b) for a, b in zip(values, reference)) / scale


def signal_to_noise(values, reference):
    """The reference's squares over those of the differences, in dB; infinite
    when nothing differs, minus infinity when they cannot be compared."""
    if len(values) != len(reference) or not all(map(math.isfinite, values)):
        return -math.inf
    noise = math.fsum((a - b) ** 2 for a, b in zip(values, reference))
    signal = math.fsum(b * b for b in reference)
    return 10 * math.log10(signal / noise) if noise and signal else (
        -math.inf if noise else math.inf)


def agrees(piece, name):
    """In f32 within the tolerance; in 16 bits as near to the reference as tfc
    is, but for what nobody sees."""
    if piece.get("dtype", "f32") == "f32":
        return piece["differences"].get(name, math.inf) <= TOLERANCE
    qualities = piece["qualities"]
    return qualities.get(name, -math.inf) >= qualities["tfc"] - QUALITY_MARGIN


def write_piece(piece, folder):
    """One file a workload and number of threads: a later run replaces it."""
    stem = re.sub(r"[^a-z0-9]+", "-",
                  f"{piece['model']}-{piece['workload']}-{piece['threads']}")
    with open(os.path.join(folder, stem + ".json"), "w",
              encoding="utf-8") as stream:
        json.dump(piece, stream, indent=1)


def read_pieces(folder):
    pieces = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                pieces.append(json.load(stream))
    return pieces


def merge(pieces):
    """The pieces in the order of the tables. Raises ValueError when there are
    none, or when they are of different machines or commits."""
    if not pieces:
        raise ValueError("expected results of compare.py, got none")
    for key in COMMON:
        values = sorted({piece[key] for piece in pieces})
        if len(values) > 1:
            raise ValueError(f"expected results of one {key}, got "
                             f"{' and '.join(values)}")

    def place(piece):
        kind, lengths = piece["workload"].split(":")
        numbers = [int(n) for n in re.findall(r"\d+", lengths)]
        return (piece["model"], piece["threads"],
                ["encode", "prefill", "decode"].index(kind),
                "," in lengths, numbers[::-1])

    return sorted(pieces, key=place)


def quiet(piece, name, values):
    """{round: value} of the turns that nobody disturbed; of all turns when
    those are too few."""
    every = dict(enumerate(values))
    others = piece["others"].get(name, [])
    kept = {i: value for i, value in every.items()
            if i < len(others) and others[i] <= turns.DISTURBED}
    return kept if len(kept) >= LEAST_QUIET else every


def seconds_of(piece, name):
    return quiet(piece, name, piece["seconds"].get(name, []))


def medians(piece):
    """Milliseconds of everybody who finished."""
    return {name: 1e3 * statistics.median(seconds_of(piece, name).values())
            for name, values in piece["seconds"].items() if values}


def quartile_range(values):
    """Half of what lies between the quartiles; 0 of a single value."""
    if len(values) < 2:
        return 0.0
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2


def best_peer(piece):
    """The fastest of the others that agree with the reference, and how many
    times faster than it tfc is: the median over the rounds of the ratio within
    a round. (None, None) when there is nobody."""
    times = {name: value for name, value in medians(piece).items()
             if name != "tfc" and agrees(piece, name)}
    if not times:
        return None, None
    best = min(times, key=times.get)
    theirs, ours = seconds_of(piece, best), seconds_of(piece, "tfc")
    ratios = [theirs[i] / ours[i] for i in ours if i in theirs]
    return best, (statistics.median(ratios) if ratios else
                  times[best] / medians(piece)["tfc"])


def limit_share(piece):
    """(share, "FMA" or "read"): what of the machine's limit tfc-bench's step
    reaches, by what limits it more."""
    flops, read = (statistics.median(
        quiet(piece, "tfc-bench", piece["bench"][key]).values())
        for key in ("flops_share", "read_share"))
    return (flops, "FMA") if flops >= read else (read, "read")
