// Paged attention writes its init's buffer, and reads its query's in place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --one-shot-bufferize=bufferize-function-boundaries | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: @into_an_empty_tensor
// CHECK-SAME: %[[Q:.*]]: memref<?x8xf32
func.func @into_an_empty_tensor(%q: tensor<?x8xf32>, %scale: f32,
                                %batch: !transformer.batch, %cache: !cache,
                                %layer: index, %tokens: index)
    -> tensor<?x8xf32> {
  // CHECK: %[[Y:.*]] = memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: transformer.paged_attention %[[Q]], {{.*}} causal heads 1 outs(%[[Y]] : memref<?x8xf32>)
  // CHECK-NOT: memref.copy
  // CHECK: return %[[Y]]
  %init = tensor.empty(%tokens) : tensor<?x8xf32>
  %0 = transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
         heads 1 outs(%init : tensor<?x8xf32>)
         : tensor<?x8xf32>, !cache -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// The query may not be overwritten while it is read.
// CHECK-LABEL: @into_its_own_query
// CHECK-SAME: %[[Q:.*]]: memref<?x8xf32
func.func @into_its_own_query(%q: tensor<?x8xf32>, %scale: f32,
                              %batch: !transformer.batch, %cache: !cache,
                              %layer: index) -> tensor<?x8xf32> {
  // CHECK: %[[Y:.*]] = memref.alloc
  // CHECK-NOT: memref.copy
  // CHECK: transformer.paged_attention %[[Q]], {{.*}} outs(%[[Y]] :
  %0 = transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
         heads 1 outs(%q : tensor<?x8xf32>)
         : tensor<?x8xf32>, !cache -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
