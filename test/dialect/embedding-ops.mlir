// Round trip of the table look-ups.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @embedding
// CHECK-SAME: %[[IDS:.*]]: tensor<?xi32>, %[[TABLE:.*]]: tensor<97x104xf32>
func.func @embedding(%ids: tensor<?xi32>, %table: tensor<97x104xf32>) {
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] : tensor<?xi32>, tensor<97x104xf32>
  %0 = transformer.embedding %ids, %table
         : tensor<?xi32>, tensor<97x104xf32>
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] {offset = 2 : i64} : tensor
  %1 = transformer.embedding %ids, %table {offset = 2 : i64}
         : tensor<?xi32>, tensor<97x104xf32>
  // CHECK: transformer.embedding %[[IDS]], %[[TABLE]] optional : tensor
  %2 = transformer.embedding %ids, %table optional
         : tensor<?xi32>, tensor<97x104xf32>
  return
}
