# How lit runs the .mlir and .test files.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import os
import shutil
import subprocess

import lit.formats

config.name = "tfc"
# The external shell, so that tests may use what any shell has.
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.join(config.tfc_source, "test")
config.test_exec_root = os.path.join(config.tfc_build, "test")
config.excludes = ["golden", "differential", "runtime", "unit", "hygiene"]

config.environment["PATH"] = os.pathsep.join(
    [config.tfc_tools, config.llvm_tools, config.environment["PATH"]]
)
config.environment["FILECHECK_OPTS"] = (
    "-enable-var-scope --allow-unused-prefixes=false"
)
# Kernels that the stand-in has compiled: many tests have the same.
config.environment["TFC_FAKECUDA_CACHE"] = os.path.join(
    config.tfc_build, "test", "emulator", "kernels")
config.substitutions += [
    ("%specs", os.path.join(config.tfc_source, "examples", "specs")),
    ("%golden", os.path.join(config.tfc_source, "test", "golden", "models")),
    ("%python", config.python),
    ("%source", config.tfc_source),
    ("%cc", config.cc),
    ("%libraries", os.path.join(config.tfc_build, "runtime", "src")),
    # What stands in for CUDA's driver (test/emulator).
    ("%fakecuda", os.path.join(config.tfc_build, "test", "emulator",
                               "libtfc_fakecuda.so")),
]

# Of the longest tests, which say `REQUIRES: drawn-0` (1, 2), a third is drawn
# where there is a seed; what tests draw themselves goes by it, too.
seed = os.environ.get("TFC_SEED")
for part in range(3):
    if not seed or int(seed) % 3 == part:
        config.available_features.add(f"drawn-{part}")
if seed:
    config.environment["TFC_SEED"] = seed

# NVIDIA's assembler, on machines that have it.
ptxas = shutil.which("ptxas", path=os.pathsep.join(
    ["/usr/local/cuda/bin", os.environ.get("PATH", "")]))
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))

# The parts of a static program, on machines that have them.
def has_archive(name):
    found = subprocess.run([config.cc, "-print-file-name=" + name],
                           capture_output=True, text=True).stdout.strip()
    return os.path.isabs(found)


if not config.sanitize and all(map(has_archive, ("libc.a", "libstdc++.a"))):
    config.available_features.add("static")

# A machine may have no terminals to lend (a bare chroot has not).
try:
    for end in os.openpty():
        os.close(end)
    config.available_features.add("terminals")
except OSError:
    pass
