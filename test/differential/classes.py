# The classes of transformers that tfc imports, as the tables of families list
# them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import glob
import json
import os

ROOT = os.path.dirname(os.path.abspath(__file__))
FOLDER = os.path.join(ROOT, "..", "..", "compiler", "spec", "family", "tables")


def read_tables():
    """By name of the file, what is in it."""
    tables = {}
    for path in sorted(glob.glob(os.path.join(FOLDER, "*.json"))):
        with open(path) as stream:
            tables[os.path.basename(path)[:-5]] = json.load(stream)
    return tables


def of(stem):
    """Those of the family whose model without a head is called STEMModel, that
    one first; a model type with classes of two kinds has two tables, and one
    without classes of its own has some of another's."""
    tables = [table for table in read_tables().values() if "classes" in table]
    types = max((table for table in tables
                 if stem + "Model" in table["classes"]),
                key=lambda table: len(table["classes"]))["model_type"]
    names = [name for table in tables if table["model_type"] == types
             for name in table["classes"]]
    return tuple(sorted(names, key=lambda name: name != stem + "Model"))


def generates(name):
    """Whether its name says that it makes text."""
    return name.endswith(("ForCausalLM", "LMHeadModel", "MarianMTModel",
                          "ForConditionalGeneration", "GenerationDecoder"))


def asks(name):
    """Whether its name says that it finds where an answer begins and ends."""
    return "ForQuestionAnswering" in name
