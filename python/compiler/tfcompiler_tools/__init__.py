# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands tfc, tfc-run and tfc-bench, which lie in the package tfcompiler,
and tfc-opt, which is tfc under another name. A package of its own: what imports
NumPy is not needed to start them."""
import importlib.util
import os
import sys


def _run(name, called=None):
    spec = importlib.util.find_spec("tfcompiler")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = os.path.join(folder, "bin", name)
        if os.path.exists(path):
            os.environ.setdefault("TFC_PYTHON", sys.executable)
            os.execv(path, [called or name] + sys.argv[1:])
    sys.exit(f"{name}: error: expected it in the package tfcompiler, got none")


def tfc():
    _run("tfc")


def tfc_run():
    _run("tfc-run")


def tfc_bench():
    _run("tfc-bench")


def tfc_opt():
    _run("tfc", "tfc-opt")
