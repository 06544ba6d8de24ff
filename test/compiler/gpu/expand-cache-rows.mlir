// Keys that loops compute for the cache alone are computed where they are kept.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-bind-weights --tfc-expand-device-kernels --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64, bf16>

// Two halves of each head, one of which a thread computes; values are copied.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: memref.alloc
// CHECK: scf.parallel (%[[ITEM:.*]], %[[ROW:.*]], %[[VECTOR:.*]]) =
// CHECK: %[[COLUMN:.*]] = arith.muli %[[VECTOR]], %c8
// CHECK: %[[HEAD:.*]] = arith.divui %[[COLUMN]], %c64
// CHECK: %[[WITHIN:.*]] = arith.remui %[[COLUMN]], %c64
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi ult, %[[WITHIN]], %c32
// CHECK: %[[KEY:.*]] = scf.if %[[IS_FIRST]] -> (vector<8xbf16>)
// CHECK: vector.load %{{.*}}[%{{.*}}, %[[HEAD]], %[[WITHIN]]] {alignment = 16 : i64} : memref<?x2x64xf32>, vector<8xf32>
// CHECK: arith.addf
// CHECK: } else {
// CHECK: %[[PLACE:.*]] = arith.subi %[[WITHIN]], %c32
// CHECK: vector.load %{{.*}}[%{{.*}}, %[[HEAD]], %[[PLACE]]]
// CHECK: arith.mulf
// CHECK: llvm.store %[[KEY]], %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr
// CHECK: vector.load %{{.*}} : memref<?x128xbf16>, vector<8xbf16>
// CHECK-NOT: scf.parallel
func.func @turned(%x: memref<?x2x64xf32>, %v: memref<?x128xbf16>, %batch: !transformer.batch, %cache: !cache, %layer: index, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %k = memref.alloc(%tokens) : memref<?x2x64xbf16>
  %low = memref.subview %k[0, 0, 0] [%tokens, 2, 32] [1, 1, 1] : memref<?x2x64xbf16> to memref<?x2x32xbf16, strided<[128, 64, 1]>>
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c32) step (%c1, %c1, %c1) {
    %a = memref.load %x[%t, %h, %i] : memref<?x2x64xf32>
    %b = arith.addf %a, %a : f32
    %y = arith.truncf %b : f32 to bf16
    memref.store %y, %low[%t, %h, %i] : memref<?x2x32xbf16, strided<[128, 64, 1]>>
  }
  %high = memref.subview %k[0, 0, 32] [%tokens, 2, 32] [1, 1, 1] : memref<?x2x64xbf16> to memref<?x2x32xbf16, strided<[128, 64, 1], offset: 32>>
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c32) step (%c1, %c1, %c1) {
    %a = memref.load %x[%t, %h, %i] : memref<?x2x64xf32>
    %b = arith.mulf %a, %a : f32
    %y = arith.truncf %b : f32 to bf16
    memref.store %y, %high[%t, %h, %i] : memref<?x2x32xbf16, strided<[128, 64, 1], offset: 32>>
  }
  %rows = memref.collapse_shape %k [[0], [1, 2]] : memref<?x2x64xbf16> into memref<?x128xbf16>
  transformer.cache_write %rows, %v into %cache[%layer], %batch : memref<?x128xbf16>, memref<?x128xbf16>, !cache
  return
}

// Half of a head is nobody's: what is in the buffer is written.
// CHECK-LABEL: func.func @half
// CHECK: memref.alloc
// CHECK-COUNT-2: scf.parallel
func.func @half(%x: memref<?x2x64xf32>, %v: memref<?x128xbf16>, %batch: !transformer.batch, %cache: !cache, %layer: index, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %k = memref.alloc(%tokens) : memref<?x2x64xbf16>
  %low = memref.subview %k[0, 0, 0] [%tokens, 2, 32] [1, 1, 1] : memref<?x2x64xbf16> to memref<?x2x32xbf16, strided<[128, 64, 1]>>
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c32) step (%c1, %c1, %c1) {
    %a = memref.load %x[%t, %h, %i] : memref<?x2x64xf32>
    %y = arith.truncf %a : f32 to bf16
    memref.store %y, %low[%t, %h, %i] : memref<?x2x32xbf16, strided<[128, 64, 1]>>
  }
  %rows = memref.collapse_shape %k [[0], [1, 2]] : memref<?x2x64xbf16> into memref<?x128xbf16>
  transformer.cache_write %rows, %v into %cache[%layer], %batch : memref<?x128xbf16>, memref<?x128xbf16>, !cache
  return
}

// Somebody else reads the keys, too; and what they are made of changes before
// they are kept.
// CHECK-LABEL: func.func @read
// CHECK: memref.alloc
// CHECK-COUNT-5: scf.parallel
func.func @read(%x: memref<?x2x64xf32>, %v: memref<?x128xbf16>, %batch: !transformer.batch, %cache: !cache, %layer: index, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %k = memref.alloc(%tokens) : memref<?x2x64xbf16>
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c64) step (%c1, %c1, %c1) {
    %a = memref.load %x[%t, %h, %i] : memref<?x2x64xf32>
    %y = arith.truncf %a : f32 to bf16
    memref.store %y, %k[%t, %h, %i] : memref<?x2x64xbf16>
  }
  %rows = memref.collapse_shape %k [[0], [1, 2]] : memref<?x2x64xbf16> into memref<?x128xbf16>
  transformer.cache_write %rows, %v into %cache[%layer], %batch : memref<?x128xbf16>, memref<?x128xbf16>, !cache
  "test.use"(%rows) : (memref<?x128xbf16>) -> ()
  %l = memref.alloc(%tokens) : memref<?x2x64xbf16>
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c64) step (%c1, %c1, %c1) {
    %a = memref.load %x[%t, %h, %i] : memref<?x2x64xf32>
    %y = arith.truncf %a : f32 to bf16
    memref.store %y, %l[%t, %h, %i] : memref<?x2x64xbf16>
  }
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c64) step (%c1, %c1, %c1) {
    %a = arith.constant 0.0 : f32
    memref.store %a, %x[%t, %h, %i] : memref<?x2x64xf32>
  }
  %others = memref.collapse_shape %l [[0], [1, 2]] : memref<?x2x64xbf16> into memref<?x128xbf16>
  transformer.cache_write %others, %v into %cache[%layer], %batch : memref<?x128xbf16>, memref<?x128xbf16>, !cache
  return
}
