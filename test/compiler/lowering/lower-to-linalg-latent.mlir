// Latent attention as a structured op, and products of heads as those of
// experts whose rows are one head after the other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=4 | FileCheck %s --check-prefix=PANEL

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

transformer.parameter @w : tensor<12x6xf32> experts 3
  from <["w"], stored_rows = 12, stored_cols = 13, in_out = true, stacked = true>
// PANEL: transformer.parameter @w {{.*}} packed<panel = 4>

// CHECK-LABEL: @head_linear
// CHECK-SAME: %[[X:.*]]: tensor<?x30xf32>
// PANEL-LABEL: @head_linear
func.func @head_linear(%x: tensor<?x30xf32>) -> tensor<?x48xf32> {
  // CHECK: %[[T:.*]] = tensor.dim %[[X]]
  // CHECK: %[[N:.*]] = arith.muli %[[T]], %{{.*}} : index
  // CHECK: %[[HEADS:.*]] = tensor.expand_shape %[[X]] {{.*}} : tensor<?x30xf32> into tensor<?x3x10xf32>
  // CHECK: bufferization.alloc_tensor(%[[N]]) : tensor<?x6xf32>
  // CHECK: tensor.extract %[[HEADS]]
  // CHECK: bufferization.alloc_tensor(%[[N]]) : tensor<?xi32>
  // CHECK: bufferization.alloc_tensor(%{{.*}}) : tensor<?x3x16xf32>
  // CHECK: tensor.collapse_shape {{.*}} : tensor<?x3x16xf32> into tensor<?x48xf32>
  // PANEL: transformer.product {{.*}} experts(%{{.*}}) outs
  %w = transformer.weight @w : tensor<3x12x6xf32>
  %y = transformer.head_linear %x, %w heads 3
      : (tensor<?x30xf32>, tensor<3x12x6xf32>) -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// CHECK-LABEL: @attention
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x48xf32>, %[[K:[a-z0-9]*]]: tensor<?x4xf32>, %[[C:[a-z0-9]*]]: tensor<?x12xf32>
func.func @attention(%q: tensor<?x48xf32>, %k: tensor<?x4xf32>,
                     %c: tensor<?x12xf32>, %cache: !cache, %layer: index,
                     %batch: !transformer.batch) -> tensor<?x36xf32> {
  // CHECK: %[[INIT:.*]] = tensor.empty(%{{.*}}) : tensor<?x36xf32>
  // CHECK: transformer.paged_latent %[[Q]], %[[K]], %[[C]], %{{.*}} heads 3 outs(%[[INIT]] : tensor<?x36xf32>) {scale = 5.0
  %y = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch heads 3
      {scale = 0.5 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x36xf32>
  return %y : tensor<?x36xf32>
}
