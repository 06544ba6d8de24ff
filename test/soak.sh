#!/usr/bin/env bash
# Longer than any test: what is asked for, as often as is asked for. What was run
# becomes a row of test/ledger.json.
#   test/soak.sh models 10000 [SEED]   random models, each for many programs
#   test/soak.sh mutants 1000 [SEED]   mutants of what passes make
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
cd "$(dirname "$0")/.."
build=${TFC_BUILD:-build/dev}
python=.venv/bin/python
"$python" -c 'import numpy' 2>/dev/null || python=python3

case "${1:-}" in
models)
  seed=${3:+--seed $3}
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
*)
  echo "expected models or mutants, COUNT and [SEED], got ${1:-nothing}" >&2
  exit 2
  ;;
esac
