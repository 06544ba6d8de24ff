# The runtime of the preset aarch64, and whether this machine can build and run
# it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import shutil
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIBRARIES = "/usr/aarch64-linux-gnu"
# Of ARMv8.0-A, without anything beyond.
OLDEST = "cortex-a57"
# What each is for, and Debian's package that has it.
TOOLS = {"qemu-aarch64": "qemu-user", "aarch64-linux-gnu-g++":
         "g++-aarch64-linux-gnu"}


def skip(reason):
    print("skipped: " + reason)
    sys.exit(77)


def skip_without_tools():
    missing = [package for tool, package in TOOLS.items()
               if not shutil.which(tool)]
    if missing:
        skip("expected Debian's packages " + ", ".join(TOOLS.values()) +
             " to run programs of aarch64, got no " + ", ".join(missing))


def runner(build, cpu="max"):
    """The command that runs the cross-built tfc-run; qemu's newest CPU."""
    program = os.path.join(build, "bin", "tfc-run")
    if not os.path.exists(program):
        sys.exit(f"expected {program} (cmake --build --preset aarch64 --target "
                 "tfc-run), got none")
    return ["qemu-aarch64", "-L", LIBRARIES, "-cpu", cpu, program]
