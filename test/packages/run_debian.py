#!/usr/bin/env python3
# Debian's packages, unpacked: a C program is built against them by CMake and
# runs, and tfc compiles and runs a model where nothing else is found.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import json
import os
import shutil
import sys
import tempfile

import shared
from shared import run

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(tfc 0.1 REQUIRED)
add_executable(user hello_terse.c)
target_link_libraries(user PRIVATE tfc::runtime)
"""


def unpack(build, scratch):
    run("cpack", "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
        "-B", scratch, "--config", os.path.join(build, "CPackConfig.cmake"))
    root = os.path.join(scratch, "root")
    found = sorted(os.path.basename(path).split("_")[0]
                   for path in glob.glob(os.path.join(scratch, "*.deb")))
    if found != ["libtfc-dev", "libtfc3", "tfc"]:
        sys.exit(f"expected the three packages, got {found}")
    for path in glob.glob(os.path.join(scratch, "*.deb")):
        run("dpkg", "-x", path, root)
    return os.path.join(root, "usr")


def build_user(prefix, scratch):
    """examples/hello_terse.c outside of the tree; returns the program."""
    folder = os.path.join(scratch, "user")
    os.mkdir(folder)
    shutil.copy(os.path.join(shared.SOURCE, "examples", "hello_terse.c"),
                folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w") as stream:
        stream.write(PROJECT)
    made = os.path.join(folder, "build")
    run("cmake", "-G", "Ninja", "-S", folder, "-B", made,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_C_COMPILER=clang-22")
    run("cmake", "--build", made)
    return os.path.join(made, "user")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=os.path.join(
        shared.SOURCE, "build", "release"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfc-debian-") as scratch:
        prefix = unpack(options.build, scratch)
        programs = [os.path.join(prefix, "bin", name)
                    for name in ("tfc", "tfc-run", "tfc-bench")]
        for program in programs:
            shared.check_needs_no_llvm(program)
        for name in ("man/man1/tfc.1", "man/man1/tfc-run.1",
                     "man/man1/tfc-bench.1",
                     "bash-completion/completions/tfc",
                     "zsh/vendor-completions/_tfc",
                     "fish/vendor_completions.d/tfc.fish"):
            path = os.path.join(prefix, "share", name)
            if not os.path.exists(path) or not os.path.getsize(path):
                sys.exit(f"{path}: expected a file, got none")
        folder = os.path.join(shared.MODELS, "stories-tiny")
        with open(os.path.join(folder, "golden.json")) as stream:
            prompt = json.load(stream)["prompts"][0]
        text = run(programs[0], "run", folder, prompt, "--", "--max-new-tokens",
                   "20", env=shared.bare(scratch))
        if len(text.strip()) < 5:
            sys.exit(f"expected a story, got {text!r}")
        library = os.path.join(scratch, "stories.so")
        spec = os.path.join(scratch, "stories.json")
        run(programs[0], "import", folder, "-o", spec)
        run(programs[0], "compile", spec, "-o", library,
            env=shared.bare(scratch))
        user = build_user(prefix, scratch)
        said = run(user, library, folder,
                   env={"LD_LIBRARY_PATH": os.path.join(prefix, "lib")})
        print(text, said)


main()
