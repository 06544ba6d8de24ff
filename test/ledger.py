# What was run for longer than a test, when, on which commit: test/ledger.json, a
# line a run, of which make_numbers.py makes tables.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
PATH = os.path.join(ROOT, "ledger.json")
# What a row may have beside kind, date, commit and seconds, by its kind.
FIELDS = {"models": ("seed", "count", "runs", "found"),
          "mutants": ("seed", "tried", "noticed"),
          "fuzz": ("target", "count", "found")}


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10",
                           "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def read(path=PATH):
    if not os.path.exists(path):
        return []
    with open(path) as stream:
        return json.load(stream)


def row(kind, seconds, **fields):
    """A run that ends now."""
    assert tuple(fields) == FIELDS[kind], (kind, fields)
    return {"kind": kind, "date": time.strftime("%Y-%m-%d"),
            "commit": commit(), "seconds": round(seconds), **fields}


def append(path, new):
    rows = read(path) + [new]
    with open(path, "w") as stream:
        stream.write("[\n" + ",\n".join(" " + json.dumps(each)
                                        for each in rows) + "\n]\n")
