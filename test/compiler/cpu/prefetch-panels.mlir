// Tiles of many rows ask for the panel's row some steps ahead, line by line.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-prefetch-panels{distance=5 rows=2 block=8 next-bytes=1024}))" | FileCheck %s

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

// A loop over full tiles. In an item of all 8 rows, four tiles, each asks for a
// quarter of the next panel, 8 of its 32 floats a step; in one of fewer, for its
// own panel's rows 5 steps ahead and, from the second tile on, for a half.
// CHECK-LABEL: @tiles
// CHECK-SAME: %[[W:[a-z0-9]*]]: memref<3x8x32xf32>, %{{.*}}: memref<?x32xf32>, %[[ROWS:[a-z0-9]*]]: index
func.func @tiles(%x: memref<?x8xf32>, %w: memref<3x8x32xf32>,
                 %y: memref<?x32xf32>, %rows: index, %zero: vector<2x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant 0.0 : f32
  // CHECK: %[[STEPS:.*]] = arith.constant 8 : index
  // CHECK: scf.for %[[R:[a-z0-9]+]] = {{.*}} to %[[ROWS]]
  scf.for %r = %c0 to %rows step %c2 {
    // CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
    // CHECK: %[[WHOLE:.*]] = arith.cmpi sge, %[[ROWS]], %[[EIGHT]]
    // CHECK: %[[SUMS:.*]] = scf.if %[[WHOLE]] -> (vector<2x32xf32>) {
    // CHECK: scf.for %[[K:[a-z0-9]+]] =
    // CHECK: %[[TILE:.*]] = arith.divsi
    // CHECK: %[[FLOATS:.*]] = arith.constant 64 : index
    // CHECK: %[[BEGIN:.*]] = arith.muli %[[TILE]], %[[FLOATS]]
    // CHECK: %[[STEP:.*]] = arith.subi %[[K]]
    // CHECK: %[[PLACE:.*]] = arith.muli %[[STEP]]
    // CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[PLACE]]
    // CHECK: %[[LINE:.*]] = arith.addi %[[AT]]
    // CHECK: memref.prefetch %[[W]][%{{.*}}, %[[STEPS]], %[[LINE]]]
    // CHECK-NOT: memref.prefetch
    // CHECK: } else {
    // CHECK: scf.for %[[L:[a-z0-9]+]] =
    // CHECK: %[[FIVE:.*]] = arith.constant 5 : index
    // CHECK: %[[AHEAD:.*]] = arith.addi %[[L]], %[[FIVE]]
    // CHECK: memref.prefetch %[[W]][%{{.*}}, %[[AHEAD]], %{{.*}}]
    // CHECK: memref.prefetch %[[W]][%{{.*}}, %[[AHEAD]], %{{.*}}]
    // CHECK: %[[SECOND:.*]] = arith.constant 2 : index
    // CHECK: arith.subi %[[R]], %[[SECOND]]
    // CHECK: arith.constant 128 : index
    // CHECK: memref.prefetch
    // CHECK-NOT: memref.prefetch
    // CHECK: vector.transfer_write %[[SUMS]]
    %sums = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero)
        -> (vector<2x32xf32>) {
      %a = vector.transfer_read %x[%r, %k], %pad
          {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d0, 0)>}
          : memref<?x8xf32>, vector<2x32xf32>
      %b = vector.transfer_read %w[%c1, %k, %c0], %pad
          {in_bounds = [true, true], permutation_map = affine_map<(d0, d1, d2) -> (0, d2)>}
          : memref<3x8x32xf32>, vector<2x32xf32>
      %next = math.fma %a, %b, %acc : vector<2x32xf32>
      scf.yield %next : vector<2x32xf32>
    }
    vector.transfer_write %sums, %y[%r, %c0] {in_bounds = [true, true]}
        : vector<2x32xf32>, memref<?x32xf32>
  }
  return
}

