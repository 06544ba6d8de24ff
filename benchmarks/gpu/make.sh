#!/usr/bin/env bash
# Makes the bundle for a machine with a GPU, of a build of tfc:
#   benchmarks/gpu/make.sh OUT                     all families, large models
#   benchmarks/gpu/make.sh OUT --small             toy shapes, to try it here
#   benchmarks/gpu/make.sh OUT --bin build/dev/bin the programs of another build
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
exec python3 -B "$(dirname "$0")/make.py" "$@"
