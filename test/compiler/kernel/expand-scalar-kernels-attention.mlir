// The plain kernels of cache and attention: the fields of the step that they
// read, where keys and values lie, and what a query sees.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: @writes_rows_to_the_blocks_of_their_sequence
// CHECK-SAME: %[[K:[a-z0-9]*]]: memref<?x8xf32>, %[[V:[a-z0-9]*]]: memref<?x8xf32>, %[[LAYER:[a-z0-9]*]]: index, %[[STEP:[a-z0-9]*]]: !llvm.ptr
func.func @writes_rows_to_the_blocks_of_their_sequence(
    %k: memref<?x8xf32>, %v: memref<?x8xf32>, %layer: index, %cache: !cache,
    %batch: !transformer.batch) {
  // CHECK-DAG: %[[LAYER_BYTES:.*]] = arith.constant 1024 : index
  // CHECK-DAG: %[[BLOCK_BYTES:.*]] = arith.constant 3072 : index
  // CHECK-DAG: %[[ROW_BYTES:.*]] = arith.constant 32 : index
  // CHECK-DAG: %[[BLOCK_TOKENS:.*]] = arith.constant 16 : index
  // n_items, then per item items[i] and sequences[item.sequence].
  // CHECK: llvm.getelementptr %[[STEP]][72]
  // CHECK: scf.parallel (%[[ITEM:.*]]) =
  // CHECK: llvm.getelementptr %[[STEP]][80]
  // CHECK: llvm.getelementptr %[[STEP]][64]
  // The sequence's past and blocks.
  // CHECK: %[[SEQUENCE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64)
  // CHECK: llvm.getelementptr %[[SEQUENCE]][8]
  // CHECK: %[[PAST:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[STEP]][32]
  // CHECK: %[[TABLE:.*]] = llvm.load
  // CHECK: llvm.getelementptr %[[SEQUENCE]][32]
  // CHECK: %[[BLOCKS:.*]] = llvm.getelementptr %[[TABLE]]
  // CHECK: scf.for
  // CHECK: %[[T:.*]] = arith.addi
  // CHECK: %[[TOKEN:.*]] = arith.addi %{{.*}}, %[[T]]
  // CHECK: %[[POSITION:.*]] = arith.addi %[[PAST]], %[[T]]
  // CHECK: %[[NUMBER:.*]] = arith.divui %[[POSITION]], %[[BLOCK_TOKENS]]
  // CHECK: %[[SLOT:.*]] = arith.remui %[[POSITION]], %[[BLOCK_TOKENS]]
  // CHECK: llvm.getelementptr %[[BLOCKS]]
  // CHECK: %[[BLOCK:.*]] = arith.index_cast %{{.*}} : i32 to index
  // CHECK: llvm.getelementptr %[[STEP]][24]
  // CHECK: arith.muli %[[BLOCK]], %[[BLOCK_BYTES]]
  // CHECK: arith.muli %[[LAYER]], %[[LAYER_BYTES]]
  // CHECK: arith.muli %[[SLOT]], %[[ROW_BYTES]]
  // CHECK: %[[KEY_ROW:.*]] = llvm.getelementptr
  // Values lie behind the keys of the 16 positions.
  // CHECK: %[[VALUE_ROW:.*]] = llvm.getelementptr %[[KEY_ROW]][512]
  // CHECK: scf.for
  // CHECK: memref.load %[[K]][%[[TOKEN]],
  // CHECK: llvm.getelementptr %[[KEY_ROW]]
  // CHECK: llvm.store
  // CHECK: memref.load %[[V]][%[[TOKEN]],
  // CHECK: llvm.getelementptr %[[VALUE_ROW]]
  // CHECK: llvm.store
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : memref<?x8xf32>, memref<?x8xf32>, !cache
  return
}

// CHECK-LABEL: @a_causal_query_sees_up_to_itself_and_no_more_than_keys
func.func @a_causal_query_sees_up_to_itself_and_no_more_than_keys(
    %q: memref<?x16xf32>, %y: memref<?x16xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK: scf.parallel
  // CHECK: llvm.getelementptr %{{.*}}[64]
  // CHECK: %[[SEQUENCE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64)
  // CHECK: llvm.getelementptr %[[SEQUENCE]][8]
  // CHECK: %[[PAST:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[SEQUENCE]][12]
  // CHECK: %[[KEYS:.*]] = arith.index_cast
  // CHECK: scf.for
  // CHECK: %[[BEFORE:.*]] = arith.addi %[[PAST]], %{{.*}} : index
  // CHECK: %[[OWN:.*]] = arith.addi %[[BEFORE]], %[[ONE]]
  // CHECK: %[[VISIBLE:.*]] = arith.minsi %[[OWN]], %[[KEYS]]
  // Two passes over the keys: their maximum, then the weighted sum.
  // CHECK: scf.for %{{.*}} to %[[VISIBLE]]
  // CHECK: arith.maximumf
  // CHECK: scf.for %{{.*}} to %[[VISIBLE]]
  // CHECK: math.exp
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x16xf32>) : memref<?x16xf32>, !cache
  return
}

