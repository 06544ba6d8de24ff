// Folds, and what CSE and dead code elimination may do with the ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: @folds_identity_activation
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @folds_identity_activation(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = transformer.activation identity %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_activation_that_rounds
func.func @keeps_activation_that_rounds(%x: tensor<?x8xf32>) -> tensor<?x8xbf16> {
  // CHECK-NEXT: transformer.activation identity {{.*}} -> tensor<?x8xbf16>
  %0 = transformer.activation identity %x : tensor<?x8xf32> -> tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: @keeps_other_activations
func.func @keeps_other_activations(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.activation relu
  %0 = transformer.activation relu %x : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @folds_scale_by_one
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @folds_scale_by_one(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = transformer.scale %x by 1.0 : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_scale_that_widens
func.func @keeps_scale_that_widens(%x: tensor<?x8xf16>) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.scale
  %0 = transformer.scale %x by 1.0 : tensor<?x8xf16>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_other_scales
func.func @keeps_other_scales(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.scale
  %0 = transformer.scale %x by 0.5 : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @folds_slice_of_all_columns
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @folds_slice_of_all_columns(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = transformer.slice_columns %x[0, 8] : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_slice_that_widens
func.func @keeps_slice_that_widens(%x: tensor<?x8xbf16>) -> tensor<?x8xf32> {
  // CHECK-NEXT: transformer.slice_columns
  %0 = transformer.slice_columns %x[0, 8] : tensor<?x8xbf16>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_slice_of_some_columns
func.func @keeps_slice_of_some_columns(%x: tensor<?x8xf32>)
    -> tensor<?x7xf32> {
  // CHECK-NEXT: transformer.slice_columns
  %0 = transformer.slice_columns %x[0, 7] : tensor<?x8xf32>
  return %0 : tensor<?x7xf32>
}

// CHECK-LABEL: @drops_unused_and_repeated_values
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8x8xf32>
func.func @drops_unused_and_repeated_values(%x: tensor<?x8xf32>,
                                            %w: tensor<8x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[Y:.*]] = transformer.linear %[[X]], %[[W]]
  // CHECK-NEXT: %[[SUM:.*]] = transformer.add %[[Y]], %[[Y]]
  // CHECK-NEXT: return %[[SUM]]
  %unused = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  %0 = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %2 = transformer.add %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

transformer.parameter @w : tensor<8xf32> layers 2
  from <["w.{i}"], stored_rows = 8>

// CHECK-LABEL: @merges_weights_of_one_layer
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[I:.*]]: index, %[[J:.*]]: index
func.func @merges_weights_of_one_layer(%x: tensor<?x8xf32>, %i: index,
                                       %j: index) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[WI:.*]] = transformer.weight @w[%[[I]]]
  // CHECK-NEXT: %[[WJ:.*]] = transformer.weight @w[%[[J]]]
  // CHECK-NEXT: %[[Y:.*]] = transformer.layer_norm %[[X]], %[[WI]] bias %[[WI]]
  // CHECK-NEXT: transformer.layer_norm %[[Y]], %[[WJ]]
  %0 = transformer.weight @w[%i] : tensor<8xf32>
  %1 = transformer.weight @w[%i] : tensor<8xf32>
  %2 = transformer.weight @w[%j] : tensor<8xf32>
  %3 = transformer.layer_norm %x, %0 bias %1 {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  %4 = transformer.layer_norm %3, %2 {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  return %4 : tensor<?x8xf32>
}

// Attention writes the cache: unused, repeated or not, it stays, in order.
// CHECK-LABEL: @keeps_every_attention
func.func @keeps_every_attention(%x: tensor<?x8xf32>,
                                 %batch: !transformer.batch, %cache: !cache,
                                 %layer: index) {
  // CHECK-COUNT-2: transformer.attention
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 1
         {scale = 1.0 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  %1 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 1
         {scale = 1.0 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// A read between two writes sees the first of them.
// CHECK-LABEL: @keeps_writes_and_reads_in_order
func.func @keeps_writes_and_reads_in_order(%x: tensor<?x8xf32>,
                                           %init: tensor<?x8xf32>, %scale: f32,
                                           %batch: !transformer.batch,
                                           %cache: !cache, %layer: index)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: transformer.cache_write
  // CHECK: %[[FIRST:.*]] = transformer.paged_attention
  // CHECK: transformer.cache_write
  // CHECK: %[[SECOND:.*]] = transformer.paged_attention
  // CHECK: return %[[FIRST]], %[[SECOND]]
  transformer.cache_write %x, %x into %cache[%layer], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  %0 = transformer.paged_attention %x, %scale, %cache[%layer], %batch causal
         heads 1 outs(%init : tensor<?x8xf32>)
         : tensor<?x8xf32>, !cache -> tensor<?x8xf32>
  transformer.cache_write %x, %x into %cache[%layer], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  %1 = transformer.paged_attention %x, %scale, %cache[%layer], %batch causal
         heads 1 outs(%init : tensor<?x8xf32>)
         : tensor<?x8xf32>, !cache -> tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @keeps_taps_and_outputs
func.func @keeps_taps_and_outputs(%x: tensor<?x8xf32>) {
  // CHECK: transformer.tap "x"
  // CHECK: transformer.tap "x"
  transformer.tap "x" %x : tensor<?x8xf32>
  transformer.tap "x" %x : tensor<?x8xf32>
  // CHECK: transformer.output "y"
  transformer.output "y" tokens take all {
    transformer.yield %x : tensor<?x8xf32>
  }
  return
}
