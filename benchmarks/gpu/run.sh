#!/usr/bin/env bash
# Tests and times tfc on this machine's GPU: needs its driver and python3, no
# toolkit and no package. Where python3 has torch, torch is timed as well.
#   ./run.sh                 all of it, in about five minutes
#   ./run.sh --help          what can be chosen
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -euo pipefail
exec python3 -B "$(dirname "$0")/run.py" "$@"
