# The structs are those of the C headers: sizes, and offsets of every member.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import ctypes
import os
import subprocess
import tempfile
import unittest

from shared import SOURCE
from tfcompiler import _library, _structs


def describe_in_python():
    lines = []
    for struct, name in _structs.C_NAMES.items():
        lines.append(f"{name} {ctypes.sizeof(struct)}")
        lines += [f"{name}.{member[0]} {getattr(struct, member[0]).offset}"
                  for member in struct._fields_]
    return lines


def describe_in_c():
    prints = []
    for struct, name in _structs.C_NAMES.items():
        prints.append(f'printf("{name} %zu\\n", sizeof({name}));')
        prints += [f'printf("{name}.{member[0]} %zu\\n", '
                   f"offsetof({name}, {member[0]}));"
                   for member in struct._fields_]
    program = ("#include <stddef.h>\n#include <stdio.h>\n"
               '#include "tfc/scheduler.h"\n#include "tfc/text.h"\nint main(void) {\n'
               + "\n".join(prints) + "\nreturn 0;\n}\n")
    with tempfile.TemporaryDirectory() as scratch:
        source, made = (os.path.join(scratch, name) for name in ("s.c", "s"))
        with open(source, "w") as stream:
            stream.write(program)
        subprocess.run([os.environ.get("TFC_CC", "cc"), source, "-o", made,
                        "-I", os.path.join(SOURCE, "runtime", "include")],
                       check=True)
        return subprocess.run([made], check=True, capture_output=True,
                              text=True).stdout.splitlines()


class Structs(unittest.TestCase):
    def test_are_those_of_the_headers(self):
        self.assertEqual(describe_in_python(), describe_in_c())

    def test_every_function_is_exported(self):
        for name in _library._FUNCTIONS:
            self.assertTrue(hasattr(_library.runtime(), name), name)
