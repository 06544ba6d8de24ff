// What the verifier of a packing refuses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected panel of at least 1, got 0}}
func.func @packed_c1_panel() attributes {test = #transformer.packed<panel = 0>} {
  return
}

// -----

// expected-error @below {{expected word of at least 1, got -2}}
func.func @packed_c1_word() attributes {test = #transformer.packed<panel = 8, word = -2>} {
  return
}