// Two of these panels are more than the cache holds.
// CHECK-LABEL: @large_panels
// CHECK-NOT: scf.if
// CHECK: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK: %[[AHEAD:.*]] = arith.addi %{{.*}}, %[[FIVE]]
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %[[AHEAD]], %{{.*}}]
// CHECK: memref.prefetch %{{.*}}[%{{.*}}, %[[AHEAD]], %{{.*}}]
// CHECK-NOT: memref.prefetch
func.func @large_panels(%w: memref<3x16x32xf32>, %y: memref<?x32xf32>,
                        %rows: index, %zero: vector<2x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.0 : f32
  scf.for %r = %c0 to %rows step %c2 {
    %sums = scf.for %k = %c0 to %c16 step %c1 iter_args(%acc = %zero)
        -> (vector<2x32xf32>) {
      %b = vector.transfer_read %w[%c1, %k, %c0], %pad
          {in_bounds = [true, true], permutation_map = affine_map<(d0, d1, d2) -> (0, d2)>}
          : memref<3x16x32xf32>, vector<2x32xf32>
      %next = arith.addf %acc, %b : vector<2x32xf32>
      scf.yield %next : vector<2x32xf32>
    }
    vector.transfer_write %sums, %y[%r, %c0] {in_bounds = [true, true]}
        : vector<2x32xf32>, memref<?x32xf32>
  }
  return
}

// What the epilogue adds is asked for in the last steps, a loop of their own, 16
// for each of its rows.
// CHECK-LABEL: @epilogue
// CHECK-SAME: %[[W:[a-z0-9]*]]: memref<192x32xf32>, %[[RESIDUAL:[a-z0-9]*]]: memref<?x64xf32>, %{{.*}}: memref<?x64xf32>, %[[ROW:[a-z0-9]*]]: index, %[[COLUMN:[a-z0-9]*]]: index
func.func @epilogue(%w: memref<192x32xf32>, %residual: memref<?x64xf32>,
                    %other: memref<?x64xf32>, %row: index, %column: index,
                    %zero: vector<2x32xf32>) -> vector<2x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c192 = arith.constant 192 : index
  %pad = arith.constant 0.0 : f32
  // CHECK: %[[BEGIN:.*]] = arith.constant 160 : index
  // CHECK: %[[UNTIL:.*]] = arith.minsi %[[BEGIN]], %[[STEPS:.*]] : index
  // CHECK: %[[MIDDLE:.*]] = arith.maxsi %[[UNTIL]], %[[NONE:.*]] : index
  // CHECK: %[[MOST:.*]] = scf.for %{{.*}} = %[[NONE]] to %[[MIDDLE]]
  // CHECK-COUNT-2: memref.prefetch %[[W]]
  // CHECK-NOT: memref.prefetch
  // CHECK: %[[TILE:.*]] = memref.subview %[[RESIDUAL]][%[[ROW]], %[[COLUMN]]] [2, 32] [1, 1]
  // CHECK: scf.for %[[K:[a-z0-9]+]] = %[[MIDDLE]] to %[[STEPS]] {{.*}} iter_args(%{{.*}} = %[[MOST]])
  // CHECK-COUNT-2: memref.prefetch %[[W]]
  // CHECK: %[[FROM:.*]] = arith.constant 160 : index
  // CHECK: %[[STEP:.*]] = arith.subi %[[K]], %[[FROM]]
  // CHECK: %[[SIXTEEN:.*]] = arith.constant 16 : index
  // CHECK: %[[OWN:.*]] = arith.divui %[[STEP]], %[[SIXTEEN]]
  // CHECK-COUNT-2: memref.prefetch %[[TILE]][%[[OWN]], %{{.*}}], read, locality<2>, data
  // Where the other buffer is read is known too late.
  // CHECK-NOT: memref.prefetch
  %sums = scf.for %k = %c0 to %c192 step %c1 iter_args(%acc = %zero)
      -> (vector<2x32xf32>) {
    %b = vector.transfer_read %w[%k, %c0], %pad
        {in_bounds = [true, true], permutation_map = #row}
        : memref<192x32xf32>, vector<2x32xf32>
    %next = arith.addf %acc, %b : vector<2x32xf32>
    scf.yield %next : vector<2x32xf32>
  }
  %x = vector.transfer_read %residual[%row, %column], %pad
      {in_bounds = [true, true]} : memref<?x64xf32>, vector<2x32xf32>
  %late = arith.addi %row, %c1 : index
  %y = vector.transfer_read %other[%late, %column], %pad
      {in_bounds = [true, true]} : memref<?x64xf32>, vector<2x32xf32>
  %sum = arith.addf %sums, %x : vector<2x32xf32>
  %all = arith.addf %sum, %y : vector<2x32xf32>
  return %all : vector<2x32xf32>
}

