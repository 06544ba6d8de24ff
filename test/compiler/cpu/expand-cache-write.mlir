// The cache write in vectors: keys by groups of 16 positions, values as rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 16>

// CHECK-LABEL: @values_are_rows_behind_the_keys
// CHECK-SAME: %[[K:[a-z0-9]*]]: memref<?x32xf32>, %[[V:[a-z0-9]*]]: memref<?x32xf32>
func.func @values_are_rows_behind_the_keys(
    %k: memref<?x32xf32>, %v: memref<?x32xf32>, %layer: index, %cache: !cache,
    %batch: !transformer.batch) {
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[HEAD_BYTES:.*]] = arith.constant 4096 : index
  // CHECK-DAG: %[[ROW_BYTES:.*]] = arith.constant 64 : index
  // CHECK: scf.parallel (%[[HEAD:.*]], %{{.*}}) = {{.*}} to (%[[TWO]],
  // CHECK: scf.for
  // What the next item writes is asked for meanwhile.
  // CHECK: memref.prefetch %[[K]]
  // CHECK: memref.prefetch %[[V]]
  // CHECK: arith.muli %[[HEAD]], %[[HEAD_BYTES]]
  // CHECK: %[[VALUES:.*]] = llvm.getelementptr %{{.*}}[8192]
  // CHECK: %[[SLOT:.*]] = arith.remui %{{.*}}, %c64
  // CHECK: arith.muli %[[SLOT]], %[[ROW_BYTES]]
  // CHECK: %[[ROW:.*]] = llvm.getelementptr %[[VALUES]]
  // CHECK: %[[VALUE:.*]] = vector.load %[[V]]
  // CHECK: llvm.store %[[VALUE]], %[[ROW]] {alignment = 4 : i64} : vector<16xf32>
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : memref<?x32xf32>, memref<?x32xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 26>

// CHECK-LABEL: @eight_keys_in_a_half_group_are_transposed
// CHECK-SAME: %[[K:[a-z0-9]*]]: memref<?x52xf32>
func.func @eight_keys_in_a_half_group_are_transposed(
    %k: memref<?x52xf32>, %v: memref<?x52xf32>, %layer: index, %cache: !cache,
    %batch: !transformer.batch) {
  // CHECK: %[[ALL:.*]] = arith.cmpi eq, %{{.*}}, %c8
  // CHECK: %[[PLACE:.*]] = arith.remui %{{.*}}, %c8
  // CHECK: %[[ALIGNED:.*]] = arith.cmpi eq, %[[PLACE]], %c0
  // CHECK: %[[WHOLE:.*]] = arith.andi %[[ALL]], %[[ALIGNED]]
  // CHECK: scf.if %[[WHOLE]] {
  // Columns 0 to 23 in squares of 8.
  // CHECK: scf.for %{{.*}} = %c0 to %c24 step %c8
  // CHECK-COUNT-8: vector.load %[[K]]{{.*}} vector<8xf32>
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-COUNT-8: llvm.store {{.*}} vector<8xf32>
  // The rest one by one.
  // CHECK: scf.for %{{.*}} = %c24 to %c26 step %c1
  // CHECK-COUNT-8: llvm.store {{.*}} f32
  // CHECK: } else {
  // CHECK: scf.for
  // CHECK: scf.for %{{.*}} = %c0 to %c26 step %c1
  // CHECK: llvm.store {{.*}} f32
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : memref<?x52xf32>, memref<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 16>
!keys = memref<?x32xf32, strided<[96, 1], offset: 32>>
!values = memref<?x32xf32, strided<[96, 1], offset: 64>>

// CHECK-LABEL: @keys_and_values_are_columns_of_wider_rows
// CHECK-SAME: %[[K:[a-z0-9]*]]: memref<?x32xf32, strided<[96, 1], offset: 32>>, %[[V:[a-z0-9]*]]: memref<?x32xf32, strided<[96, 1], offset: 64>>
func.func @keys_and_values_are_columns_of_wider_rows(
    %k: !keys, %v: !values, %layer: index, %cache: !cache,
    %batch: !transformer.batch) {
  // CHECK: vector.load %[[V]][%{{.*}}, %{{.*}}] : {{.*}}, vector<16xf32>
  // CHECK: vector.load %[[K]][%{{.*}}, %{{.*}}] : {{.*}}, vector<8xf32>
  // CHECK: memref.load %[[K]]
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : !keys, !values, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 26, i8>

// 64 positions of 26 bytes and a scale, of two heads: 3840 bytes of keys.
// CHECK-LABEL: @bytes_have_a_scale_a_row
// CHECK-SAME: %[[K:[a-z0-9]*]]: memref<?x52xf32>, %[[V:[a-z0-9]*]]: memref<?x52xf32>
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 64, layers = 3, block_bytes = 23040, layer_bytes = 7680, query_rows = 8, storage = int8>
func.func @bytes_have_a_scale_a_row(
    %k: memref<?x52xf32>, %v: memref<?x52xf32>, %layer: index, %cache: !cache,
    %batch: !transformer.batch) {
  // Values lie behind 64 scales.
  // CHECK: %[[VALUES:.*]] = llvm.getelementptr %{{.*}}[4096]
  // CHECK: %[[FIRST:.*]] = vector.load %[[V]]{{.*}} vector<16xf32>
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[FIRST]]
  // CHECK: %[[SIZES:.*]] = arith.andi %[[BITS]]
  // CHECK: arith.maxsi %[[SIZES]], %{{.*}} : vector<16xi32>
  // CHECK: vector.reduction <maxsi>
  // CHECK: %[[GREATEST:.*]] = vector.reduction <maxsi>, %{{.*}}, %{{.*}} : vector<16xi32> into i32
  // CHECK: %[[SCALES:.*]] = llvm.getelementptr %[[VALUES]][-256]
  // CHECK: %[[SCALE:.*]] = llvm.getelementptr %[[SCALES]]
  // CHECK: llvm.store %{{.*}}, %[[SCALE]] {alignment = 4 : i64} : f32
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : vector<16xi8>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : vector<8xi8>
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : vector<2xi8>
  // Eight keys have eight scales, in front of their group's columns.
  // CHECK: scf.if
  // CHECK: %[[ALL:.*]] = vector.from_elements {{.*}} : vector<8xi32>
  // CHECK: llvm.getelementptr %{{.*}}[-64]
  // CHECK: llvm.store {{.*}} vector<8xf32>
  // CHECK-COUNT-8: llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : vector<8xi8>
  // CHECK: } else {
  // CHECK: llvm.store %{{.*}} : f32
  // CHECK: llvm.store %{{.*}} : i8
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : memref<?x52xf32>, memref<?x52xf32>, !cache
  return
}
