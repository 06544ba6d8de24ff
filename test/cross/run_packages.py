#!/usr/bin/env python3
# Debian's packages and the wheel of the runtime for aarch64, cross-built: a C
# program is built against them and runs by qemu, with the library of either.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import zipfile

import cross

PACKAGES = ["libtfc-dev", "libtfc3", "tfc-run"]
MODEL = os.path.join(cross.ROOT, "examples", "models", "stories-tiny")


def run(*command, **options):
    """The standard output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n"
                 f"{done.stdout}{done.stderr}")
    return done.stdout


def unpack(build, scratch):
    """Debian's packages under a prefix."""
    run("cpack", "-G", "DEB", "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip",
        "-B", scratch, "--config", os.path.join(build, "CPackConfig.cmake"))
    made = sorted(glob.glob(os.path.join(scratch, "*.deb")))
    said = [run("dpkg", "-f", path, "Package", "Architecture").split()[1::2]
            for path in made]
    if said != [[name, "arm64"] for name in PACKAGES]:
        sys.exit(f"expected {PACKAGES} for arm64, got {said}")
    root = os.path.join(scratch, "root")
    for path in made:
        run("dpkg", "-x", path, root)
    return os.path.join(root, "usr")


def wheel_library(build, scratch):
    """The folder of the wheel's library; None where no wheel can be built."""
    tools = os.path.join(scratch, "tools")
    run(sys.executable, "-m", "venv", tools)
    pip = os.path.join(tools, "bin", "pip")
    done = subprocess.run([pip, "install", "--quiet", "scikit-build-core",
                           "ninja"], capture_output=True, text=True)
    if done.returncode:
        print(f"no wheel: scikit-build-core cannot be had: {done.stderr[-200:]}")
        return None
    toolchain = os.path.join(cross.ROOT, "cmake", "aarch64-linux-gnu.cmake")
    run(pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w",
        scratch, os.path.join(cross.ROOT, "python"),
        f"--config-settings=cmake.define.TFC_BUILD={build}",
        f"--config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE={toolchain}",
        f"--config-settings=build-dir={scratch}/wheel",
        env=dict(os.environ, _PYTHON_HOST_PLATFORM="linux-aarch64"))
    run(sys.executable, os.path.join(cross.ROOT, "python", "tag_wheels.py"),
        *glob.glob(os.path.join(scratch, "*.whl")))
    (made,) = glob.glob(os.path.join(scratch, "*.whl"))
    if not re.search(r"-py3-none-manylinux_2_(\d+)_aarch64\.whl$", made):
        sys.exit(f"expected a wheel for aarch64, got {made}")
    with zipfile.ZipFile(made) as wheel:
        wheel.extract("tfcompiler/lib/libtfc_runtime.so", scratch)
    folder = os.path.join(scratch, "tfcompiler", "lib")
    os.symlink("libtfc_runtime.so", os.path.join(folder, "libtfc_runtime.so.3"))
    return folder


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--cross", required=True,
                        help="the build folder of the preset aarch64")
    options = parser.parse_args()
    build = os.path.abspath(options.cross)
    arm = cross.find_machine("aarch64")
    cross.skip_without_tools(arm)
    run_here = cross.qemu(arm, "max")
    with tempfile.TemporaryDirectory(prefix="tfc-arm64-") as scratch:
        prefix = unpack(build, scratch)
        user = os.path.join(scratch, "user")
        run("aarch64-linux-gnu-gcc", "-o", user,
            os.path.join(cross.ROOT, "examples", "hello_terse.c"),
            f"-I{prefix}/include", f"-L{prefix}/lib", "-ltfc_runtime")
        library = os.path.join(scratch, "stories.so")
        run(options.tfc, "compile", MODEL, "--target=cpu:armv8-a", "-o", library)
        said = {}
        for name, folder in (("deb", os.path.join(prefix, "lib")),
                             ("wheel", wheel_library(build, scratch))):
            if folder:
                said[name] = run(*run_here, "-E", f"LD_LIBRARY_PATH={folder}",
                                 user, library, MODEL)
        if len(set(said.values())) != 1 or not said["deb"].strip():
            sys.exit(f"expected one text, got {said}")
        # The programs beside it.
        text = run(*run_here, os.path.join(prefix, "bin", "tfc-run"), "--help")
        if "--weights" not in text:
            sys.exit(f"expected tfc-run's help, got {text!r}")
        print(", ".join(said), "say", repr(said["deb"][:60]))


if __name__ == "__main__":
    main()