// Turns of two steps from an odd one on do not meet where the last ones begin.
// CHECK-LABEL: @odd_steps
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: memref.subview
func.func @odd_steps(%w: memref<192x32xf32>, %residual: memref<2x32xf32>,
                     %zero: vector<2x32xf32>) -> vector<2x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c191 = arith.constant 191 : index
  %pad = arith.constant 0.0 : f32
  %sums = scf.for %k = %c1 to %c191 step %c2 iter_args(%acc = %zero)
      -> (vector<2x32xf32>) {
    %b = vector.transfer_read %w[%k, %c0], %pad
        {in_bounds = [true, true], permutation_map = #row}
        : memref<192x32xf32>, vector<2x32xf32>
    %next = arith.addf %acc, %b : vector<2x32xf32>
    scf.yield %next : vector<2x32xf32>
  }
  %x = vector.transfer_read %residual[%c0, %c0], %pad
      {in_bounds = [true, true]} : memref<2x32xf32>, vector<2x32xf32>
  %sum = arith.addf %sums, %x : vector<2x32xf32>
  return %sum : vector<2x32xf32>
}

// Of blocks of steps, only the last one has last steps.
// CHECK-LABEL: @blocks
// CHECK: scf.for %[[FIRST:[a-z0-9]+]] =
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]],
// CHECK: %[[BEGIN:.*]] = arith.constant 96 : index
// CHECK: %[[UNTIL:.*]] = arith.minsi %[[BEGIN]], %[[END]]
// CHECK: %[[MIDDLE:.*]] = arith.maxsi %[[UNTIL]], %[[FIRST]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[MIDDLE]]
// CHECK: memref.subview
// CHECK: scf.for %{{.*}} = %[[MIDDLE]] to %[[END]]
func.func @blocks(%w: memref<128x32xf32>, %residual: memref<2x32xf32>,
                  %y: memref<2x32xf32>, %zero: vector<2x32xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %pad = arith.constant 0.0 : f32
  scf.for %first = %c0 to %c128 step %c64 {
    %end = arith.addi %first, %c64 overflow<nsw> : index
    %sums = scf.for %k = %first to %end step %c2 iter_args(%acc = %zero)
        -> (vector<2x32xf32>) {
      %b = vector.transfer_read %w[%k, %c0], %pad
          {in_bounds = [true, true], permutation_map = #row}
          : memref<128x32xf32>, vector<2x32xf32>
      %next = arith.addf %acc, %b : vector<2x32xf32>
      scf.yield %next : vector<2x32xf32>
    }
    %x = vector.transfer_read %residual[%c0, %c0], %pad
        {in_bounds = [true, true]} : memref<2x32xf32>, vector<2x32xf32>
    %sum = arith.addf %sums, %x : vector<2x32xf32>
    vector.transfer_write %sum, %y[%c0, %c0] {in_bounds = [true, true]}
        : vector<2x32xf32>, memref<2x32xf32>
  }
  return
}
