#!/usr/bin/env python3
# The wheels, of a build or (without --build) from source, installed into a fresh environment of the
# oldest and the newest Python at hand, and used where no compiler is found.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import shared
from shared import run

USE = """
import sys
import tfcompiler as tfc
model = tfc.compile(sys.argv[1])
print("".join(model.stream("Once upon a time", max_new_tokens=20)))
print(tfc.compile(sys.argv[2]).generate(["3 May 1999"])[0])
"""
LARGEST = 38_000_000  # bytes of a wheel
NEWEST_GLIBC = 34  # 2.34: Ubuntu 22.04, Debian 12, RHEL 9


def find_pythons():
    """The oldest and the newest that can make environments, from 3.9 on."""
    found = {sys.version_info[:2]: sys.executable}
    places = os.environ.get("PATH", "").split(":") + glob.glob(
        os.path.expanduser("~/.pyenv/versions/*/bin"))
    for place in places:
        for path in glob.glob(os.path.join(place, "python3.*")):
            match = re.fullmatch(r"python3\.(\d+)", os.path.basename(path))
            if match and int(match[1]) >= 9 and subprocess.run(
                    [path, "-c", "import venv, ensurepip"],
                    capture_output=True).returncode == 0:
                found[3, int(match[1])] = path
    return [found[version] for version in sorted({min(found), max(found)})]


def try_pip(*command):
    """Skips where packages cannot be had."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"skipped: {' '.join(command[:4])}: {done.stderr[-400:]}")
        sys.exit(shared.SKIPPED)


def make_wheels(build, scratch):
    tools = os.path.join(scratch, "tools")
    run(sys.executable, "-m", "venv", tools)
    pip = os.path.join(tools, "bin", "pip")
    try_pip(pip, "install", "--quiet", "scikit-build-core", "ninja")
    wheels = os.path.join(scratch, "wheels")
    for part in ("", "compiler"):
        built = [f"--config-settings=cmake.define.TFC_BUILD={build}"]
        run(pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation",
            "-w", wheels, os.path.join(shared.SOURCE, "python", part),
            *(built if build else []),
            f"--config-settings=build-dir={scratch}/wheel-{part}")
    run(sys.executable, os.path.join(shared.SOURCE, "python",
                                     "tag_wheels.py"),
        *glob.glob(os.path.join(wheels, "*.whl")))
    made = sorted(glob.glob(os.path.join(wheels, "*.whl")))
    for wheel in made:
        size = os.path.getsize(wheel)
        print(f"{os.path.basename(wheel)}: {size / 1e6:.1f} MB")
        if size > LARGEST:
            sys.exit(f"{wheel}: expected at most {LARGEST} bytes, got {size}")
        system = re.search(r"-manylinux_2_(\d+)_x86_64\.whl$", wheel)
        if not system or int(system[1]) > NEWEST_GLIBC:
            sys.exit(f"{wheel}: expected a wheel for glibc 2.{NEWEST_GLIBC} or "
                     "earlier, got another one")
    if len(made) != 2:
        sys.exit(f"expected two wheels, got {made}")
    return made


def use(python, wheels, scratch):
    home = os.path.join(scratch, "home")
    shutil.rmtree(home, ignore_errors=True)
    run(python, "-m", "venv", home)
    own = os.path.join(home, "bin", "python")
    try_pip(own, "-m", "pip", "install", "--quiet", *wheels)
    said = run(own, "-c", USE, *(os.path.join(shared.MODELS, name) for name in
                                 ("stories-tiny", "dates-iso")),
               env=shared.bare(home), cwd=home)
    story, date = said.splitlines()[-2:]
    if date != "1999-05-03" or len(story) < 5:
        sys.exit(f"{python}: expected a story and 1999-05-03, got {said!r}")
    tool, = glob.glob(f"{home}/lib/python*/site-packages/tfcompiler/bin/tfc")
    shared.check_needs_no_llvm(tool)
    # The commands come with the wheel, too.
    said = run(os.path.join(home, "bin", "tfc"), "run",
               os.path.join(shared.MODELS, "dates-iso"), "24.12.1901",
               env=shared.bare(home))
    if said != "1901-12-24\n":
        sys.exit(f"{python}: expected 1901-12-24, got {said!r}")
    # tfc-opt goes on from what tfc writes.
    ir = os.path.join(home, "model.mlir")
    run(os.path.join(home, "bin", "tfc"), "compile",
        os.path.join(shared.MODELS, "dates-iso"), "--target=cpu:x86-64-v3",
        "--stop-after=model", "-o", ir, env=shared.bare(home))
    said = run(os.path.join(home, "bin", "tfc-opt"), ir,
               "--tfc-model-to-fused", env=shared.bare(home))
    if "transformer.linear" not in said:
        sys.exit(f"{python}: expected fused IR, got {said[:400]!r}")
    print(run(own, "--version").strip(), "said", repr(story), date)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfc-wheels-") as scratch:
        wheels = make_wheels(options.build, scratch)
        for python in find_pythons():
            use(python, wheels, scratch)


main()
