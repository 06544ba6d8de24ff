// Products by lane: four steps of a row are one load, of which each
// multiply-add takes one; steps that are no four are loaded one by one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

#tile = #transformer.product_tile<lane_fma, rows = 2, lanes = 8, item = 4,
    unroll = 4, turn_rows = 8, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 65536>

// CHECK: func.func private @product.2x16_next64
// CHECK: scf.for {{.*}} step %c4
// The first step's weights, then each row's four steps as its first is wanted.
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<8xf32>
// CHECK: %[[A:.*]] = llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: %[[A0:.*]] = vector.extract %[[A]][0] : f32 from vector<4xf32>
// CHECK: vector.broadcast %[[A0]] : f32 to vector<8xf32>
// CHECK-COUNT-2: math.fma
// CHECK: %[[B:.*]] = llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: vector.extract %[[B]][0] : f32 from vector<4xf32>
// CHECK-COUNT-2: math.fma
// CHECK-NOT: -> f32
// CHECK: vector.extract %[[A]][1]
// CHECK: vector.extract %[[B]][1]
// CHECK: vector.extract %[[A]][3]
// CHECK: vector.extract %[[B]][3]
// CHECK: scf.for {{.*}} step %c1
// CHECK-NOT: vector<4xf32>
// CHECK: llvm.load {{.*}} -> f32
// CHECK: llvm.load {{.*}} -> f32
// CHECK-NOT: vector<4xf32>
// CHECK: return
// CHECK-LABEL: func.func @floats
func.func @floats(%x: memref<?x64xf32>, %w: memref<2x64x16xf32>,
                  %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<lane_fma, rows = 1, lanes = 8, item = 4,
    unroll = 4, turn_rows = 8, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 65536>

// Two columns a word: a turn of two words is four steps.
// CHECK: func.func private @product.1x16_bf16
// CHECK: scf.for {{.*}} step %c2
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-NOT: -> f32
// CHECK: scf.for {{.*}} step %c1
// CHECK-NOT: vector<4xf32>
// CHECK: return
// CHECK-LABEL: func.func @words
func.func @words(%x: memref<?x64xf32>, %w: memref<2x32x16x2xbf16>,
                 %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32>, memref<2x32x16x2xbf16>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
