// Items that lie side by side become one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-widen-loops --canonicalize | FileCheck %s

// 16 bytes of what is stored; what all columns share stays a number, and a
// constant distance keeps the address a multiple of what it is.
// CHECK-LABEL: func.func @turn
// CHECK: scf.parallel (%[[T:.*]], %[[H:.*]], %[[PIECE:.*]]) = {{.*}} to (%{{.*}}, %c2, %c4)
// CHECK: %[[I:.*]] = arith.muli %[[PIECE]], %c8 : index
// CHECK: vector.load %{{.*}}[%[[T]], %[[H]], %[[I]]] {alignment = 16 : i64} : memref<?x2x64xbf16>, vector<8xbf16>
// CHECK: %[[OTHER:.*]] = arith.addi %[[I]], %c32 : index
// CHECK: vector.load %{{.*}}[%[[T]], %[[H]], %[[OTHER]]] {alignment = 16 : i64} : memref<?x2x64xbf16>, vector<8xbf16>
// CHECK: vector.load %{{.*}}[%[[T]], %[[I]]] {alignment = 16 : i64} : memref<?x32xf32>, vector<8xf32>
// CHECK: %[[S:.*]] = memref.load %{{.*}}[%[[T]]] : memref<?xf32>
// CHECK: %[[SCALE:.*]] = vector.broadcast %[[S]] : f32 to vector<8xf32>
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : vector<8xf32>
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK: vector.store %{{.*}}, %{{.*}}[%[[T]], %[[H]], %[[I]]] {alignment = 16 : i64} : memref<?x2x64xbf16>, vector<8xbf16>
func.func @turn(%x: memref<?x2x64xbf16>, %angles: memref<?x32xf32>, %scales: memref<?xf32>, %y: memref<?x2x64xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%t, %h, %i) = (%c0, %c0, %c0) to (%tokens, %c2, %c32) step (%c1, %c1, %c1) {
    %kept = memref.load %x[%t, %h, %i] : memref<?x2x64xbf16>
    %behind = arith.addi %i, %c32 : index
    %other = memref.load %x[%t, %h, %behind] : memref<?x2x64xbf16>
    %angle = memref.load %angles[%t, %i] : memref<?x32xf32>
    %scale = memref.load %scales[%t] : memref<?xf32>
    %a = arith.extf %kept : bf16 to f32
    %b = arith.extf %other : bf16 to f32
    %c = arith.mulf %a, %angle : f32
    %d = arith.addf %c, %b : f32
    %e = arith.mulf %d, %scale : f32
    %f = arith.truncf %e : f32 to bf16
    memref.store %f, %y[%t, %h, %i] : memref<?x2x64xbf16>
  }
  return
}

// A part of wider rows, from column 4 on: eight elements begin at multiples of
// 8 bytes only. 12 columns are three times 4 of f32.
// CHECK-LABEL: func.func @narrow
// CHECK: vector.load {{.*}} {alignment = 8 : i64} : memref<?x24xbf16, strided<[64, 1], offset: 4>>, vector<8xbf16>
// CHECK: to (%{{.*}}, %c3)
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<?x12xf32>, vector<4xf32>
func.func @narrow(%x: memref<?x24xbf16, strided<[64, 1], offset: 4>>, %y: memref<?x24xbf16>, %z: memref<?x12xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %c24 = arith.constant 24 : index
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c24) step (%c1, %c1) {
    %v = memref.load %x[%t, %i] : memref<?x24xbf16, strided<[64, 1], offset: 4>>
    memref.store %v, %y[%t, %i] : memref<?x24xbf16>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c12) step (%c1, %c1) {
    %v = memref.load %z[%t, %i] : memref<?x12xf32>
    %w = arith.addf %v, %v : f32
    memref.store %w, %z[%t, %i] : memref<?x12xf32>
  }
  return
}

// Elements that lie apart, a place that is a number, an odd width, a sum.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: vector
func.func @stay(%x: memref<?x8xf32, strided<[16, 2]>>, %y: memref<?x8xf32>, %z: memref<?x7xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    %v = memref.load %x[%t, %i] : memref<?x8xf32, strided<[16, 2]>>
    memref.store %v, %y[%t, %i] : memref<?x8xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    %n = arith.index_cast %i : index to i32
    %v = arith.sitofp %n : i32 to f32
    memref.store %v, %y[%t, %i] : memref<?x8xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c7) step (%c1, %c1) {
    %v = memref.load %z[%t, %i] : memref<?x7xf32>
    memref.store %v, %z[%t, %i] : memref<?x7xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    %v = memref.load %y[%i, %t] : memref<?x8xf32>
    memref.store %v, %y[%t, %i] : memref<?x8xf32>
  }
  return
}

// Addresses are no elements of vectors.
// CHECK-LABEL: func.func @of_indices
// CHECK: scf.parallel (%[[I:.*]]) = {{.*}} to (%c16)
// CHECK: memref.store
func.func @of_indices(%y: memref<16xindex>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  scf.parallel (%i) = (%c0) to (%c16) step (%c1) {
    memref.store %n, %y[%i] : memref<16xindex>
  }
  return
}
