// A cache write reads its operands' buffers in place and keeps its order.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: @cache_write
// CHECK-SAME: %[[K:.*]]: memref<?x8xf32{{.*}}>, %[[V:.*]]: memref<?x8xf32{{.*}}>, %[[BATCH:.*]]: !transformer.batch, %[[CACHE:.*]]: !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>, %[[LAYER:.*]]: index
// CHECK-NEXT: transformer.cache_write %[[K]], %[[V]] into %[[CACHE]][%[[LAYER]]], %[[BATCH]] : memref<?x8xf32
// CHECK-NEXT: return
func.func @cache_write(%k: tensor<?x8xf32>, %v: tensor<?x8xf32>,
                       %batch: !transformer.batch, %cache: !cache,
                       %layer: index) {
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}
