// What an entry says of its cache, and loses. The kernels of attention and cache
// have files of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 4>
!scratch = !transformer.cache<scratch, layers = 3, kv_heads = 2, head_dim = 4>

// A block holds 16 positions: 16 x 2 rows x 4 numbers x 4 bytes a layer.
// CHECK-LABEL: @describes_the_cache
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %{{.*}}: !llvm.ptr {transformer.step}, %{{.*}}: memref<?xi8> {transformer.weights}, %{{.*}}: index {transformer.workers})
// CHECK-SAME: attributes {transformer.cache = #transformer.cache_layout<block_tokens = 16, layers = 3, block_bytes = 1536, layer_bytes = 512, query_rows = 4>}
func.func @describes_the_cache(%ids: memref<?xi32>,
                               %batch: !transformer.batch, %cache: !cache) {
  return
}

// All layers use the one block in turn.
// CHECK-LABEL: @scratch_holds_one_layer
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 16, layers = 1, block_bytes = 1024, layer_bytes = 0,
func.func @scratch_holds_one_layer(%batch: !transformer.batch,
                                   %cache: !scratch) {
  return
}

// CHECK-LABEL: @leaves_functions_without_a_batch_alone
// CHECK-SAME: (%{{[a-z0-9]*}}: memref<?xi32>) {
func.func @leaves_functions_without_a_batch_alone(%x: memref<?xi32>) {
  return
}

// CHECK-LABEL: @one_cache_of_each_kind
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 16, layers = 3, block_bytes = 1536,
// CHECK-SAME: transformer.cross_cache = #transformer.cache_layout<block_tokens = 16, layers = 1, block_bytes = 256,
func.func @one_cache_of_each_kind(
    %batch: !transformer.batch, %cache: !cache,
    %cross: !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 2>) {
  return
}

// 16 positions of 4 bytes and a scale, keys and values.
// CHECK-LABEL: @bytes_have_scales
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 16, layers = 3, block_bytes = 768, layer_bytes = 256, query_rows = 4, storage = int8>
func.func @bytes_have_scales(
    %batch: !transformer.batch,
    %cache: !transformer.cache<layers = 3, kv_heads = 1, head_dim = 4, i8>) {
  return
}
