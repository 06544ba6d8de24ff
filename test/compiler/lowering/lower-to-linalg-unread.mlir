// A matrix that somebody reads as rows is not packed for products behind his
// back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=16 --verify-diagnostics

transformer.parameter @w : tensor<8x8xf32> from <["w"], stored_rows = 8>

func.func @another_reader(%x: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, tensor<8x8xf32>) {
  %w = transformer.weight @w : tensor<8x8xf32>
  %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  // expected-error @below {{expected products and look-ups alone to read @w (it is packed), got 'func.return'}}
  %rows = transformer.weight @w : tensor<8x8xf32>
  return %y, %rows : tensor<?x8xf32>, tensor<8x8xf32>
}
