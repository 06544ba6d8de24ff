// A module without weights: nothing to pack, and a function that says so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize | FileCheck %s

// CHECK: transformer.packed_bytes = 0

// CHECK-LABEL: @leaves_functions_alone
// CHECK-NEXT: return
func.func @leaves_functions_alone() {
  return
}
// CHECK: func.func @pack(
