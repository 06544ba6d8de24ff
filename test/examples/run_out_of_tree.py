#!/usr/bin/env python3
# Builds examples/out-of-tree against the installed compiler alone, and shows
# that its op, its passes and its family do what they say.
#   run_out_of_tree.py --build build/dev --tfc TFC --tfc-run TFC_RUN --cxx CXX
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
MODEL = os.path.join(ROOT, "test", "golden", "models", "gpt2-lm")


def run(*words, status=0):
    """What it prints, on either output."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT)
    if done.returncode != status:
        sys.exit(f"{' '.join(words)}: expected exit status {status}, got "
                 f"{done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def build(options, scratch):
    """The program, of a copy of the example: nothing but what is installed and
    MLIR is found."""
    prefix, source, made = (os.path.join(scratch, name)
                            for name in ("installed", "source", "made"))
    run("cmake", "--install", options.build, "--component", "sdk", "--prefix",
        prefix)
    shutil.copytree(os.path.join(ROOT, "examples", "out-of-tree"), source)
    run("cmake", "-G", "Ninja", "-S", source, "-B", made,
        f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={options.cxx}",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0",
        "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld")
    run("cmake", "--build", made)
    return os.path.join(made, "sum-tfc")


def outputs_of(tool, options, folder, scratch, name):
    """The library's outputs for the model's inputs, as bytes."""
    library, out = (os.path.join(scratch, name + end)
                    for end in (".so", ".safetensors"))
    run(tool, "compile", folder, "--target=cpu", "-o", library)
    run(options.tfc_run, library, "--weights", folder, "--inputs",
        os.path.join(MODEL, "inputs-one.safetensors"), "--outputs", out)
    with open(out, "rb") as stream:
        return stream.read()


def expect(isTrue, what):
    if not isTrue:
        sys.exit(f"expected {what}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("build", "tfc", "tfc-run", "cxx"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tfc-out-of-tree-") as scratch:
        tool = build(options, scratch)
        # The op is there between its two passes, and in no other tfc.
        fused = run(tool, "compile", MODEL, "--target=cpu", "-o", "-",
                    "--stop-before=sum-lower#1")
        expect("sum.three" in fused, "sum.three before sum-lower")
        plain = run(options.tfc, "compile", MODEL, "--target=cpu", "-o", "-",
                    "--stop-after=fused")
        expect("sum.three" not in plain and
               plain.count("transformer.add") ==
               fused.count("transformer.add") + 2, "two additions less")
        # It became vectors, and the library has the bits of tfc's.
        buffers = run(tool, "compile", MODEL, "--target=cpu", "-o", "-",
                      "--stop-after=buffer")
        expect("sum.three" not in buffers, "sum.three to be lowered")
        wanted = outputs_of(options.tfc, options, MODEL, scratch, "wanted")
        got = outputs_of(tool, options, MODEL, scratch, "got")
        expect(wanted == got, "the bits of tfc's library")
        # A folder of the new family is one of gpt2's with another name.
        folder = os.path.join(scratch, "sum-gpt")
        shutil.copytree(MODEL, folder)
        path = os.path.join(folder, "config.json")
        with open(path) as stream:
            config = json.load(stream)
        config["model_type"] = "sum_gpt"
        config["architectures"] = ["SumGptForCausalLM"]
        with open(path, "w") as stream:
            json.dump(config, stream)
        said = run(options.tfc, "import", folder, status=1)
        expect("sum_gpt" in said, "tfc to refuse the family by name")
        expect(outputs_of(tool, options, folder, scratch, "own") == wanted,
               "the bits of gpt2")
    print("an op, two passes and a family, outside of the tree")


if __name__ == "__main__":
    main()
