# The package's modules stand one on the other, in no circle.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ast
import os
import unittest

from shared import SOURCE

FOLDER = os.path.join(SOURCE, "python", "tfcompiler")


def imports_of(path):
    """The package's modules that a file imports, in functions too; not those
    that only types are made of."""
    with open(path, encoding="utf-8") as stream:
        tree = ast.parse(stream.read())
    left_out = {inner for node in ast.walk(tree) if isinstance(node, ast.If)
                and getattr(node.test, "id", "") == "TYPE_CHECKING"
                for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if node in left_out or not isinstance(node, ast.ImportFrom):
            continue
        if node.module == "tfcompiler":
            yield from (name.name for name in node.names)
        elif node.module and node.module.startswith("tfcompiler."):
            yield node.module.split(".")[1]


class Modules(unittest.TestCase):
    def test_have_an_order(self):
        left = {name[:-3]: set(imports_of(os.path.join(FOLDER, name)))
                for name in sorted(os.listdir(FOLDER)) if name.endswith(".py")
                and name not in ("__init__.py", "__main__.py")}
        self.assertIn("_error", left["_model"])
        while left:
            free = [name for name, needs in left.items()
                    if not needs & set(left)]
            self.assertTrue(free, f"import each other: {sorted(left)}")
            for name in free:
                del left[name]
