// Rows that the host could not find.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-call-reduce --split-input-file --verify-diagnostics

func.func @columns_of_wider_rows(%batch: !transformer.batch,
                                 %x: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x16xf32>
  %columns = memref.subview %x[0, 8] [%rows, 4] [1, 1]
    : memref<?x16xf32> to memref<?x4xf32, strided<[16, 1], offset: 8>>
  // expected-error @+1 {{expected rows that follow each other in memory (the host is given their beginning), got 'memref<?x4xf32, strided<[16, 1], offset: 8>>'}}
  transformer.reduce_in_place
    outs(%columns : memref<?x4xf32, strided<[16, 1], offset: 8>>)
  return
}
