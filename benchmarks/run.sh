#!/usr/bin/env bash
# Measures tfc and its peers on this machine, from nothing: environment, build,
# models, turns, tables. Arguments go to compare.py:
#   benchmarks/run.sh                      everything
#   benchmarks/run.sh --quick              two workloads, in about two minutes
#   benchmarks/run.sh --only decode:1x128 --threads 1
#   benchmarks/run.sh --build build/dev --dtype bf16   a build as it is; bf16
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install-dependencies.sh
work=$PWD/build/benchmarks
python=$work/venv/bin/python
wanted="benchmarks/requirements.txt benchmarks/requirements-llama-cpp.txt"
# shellcheck disable=SC2086
if ! cat $wanted | cmp -s - "$work/installed.txt"; then
  python3 -m venv "$work/venv"
  "$python" -m pip install --quiet -r benchmarks/requirements.txt
  launcher="-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
  # Comes as source. GCC 12 miscompiles its code for AMX.
  CC=clang-22 CXX=clang++-22 \
    CMAKE_ARGS="-DGGML_NATIVE=ON -DGGML_OPENMP=OFF -DLLAVA_BUILD=OFF $launcher" \
    "$python" -m pip install --quiet -r benchmarks/requirements-llama-cpp.txt ||
    echo "llama.cpp cannot be built; the tables will say so"
  cat $wanted >"$work/installed.txt"
fi

build=()
if [[ " $* " != *" --build "* ]]; then
  cmake --preset release -DTFC_BUILD_TESTS=OFF
  cmake --build --preset release -j "$(nproc)"
  build=(--build build/release)
fi
dtype=$(sed -nE 's/.* --dtype[ =]([a-z0-9]+) .*/\1/p' <<<" $* ")
"$python" benchmarks/make_models.py "$work/models" --dtype "${dtype:-f32}"

pieces=$work/pieces/$(git describe --always --dirty)${dtype:+-$dtype}
results=benchmarks/results
if [[ " $* " == *" --quick "* ]]; then
  pieces+=-quick
  results=$work/quick
fi
"$python" benchmarks/compare.py "${build[@]}" --models "$work/models" \
  --cache "$work/cache" --pieces "$pieces" "$@"
"$python" benchmarks/report.py "$pieces" --out $results
