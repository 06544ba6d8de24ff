// Products of bf16: rows and weights are read as words of two, each a factor of
// one instruction, and sums and the body are f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Two words a turn, and nothing is widened or left for other tiles.
// CHECK: func.func private @product.2x16_dot_ahead_next64(
// CHECK: scf.for {{.*}} step %c2
// CHECK: %[[WORDS:.*]] = llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[WEIGHTS:.*]] = llvm.bitcast %[[WORDS]] : vector<16xi32> to vector<32xbf16>
// CHECK: %[[PAIR:.*]] = llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[PAIR]] : i32 to vector<16xi32>
// CHECK: %[[ROW:.*]] = llvm.bitcast %[[ALL]] : vector<16xi32> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%{{.*}}, %[[WEIGHTS]], %[[ROW]]) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK-COUNT-3: llvm.call_intrinsic
// CHECK-NOT: llvm.call_intrinsic
// CHECK: scf.for {{.*}} step %c1
// CHECK-COUNT-2: llvm.call_intrinsic
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
// CHECK-NOT: math.fma

// The result is rounded as it is stored.
// CHECK-LABEL: func.func @rounds
// CHECK: func.call @product.2x16_dot
// CHECK: %[[SUM:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK: %[[Y:.*]] = arith.mulf %[[SUM]], %{{.*}} : vector<16xf32>
// CHECK: arith.bitcast %[[Y]] : vector<16xf32> to vector<16xi32>
// CHECK: vector.store %{{.*}} : memref<?x16xbf16>, vector<16xbf16>
func.func @rounds(%x: memref<?x64xbf16>, %w: memref<1x32x16x2xbf16>,
                  %y: memref<?x16xbf16>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xbf16>, memref<1x32x16x2xbf16>, memref<?x16xbf16> {
  ^bb0(%s: f32):
    %two = arith.constant 2.0 : f32
    %z = arith.mulf %s, %two : f32
    transformer.yield %z : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Of the last word the row has one element. What lies behind it is not read, and
// what the panel has there meets nothing.
// CHECK: func.func private @product.2x16_dot_rest1
// CHECK: arith.andi %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: %[[ONE:.*]] = llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK: arith.extui %[[ONE]] : i16 to i32
// CHECK-LABEL: func.func @odd
func.func @odd(%x: memref<?x3xbf16>, %w: memref<1x2x16x2xbf16>,
               %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x3xbf16>, memref<1x2x16x2xbf16>, memref<?x16xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

func.func @rows_of_f32(%x: memref<?x4xf32>, %w: memref<1x2x16x2xbf16>,
                       %y: memref<?x16xf32>, %batch: !transformer.batch) {
  // expected-error @+1 {{whose words there is an instruction for: two bf16 each with 16 lanes, four i8 each, or, of an even number of rows and 8 lanes, eight, or two i8 and two i16; got 'memref<1x2x16x2xbf16>' and 'memref<?x4xf32>'}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x4xf32>, memref<1x2x16x2xbf16>, memref<?x16xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 8, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

func.func @narrow_panels(%x: memref<?x4xbf16>, %w: memref<1x2x8x2xbf16>,
                         %y: memref<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @+1 {{whose words there is an instruction for: two bf16 each with 16 lanes, four i8 each, or, of an even number of rows and 8 lanes, eight, or two i8 and two i16; got 'memref<1x2x8x2xbf16>' and 'memref<?x4xbf16>'}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x4xbf16>, memref<1x2x8x2xbf16>, memref<?x8xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
