// Constraints of what layers differ in, each broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --verify-diagnostics --split-input-file

func.func @per_layer_c1_none(%layer: index) {
  // expected-error @below {{expected at least one value, got none}}
  %0 = transformer.per_layer index [][%layer]
  return
}

// -----

func.func @per_layer_c1_infinite(%layer: index) {
  // expected-error @below {{expected finite numbers, got}}
  %0 = transformer.per_layer f32 [1.0, 0x7FF0000000000000][%layer]
  return
}

// -----

func.func @per_layer_syntax(%layer: index) {
  // expected-error @below {{expected index or f32, got f64}}
  %0 = transformer.per_layer f64 [1.0][%layer]
  return
}
