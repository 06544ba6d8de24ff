// A reduction along a row becomes the work of a warp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-distribute-rows --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @squares
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK: scf.parallel (%[[T:.*]], %[[LANE:.*]]) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %[[C32]])
// What does not depend on the element stays before the loop.
// CHECK: %[[FACTOR:.*]] = memref.load %{{.*}}[%[[T]]]
// CHECK: %[[OWN:.*]] = scf.for %[[K:.*]] = %[[LANE]] to %{{.*}} step %[[C32]] iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32) {
// CHECK: %[[V:.*]] = memref.load %{{.*}}[%[[T]], %[[K]]]
// CHECK: %[[S:.*]] = arith.mulf %[[V]], %[[FACTOR]]
// CHECK: %[[N:.*]] = arith.addf %[[SUM]], %[[S]]
// CHECK: scf.yield %[[N]]
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK: scf.if %[[IS_FIRST]] {
// CHECK: %[[BEFORE:.*]] = memref.load %[[SUMS:.*]][%[[T]]]
// CHECK: %[[AFTER:.*]] = arith.addf %[[BEFORE]]
// CHECK: memref.store %[[AFTER]], %[[SUMS]][%[[T]]]
func.func @squares(%x: memref<?x96xf32>, %factors: memref<?xf32>, %sums: memref<?xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c96 = arith.constant 96 : index
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %factor = memref.load %factors[%t] : memref<?xf32>
    scf.for %k = %c0 to %c96 step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x96xf32>
      %s = memref.load %sums[%t] : memref<?xf32>
      %m = arith.mulf %v, %factor : f32
      %n = arith.addf %s, %m : f32
      memref.store %n, %sums[%t] : memref<?xf32>
    }
  }
  return
}

// Weights of 16 bits are widened by each lane.
// CHECK-LABEL: func.func @product
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %[[LANE:.*]]) =
// CHECK: scf.for %{{.*}} = %[[LANE]]
// CHECK: arith.extf
// CHECK-COUNT-5: gpu.shuffle xor
func.func @product(%x: memref<?x64xf32>, %w: memref<8x64xbf16>, %y: memref<?x8xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%t, %n) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    scf.for %k = %c0 to %c64 step %c1 {
      %a = memref.load %x[%t, %k] : memref<?x64xf32>
      %b = memref.load %w[%n, %k] : memref<8x64xbf16>
      %c = memref.load %y[%t, %n] : memref<?x8xf32>
      %d = arith.extf %b : bf16 to f32
      %e = arith.mulf %a, %d : f32
      %f = arith.addf %c, %e : f32
      memref.store %f, %y[%t, %n] : memref<?x8xf32>
    }
  }
  return
}

// A greatest value begins below every other.
// CHECK-LABEL: func.func @greatest
// CHECK: iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK: arith.maximumf
// CHECK-COUNT-5: gpu.shuffle xor
func.func @greatest(%x: memref<?x32xf32>, %most: memref<?xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %c32 step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x32xf32>
      %s = memref.load %most[%t] : memref<?xf32>
      %n = arith.maximumf %v, %s : f32
      memref.store %n, %most[%t] : memref<?xf32>
    }
  }
  return
}

// As they were: a short row, a row of dynamic length, an order that matters, a
// place that moves, a value that is used again, and more than one store.
// CHECK-LABEL: func.func @others
// CHECK-NOT: gpu.shuffle
func.func @others(%x: memref<?x64xf32>, %y: memref<?xf32>, %z: memref<?x64xf32>, %tokens: index, %length: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %c31 step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x64xf32>
      %s = memref.load %y[%t] : memref<?xf32>
      %n = arith.addf %v, %s : f32
      memref.store %n, %y[%t] : memref<?xf32>
    }
  }
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %length step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x64xf32>
      %s = memref.load %y[%t] : memref<?xf32>
      %n = arith.addf %v, %s : f32
      memref.store %n, %y[%t] : memref<?xf32>
    }
  }
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %c64 step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x64xf32>
      %s = memref.load %y[%t] : memref<?xf32>
      %n = arith.subf %v, %s : f32
      memref.store %n, %y[%t] : memref<?xf32>
    }
  }
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %c64 step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x64xf32>
      %s = memref.load %z[%t, %k] : memref<?x64xf32>
      %n = arith.addf %v, %s : f32
      memref.store %n, %z[%t, %k] : memref<?x64xf32>
    }
  }
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %c64 step %c1 {
      %s = memref.load %y[%t] : memref<?xf32>
      %n = arith.addf %s, %s : f32
      memref.store %n, %y[%t] : memref<?xf32>
    }
  }
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    scf.for %k = %c0 to %c64 step %c1 {
      %v = memref.load %x[%t, %k] : memref<?x64xf32>
      %s = memref.load %y[%t] : memref<?xf32>
      %n = arith.addf %v, %s : f32
      memref.store %n, %y[%t] : memref<?xf32>
      memref.store %n, %z[%t, %k] : memref<?x64xf32>
    }
  }
  return
}
