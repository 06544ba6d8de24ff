// Round trip of latent attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12, bf16>

// CHECK-LABEL: @head_linear
// CHECK-SAME: %[[X:.*]]: tensor<?x30xf32>, %[[W:.*]]: tensor<3x12x6xbf16>
func.func @head_linear(%x: tensor<?x30xf32>, %w: tensor<3x12x6xbf16>) {
  // CHECK: transformer.head_linear %[[X]], %[[W]] heads 3 : (tensor<?x30xf32>, tensor<3x12x6xbf16>) -> tensor<?x48xf32>
  %y = transformer.head_linear %x, %w heads 3
      : (tensor<?x30xf32>, tensor<3x12x6xbf16>) -> tensor<?x48xf32>
  return
}

// CHECK-LABEL: @attention
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x48xf32>, %[[K:[a-z0-9]*]]: tensor<?x4xf32>, %[[C:[a-z0-9]*]]: tensor<?x12xf32>, %[[CACHE:[a-z0-9]*]]: !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12, bf16>, %[[LAYER:[a-z0-9]*]]: index, %[[BATCH:[a-z0-9]*]]: !transformer.batch
func.func @attention(%q: tensor<?x48xf32>, %k: tensor<?x4xf32>,
                     %c: tensor<?x12xf32>, %cache: !cache, %layer: index,
                     %batch: !transformer.batch, %y: tensor<?x36xf32>) {
  // CHECK: transformer.latent_attention %[[Q]], %[[K]], %[[C]], %[[CACHE]][%[[LAYER]]], %[[BATCH]] heads 3 {scale = 5.0{{.*}}} : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12, bf16>, tensor<?x36xf32>
  %0 = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch heads 3
      {scale = 0.5 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x36xf32>
  // CHECK: transformer.paged_latent %[[Q]], %[[K]], %[[C]], %[[CACHE]][%[[LAYER]]], %[[BATCH]] heads 3 outs(%{{.*}} : tensor<?x36xf32>)
  %1 = transformer.paged_latent %q, %k, %c, %cache[%layer], %batch heads 3
      outs(%y : tensor<?x36xf32>) {scale = 0.5 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache
        -> tensor<?x36xf32>
  return
}
