#!/usr/bin/env python3
# Builds examples/mpi and runs a model by two processes: the same tokens as by
# one. Skips, saying why, where there is no MPI.
#   run_mpi.py --tfc TFC --runtime libtfc_runtime.so
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                    "..", ".."))
MODEL = os.path.join(ROOT, "examples", "models", "stories-tiny")


def find(*names):
    return next((path for path in map(shutil.which, names) if path), None)


def run(*words, status=0):
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=dict(
                              os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                              OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                              OMP_NUM_THREADS="1"))
    if (done.returncode != 0) != (status != 0):
        sys.exit(f"{' '.join(words)}: expected exit status {status}, got "
                 f"{done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tfc", required=True)
    parser.add_argument("--runtime", required=True)
    options = parser.parse_args()
    compiler = find("mpicc", "mpicc.openmpi")
    runner = find("mpirun", "mpirun.openmpi")
    if not (compiler and runner and shutil.which("cmake")):
        print("skipped: no mpicc and mpirun here (apt-get install openmpi-bin "
              "libopenmpi-dev)")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        made = os.path.join(scratch, "made")
        run("cmake", "-S", os.path.join(ROOT, "examples", "mpi"), "-B", made,
            f"-DMPI_C_COMPILER={compiler}",
            f"-DTFC_INCLUDE={os.path.join(ROOT, 'runtime', 'include')}",
            f"-DTFC_RUNTIME={options.runtime}")
        run("cmake", "--build", made)
        program = os.path.join(made, "generate")

        def generate(processes, library, status=0):
            return run(runner, "--oversubscribe", "-n", str(processes),
                       program, library, MODEL, status=status)
        libraries = {}
        for ranks in (1, 2):
            libraries[ranks] = os.path.join(scratch, f"of-{ranks}.so")
            run(options.tfc, "compile", MODEL, "--target=cpu",
                f"--ranks={ranks}", "-o", libraries[ranks])
        alone = generate(1, libraries[1])
        if len(alone.split()) != 20:
            sys.exit(f"expected 20 tokens, got {alone}")
        for _ in range(2):
            shared = generate(2, libraries[2])
            if shared != alone:
                sys.exit(f"expected {alone} of two processes, got {shared}")
        fault = generate(1, libraries[2], status=1)
        if "expected reduce (it is a library for 2 ranks" not in fault:
            sys.exit(f"expected a fault of one process alone, got {fault}")
    print("two processes write what one does")
    return 0


if __name__ == "__main__":
    sys.exit(main())
