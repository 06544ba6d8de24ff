// Products with bytes that have groups: as those of four bits, but a word is four
// columns, whose bytes lose their sign, and of which 128 times the row's sum
// comes off.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

#tile = #transformer.product_tile<dot, rows = 1, lanes = 16, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// CHECK: func.func private @product.1x16_i8_group32_dot(
// CHECK: %[[WORDS:.*]] = llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
// CHECK: %[[PLAIN:.*]] = arith.xori %[[WORDS]], %{{.*}} : vector<16xi32>
// CHECK: %[[BYTES:.*]] = llvm.bitcast %[[PLAIN]] : vector<16xi32> to vector<64xi8>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[BYTES]], %{{.*}})
// CHECK-COUNT-7: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK-NOT: call_intrinsic
// CHECK: math.fma
// CHECK-LABEL: func.func @bytes
// CHECK: arith.muli %{{.*}}, %c-128_i32 : i32
func.func @bytes(%x: memref<?x64xi8>, %w: memref<1x16x16x4xi8>, %g: memref<1x2x16xf32>,
                 %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x16x16x4xi8>, memref<1x2x16xf32>, memref<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<pairs, rows = 1, lanes = 8, item = 4,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// What both halves of a byte count are sums of pairs of their own, which 16 bits
// hold; those of the upper one are 16 times as much.
// CHECK: func.func private @product.1x8_i8_group32_pairs(
// CHECK-DAG: %[[ONES:.*]] = llvm.mlir.constant(dense<1> : vector<16xi16>)
// CHECK-DAG: %[[SIXTEENS:.*]] = llvm.mlir.constant(dense<16> : vector<16xi16>)
// CHECK: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: %[[NEXT:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: llvm.add %[[LOW]], %[[NEXT]] : vector<16xi16>
// CHECK: %[[LAST:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: llvm.add %[[HIGH]], %[[LAST]] : vector<16xi16>
// CHECK-COUNT-12: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%{{.*}}, %[[ONES]])
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%{{.*}}, %[[SIXTEENS]])
// CHECK: math.fma
func.func @pairs(%x: memref<?x32xi8>, %w: memref<1x8x8x4xi8>, %g: memref<1x1x8xf32>,
                 %y: memref<?x8xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w groups(%g) outs(%y) {tile = #tile}
      : memref<?x32xi8>, memref<1x8x8x4xi8>, memref<1x1x8xf32>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}
