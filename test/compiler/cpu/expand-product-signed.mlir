// Products of bytes that both have a sign: instructions of four words, two for a
// vector of eight, and nothing that comes off.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#tile = #transformer.product_tile<signed_dot, rows = 1, lanes = 8, item = 4,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// CHECK: func.func private @product.1x16_dot_i8
// CHECK: %[[WORD:.*]] = llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[WORD]] : i32 to vector<8xi32>
// CHECK: %[[ROW:.*]] = llvm.bitcast %[[ALL]] : vector<8xi32> to vector<32xi8>
// CHECK: %[[LOW:.*]] = llvm.shufflevector %[[ROW]], %[[ROW]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// The row's word is the factor that can be a lane.
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.*}}, %{{.*}}, %[[LOW]]) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
// CHECK: %[[HIGH:.*]] = llvm.shufflevector %[[ROW]], %[[ROW]] [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"(%{{.*}}, %{{.*}}, %[[HIGH]])
// CHECK: llvm.shufflevector {{.*}} [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xi32>
// CHECK-COUNT-2: "llvm.aarch64.neon.sdot.v4i32.v16i8"
// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: memref<?x8xi8>, %w: memref<1x2x16x4xi8>, %y: memref<?x16xf32>,
                 %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x8xi8>, memref<1x2x16x4xi8>, memref<?x16xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_dot, rows = 1, lanes = 8, item = 4,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Bytes with groups keep their sign, and zero points, which are for bytes without,
// are 128 less.
// CHECK: func.func private @product.1x8_i8_group32_dot_zeros
// CHECK-DAG: %[[EXCESS:.*]] = arith.constant dense<128> : vector<8xi32>
// CHECK: %[[ZEROS:.*]] = llvm.zext %{{.*}} : vector<8xi8> to vector<8xi32>
// CHECK: %[[OWN:.*]] = arith.subi %[[ZEROS]], %[[EXCESS]] : vector<8xi32>
// CHECK: arith.muli %[[OWN]], %{{.*}} : vector<8xi32>
// CHECK-NOT: arith.xori
// CHECK-COUNT-16: "llvm.aarch64.neon.sdot.v4i32.v16i8"
// CHECK: math.fma
// CHECK-LABEL: func.func @groups
// CHECK: arith.muli %{{.*}}, %c-1_i32 : i32
func.func @groups(%x: memref<?x32xi8>, %w: memref<1x8x8x4xi8>, %g: memref<1x1x8xf32>,
                  %z: memref<1x1x8xi8>, %y: memref<?x8xf32>,
                  %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) zeros(%z) outs(%y) {tile = #tile}
      : memref<?x32xi8>, memref<1x8x8x4xi8>, memref<1x1x8xf32>, memref<1x1x8xi8>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_dot, rows = 1, lanes = 8, item = 4,
    unroll = 1, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

func.func @wide(%x: memref<?x8xi16>, %w: memref<1x4x16x2xi8>, %y: memref<?x16xf32>,
                %batch: !transformer.batch) {
  // expected-error @below {{rows whose words there is an instruction for}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x8xi16>, memref<1x4x16x2xi8>, memref<?x16xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_dot, rows = 1, lanes = 8, item = 4,
    unroll = 4, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Four words of a row are one load, where a turn has as many.
// CHECK: func.func private @product.1x16_dot_i8
// CHECK: scf.for {{.*}} step %c4
// CHECK: %[[QUAD:.*]] = llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<4xi32>
// CHECK: vector.extract %[[QUAD]][0] : i32 from vector<4xi32>
// CHECK-NOT: -> i32
// CHECK: vector.extract %[[QUAD]][3]
// CHECK: scf.for {{.*}} step %c1
// CHECK-NOT: vector<4xi32>{{$}}
// CHECK: llvm.load {{.*}} : !llvm.ptr -> i32
// CHECK-LABEL: func.func @quads
func.func @quads(%x: memref<?x32xi8>, %w: memref<1x8x16x4xi8>,
                 %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x32xi8>, memref<1x8x16x4xi8>, memref<?x16xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<signed_dot, rows = 4, lanes = 8, item = 4,
    unroll = 4, turn_rows = 4, ahead = 32, ahead_rows = 4, block_bytes = 65536,
    next_bytes = 65536>

// Four rows of groups go through the first half of the columns, then through the
// other one, and ask for the panel once. Two rows have registers for all.
// CHECK: func.func private @product.4x16_i4_group32_dot
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK: llvm.intr.prefetch
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-4: llvm.store
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT: llvm.intr.prefetch
// CHECK-COUNT-4: math.fma
// CHECK-COUNT-4: llvm.store
// CHECK: return
// CHECK: func.func private @product.2x16_i4_group32_dot
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT: scf.for
// CHECK: func.func private @product.1x16_i4_group32_dot
// CHECK-LABEL: func.func @halves
func.func @halves(%x: memref<?x64xi8>, %w: memref<1x8x16x4xi8>,
                  %g: memref<1x2x16xf32>, %y: memref<?x16xf32>,
                  %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x8x16x4xi8>, memref<1x2x16xf32>, memref<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}
