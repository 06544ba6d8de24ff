// Products of integers: words of four bytes of weights, with rows of bytes
// without a sign or of 16 bits; sums are integers, and the body begins with one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// CHECK: func.func private @product.2x16_dot_i8_rest3
// CHECK: scf.for
// CHECK: %[[WORDS:.*]] = llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[WEIGHTS:.*]] = llvm.bitcast %[[WORDS]] : vector<16xi32> to vector<64xi8>
// CHECK: %[[WORD:.*]] = llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[WORD]] : i32 to vector<16xi32>
// CHECK: %[[ROW:.*]] = llvm.bitcast %[[ALL]] : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[ROW]], %[[WEIGHTS]]) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// Seven columns: of the last word a row has three, and behind it is not read.
// CHECK: %[[REST:.*]] = llvm.load {{.*}} {alignment = 1 : i64} : !llvm.ptr -> i24
// CHECK: arith.extui %[[REST]] : i24 to i32

// CHECK-LABEL: func.func @bytes
// CHECK: memref.load %{{.*}}[%{{.*}}] : memref<?xf32>
// CHECK: %[[SUM:.*]] = llvm.load {{.*}} -> vector<16xi32>
// CHECK: %[[OVER:.*]] = vector.load %{{.*}} : memref<16xi32>, vector<16xi32>
// CHECK: %[[OWN:.*]] = arith.subi %[[SUM]], %[[OVER]] : vector<16xi32>
// CHECK: %[[F:.*]] = arith.sitofp %[[OWN]] : vector<16xi32> to vector<16xf32>
// CHECK: arith.mulf %[[F]], %{{.*}} : vector<16xf32>
func.func @bytes(%x: memref<?x7xi8>, %w: memref<1x2x16x4xi8>, %over: memref<16xi32>,
                 %s: memref<?xf32>, %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w columns(%over) scales(%s) outs(%y) {tile = #tile}
      : memref<?x7xi8>, memref<1x2x16x4xi8>, memref<16xi32>, memref<?xf32>, memref<?x16xf32> {
  ^bb0(%sum: i32, %o: i32, %scale: f32):
    %own = arith.subi %sum, %o : i32
    %f = arith.sitofp %own : i32 to f32
    %z = arith.mulf %f, %scale : f32
    transformer.yield %z : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 1, lanes = 8, item = 1,
    unroll = 1, turn_rows = 1, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Two bytes for each column become 16 bits with their signs.
// CHECK: func.func private @product.1x8_dot_i16_rest1
// CHECK: scf.for
// CHECK: %[[BYTES:.*]] = llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> vector<16xi8>
// CHECK: %[[WEIGHTS:.*]] = llvm.sext %[[BYTES]] : vector<16xi8> to vector<16xi16>
// CHECK: %[[WORD:.*]] = llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[WORD]] : i32 to vector<8xi32>
// CHECK: %[[ROW:.*]] = llvm.bitcast %[[ALL]] : vector<8xi32> to vector<16xi16>
// CHECK: %[[PRODUCT:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%[[ROW]], %[[WEIGHTS]])
// CHECK: arith.addi %{{.*}}, %[[PRODUCT]] : vector<8xi32>
// Of the last word a row has one column.
// CHECK: llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK-NOT: llvm.call_intrinsic
// CHECK-LABEL: func.func @wide
func.func @wide(%x: memref<?x5xi16>, %w: memref<1x3x8x2xi8>, %y: memref<?x8xf32>,
                %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x5xi16>, memref<1x3x8x2xi8>, memref<?x8xf32> {
  ^bb0(%sum: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}
