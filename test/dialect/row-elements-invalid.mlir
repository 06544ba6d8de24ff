// Types of rows that are refused: those that no op has, and others than follow
// from the operands but for their elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @width(%x: tensor<?x8xbf16>, %w: tensor<12x8xbf16>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{inferred type(s) 'tensor<?x12xf32>' are incompatible with return type(s) of operation 'tensor<?x8xbf16>'}}
  %0 = transformer.linear %x, %w : tensor<?x8xbf16>, tensor<12x8xbf16> -> tensor<?x8xbf16>
  return
}

// -----

func.func @rows(%x: tensor<?x8xbf16>) {
  // expected-error @below {{failed to infer returned types}}
  // expected-error @below {{are incompatible with return type(s)}}
  %0 = transformer.scale %x by 2.0 : tensor<?x8xbf16> -> tensor<4x8xbf16>
  return
}

// -----

func.func @elements(%x: tensor<?x8xf32>) {
  // expected-error @below {{result #0 must be f32, f16 or bf16 rows of static width, but got 'tensor<?x8xf64>'}}
  %0 = transformer.scale %x by 2.0 : tensor<?x8xf32> -> tensor<?x8xf64>
  return
}

// -----

func.func @operands(%x: tensor<?x8xf64>) {
  // expected-error @below {{operand #0 must be f32, f16 or bf16 rows of static width, but got 'tensor<?x8xf64>'}}
  %0 = transformer.scale %x by 2.0 : tensor<?x8xf64>
  return
}

// -----

func.func @vectors(%x: tensor<8xf32>) {
  // expected-error @below {{operand #0 must be f32, f16 or bf16 rows of static width, but got 'tensor<8xf32>'}}
  %0 = transformer.slice_columns %x[0, 4] : tensor<8xf32>
  return
}

// -----

func.func @numbers(%x: f32) {
  // expected-error @below {{must be f32, f16, bf16 or i8 rows of static width, but got 'f32'}}
  %0 = transformer.linear %x, %x : f32, f32
  return
}

// -----

func.func @few(%x: tensor<?x8xf32>, %w: tensor<12x8xf32>, %b: tensor<12xf32>) {
  // expected-error @below {{expected ','}}
  %0 = transformer.linear %x, %w bias %b : tensor<?x8xf32>, tensor<12x8xf32>
  return
}

// -----

// An output is f32.
func.func @output(%x: tensor<?x8xbf16>) {
  transformer.output "y" tokens take all {
    // expected-error @below {{operand #0 must be f32 rows of static width}}
    transformer.yield %x : tensor<?x8xbf16>
  }
  return
}
