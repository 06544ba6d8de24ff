# The runtimes of the presets that are cross-built, a row a machine, and whether
# this one can build and run them.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import dataclasses
import os
import shutil
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


@dataclasses.dataclass(frozen=True)
class Program:
    target: str         # of --target, behind "cpu:"
    cpu: str            # qemu's, that runs it
    same: str           # the program of x86-64 whose bits it has
    emulates: bool = False  # also as the emulated program of this machine
    words: int = 4      # columns of a word of bytes without groups


@dataclasses.dataclass(frozen=True)
class Machine:
    name: str           # the preset's, and the one that errors say
    tools: dict         # what is called, and Debian's package that has it
    libraries: str
    lowest: str         # the target that all of its machines run
    programs: list
    # Of models of integers: programs; by what lacks instructions of the last of
    # them, the names of those.
    integers: list
    lacking: dict


MACHINES = [
    Machine("aarch64", {"qemu-aarch64": "qemu-user",
                        "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu"},
            "/usr/aarch64-linux-gnu", "cpu:armv8-a",
            [Program("armv8-a", "max", "x86-64-v3", emulates=True)],
            # Every Arm runs the first (this is of ARMv8.0-A), and what has the
            # instruction another.
            [Program("armv8-a", "cortex-a57", "x86-64-v3", emulates=True),
             Program("armv8-a+dotprod", "max", "x86-64-v3"),
             Program("armv8-a+i8mm", "max", "x86-64-v3", words=8)],
            {"cortex-a57": "dotprod, i8mm", "neoverse-n1": "i8mm"}),
]
# Vectors of so many bits: one program runs on all, and those for longer ones
# are refused on shorter.
V128, V256, V512 = (f"rv64,v=true,vext_spec=v1.0,vlen={bits}"
                    for bits in (128, 256, 512))
VECTORS = [Program("rv64gcv", V128, "x86-64-v3", emulates=True),
           Program("rv64gcv", V512, "x86-64-v3"),
           Program("rv64gcv+zvl256b", V256, "x86-64-v3"),
           Program("rv64gcv+zvl512b", V512, "x86-64-v4-emulated")]
MACHINES.append(
    Machine("riscv64", {"qemu-riscv64": "qemu-user",
                        "riscv64-linux-gnu-g++": "g++-riscv64-linux-gnu"},
            "/usr/riscv64-linux-gnu", "cpu:rv64gcv", VECTORS, VECTORS,
            {V256: "zvl512b"}))


def find_machine(name):
    (machine,) = [each for each in MACHINES if each.name == name]
    return machine


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def skip_without_tools(machine):
    missing = [package for tool, package in machine.tools.items()
               if not shutil.which(tool)]
    if missing:
        skip("expected Debian's packages " + ", ".join(machine.tools.values()) +
             f" to run programs of {machine.name}, got no " +
             ", ".join(missing))


def qemu(machine, cpu):
    return [next(iter(machine.tools)), "-L", machine.libraries, "-cpu", cpu]


def runner(machine, build, cpu):
    """The command that runs the cross-built tfc-run."""
    program = os.path.join(build, "bin", "tfc-run")
    if not os.path.exists(program):
        sys.exit(f"expected {program} (cmake --build --preset {machine.name} "
                 "--target tfc-run), got none")
    return qemu(machine, cpu) + [program]
