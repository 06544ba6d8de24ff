#!/usr/bin/env bash
# Measures tfc and its peers on this machine, from nothing: environment, build,
# models, and a run in turns. Arguments go to compare.py:
#   benchmarks/run.sh --threads 1 --rounds 3 --peers PyTorch OpenVINO
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "$0")/.."

bash cmake/install-dependencies.sh
work=$PWD/build/benchmarks
python=$work/venv/bin/python
if ! "$python" -c 'import torch, onnxruntime, openvino, ctranslate2' \
    2>/dev/null; then
  python3 -m venv "$work/venv"
  "$python" -m pip install --quiet --requirement benchmarks/requirements.txt
fi

cmake --preset release -DTFC_BUILD_TESTS=OFF
cmake --build --preset release -j 2
"$python" benchmarks/make_models.py "$work/models"
"$python" benchmarks/compare.py --build build/release --models "$work/models" \
  --cache "$work/cache" --out benchmarks/results "$@"
