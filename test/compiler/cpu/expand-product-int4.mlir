// Products with integers of four bits: a group's sum begins with what comes off
// for zero points and is added, times its scale, to the floats. Bytes of weights
// have no sign, those of rows do.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

#tile = #transformer.product_tile<dot, rows = 1, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// CHECK: func.func private @product.1x16_i4_group32_dot(
// CHECK: %[[FLOATS:.*]] = scf.for {{.*}} iter_args(%[[OLD:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK: %[[OFFSET:.*]] = llvm.load {{.*}} -> i32
// CHECK: %[[BEGIN:.*]] = vector.broadcast %[[OFFSET]] : i32 to vector<16xi32>
// CHECK: %[[WORDS:.*]] = llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[UPPER:.*]] = arith.shrui %[[WORDS]]
// CHECK: %[[LOW:.*]] = arith.andi %[[WORDS]], %[[MASK:.*]] : vector<16xi32>
// CHECK: %[[FOURS:.*]] = llvm.bitcast %[[LOW]] : vector<16xi32> to vector<64xi8>
// CHECK: arith.andi %[[UPPER]], %[[MASK]]
// CHECK: %[[WORD:.*]] = llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[WORD]] : i32 to vector<16xi32>
// CHECK: %[[ROW:.*]] = llvm.bitcast %[[ALL]] : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[BEGIN]], %[[FOURS]], %[[ROW]])
// CHECK-COUNT-7: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: call_intrinsic
// CHECK: %[[SCALE:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK: math.fma %[[F]], %[[SCALE]], %[[OLD]] : vector<16xf32>

