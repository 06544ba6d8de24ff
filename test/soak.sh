#!/usr/bin/env bash
# Longer than any test: what is asked for, as often as is asked for. What was run
# becomes a row of test/ledger.json.
#   test/soak.sh models 10000 [SEED] [SHARE]   random models for many programs, or
#                                      for that share of what there is to compare
#   test/soak.sh mutants 1000 [SEED]   mutants of what passes make
#   test/soak.sh fuzz 600 [TARGET...]  so many seconds of each fuzzer
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TFC_BUILD:-build/dev}
python=.venv/bin/python
"$python" -c 'import numpy' 2>/dev/null || python=python3

case "${1:-}" in
models)
  seed=${3:+--seed $3}${4:+ --share $4}
  # shellcheck disable=SC2086
  exec nice -n 10 "$python" -B test/random/run_models.py \
    --tfc "$PWD/$build/bin/tfc" --tfc-run "$PWD/$build/bin/tfc-run" \
    --driver "$PWD/$build/test/emulator/libtfc_fakecuda.so" \
    --ledger test/ledger.json --count "${2:?expected how many}" $seed
  ;;
mutants)
  seed=${3:+--seed $3}
  # shellcheck disable=SC2086
  exec nice -n 10 "$python" -B test/reduce/run_mutants.py \
    --tfc "$PWD/$build/bin/tfc-faulty" \
    --ledger test/ledger.json --count "${2:?expected how many}" $seed
  ;;
fuzz)
  # Of the build with sanitizers, where inputs that go further are kept.
  build=${TFC_BUILD:-build/asan}
  seconds=${2:?expected how many seconds}
  shift 2
  [ $# -gt 0 ] || set -- tensors packed spec config text api
  status=0
  for target; do
    nice -n 10 "$python" -B test/fuzz/run_fuzz.py "$target" \
      --fuzzer "$PWD/$build/bin/fuzz_$target" --seconds "$seconds" \
      --keep "$build" --found "$build/corpus/$target" \
      --ledger test/ledger.json || status=1
  done
  exit $status
  ;;
*)
  echo "expected models, mutants or fuzz, and how many, got ${1:-nothing}" >&2
  exit 2
  ;;
esac
