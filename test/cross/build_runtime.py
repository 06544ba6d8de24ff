#!/usr/bin/env python3
# Builds the runtime and its programs of a preset that is cross-built, for the
# tests that run them by qemu.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import subprocess

import cross


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("machine", help="the preset's name")
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, help="its folder")
    args = parser.parse_args()
    cross.skip_without_tools(cross.find_machine(args.machine))
    subprocess.check_call([args.cmake, "--preset", args.machine, "-B",
                           args.build], cwd=cross.ROOT)
    subprocess.check_call([args.cmake, "--build", args.build, "-j", "2",
                           "--target", "tfc-run", "tfc-bench", "tfc_runtime",
                           "tfc_runtime_static"])


if __name__ == "__main__":
    main()
