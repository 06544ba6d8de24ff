// What the pass cannot expand.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --split-input-file --verify-diagnostics
// RUN: not tfc-opt %s --split-input-file --tfc-bind-weights --tfc-expand-cpu-kernels="lanes=4" 2>&1 | FileCheck %s
// RUN: not tfc-opt %s --split-input-file --tfc-bind-weights --tfc-expand-cpu-kernels="dots=tiles" 2>&1 | FileCheck %s --check-prefix=DOTS

// CHECK: error: expected lanes=16 or lanes=8, got 4
// DOTS: error: expected dots=vector or dots=amx, got "tiles"

!cache = !transformer.cache<layers = 1, kv_heads = 2, head_dim = 4>
!other = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 8>
// expected-error @+1 {{expected one cache of its own tokens and one cross cache at most (the step has a place for each), got another '!transformer.cache<layers = 3, kv_heads = 1, head_dim = 8>'}}
func.func @two_caches(%batch: !transformer.batch, %cache: !cache,
                      %other: !other) {
  return
}

// -----

!scratch = !transformer.cache<scratch, layers = 1, kv_heads = 2, head_dim = 4>
!cache = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 8>
// expected-error @+1 {{expected one cache of its own tokens and one cross cache at most}}
func.func @scratch_beside_a_cache(%batch: !transformer.batch,
                                  %scratch: !scratch, %cache: !cache) {
  return
}

// -----

!cross = !transformer.cache<cross, layers = 1, kv_heads = 2, head_dim = 4>
// expected-error @+1 {{expected one cache of its own tokens and one cross cache at most}}
func.func @two_cross_caches(%batch: !transformer.batch, %a: !cross,
                            %b: !cross) {
  return
}

// -----

func.func @product_without_a_tile(
    %x: memref<?x64xf32>, %w: memref<2x64x16xf32>, %y: memref<?x32xf32>,
    %batch: !transformer.batch) {
  // expected-error @below {{expected a tile (chosen by tfc-select-strategy), got none}}
  transformer.product %x, %w outs(%y)
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// No tile reads single columns of bf16.
func.func @product_of_panels_of_other_words(
    %x: memref<?x64xf32>, %w: memref<2x64x16xbf16>, %y: memref<?x32xf32>,
    %batch: !transformer.batch) {
  // expected-error @below {{expected panels of f32 or f16, a column a word, or of bf16 with two, and rows of f32, got 'memref<2x64x16xbf16>' and 'memref<?x64xf32>'}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32>, memref<2x64x16xbf16>, memref<?x32xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>
func.func @product_of_rows_at_an_unknown_distance(
    %x: memref<?x64xf32, strided<[?, 1]>>, %w: memref<2x64x16xf32>,
    %y: memref<?x32xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected rows of an input at a constant distance, their elements side by side, got 'memref<?x64xf32, strided<[?, 1]>>'}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32, strided<[?, 1]>>, memref<2x64x16xf32>,
        memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

!cache = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 4>
func.func @attention_of_rows_in_16_bits(
    %q: memref<?x4xf16>, %y: memref<?x4xf16>, %batch: !transformer.batch,
    %cache: !cache) {
  %layer = arith.constant 0 : index
  %scale = arith.constant 1.0 : f32
  // expected-error @below {{expected rows of f32, got 'memref<?x4xf16>'}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 1
      outs(%y : memref<?x4xf16>) : memref<?x4xf16>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 4>
func.func @writing_tensors(%k: tensor<?x4xf32>, %batch: !transformer.batch,
                           %cache: !cache) {
  %layer = arith.constant 0 : index
  // expected-error @below {{expected buffers, got tensors}}
  transformer.cache_write %k, %k into %cache[%layer], %batch
      : tensor<?x4xf32>, tensor<?x4xf32>, !cache
  return
}
