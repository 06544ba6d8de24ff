// What an entry says of its cache where kernels are of vectors: blocks of 64
// positions, items of 8 queries, whatever the lanes. The kernels have files of
// their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels=lanes=8 --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 4>
!scratch = !transformer.cache<scratch, layers = 3, kv_heads = 2, head_dim = 4>

// 64 x 2 rows x 4 numbers x 4 bytes a layer.
// CHECK-LABEL: @describes_the_cache
// CHECK-SAME: attributes {transformer.cache = #transformer.cache_layout<block_tokens = 64, layers = 3, block_bytes = 6144, layer_bytes = 2048, query_rows = 8>}
func.func @describes_the_cache(%ids: memref<?xi32>,
                               %batch: !transformer.batch, %cache: !cache) {
  return
}

// CHECK-LABEL: @scratch_holds_one_layer
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 64, layers = 1, block_bytes = 4096, layer_bytes = 0,
func.func @scratch_holds_one_layer(%batch: !transformer.batch,
                                   %cache: !scratch) {
  return
}
