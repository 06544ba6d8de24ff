#!/usr/bin/env python3
# The code and data of a library for macOS, in a file that Linux on aarch64
# loads, give the bits of x86-64-v3 under qemu. It says nothing of macOS, which
# is nowhere here: of what LLVM makes for it, and of the linker's addresses.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

import cross

MODELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                      "golden", "models")
QUERY = "tfc_module_query"
SEGMENT = 0x19  # LC_SEGMENT_64


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def read_image(path):
    """The bytes of a library as its segments lie in memory, from address 0."""
    with open(path, "rb") as stream:
        data = stream.read()
    magic, _, _, _, count = struct.unpack_from("<5I", data)
    assert magic == 0xFEEDFACF, path
    image, place = bytearray(), 32
    for _ in range(count):
        kind, size = struct.unpack_from("<2I", data, place)
        if kind == SEGMENT:
            address, length, offset, filled = struct.unpack_from(
                "<4Q", data, place + 24)
            image.extend(bytes(address + length - len(image)))
            image[address:address + filled] = data[offset:offset + filled]
        place += size
    return image


def convert(llvm, source, target):
    """The same as an ELF file of one segment, and the number of its pointers,
    which the loader moves."""
    tool = lambda name: os.path.join(llvm, name)
    image = read_image(source)
    listed = run(tool("llvm-objdump"), "--macho", "--rebase", source)
    moved = sorted(int(line.split()[2], 16) for line in listed.splitlines()
                   if line.strip().endswith(" pointer"))
    shown = run(tool("llvm-nm"), "--extern-only", source).split()
    if shown[2:] != ["_" + QUERY]:
        sys.exit(f"expected {QUERY} alone, got {shown}")
    lines = ['.section .image,"awx",@progbits', ".p2align 14", "image:"]
    end = 0
    for address in moved + [len(image)]:
        for start in range(end, address, 64):
            part = image[start:min(start + 64, address)]
            lines.append(".byte " + ",".join(str(byte) for byte in part))
        if address < len(image):
            (to,) = struct.unpack_from("<Q", image, address)
            lines.append(f".quad image+{to}")
        end = address + 8
    lines += [f".globl {QUERY}", f".type {QUERY},@function",
              f".set {QUERY}, image+{int(shown[0], 16)}"]
    with open(target + ".s", "w") as stream:
        stream.write("\n".join(lines) + "\n")
    run(tool("llvm-mc"), "--triple=aarch64-linux-gnu", "--filetype=obj",
        target + ".s", "-o", target + ".o")
    run(tool("ld.lld"), "-shared", "-z", "max-page-size=65536", "-o", target,
        target + ".o")
    return len(moved)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--tfc-run", required=True)
    parser.add_argument("--llvm", required=True, help="its programs' folder")
    parser.add_argument("--cross", required=True,
                        help="the build folder of the preset aarch64")
    parser.add_argument("options", nargs="*", help="of tfc compile")
    args = parser.parse_args()
    arm = cross.find_machine("aarch64")
    cross.skip_without_tools(arm)
    weights = os.path.join(MODELS, args.model)
    cases = [case for case in sorted(glob.glob(weights + "/inputs-*"))
             if "-refuse" not in case and "-generate" not in case
             and "-beams" not in case]
    with tempfile.TemporaryDirectory() as scratch:
        path = lambda name: os.path.join(scratch, name)
        for target in ("apple-m1", "x86-64-v3"):
            run(args.tfc, "compile", weights, "-o", path(target),
                "--target=cpu:" + target, *args.options)
        moved = convert(args.llvm, path("apple-m1"), path("linux.so"))
        runs = ([args.tfc_run, path("x86-64-v3")],
                cross.runner(arm, args.cross, "max") + [path("linux.so")])
        numbers = 0
        for case in cases:
            files = []
            for command in runs:
                output = path("out.safetensors")
                done = subprocess.run(
                    command + ["--weights", weights, "--inputs", case,
                               "--outputs", output], capture_output=True)
                files.append(None)
                if done.returncode == 0:
                    with open(output, "rb") as stream:
                        files[-1] = stream.read()
            if files[0] != files[1]:
                sys.exit(f"{case}: expected the bits of x86-64-v3, got others")
            numbers += files[0] is not None
        if numbers == 0:
            sys.exit("expected cases with outputs, got none")
    print(f"{args.model}: {numbers} of {len(cases)} cases have outputs, equal "
          f"to the bit; {moved} pointers")


if __name__ == "__main__":
    main()
