// Transfers on buffers become loads and stores; one float that is broadcast is
// loaded as a scalar.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-lower-contractions))" | FileCheck %s

// CHECK-LABEL: @transfers_are_loads_and_stores
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4x32xf32>, %[[Y:[a-z0-9]*]]: memref<4x32xf32>, %[[I:[a-z0-9]*]]: index
func.func @transfers_are_loads_and_stores(
    %x: memref<4x32xf32>, %y: memref<4x32xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: %[[ROW:.*]] = vector.load %[[X]][%[[I]], %{{.*}}] : memref<4x32xf32>, vector<16xf32>
  // CHECK: vector.store %[[ROW]], %[[Y]][%[[I]], %{{.*}}] : memref<4x32xf32>, vector<16xf32>
  // CHECK-NOT: vector.transfer
  %row = vector.transfer_read %x[%i, %c0], %zero {in_bounds = [true]}
      : memref<4x32xf32>, vector<16xf32>
  vector.transfer_write %row, %y[%i, %c0] {in_bounds = [true]}
      : vector<16xf32>, memref<4x32xf32>
  return
}

// CHECK-LABEL: @broadcasts_load_a_scalar
func.func @broadcasts_load_a_scalar(%x: memref<4x32xf32>, %i: index)
    -> vector<16xf32> {
  // CHECK: %[[FLOAT:.*]] = memref.load
  // CHECK: vector.broadcast %[[FLOAT]] : f32 to vector<16xf32>
  %v = vector.load %x[%i, %i] : memref<4x32xf32>, vector<1xf32>
  %r = vector.broadcast %v : vector<1xf32> to vector<16xf32>
  return %r : vector<16xf32>
}

// CHECK-LABEL: @addresses_see_through_views
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4x32xf32>
func.func @addresses_see_through_views(%x: memref<4x32xf32>, %i: index)
    -> vector<16xf32> {
  // CHECK: vector.load %[[X]]
  %s = memref.subview %x[%i, 0] [1, 32] [1, 1]
      : memref<4x32xf32> to memref<1x32xf32, strided<[32, 1], offset: ?>>
  %c0 = arith.constant 0 : index
  %v = vector.load %s[%c0, %c0]
      : memref<1x32xf32, strided<[32, 1], offset: ?>>, vector<16xf32>
  return %v : vector<16xf32>
}
