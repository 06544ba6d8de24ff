// What is no target, and what is no level.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-set-target=opt=fast 2>&1 | FileCheck %s --check-prefix=OPT
// OPT: error: expected opt none or full, got fast
// RUN: not tfc-opt %s --tfc-set-target=target=sparc 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: expected --target cpu, {{.*}}, got sparc
// RUN: not tfc-opt %s --tfc-set-target=weights=int2 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: error: expected weights f32, f16, bf16, int8 or int4, got int2
// RUN: not tfc-opt %s --tfc-set-target=scales=int8 2>&1 | FileCheck %s --check-prefix=SCALES
// SCALES: error: expected scales f32, f16 or bf16, got int8
module {
}
