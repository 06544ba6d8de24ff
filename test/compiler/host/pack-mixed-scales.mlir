// One `pack` is generated for scales of one type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-pack-weights 2>&1 | FileCheck %s
// CHECK: error: expected scales of all matrices of i4 of one type, got several
transformer.parameter @v : tensor<3x64xi4> from <["v"], stored_rows = 3> packed<panel = 4, word = 8>
transformer.parameter @v.scales : tensor<3x2xf32> companion<scales of @v> packed<panel = 4>
transformer.parameter @w : tensor<3x64xi4> from <["w"], stored_rows = 3> packed<panel = 4, word = 8>
transformer.parameter @w.scales : tensor<3x2xf16> companion<scales of @w> packed<panel = 4>
