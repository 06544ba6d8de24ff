// A panel has rows, or there are none (0).
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-lower-to-linalg=panel=-5 2>&1 | FileCheck %s

// CHECK: error: option panel of tfc-lower-to-linalg: expected at least 0, got -5
func.func @nothing() {
  return
}
