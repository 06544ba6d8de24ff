// Round trip of attention.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

// CHECK-LABEL: @attention
// CHECK-SAME: %[[Q:.*]]: tensor<?x104xf32>, %[[K:.*]]: tensor<?x52xf32>, %[[V:.*]]: tensor<?x52xf32>, %[[BATCH:.*]]: !transformer.batch, %[[CACHE:.*]]: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>, %[[LAYER:.*]]: index
func.func @attention(%q: tensor<?x104xf32>, %k: tensor<?x52xf32>,
                     %v: tensor<?x52xf32>, %batch: !transformer.batch,
                     %cache: !cache, %layer: index) {
  // CHECK: transformer.attention %[[Q]], %[[K]], %[[V]], %[[CACHE]][%[[LAYER]]], %[[BATCH]] causal heads 4 {scale = 5.000000e-01 : f64} : tensor<?x104xf32>, tensor<?x52xf32>, tensor<?x52xf32>, <layers = 2, kv_heads = 2, head_dim = 26>
  %0 = transformer.attention %q, %k, %v, %cache[%layer], %batch causal heads 4
         {scale = 0.5 : f64} : tensor<?x104xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache
  // CHECK: transformer.attention {{.*}} bidirectional heads 4 scale_by_inverse_layer {
  %1 = transformer.attention %q, %k, %v, %cache[%layer], %batch bidirectional
         heads 4 scale_by_inverse_layer {scale = 0.5 : f64}
         : tensor<?x104xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// CHECK-LABEL: @scratch
// CHECK-SAME: !transformer.cache<scratch, layers = 6, kv_heads = 12, head_dim = 26>
func.func private @scratch(
    !transformer.cache<scratch, layers = 6, kv_heads = 12, head_dim = 26>)

// CHECK-LABEL: @caches_have_windows_and_narrow_elements
// CHECK-SAME: !transformer.cache<layers = 6, kv_heads = 12, head_dim = 26, window = 64>
// CHECK-SAME: !transformer.cache<layers = 6, kv_heads = 12, head_dim = 26, window = 64, bf16>
// CHECK-SAME: !transformer.cache<cross, layers = 6, kv_heads = 12, head_dim = 26, f16>
// CHECK-SAME: !transformer.cache<layers = 6, kv_heads = 12, head_dim = 26, window = 64, i8>
func.func private @caches_have_windows_and_narrow_elements(
    !transformer.cache<layers = 6, kv_heads = 12, head_dim = 26, window = 64, f32>,
    !transformer.cache<layers = 6, kv_heads = 12, head_dim = 26, bf16, window = 64>,
    !transformer.cache<cross, layers = 6, kv_heads = 12, head_dim = 26, f16>,
    !transformer.cache<layers = 6, kv_heads = 12, head_dim = 26, i8, window = 64>)

// CHECK-LABEL: @bias_and_window
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<4x9xf32>, %[[LEFT:[a-z0-9]+]]: index, %[[RIGHT:[a-z0-9]+]]: index, %[[FACTOR:[a-z0-9]+]]: f32
func.func @bias_and_window(%q: tensor<?x104xf32>, %k: tensor<?x52xf32>,
                           %batch: !transformer.batch, %cache: !cache,
                           %layer: index, %bias: tensor<4x9xf32>,
                           %left: index, %right: index, %factor: f32) {
  // CHECK: transformer.attention {{.*}} bias %[[BIAS]] bidirectional heads 4 {scale = {{.*}}} : tensor<?x104xf32>, tensor<?x52xf32>, tensor<?x52xf32>, <layers = 2, kv_heads = 2, head_dim = 26>, tensor<4x9xf32>
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch bias %bias
         bidirectional heads 4 {scale = 0.5 : f64} : tensor<?x104xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache, tensor<4x9xf32>
  // CHECK: transformer.attention {{.*}} bias %[[BIAS]] causal left %[[LEFT]] heads 4 factor %[[FACTOR]] scale_by_inverse_layer {
  %1 = transformer.attention %q, %k, %k, %cache[%layer], %batch bias %bias
         causal left %left heads 4 factor %factor scale_by_inverse_layer
         {scale = 0.5 : f64}
         : tensor<?x104xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache,
         tensor<4x9xf32>
  // CHECK: transformer.attention {{.*}} bidirectional left %[[LEFT]] right %[[RIGHT]] heads 4 {
  %2 = transformer.attention %q, %k, %k, %cache[%layer], %batch bidirectional
         left %left right %right heads 4 {scale = 0.5 : f64}
         : tensor<?x104xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>

// CHECK-LABEL: @cross_attention
// CHECK-SAME: %[[Q:.*]]: tensor<?x104xf32>, %[[BATCH:.*]]: !transformer.batch, %[[CACHE:.*]]: !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>, %[[LAYER:.*]]: index
func.func @cross_attention(%q: tensor<?x104xf32>, %batch: !transformer.batch,
                           %cross: !cross, %layer: index) {
  // CHECK: transformer.cross_attention %[[Q]], %[[CACHE]][%[[LAYER]]], %[[BATCH]] heads 4 {scale = 5.000000e-01 : f64} : tensor<?x104xf32>, <cross, layers = 2, kv_heads = 2, head_dim = 26>
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 4
         {scale = 0.5 : f64} : tensor<?x104xf32>, !cross
  // CHECK: transformer.cross_attention {{.*}} heads 4 scale_by_inverse_layer {scale
  %1 = transformer.cross_attention %q, %cross[%layer], %batch heads 4
         scale_by_inverse_layer {scale = 0.5 : f64} : tensor<?x104xf32>, !cross
  // CHECK: transformer.cross_attention {{.*}} heads 4 {cap = 5.000000e+01 : f64, scale
  %2 = transformer.cross_attention %q, %cross[%layer], %batch heads 4
         {cap = 50.0 : f64, scale = 0.5 : f64} : tensor<?x104xf32>, !cross
  return
}

// CHECK-LABEL: @scores
// CHECK-SAME: %[[SINKS:[a-z0-9]*]]: tensor<4xf32>
func.func @scores(%q: tensor<?x104xf32>, %k: tensor<?x52xf32>,
                  %batch: !transformer.batch, %cache: !cache, %layer: index,
                  %sinks: tensor<4xf32>) {
  // CHECK: transformer.attention {{.*}} causal heads 4 sinks %[[SINKS]] {log_base = 5.120000e+02 : f64, scale = {{.*}}, slopes = array<f64: {{.*}}>} : {{.*}} <layers = 2, kv_heads = 2, head_dim = 26> sinks tensor<4xf32>
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch causal heads 4
         sinks %sinks {scale = 0.5 : f64, log_base = 512.0 : f64,
                       slopes = array<f64: 0.5, 0.25, 0.125, 0.0625>}
         : tensor<?x104xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
         sinks tensor<4xf32>
  return
}

!alike = !transformer.cache<scratch, layers = 2, kv_heads = 4, head_dim = 13>

// CHECK-LABEL: @relative
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<16x52xf32>, %[[B:[a-z0-9]*]]: tensor<16x52xf32>
func.func @relative(%x: tensor<?x52xf32>, %batch: !transformer.batch,
                    %cache: !alike, %layer: index, %a: tensor<16x52xf32>,
                    %b: tensor<16x52xf32>) {
  // CHECK: transformer.attention {{.*}} bidirectional heads 4 relative_keys %[[A]] relative_queries %[[B]] span 8 max_distance 20 {scale = {{.*}}} : {{.*}} head_dim = 13> relative_keys tensor<16x52xf32> relative_queries tensor<16x52xf32>
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 relative_keys %a relative_queries %b span 8 max_distance 20
         {scale = 0.5 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !alike relative_keys tensor<16x52xf32>
         relative_queries tensor<16x52xf32>
  // CHECK: transformer.attention {{.*}} heads 4 relative_queries %[[B]] span 8 {
  %1 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 relative_queries %b span 8
         {scale = 0.5 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !alike relative_queries tensor<16x52xf32>
  return
}

// CHECK-LABEL: @of_all_heads
// CHECK-SAME: %[[C:[a-z0-9]*]]: tensor<15x13xf32>
func.func @of_all_heads(%x: tensor<?x52xf32>, %batch: !transformer.batch,
                        %cache: !alike, %layer: index,
                        %c: tensor<15x13xf32>) {
  // CHECK: transformer.attention {{.*}} heads 4 relative_values %[[C]] span 8 {odd_span, scale = {{.*}}} : {{.*}} relative_values tensor<15x13xf32>
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 relative_values %c span 8 {odd_span, scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !alike
         relative_values tensor<15x13xf32>
  // CHECK: transformer.attention {{.*}} heads 4 {random_blocks = 1 : i64, rounded_slopes, scale = {{.*}}, slopes = array<f64: {{.*}}>, sparse_block = 4 : i64}
  %1 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 {scale = 0.5 : f64, rounded_slopes, sparse_block = 4,
         random_blocks = 1, slopes = array<f64: 0.5, 0.25, 0.125, 0.0625>}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !alike
  // CHECK: transformer.attention {{.*}} causal heads 4 {blocks_after = 0 : i64, blocks_before = 1 : i64, scale = {{.*}}, sparse_block = 4 : i64}
  %2 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal
         heads 4 {scale = 0.5 : f64, sparse_block = 4, blocks_before = 1,
         blocks_after = 0}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !alike
  return
}

!step = !transformer.cache<scratch, layers = 2, kv_heads = 4, head_dim = 13>

// CHECK-LABEL: @query_terms
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<15x52xf32>, %[[U:[a-z0-9]*]]: tensor<52xf32>, %[[E:[a-z0-9]*]]: tensor<2x52xf32>, %[[TYPES:[a-z0-9]*]]: tensor<?xi32>
func.func @query_terms(%x: tensor<?x52xf32>, %batch: !transformer.batch,
                       %cache: !step, %layer: index, %a: tensor<15x52xf32>,
                       %u: tensor<52xf32>, %e: tensor<2x52xf32>,
                       %types: tensor<?xi32>) {
  // CHECK: transformer.attention {{.*}} heads 4 relative_keys %[[A]] query_bias %[[U]] relative_bias %[[U]] segments %[[E]] segment_bias %[[U]] types %[[TYPES]] span 8 {odd_span, scale = {{.*}}} : {{.*}} relative_keys tensor<15x52xf32> query_bias tensor<52xf32> relative_bias tensor<52xf32> segments tensor<2x52xf32> segment_bias tensor<52xf32> types tensor<?xi32>
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 relative_keys %a query_bias %u relative_bias %u segments %e
         segment_bias %u types %types span 8 {odd_span, scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !step
         relative_keys tensor<15x52xf32> query_bias tensor<52xf32>
         relative_bias tensor<52xf32> segments tensor<2x52xf32>
         segment_bias tensor<52xf32> types tensor<?xi32>
  return
}

// Keys that no query sees, by the numbers of their rows.
// CHECK-LABEL: @unseen
// CHECK-SAME: %[[UNSEEN:[a-z0-9]*]]: tensor<?xi32>
func.func @unseen(%x: tensor<?x52xf32>, %batch: !transformer.batch,
                  %cache: !step, %layer: index, %unseen: tensor<?xi32>) {
  // CHECK: transformer.attention {{.*}} heads 4 unseen %[[UNSEEN]] {scale = {{.*}}} : {{.*}} unseen tensor<?xi32>
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 unseen %unseen {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !step
         unseen tensor<?xi32>
  return
}

!part = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8, part = 1 of [2, 2, 26, 1, 1, 8], bf16>

// What another attention has written, in the second part of a cache.
// CHECK-LABEL: @shared
// CHECK-SAME: !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8, part = 1 of [2, 2, 26, 1, 1, 8], bf16>
func.func @shared(%q: tensor<?x16xf32>, %cache: !part, %layer: index,
                  %batch: !transformer.batch) {
  // CHECK: transformer.attention %{{.*}} shared, %{{.*}}[%{{.*}}], %{{.*}} causal heads 2 {scale = 1.000000e+00 : f64} : tensor<?x16xf32>, <layers = 1
  %0 = transformer.attention %q shared, %cache[%layer], %batch causal heads 2
         {scale = 1.0 : f64} : tensor<?x16xf32>, !part
  return
}

// CHECK-LABEL: @hashed_attention
func.func @hashed_attention(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
                            %v: tensor<?x8xf32>, %r: tensor<8x9xf32>,
                            %batch: !transformer.batch,
                            %x: memref<?x8xf32>, %b: memref<8x9xf32>,
                            %y: memref<?x8xf32>) {
  // CHECK: transformer.hashed_attention %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} heads 2 {after = 0 : i64, before = 1 : i64, block = 8 : i64, buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 16 : i64, scale = 5.000000e-01 : f64}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 16 : i64,
          scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  // CHECK: transformer.ragged_hashed %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} heads 2 outs(%{{.*}} : memref<?x8xf32>) {
  transformer.ragged_hashed %x, %x, %x, %b, %batch heads 2
    outs(%y : memref<?x8xf32>)
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 16 : i64,
          scale = 0.5 : f64}
    : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<8x9xf32>
  return
}
