// Tiles of many rows ask for the panel's row some steps ahead, line by line.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-prefetch-panels{distance=5 rows=2}))" | FileCheck %s

#column = affine_map<(d0, d1) -> (d0, 0)>
#row = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: @product
// CHECK-SAME: memref<2x8xf32>, %[[W:[a-z0-9]*]]: memref<8x32xf32>
func.func @product(%x: memref<2x8xf32>, %w: memref<8x32xf32>,
                   %zero: vector<2x32xf32>) -> vector<2x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant 0.0 : f32
  // CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} {
  // CHECK: %[[FIVE:.*]] = arith.constant 5 : index
  // CHECK: %[[AHEAD:.*]] = arith.addi %[[K]], %[[FIVE]]
  // CHECK: memref.prefetch %[[W]][%[[AHEAD]], %{{.*}}], read, locality<2>, data
  // CHECK: memref.prefetch %[[W]][%[[AHEAD]], %{{.*}}], read, locality<2>, data
  // CHECK-NOT: memref.prefetch
  %sums = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero)
      -> (vector<2x32xf32>) {
    %a = vector.transfer_read %x[%c0, %k], %pad
        {in_bounds = [true, true], permutation_map = #column}
        : memref<2x8xf32>, vector<2x32xf32>
    %b = vector.transfer_read %w[%k, %c0], %pad
        {in_bounds = [true, true], permutation_map = #row}
        : memref<8x32xf32>, vector<2x32xf32>
    %next = math.fma %a, %b, %acc : vector<2x32xf32>
    scf.yield %next : vector<2x32xf32>
  }
  return %sums : vector<2x32xf32>
}

// CHECK-LABEL: @few_rows_wait
// CHECK-NOT: memref.prefetch
func.func @few_rows_wait(%w: memref<8x32xf32>, %zero: vector<1x32xf32>)
    -> vector<1x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant 0.0 : f32
  %sums = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero)
      -> (vector<1x32xf32>) {
    %b = vector.transfer_read %w[%k, %c0], %pad
        {in_bounds = [true, true], permutation_map = #row}
        : memref<8x32xf32>, vector<1x32xf32>
    %next = arith.addf %acc, %b : vector<1x32xf32>
    scf.yield %next : vector<1x32xf32>
  }
  return %sums : vector<1x32xf32>
}
