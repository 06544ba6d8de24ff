#!/usr/bin/env python3
# Makes a table (Markdown), data (CSV) and a plot (SVG) of the pieces that
# compare.py wrote.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import csv
import io
import os
import re
import statistics
import subprocess
import sys

import plot
import turns
from pieces import (LEAST_QUIET, TOLERANCE, agrees, best_peer, limit_share,
                    medians, merge, quartile_range, quiet, read_pieces,
                    seconds_of)


# Of a batch, that a table names one by one.
MOST_LENGTHS = 8
# What the CSV says of tfc's library in every line.
LIBRARY = (*turns.SETTING, "cache_bytes")


def cpu_name():
    """"Intel(R) Xeon(R) Processor (family 6, model 207)"."""
    fields = {}
    with open("/proc/cpuinfo", encoding="utf-8") as stream:
        for line in stream:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    return (f"{fields.get('model name', 'unknown')} (family "
            f"{fields.get('cpu family')}, model {fields.get('model')})")


def short_name(cpu):
    """"intel-xeon-6-207": for the name of a file."""
    text = re.sub(r"\((r|tm)\)|\b(processor|cpu|family|model)\b", " ",
                  cpu.lower())
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    found = subprocess.run(["git", "-C", here, "describe", "--always",
                            "--dirty"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def cell(piece, name):
    values = list(seconds_of(piece, name).values())
    if not values:
        fault = piece["faults"].get(name, "-")
        return "unsupported" if fault.startswith("unsupported") else (
            "error" if fault.startswith("error") else fault)
    spread = 1e3 * quartile_range(values)
    digits = 1 if statistics.median(values) < 1 else 0
    mark = "" if agrees(piece, name) else " \\*"
    if piece.get("dtype", "f32") != "f32":
        mark += f" ({quality(piece, name)})"
    return f"{medians(piece)[name]:.{digits}f} ±{spread:.{digits}f}{mark}"


def kept_in(piece):
    """What tfc keeps weights and cache in: "bf16, cache f32"; emulated where
    its instructions were."""
    bench = piece["bench"]
    text = bench.get("weights", "f32")
    if bench.get("cache", text) not in ("", text):
        text += ", cache " + bench["cache"]
    return text + (" (emulated)" if bench.get("execution") == "emulated"
                   else "")


def quality(piece, name):
    """Signal to noise beside PyTorch in f32: "118 dB"."""
    value = piece.get("qualities", {}).get(name)
    return "-" if value is None else f"{value:.0f} dB"


def label(workload):
    """A workload's name in a table: of many lengths how many, the shortest and
    the longest."""
    what, _, lengths = workload.partition(":")
    lengths = lengths.split(",")
    if len(lengths) <= MOST_LENGTHS:
        return workload
    numbers = sorted(map(int, lengths))
    return f"{what}: {len(numbers)} of {numbers[0]} to {numbers[-1]}"


def table(pieces, names):
    lines = ["| ms | dtype | " + " | ".join(names) +
             " | best peer / tfc | of the limit | quality |",
             "|---" * (len(names) + 5) + "|"]
    for piece in pieces:
        best, ratio = best_peer(piece)
        share, what = limit_share(piece)
        lines.append("| " + " | ".join(
            [label(piece["workload"]), kept_in(piece),
             *(cell(piece, name) for name in names),
             f"**{ratio:.2f}** ({best})" if best else "-",
             f"{100 * share:.0f} % {what}", quality(piece, "tfc")]) + " |")
    return lines


def disturbances(piece, where):
    """Who had too few turns without other work on the machine."""
    others = {name: statistics.median(values)
              for name, values in piece["others"].items() if values}
    names = [n for n, values in piece["others"].items() if values and
             sum(v <= turns.DISTURBED for v in values) < LEAST_QUIET]
    return [f"- {where}, {piece['threads']}T: other processes used up to "
            f"{max(others.values()):.1f} CPUs during the turns of "
            f"{', '.join(names)}"] if names else []


def notes(pieces):
    """What the tables leave out, each thing once."""
    lines = []
    for piece in pieces:
        where = f"{piece['model']} {label(piece['workload'])}"
        lines += [f"- {name}, {where}: {fault}"
                  for name, fault in piece["faults"].items()]
        lines += [f"- {name}, {piece['model']}: differs from PyTorch in f32 by "
                  f"{value:.1e} of the largest value (\\*)"
                  for name, value in piece["differences"].items()
                  if not agrees(piece, name)]
        lines += [f"- {name}, {where}: used {statistics.median(values):.2f} "
                  f"CPUs, has {piece['threads']} threads"
                  for name, values in piece["cores"].items()
                  if values and statistics.median(values) >
                  piece["threads"] + 0.1]
        lines += disturbances(piece, where)
    return list(dict.fromkeys(lines))


def ledger(bench):
    """What of tfc ran, and how."""
    if "program" not in bench:
        return ""
    return (f"; program {bench['program']}, {bench['execution']}, packed "
            f"weights {bench['weight_bytes'] / 1e6:.1f} MB")


def describe(pieces):
    """The text of a result, Markdown."""
    first = pieces[0]
    date = max(piece["date"] for piece in pieces)
    versions = {name: version for piece in pieces
                for name, version in piece["versions"].items() if version}
    names = list(dict.fromkeys(n for piece in pieces for n in piece["seconds"]))
    commands = dict.fromkeys(" ".join(["tfc compile",
                                       *piece["compile"]["options"]])
                             for piece in pieces)
    lines = [
        f"# {date}, {first['cpu']}", "",
        f"Commit {first['commit']}, "
        f"{' and '.join(commands)}. "
        "Milliseconds of a run: "
        "median of the rounds, those left out in which other work disturbed "
        "them, ± half the range between quartiles. In a round "
        "everybody has a turn; best peer / tfc is the median of the ratios "
        "within the rounds. Of the limit: tfc-bench in the same rounds, FMA: "
        "multiply-adds, read: reading the weights. dtype: what tfc keeps "
        "weights and cache in; everybody else f32, or what the model's name "
        "says. Quality, and dB: signal to noise beside PyTorch in f32. What is "
        "measured: "
        "[benchmarks/README.md](../README.md).", ""]
    groups = {}
    for piece in pieces:
        groups.setdefault((piece["model"], piece["threads"]), []).append(piece)
    for (model, threads), group in groups.items():
        plural = "thread" if threads == 1 else "threads"
        lines += [f"## {model}, {threads} {plural}", "",
                  *table(group, names), ""]
    lines += ["## Notes", "", *notes(pieces)]
    for model in dict.fromkeys(piece["model"] for piece in pieces):
        piece = [p for p in pieces if p["model"] == model][-1]
        lines.append(f"- tfc, {model}: compiled in "
                     f"{piece['compile']['seconds']:.1f} s, library "
                     f"{piece['compile']['bytes'] / 1e3:.0f} KB, differs from "
                     f"PyTorch in f32 by {piece['differences']['tfc']:.1e}"
                     + ledger(piece["bench"]))
    lines += [f"- {name}: {version}" for name, version in versions.items()]
    return "\n".join(lines) + "\n"


def data(pieces):
    """A line for each who ran a workload, CSV."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["cpu", "commit", "date", "model", "workload", "threads",
                     "peer", "version", "rounds", "seconds_min",
                     "seconds_median", "seconds_max", "cpus_used",
                     "cpus_used_by_others", "difference", "snr_db", "flops",
                     "bytes", "flops_limit", "read_limit", "fault",
                     *(f"tfc_{key}" for key in LIBRARY)])
    for piece in pieces:
        bench = piece["bench"]
        rows = {**piece["seconds"], "tfc-bench": bench["seconds"]}
        for name, every in rows.items():
            values = list(quiet(piece, name, every).values())
            numbers = [f"{f(values):.9f}" if values else "" for f in
                       (min, statistics.median, max)]
            cores, others = piece["cores"].get(name), piece["others"].get(name)
            limits = [statistics.median(bench[key])
                      for key in ("flops_limit", "read_limit")]
            writer.writerow([
                *(piece[k] for k in ("cpu", "commit", "date", "model",
                                     "workload", "threads")),
                name, piece["versions"].get(name), len(values), *numbers,
                f"{statistics.median(cores):.3f}" if cores else "",
                f"{statistics.median(others):.3f}" if others else "",
                piece["differences"].get(name),
                piece.get("qualities", {}).get(name), bench["flops"],
                bench["bytes"], *(f"{limit:.4g}" for limit in limits),
                piece["faults"].get(name),
                *(bench.get(key) for key in LIBRARY)])
    return stream.getvalue()


def write(pieces, folder):
    """Writes the files of a result; returns their common stem."""
    date = max(piece["date"] for piece in pieces)
    stem = os.path.join(folder, f"{date}-{short_name(pieces[0]['cpu'])}")
    rows = [(f"{p['model']} {label(p['workload'])}, {p['threads']}T", medians(p))
            for p in pieces]
    for suffix, text in ((".md", describe(pieces)), (".csv", data(pieces)),
                         (".svg", plot.bars(rows))):
        with open(stem + suffix, "w", encoding="utf-8") as stream:
            stream.write(text)
    return stem


def main():
    parser = argparse.ArgumentParser(description="makes tables of results")
    parser.add_argument("pieces", help="folder that compare.py wrote")
    parser.add_argument("--out", required=True, help="folder of the results")
    arguments = parser.parse_args()
    try:
        pieces = merge(read_pieces(arguments.pieces))
    except ValueError as fault:
        sys.exit(f"error: {arguments.pieces}: {fault}")
    os.makedirs(arguments.out, exist_ok=True)
    print(describe(pieces))
    print(f"written: {write(pieces, arguments.out)}.md, .csv, .svg")
    wrong = {p["model"]: p["differences"]["tfc"] for p in pieces
             if not agrees(p, "tfc")}
    for model, value in wrong.items():
        print(f"error: {model}: expected tfc within {TOLERANCE} of PyTorch, "
              f"got {value:.1e}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
