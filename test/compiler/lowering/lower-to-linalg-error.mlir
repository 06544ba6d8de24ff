// A panel has rows, or there are none (0); a word has a column; kernels read
// panels, or rows as they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-lower-to-linalg=panel=-5 2>&1 | FileCheck %s
// RUN: not tfc-opt %s --tfc-lower-to-linalg="panel=16 bf16-word=0" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not tfc-opt %s --tfc-lower-to-linalg=kernel-rows=-1 2>&1 | FileCheck %s --check-prefix=ROWS
// RUN: not tfc-opt %s --tfc-lower-to-linalg="panel=16 kernel-rows=8" 2>&1 | FileCheck %s --check-prefix=BOTH

// CHECK: error: option panel of tfc-lower-to-linalg: expected at least 0, got -5
// WORD: error: option bf16-word of tfc-lower-to-linalg: expected at least 1, got 0
// ROWS: error: option kernel-rows of tfc-lower-to-linalg: expected at least 0, got -1
// BOTH: error: option kernel-rows of tfc-lower-to-linalg: expected 0 with panel, got 8
func.func @nothing() {
  return
}
