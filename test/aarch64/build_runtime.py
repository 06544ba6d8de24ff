#!/usr/bin/env python3
# Builds tfc-run of the preset aarch64, for the tests that run it by qemu.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import subprocess

import cross


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--build", required=True, help="its folder")
    args = parser.parse_args()
    cross.skip_without_tools()
    subprocess.check_call([args.cmake, "--preset", "aarch64", "-B", args.build],
                          cwd=cross.ROOT)
    subprocess.check_call([args.cmake, "--build", args.build, "-j", "2",
                           "--target", "tfc-run"])


if __name__ == "__main__":
    main()
