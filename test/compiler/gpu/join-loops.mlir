// Parallel loops that do not need each other become one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-join-loops --canonicalize | FileCheck %s

// Two buffers of the step's, and two halves of one.
// CHECK-LABEL: func.func @apart
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c8
// CHECK: scf.parallel (%[[ITEM:.*]]) = (%c0) to (%{{.*}}) step (%c1)
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi ult, %[[ITEM]], %[[FIRST]] : index
// CHECK: scf.if %[[IS_FIRST]]
// CHECK: %[[I:.*]] = arith.remui %[[ITEM]], %c8
// CHECK: } else {
// CHECK: arith.subi %[[ITEM]], %[[FIRST]] : index
// CHECK: scf.if
// CHECK-NOT: scf.parallel
func.func @apart(%x: memref<?x8xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  %y = memref.alloc(%tokens) : memref<?x8xf32>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    %v = memref.load %x[%t, %i] : memref<?x8xf32>
    memref.store %v, %y[%t, %i] : memref<?x8xf32>
  }
  %z = memref.alloc(%tokens) : memref<?x8xf32>
  %low = memref.subview %z[0, 0] [%tokens, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1]>>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c4) step (%c1, %c1) {
    %v = memref.load %x[%t, %i] : memref<?x8xf32>
    memref.store %v, %low[%t, %i] : memref<?x4xf32, strided<[8, 1]>>
  }
  %high = memref.subview %z[0, 4] [%tokens, 4] [1, 1] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 1], offset: 4>>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c4) step (%c1, %c1) {
    memref.store %one, %high[%t, %i] : memref<?x4xf32, strided<[8, 1], offset: 4>>
  }
  "test.use"(%y, %z) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// Every other column is apart from those between.
// CHECK-LABEL: func.func @between
// CHECK-COUNT-1: scf.parallel
// CHECK-NOT: scf.parallel
func.func @between(%tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %z = memref.alloc(%tokens) : memref<?x8xf32>
  %even = memref.subview %z[0, 0] [%tokens, 4] [1, 2] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 2]>>
  %odd = memref.subview %z[0, 1] [%tokens, 4] [1, 2] : memref<?x8xf32> to memref<?x4xf32, strided<[8, 2], offset: 1>>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c4) step (%c1, %c1) {
    memref.store %one, %even[%t, %i] : memref<?x4xf32, strided<[8, 2]>>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c4) step (%c1, %c1) {
    memref.store %one, %odd[%t, %i] : memref<?x4xf32, strided<[8, 2], offset: 1>>
  }
  "test.use"(%z) : (memref<?x8xf32>) -> ()
  return
}

// One reads what the other wrote, or overwrites what it reads; columns that
// overlap; arguments, which may be one buffer.
// CHECK-LABEL: func.func @together
// CHECK-COUNT-7: scf.parallel
func.func @together(%x: memref<?x8xf32>, %tokens: index, %w: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
  %y = memref.alloc(%tokens) : memref<?x8xf32>
  %z = memref.alloc(%tokens) : memref<?x8xf32>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    memref.store %one, %y[%t, %i] : memref<?x8xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    %v = memref.load %y[%t, %i] : memref<?x8xf32>
    memref.store %v, %z[%t, %i] : memref<?x8xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    memref.store %one, %y[%t, %i] : memref<?x8xf32>
  }
  "test.use"(%y, %z) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  %a = memref.subview %z[0, 0] [%tokens, 5] [1, 1] : memref<?x8xf32> to memref<?x5xf32, strided<[8, 1]>>
  %b = memref.subview %z[0, 3] [%tokens, 5] [1, 1] : memref<?x8xf32> to memref<?x5xf32, strided<[8, 1], offset: 3>>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c5) step (%c1, %c1) {
    memref.store %one, %a[%t, %i] : memref<?x5xf32, strided<[8, 1]>>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c5) step (%c1, %c1) {
    memref.store %one, %b[%t, %i] : memref<?x5xf32, strided<[8, 1], offset: 3>>
  }
  "test.use"(%z) : (memref<?x8xf32>) -> ()
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    memref.store %one, %x[%t, %i] : memref<?x8xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c8) step (%c1, %c1) {
    memref.store %one, %w[%t, %i] : memref<?x8xf32>
  }
  return
}

// What lanes tell each other, and what lies between that is done to memory.
// CHECK-LABEL: func.func @alone
// CHECK-COUNT-4: scf.parallel
func.func @alone(%tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1.0 : f32
  %width = arith.constant 32 : i32
  %far = arith.constant 16 : i32
  %y = memref.alloc(%tokens) : memref<?x32xf32>
  %z = memref.alloc(%tokens) : memref<?x32xf32>
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c32) step (%c1, %c1) {
    %v, %valid = gpu.shuffle xor %one, %far, %width : f32
    memref.store %v, %y[%t, %i] : memref<?x32xf32>
  }
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c32) step (%c1, %c1) {
    memref.store %one, %z[%t, %i] : memref<?x32xf32>
  }
  "test.use"(%y, %z) : (memref<?x32xf32>, memref<?x32xf32>) -> ()
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c32) step (%c1, %c1) {
    memref.store %one, %y[%t, %i] : memref<?x32xf32>
  }
  "test.use"(%y, %z) : (memref<?x32xf32>, memref<?x32xf32>) -> ()
  scf.parallel (%t, %i) = (%c0, %c0) to (%tokens, %c32) step (%c1, %c1) {
    memref.store %one, %z[%t, %i] : memref<?x32xf32>
  }
  "test.use"(%y, %z) : (memref<?x32xf32>, memref<?x32xf32>) -> ()
  return
}
