# What the tests of packages have in common.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import subprocess
import sys

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
MODELS = os.path.join(SOURCE, "examples", "models")
SKIPPED = 77


def run(*command, **options):
    """The standard output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True,
                          errors="replace", **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def bare(scratch):
    """An environment in which nothing is found that was not installed."""
    return {"PATH": "/nowhere", "HOME": scratch, "XDG_CACHE_HOME": scratch}


def check_needs_no_llvm(program):
    needed = run("objdump", "-p", program)
    names = [line.split()[1] for line in needed.splitlines()
             if line.strip().startswith("NEEDED")]
    foreign = [name for name in names if not name.startswith(
        ("libc.", "libm.", "libgcc_s.", "ld-linux"))]
    if foreign or not names:
        sys.exit(f"{program}: expected to need glibc and libgcc, got {names}")
    versions = {word.strip("()") for word in run(
        "objdump", "-T", program).split() if word.startswith(
            ("GLIBC_2.", "(GLIBC_2."))}
    newest = max(int(word.split(".")[1]) for word in versions)
    if newest > 34:
        sys.exit(f"{program}: expected symbols of glibc 2.34 at most, got "
                 f"2.{newest}")