// CHECK-LABEL: @a_bidirectional_query_sees_all_keys
func.func @a_bidirectional_query_sees_all_keys(
    %q: memref<?x16xf32>, %y: memref<?x16xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK: llvm.getelementptr %{{.*}}[64]
  // CHECK: %[[SEQUENCE:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64)
  // CHECK: llvm.getelementptr %[[SEQUENCE]][12]
  // CHECK: %[[KEYS:.*]] = arith.index_cast
  // CHECK: scf.for %{{.*}} to %[[KEYS]]
  // CHECK: arith.maximumf
  // CHECK: scf.for %{{.*}} to %[[KEYS]]
  // CHECK: math.exp
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 outs(%y : memref<?x16xf32>) : memref<?x16xf32>, !cache
  return
}

// Two heads of queries share one of keys; sums are kept per worker.
// CHECK-LABEL: @query_heads_share_key_heads_and_workers_share_nothing
// CHECK-SAME: %[[WORKERS:[a-z0-9]*]]: index {transformer.workers}
func.func @query_heads_share_key_heads_and_workers_share_nothing(
    %q: memref<?x16xf32>, %y: memref<?x16xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK: %[[SUMS:.*]] = memref.alloc(%[[WORKERS]]) : memref<?x8xf32>
  // CHECK: %[[WORKER:.*]] = transformer.worker
  // CHECK: scf.for
  // CHECK: scf.for %[[HEAD:.*]] = %{{.*}} to %[[TWO]]
  // CHECK: arith.divui %[[HEAD]], %[[TWO]]
  // CHECK: memref.store %{{.*}}, %[[SUMS]][%[[WORKER]],
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x16xf32>) : memref<?x16xf32>, !cache
  return
}

// CHECK-LABEL: @a_bias_is_added_by_the_distance
// CHECK-SAME: %[[BIAS:[a-z0-9]*]]: memref<2x5xf32>
func.func @a_bias_is_added_by_the_distance(
    %bias: memref<2x5xf32>, %q: memref<?x16xf32>, %y: memref<?x16xf32>,
    %scale: f32, %layer: index, %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[MINUS:.*]] = arith.constant -2 : index
  // CHECK: scf.for
  // CHECK: scf.for %[[HEAD:.*]] =
  // CHECK: %[[DISTANCE:.*]] = arith.subi
  // CHECK: %[[LOW:.*]] = arith.maxsi %[[DISTANCE]], %[[MINUS]]
  // CHECK: %[[CLAMPED:.*]] = arith.minsi %[[LOW]], %[[TWO]]
  // CHECK: %[[COLUMN:.*]] = arith.addi %[[CLAMPED]], %[[TWO]]
  // CHECK: %[[OWN:.*]] = memref.load %[[BIAS]][%[[HEAD]], %[[COLUMN]]]
  // CHECK: arith.addf %{{.*}}, %[[OWN]]
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bias %bias
    bidirectional heads 2 outs(%y : memref<?x16xf32>)
    : memref<?x16xf32>, !cache, memref<2x5xf32>
  return
}

// CHECK-LABEL: @a_window_hides_what_is_before_it
// CHECK-SAME: %[[LEFT:[a-z0-9]*]]: index {test.left}
func.func @a_window_hides_what_is_before_it(
    %q: memref<?x16xf32>, %y: memref<?x16xf32>, %scale: f32, %layer: index,
    %left: index {test.left}, %cache: !cache, %batch: !transformer.batch) {
  // CHECK: scf.for
  // CHECK: %[[VISIBLE:.*]] = arith.minsi
  // CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[LEFT]]
  // CHECK: %[[FROM:.*]] = arith.maxsi %[[BEFORE]]
  // CHECK: %[[FIRST:.*]] = arith.minsi %[[FROM]], %[[VISIBLE]]
  // CHECK: %[[COUNT:.*]] = arith.subi %[[VISIBLE]], %[[FIRST]]
  // CHECK: scf.for %[[N:.*]] = %{{.*}} to %[[COUNT]]
  // CHECK: arith.addi %[[FIRST]], %[[N]]
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    left %left heads 2 outs(%y : memref<?x16xf32>) : memref<?x16xf32>, !cache
  return
}

// CHECK-LABEL: @a_window_ends_to_the_right
// CHECK-SAME: %[[RIGHT:[a-z0-9]*]]: index {test.right}
func.func @a_window_ends_to_the_right(
    %q: memref<?x16xf32>, %y: memref<?x16xf32>, %scale: f32, %layer: index,
    %right: index {test.right}, %cache: !cache, %batch: !transformer.batch) {
  // CHECK: scf.for
  // CHECK: %[[END:.*]] = arith.addi %{{.*}}, %[[RIGHT]] : index
  // CHECK: %[[VISIBLE:.*]] = arith.minsi %[[END]], %{{.*}}
  // CHECK: scf.for
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[VISIBLE]]
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    right %right heads 2 outs(%y : memref<?x16xf32>)
    : memref<?x16xf32>, !cache
  return
}

// CHECK-LABEL: @caps_scores
func.func @caps_scores(
    %q: memref<?x8xf32>, %y: memref<?x8xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // Once for the maximum, once for the weight.
  // CHECK: %[[BENT:.*]] = math.tanh
  // CHECK: %[[SCORE:.*]] = arith.mulf %[[BENT]]
  // CHECK: arith.maximumf %{{.*}}, %[[SCORE]]
  // CHECK: math.tanh
  // CHECK: math.exp
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 1
    outs(%y : memref<?x8xf32>) {cap = 5.0 : f64} : memref<?x8xf32>, !cache
  return
}