// A row's groups, eight times with a minus.
// CHECK-LABEL: func.func @fours
// CHECK: scf.parallel
// CHECK: %[[BYTES:.*]] = llvm.load {{.*}} -> vector<16xi8>
// CHECK: %[[FIRST:.*]] = llvm.sext %[[BYTES]] : vector<16xi8> to vector<16xi32>
// CHECK: %[[SECOND:.*]] = llvm.sext %{{.*}} : vector<16xi8> to vector<16xi32>
// CHECK: %[[ALL:.*]] = llvm.add %[[FIRST]], %[[SECOND]]
// CHECK: %[[SUM:.*]] = "llvm.intr.vector.reduce.add"(%[[ALL]])
// CHECK: %[[OFF:.*]] = arith.muli %[[SUM]], %c-8_i32 : i32
// CHECK: memref.store %[[OFF]], %{{.*}} : memref<?x2xi32>
// CHECK: scf.parallel
// CHECK: func.call @product.1x16_i4_group32_dot
// The body begins with a float.
// CHECK: %[[Y:.*]] = llvm.load {{.*}} -> vector<16xf32>
// CHECK: arith.mulf %[[Y]], %{{.*}} : vector<16xf32>
func.func @fours(%x: memref<?x64xi8>, %w: memref<1x8x16x4xi8>, %g: memref<1x2x16xf32>,
                 %s: memref<?xf32>, %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w scales(%s) groups(%g) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x8x16x4xi8>, memref<?xf32>, memref<1x2x16xf32>, memref<?x16xf32> {
  ^bb0(%sum: f32, %scale: f32):
    %z = arith.mulf %sum, %scale : f32
    transformer.yield %z : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<pairs, rows = 1, lanes = 8, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Pairs add up in 16 bits over 32 columns; zero points are multiplied by the
// sum of the row.
// CHECK: func.func private @product.1x8_i4_group64_pairs_zeros(
// CHECK: %[[POINTS:.*]] = llvm.zext %{{.*}} : vector<8xi8> to vector<8xi32>
// CHECK: %[[BEGIN:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[BEGIN]]) -> (vector<8xi32>)
// CHECK: %[[FIRST:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: %[[SECOND:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: llvm.add %[[FIRST]], %[[SECOND]] : vector<16xi16>
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: %[[BOTH:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: arith.addi %{{.*}}, %[[BOTH]] : vector<8xi32>
// CHECK-LABEL: func.func @pairs
// CHECK: arith.muli %{{.*}}, %c-1_i32 : i32
func.func @pairs(%x: memref<?x64xi8>, %w: memref<1x8x8x4xi8>, %g: memref<1x1x8xf32>,
                 %z: memref<1x1x8xi8>, %y: memref<?x8xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) zeros(%z) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x8x8x4xi8>, memref<1x1x8xf32>, memref<1x1x8xi8>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Zeros that are floats: a group's sum begins with nothing, and what comes off
// is a multiply-add of the row's sum, once for all of its columns.
// CHECK: func.func private @product.1x16_i4_group32_dot_float_zeros(
// CHECK: %[[NONE:.*]] = arith.constant dense<0> : vector<16xi32>
// CHECK: %[[SUM:.*]] = llvm.load %{{.*}} -> i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%[[NONE]],
// CHECK: %[[SCALED:.*]] = math.fma
// CHECK: %[[ZEROS:.*]] = llvm.load %{{.*}} -> vector<16xf32>
// CHECK: %[[WIDE:.*]] = arith.sitofp %[[SUM]] : i32 to f32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[WIDE]] : f32 to vector<16xf32>
// CHECK: math.fma %[[ALL]], %[[ZEROS]], %[[SCALED]] : vector<16xf32>
// CHECK-LABEL: func.func @float_zeros
func.func @float_zeros(%x: memref<?x64xi8>, %w: memref<1x8x16x4xi8>, %g: memref<1x2x16xf32>,
                 %z: memref<1x2x16xf32>, %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) zeros(%z) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x8x16x4xi8>, memref<1x2x16xf32>, memref<1x2x16xf32>, memref<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<pairs, rows = 1, lanes = 8, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Of experts: sums of rows are made once for all of them, and a tile's panels,
// scales and zeros are its expert's.
// CHECK-LABEL: func.func @experts
// CHECK: memref.alloc(%{{.*}}) : memref<?x2xi32>
// CHECK: scf.parallel
// CHECK-DAG: %[[PANELS:.*]] = arith.muli %[[EXPERT:.*]], %{{c3.*}} : index
// CHECK: func.call @product.1x8_i4_group32_pairs_zeros
func.func @experts(%x: memref<?x64xi8>, %w: memref<4x3x8x8x4xi8>, %g: memref<4x3x2x8xf32>,
                   %z: memref<4x3x2x8xi8>, %e: memref<?xi32>, %y: memref<?x24xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) zeros(%z) experts(%e) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<4x3x8x8x4xi8>, memref<4x3x2x8xf32>, memref<4x3x2x8xi8>, memref<?xi32>, memref<?x24xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Scales and zeros of 16 bits are half as far apart, and are widened once for
// all rows of a tile.
// CHECK: func.func private @product.1x16_i4_group32_dot_f16_float_zeros(
// CHECK: %[[KEPT:.*]] = llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xf16>
// CHECK: %[[SCALE:.*]] = arith.extf %[[KEPT]] : vector<16xf16> to vector<16xf32>
// CHECK: math.fma %{{.*}}, %[[SCALE]], %{{.*}} : vector<16xf32>
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xf16>
// CHECK-LABEL: func.func @half_scales
// CHECK-DAG: arith.muli %{{.*}}, %c64
func.func @half_scales(%x: memref<?x64xi8>, %w: memref<2x8x16x4xi8>, %g: memref<2x2x16xf16>,
                 %z: memref<2x2x16xf16>, %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) zeros(%z) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<2x8x16x4xi8>, memref<2x2x16xf16>, memref<2x2x16xf16>, memref<?x32xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<pairs, rows = 1, lanes = 8, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// A bf16 is the upper half of an f32.
// CHECK: func.func private @product.1x8_i4_group32_pairs_bf16(
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<8xbf16>
// CHECK: arith.extui %{{.*}} : vector<8xi16> to vector<8xi32>
// CHECK: arith.shli
func.func @upper_halves(%x: memref<?x64xi8>, %w: memref<1x8x8x4xi8>, %g: memref<1x2x8xbf16>,
                 %y: memref<?x8xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x8x8x4xi8>, memref<1x2x8xbf16>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}
