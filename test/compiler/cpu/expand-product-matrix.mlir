// Products of bytes two rows and two columns at a time: rows are put side by side
// in pairs before, eight bytes each, and sums are taken apart behind. One row
// alone is read as it lies.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#tile = #transformer.product_tile<signed_matrix, rows = 2, lanes = 8, item = 4,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 64>

// CHECK: func.func private @product.1x8_matrix_i8
// CHECK: %[[WORD:.*]] = llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i64
// CHECK: vector.broadcast %[[WORD]] : i64 to vector<4xi64>
// CHECK-COUNT-4: "llvm.aarch64.neon.smmla.v4i32.v16i8"
// CHECK-NOT: smmla

// Two columns of each row are four sums: first those of columns 0 to 3.
// CHECK: func.func private @product.2x8_matrix_i8
// CHECK: %[[FIRST:.*]] = llvm.load {{.*}} -> vector<8xi32>
// CHECK: %[[SECOND:.*]] = llvm.load {{.*}} -> vector<8xi32>
// CHECK: llvm.shufflevector %[[FIRST]], %[[SECOND]] [0, 1, 8, 9, 2, 3, 10, 11]
// CHECK: llvm.shufflevector %[[FIRST]], %[[SECOND]] [4, 5, 12, 13, 6, 7, 14, 15]
// CHECK: %[[PAIR:.*]] = llvm.load volatile {{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<16xi8>
// CHECK: %[[LEFT:.*]] = llvm.load volatile {{.*}} -> vector<32xi8>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"(%{{.*}}, %{{.*}}, %{{.*}}) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
// CHECK: %[[RIGHT:.*]] = llvm.load volatile {{.*}} -> vector<32xi8>
// CHECK-COUNT-2: "llvm.aarch64.neon.smmla.v4i32.v16i8"
// And back.
// CHECK: llvm.shufflevector %[[A:.*]], %[[B:.*]] [0, 1, 4, 5, 8, 9, 12, 13]
// CHECK: llvm.shufflevector %[[A]], %[[B]] [2, 3, 6, 7, 10, 11, 14, 15]
// CHECK-COUNT-2: llvm.store

// CHECK-LABEL: func.func @bytes
// Rows of 16 bytes; of an odd number of them the last one is there twice, for
// which there is room. Nothing is done where there is one.
// CHECK: memref.alloc(%[[TOKENS:.*]]) : memref<?x22xi8>
// CHECK: %[[ALONE:.*]] = arith.cmpi eq, %[[TOKENS]], %c1
// CHECK: %[[END:.*]] = arith.select %[[ALONE]], %c0, %[[TOKENS]]
// CHECK: scf.parallel {{.*}} to (%[[END]]) step (%c64)
// CHECK: %[[LAST:.*]] = arith.subi %[[TOKENS]], %c1
// CHECK: scf.for {{.*}} step %c2
// CHECK: arith.minsi %{{.*}}, %[[LAST]]
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 2, 1, 3] : vector<2xi64>
func.func @bytes(%x: memref<?x16xi8>, %w: memref<1x2x8x8xi8>, %y: memref<?x8xf32>,
                 %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x16xi8>, memref<1x2x8x8xi8>, memref<?x8xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_matrix, rows = 2, lanes = 8, item = 4,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 64>

// Words that are not whole end with zeros: of pairs in memory, of a row alone
// when it is loaded.
// CHECK: func.func private @product.1x8_matrix_i8_rest3
// CHECK: %[[REST:.*]] = llvm.load {{.*}} -> i24
// CHECK: arith.extui %[[REST]] : i24 to i64
// CHECK-LABEL: func.func @rest
// CHECK: memref.alloc(%{{.*}}) : memref<?x22xi8>
// CHECK: %[[END:.*]] = llvm.load {{.*}} -> i24
// CHECK: %[[WHOLE:.*]] = arith.extui %[[END]] : i24 to i64
// CHECK: llvm.store %[[WHOLE]], %{{.*}} {alignment = 8 : i64} : i64
func.func @rest(%x: memref<?x11xi8>, %w: memref<1x2x8x8xi8>, %y: memref<?x8xf32>,
                %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x11xi8>, memref<1x2x8x8xi8>, memref<?x8xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_matrix, rows = 3, lanes = 8, item = 6,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 64>

func.func @odd(%x: memref<?x16xi8>, %w: memref<1x2x8x8xi8>, %y: memref<?x8xf32>,
               %batch: !transformer.batch) {
  // expected-error @below {{or, of an even number of rows and 8 lanes, eight}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x16xi8>, memref<1x2x8x8xi8>, memref<?x8xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_matrix, rows = 2, lanes = 8, item = 4,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 64>

// Groups have words of four.
func.func @groups(%x: memref<?x32xi8>, %w: memref<1x8x8x4xi8>, %g: memref<1x1x8xf32>,
                  %y: memref<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected panels of four bytes a word}}
  transformer.product %x, %w groups(%g) outs(%y) {tile = #tile}
      : memref<?x32xi8>, memref<1x8x8x4xi8>, memref<1x1x8xf32>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}
