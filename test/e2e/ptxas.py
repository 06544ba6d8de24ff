# Runs ptxas on the PTX in a library: it has nothing to say against it, and no
# kernel needs more than MOST_SPILLED bytes of memory for its registers; only
# attention's, whose loops are four deep, need any.
#   ptxas.py PTXAS LIBRARY
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import re
import subprocess
import sys

MOST_SPILLED = 64
MAY_SPILL = re.compile(r"_attn$")
CUBIN = b"\x7fELF"


def find_ptx(library):
    """The text, without its null byte."""
    begin = library.index(b"\n.version ") + 1
    return library[begin:library.index(b"\0", begin)]


def find_faults(ptxas, ptx):
    with open("kernels.ptx", "wb") as stream:
        stream.write(ptx)
    arch = re.search(rb"^\.target (\w+)", ptx, re.M).group(1).decode()
    run = subprocess.run([ptxas, "-v", f"-arch={arch}", "kernels.ptx", "-o",
                          "kernels.cubin"], capture_output=True, text=True)
    said = run.stdout + run.stderr
    if run.returncode != 0 or re.search("warning|error", said):
        yield said
    kernels = re.findall(r"properties for (\w+)\n\s*(\d+) bytes stack frame, "
                         r"(\d+) bytes spill stores, (\d+) bytes spill loads",
                         said)
    entries = re.findall(rb"^\.visible \.entry (\w+)", ptx, re.M)
    if len(kernels) != len(entries):
        yield (f"expected a line for each of {len(entries)} kernels, got "
               f"{len(kernels)}")
    for name, *sizes in kernels:
        most = MOST_SPILLED if MAY_SPILL.search(name) else 0
        if max(map(int, sizes)) > most:
            yield (f"{name}: expected at most {most} bytes of stack and "
                   f"spills, got {', '.join(sizes)}")


def main():
    ptxas, path = sys.argv[1:]
    with open(path, "rb") as stream:
        library = stream.read()
    faults = list(find_faults(ptxas, find_ptx(library)))
    if CUBIN not in library[1:]:
        faults.append("expected a binary in the library, got none")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


sys.exit(main())
