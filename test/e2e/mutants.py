# Kernels without one of the instructions that order threads or copies, or by which
# lanes exchange values: a test that notices each is strict enough.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import re
import sys

from device_kernels import Fault

SYNCHRONISING = re.compile(
    r"\s*(@%p\d+\s+)?(bar\.|barrier\.|shfl\.|cp\.async\.(commit|wait)_group"
    r"|wgmma\.(fence|(commit|wait)_group)|fence\.)")


def isolate(ptx, name):
    """The lines of one kernel's PTX: a kernel a compilation."""
    lines = ptx.split("\n")
    begin = next(i for i, line in enumerate(lines)
                 if re.match(rf"\.visible \.entry {name}\b", line))
    # Its last brace: there are blocks within, too.
    end, depth = begin, 0
    while True:
        depth += lines[end].count("{") - lines[end].count("}")
        if depth == 0 and "}" in lines[end]:
            break
        end += 1
    head = next(i for i, line in enumerate(lines) if ".entry" in line)
    return lines[:head] + lines[begin:end + 1]


def holds(is_right, ptx):
    """Whether is_right(ptx); in a child, as a fault kills the device."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if is_right(ptx) else 1)
        except Fault:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def count_noticed(ptx, names, is_right, every=1):
    """How many instructions the kernels `names` have of this kind, each of which
    is_right(name, PTX of that kernel alone) notices to be missing. Ends the process
    where it does not, or finds a kernel wrong as it is. Of exchanges, which a thread
    of many rows has once a row, only each `every`-th is left out."""
    count, faults, exchanges = 0, [], 0
    for name in names:
        lines = isolate(ptx, name)
        if not holds(lambda text: is_right(name, text), "\n".join(lines)):
            sys.exit(f"{name}: expected it to be right as it is")
        for i, line in enumerate(lines):
            if not SYNCHRONISING.match(line):
                continue
            if "shfl." in line:
                exchanges += 1
                if exchanges % every != 0:
                    continue
            count += 1
            mutant = "\n".join(lines[:i] + lines[i + 1:])
            if holds(lambda text: is_right(name, text), mutant):
                faults.append(f"{name}: nobody notices that {line.strip()} is "
                              "missing")
    if faults or not count:
        sys.exit("\n".join(faults) or "expected something to leave out")
    return count
