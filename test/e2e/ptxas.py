# Runs ptxas on the PTX in a library, for every architecture that its text is
# for: it has nothing to say against it, and kernels need no more registers,
# shared memory and spilled bytes than the table beside this file allows.
#   ptxas.py PTXAS MODEL LIBRARY [-O1]            checks; as far optimised
#   ptxas.py PTXAS MODEL LIBRARY [-O1] --write    writes what is needed into the
#                                                 table
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import re
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ptxas.json")
ARCHS = ("sm_80", "sm_86", "sm_90", "sm_100")
# Kernels that the table does not know may spill nothing.
COLUMNS = ("registers", "shared", "stack", "spilled")
UNKNOWN = (64, 0, 0, 0)
CUBIN = b"\x7fELF"
KERNEL = re.compile(
    r"properties for (\w+)\n\s*(\d+) bytes stack frame, (\d+) bytes spill "
    r"stores, (\d+) bytes spill loads\n.*Used (\d+) registers"
    r"(?:.*?(\d+) bytes smem)?")


def find_ptx(library):
    """The text, without its null byte."""
    begin = library.index(b"\n.version ") + 1
    return library[begin:library.index(b"\0", begin)]


def assemble(command, ptx, arch):
    """(needs by kernel, faults)."""
    with open("kernels.ptx", "wb") as stream:
        stream.write(ptx)
    run = subprocess.run([*command, "-v", f"-arch={arch}", "kernels.ptx", "-o",
                          "kernels.cubin"], capture_output=True, text=True)
    said = run.stdout + run.stderr
    faults = []
    if run.returncode != 0 or re.search("warning|error|C75", said):
        faults.append(f"{arch}: {said}")
    kernels = {name: (int(registers), int(shared or 0), int(stack),
                      max(int(stores), int(loads)))
               for name, stack, stores, loads, registers, shared in
               KERNEL.findall(said)}
    entries = re.findall(rb"^\.visible \.entry (\w+)", ptx, re.M)
    if len(kernels) != len(entries):
        faults.append(f"{arch}: expected a line for each of {len(entries)} "
                      f"kernels, got {len(kernels)}")
    return kernels, faults


def compare(arch, kernels, allowed):
    for name, needs in kernels.items():
        most = allowed.get(name, UNKNOWN)
        for column, need, limit in zip(COLUMNS, needs, most):
            if need > limit:
                yield (f"{arch}: {name}: expected at most {limit} for "
                       f"{column}, got {need}")


def write(table):
    """A kernel a line."""
    with open(TABLE, "w", encoding="utf-8") as stream:
        stream.write("{\n" + ",\n".join(
            f' "{key}": {{\n' + ",\n".join(
                f'  "{name}": {json.dumps(needs)}'
                for name, needs in sorted(table[key].items())) + "\n }"
            for key in sorted(table)) + "\n}\n")


def main():
    ptxas, model, path = sys.argv[1:4]
    command = [ptxas, *(option for option in sys.argv[4:] if option[:2] == "-O")]
    with open(path, "rb") as stream:
        library = stream.read()
    with open(TABLE, encoding="utf-8") as stream:
        table = json.load(stream)
    faults = []
    if CUBIN not in library[1:]:
        faults.append("expected a binary in the library, got none")
    for arch in ARCHS:
        kernels, said = assemble(command, find_ptx(library), arch)
        faults += said
        key = f"{model} {arch}"
        if "--write" in sys.argv:
            table[key] = kernels
        faults += compare(arch, kernels, table.get(key, {}))
    if "--write" in sys.argv:
        write(table)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
