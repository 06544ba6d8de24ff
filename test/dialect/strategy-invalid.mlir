// What the verifier of a strategy refuses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected sizes of at least 0 in rows (0 leaves a dimension whole), got -1}}
func.func @strategy_c1_rows() attributes {test = #transformer.strategy<parallel = [8, 0], rows = [-1, 0], reduction = []>} {
  return
}

// -----

// expected-error @below {{expected sizes of at least 0 in reduction (0 leaves a dimension whole), got -7}}
func.func @strategy_c1_reduction() attributes {test = #transformer.strategy<parallel = [], rows = [], reduction = [0, -7]>} {
  return
}

// -----

// expected-error @below {{expected sizes of at least 0 in parallel (0 leaves a dimension whole), got -8}}
func.func @strategy_c1_parallel() attributes {test = #transformer.strategy<parallel = [-8], rows = [], reduction = []>} {
  return
}
