// attention: a write to the cache, then attention over what the cache holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
!scratch = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 4>

// CHECK-LABEL: @writes_before_it_reads
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x16xf32>, %[[K:[a-z0-9]*]]: tensor<?x8xf32>, %[[V:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK-SAME: %[[BATCH:[a-z0-9]*]]: !transformer.batch, %[[CACHE:[a-z0-9]*]]: !transformer.cache
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index
func.func @writes_before_it_reads(%q: tensor<?x16xf32>, %k: tensor<?x8xf32>,
                                  %v: tensor<?x8xf32>,
                                  %batch: !transformer.batch, %cache: !cache,
                                  %layer: index) -> tensor<?x16xf32> {
  // CHECK: transformer.cache_write %[[K]], %[[V]] into %[[CACHE]][%[[LAYER]]], %[[BATCH]]
  // CHECK: %[[TOKENS:.*]] = tensor.dim %[[Q]]
  // CHECK: %[[INIT:.*]] = tensor.empty(%[[TOKENS]]) : tensor<?x16xf32>
  // CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK: transformer.paged_attention %[[Q]], %[[SCALE]], %[[CACHE]][%[[LAYER]]], %[[BATCH]] causal heads 2 outs(%[[INIT]]
  %0 = transformer.attention %q, %k, %v, %cache[%layer], %batch causal heads 2
         {scale = 0.5 : f64}
         : tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: @keeps_mask_and_scratch
func.func @keeps_mask_and_scratch(%x: tensor<?x8xf32>,
                                  %batch: !transformer.batch,
                                  %cache: !scratch, %layer: index)
    -> tensor<?x8xf32> {
  // CHECK: transformer.cache_write {{.*}} <scratch, layers = 2, kv_heads = 2, head_dim = 4>
  // CHECK: transformer.paged_attention {{.*}} bidirectional heads 2
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !scratch
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @divides_the_scale_by_the_layer_from_one
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index
func.func @divides_the_scale_by_the_layer_from_one(
    %layer: index, %x: tensor<?x8xf32>, %batch: !transformer.batch,
    %cache: !cache) -> tensor<?x8xf32> {
  // CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK: %[[INTEGER:.*]] = arith.index_cast %[[LAYER]] : index to i32
  // CHECK: %[[NUMBER:.*]] = arith.sitofp %[[INTEGER]]
  // CHECK: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK: %[[DIVISOR:.*]] = arith.addf %[[NUMBER]], %[[ONE]]
  // CHECK: %[[QUOTIENT:.*]] = arith.divf %[[SCALE]], %[[DIVISOR]]
  // CHECK: transformer.paged_attention %{{.*}}, %[[QUOTIENT]],
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 1
         scale_by_inverse_layer {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @divides_the_scale_of_cross_attention
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index
func.func @divides_the_scale_of_cross_attention(
    %layer: index, %q: tensor<?x16xf32>, %batch: !transformer.batch,
    %cross: !transformer.cache<cross, layers = 2, kv_heads = 1, head_dim = 8>)
    -> tensor<?x16xf32> {
  // CHECK: %[[INTEGER:.*]] = arith.index_cast %[[LAYER]] : index to i32
  // CHECK: %[[QUOTIENT:.*]] = arith.divf
  // CHECK: transformer.paged_attention %{{.*}}, %[[QUOTIENT]],
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         scale_by_inverse_layer {scale = 0.5 : f64} : tensor<?x16xf32>,
         !transformer.cache<cross, layers = 2, kv_heads = 1, head_dim = 8>
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: @keeps_bias_and_window
// CHECK-SAME: %[[BIAS:[a-z0-9]*]]: tensor<2x5xf32>, {{.*}} %[[LEFT:[a-z0-9]*]]: index
func.func @keeps_bias_and_window(%bias: tensor<2x5xf32>, %q: tensor<?x16xf32>,
                                 %k: tensor<?x8xf32>,
                                 %batch: !transformer.batch, %cache: !cache,
                                 %layer: index, %left: index)
    -> tensor<?x16xf32> {
  // CHECK: transformer.paged_attention {{.*}} bias %[[BIAS]] causal left %[[LEFT]] heads 2 outs
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch bias %bias
         causal left %left heads 2 {scale = 0.5 : f64} : tensor<?x16xf32>,
         tensor<?x8xf32>, tensor<?x8xf32>, !cache, tensor<2x5xf32>
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: @sees_to_both_sides
// CHECK-SAME: %[[LEFT:[a-z0-9]*]]: index, %[[RIGHT:[a-z0-9]*]]: index
func.func @sees_to_both_sides(%left: index, %right: index, %x: tensor<?x8xf32>,
                              %batch: !transformer.batch, %cache: !cache,
                              %layer: index) -> tensor<?x8xf32> {
  // CHECK: transformer.paged_attention {{.*}} bidirectional left %[[LEFT]] right %[[RIGHT]] heads 1 outs
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         left %left right %right heads 1 {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @multiplies_the_scale_by_the_factor
// CHECK-SAME: %[[FACTOR:[a-z0-9]*]]: f32
func.func @multiplies_the_scale_by_the_factor(
    %factor: f32, %x: tensor<?x8xf32>, %batch: !transformer.batch,
    %cache: !cache, %layer: index) -> tensor<?x8xf32> {
  // CHECK: %[[SCALE:.*]] = arith.constant 5.000000e-01 : f32
  // CHECK: %[[OWN:.*]] = arith.mulf %[[SCALE]], %[[FACTOR]]
  // CHECK: transformer.paged_attention %{{.*}}, %[[OWN]],
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 1
         factor %factor {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return %0 : tensor<?x8xf32>
}

// Rows by how far the key is before the query: the last one for the nearest
// keys. 16 distances that say nothing new are at each end.
// CHECK-LABEL: @lists_the_rows_of_distances
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<4x8xf32>, %[[B:[a-z0-9]*]]: tensor<4x8xf32>
func.func @lists_the_rows_of_distances(
    %a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %x: tensor<?x8xf32>,
    %batch: !transformer.batch, %cache: !cache, %layer: index)
    -> tensor<?x8xf32> {
  // CHECK: %[[ROWS:.*]] = arith.constant dense<[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]> : tensor<37xi32>
  // CHECK: transformer.paged_attention {{.*}} relative_keys %[[A]] relative_queries %[[B]] distance_rows %[[ROWS]] outs
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 1 relative_keys %a relative_queries %b span 2
         {scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x8xf32>,
         tensor<?x8xf32>, !cache relative_keys tensor<4x8xf32>
         relative_queries tensor<4x8xf32>
  return %0 : tensor<?x8xf32>
}

// To each side 4 distances have a row each; 5 and 6 share one, so do 7 to 11,
// 12 to 19 and, of keys behind the query, those from 20 on.
// CHECK-LABEL: @far_distances_share_rows
// CHECK: arith.constant dense<[{{(15, )*}}15, {{(14, )*}}14, {{(13, )*}}13, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, {{(3, )*}}3, {{(2, )*}}2, {{(1, )*}}1, {{(0, )*}}0]>
func.func @far_distances_share_rows(
    %a: tensor<16x8xf32>, %x: tensor<?x8xf32>, %batch: !transformer.batch,
    %cache: !cache, %layer: index) -> tensor<?x8xf32> {
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 1 relative_keys %a span 8 max_distance 20
         {scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x8xf32>,
         tensor<?x8xf32>, !cache relative_keys tensor<16x8xf32>
  return %0 : tensor<?x8xf32>
}

!cross = !transformer.cache<cross, layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: @only_reads_the_cross_cache
// CHECK-SAME: %[[Q:[a-z0-9]*]]: tensor<?x16xf32>
func.func @only_reads_the_cross_cache(%q: tensor<?x16xf32>,
                                      %batch: !transformer.batch,
                                      %cross: !cross, %layer: index)
    -> tensor<?x16xf32> {
  // CHECK-NOT: transformer.cache_write
  // CHECK: transformer.paged_attention %[[Q]], {{.*}} bidirectional heads 2 outs({{.*}}) : tensor<?x16xf32>, <cross, layers = 2, kv_heads = 1, head_dim = 8> -> tensor<?x16xf32>
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         {scale = 0.5 : f64} : tensor<?x16xf32>, !cross
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: @keeps_the_cap_of_cross_attention
func.func @keeps_the_cap_of_cross_attention(%q: tensor<?x16xf32>,
                                            %batch: !transformer.batch,
                                            %cross: !cross, %layer: index)
    -> tensor<?x16xf32> {
  // CHECK: transformer.paged_attention {{.*}} bidirectional heads 2 {{.*}} {cap = 5.000000e+00 : f64}
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         {cap = 5.0 : f64, scale = 0.5 : f64} : tensor<?x16xf32>, !cross
  return %0 : tensor<?x16xf32>
}

transformer.parameter @table : tensor<12x8xf32> from<["t"], stored_rows = 12>
transformer.parameter @w : tensor<8x8xf32> from<["w"], stored_rows = 8>

// Of the tokens of a step there are 2 T - 1 distances: the middle of the table.
// CHECK-LABEL: @reads_the_rows_that_a_step_meets
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func @reads_the_rows_that_a_step_meets(
    %x: tensor<?x8xf32>, %batch: !transformer.batch, %cache: !scratch,
    %layer: index) -> tensor<?x8xf32> {
  // CHECK: %[[TABLE:.*]] = transformer.weight @table
  // CHECK: %[[TOKENS:.*]] = tensor.dim %[[X]]
  // CHECK: %[[ALL:.*]] = arith.constant 12 : index
  // CHECK: %[[MET:.*]] = arith.muli %[[TOKENS]], %{{.*}}
  // CHECK: %[[COUNT:.*]] = arith.minsi %[[MET]], %[[ALL]]
  // CHECK: %[[LEFT:.*]] = arith.subi %[[ALL]], %[[COUNT]]
  // CHECK: %[[FIRST:.*]] = arith.divui %[[LEFT]]
  // CHECK: tensor.extract_slice %[[TABLE]][%[[FIRST]], 0] [%[[COUNT]], 8] [1, 1] : tensor<12x8xf32> to tensor<?x8xf32>
  // CHECK: transformer.paged_attention {{.*}} relative_keys %{{.*}} distance_rows {{.*}} relative_keys tensor<?x8xf32>
  %table = transformer.weight @table : tensor<12x8xf32>
  %w = transformer.weight @w : tensor<8x8xf32>
  %a = transformer.linear %table, %w : tensor<12x8xf32>, tensor<8x8xf32>
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 6 {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !scratch
         relative_keys tensor<12x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_factors
func.func @keeps_factors(%x: tensor<?x8xf32>, %batch: !transformer.batch,
                         %cache: !scratch, %layer: index) -> tensor<?x8xf32> {
  // CHECK: transformer.paged_attention {{.*}} {factors = bf16}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {factors = bf16, scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !scratch
  return %0 : tensor<?x8xf32>
}

!part = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8, part = 1 of [2, 2, 26, 1, 1, 8]>

// What has no keys of its own writes none.
// CHECK-LABEL: @shared
// CHECK-NOT: transformer.cache_write
// CHECK: transformer.paged_attention
func.func @shared(%q: tensor<?x16xf32>, %cache: !part, %layer: index,
                  %batch: !transformer.batch) -> tensor<?x16xf32> {
  %0 = transformer.attention %q shared, %cache[%layer], %batch causal heads 2
         {scale = 1.0 : f64} : tensor<?x16xf32>, !part
  return %0 : tensor<?x16xf32>
}
