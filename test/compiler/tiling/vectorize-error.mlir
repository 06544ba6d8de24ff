// Options that are no number of repetitions and of rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-vectorize{unroll=0}))" 2>&1 | FileCheck %s --check-prefix=UNROLL

// UNROLL: error: option unroll of tfc-vectorize: expected at least 1, got 0
func.func @nothing() {
  return
}
