// MLIR's approximations are for numbers and vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-math --verify-diagnostics

func.func @tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected a number or a vector of them, got 'tensor<4xf32>'}}
  %0 = math.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
