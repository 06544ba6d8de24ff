// Tiles on buffers become vectors of one row by lanes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-split-tiles))" --split-input-file --verify-diagnostics | FileCheck %s

#column = affine_map<(d0, d1) -> (d0, 0)>
#row = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: @tile_by_pieces
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<4x32xf32>, %[[Y:[a-z0-9]*]]: memref<4x32xf32>, %[[I:[a-z0-9]*]]: index
func.func @tile_by_pieces(
    %x: memref<4x32xf32>, %y: memref<4x32xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: vector.load %[[X]][%[[I]], %{{.*}}] : memref<4x32xf32>, vector<16xf32>
  // CHECK-COUNT-3: vector.load
  // CHECK-NOT: vector.load
  // CHECK: arith.negf
  // CHECK-NEXT: vector.store %{{.*}}, %[[Y]][%[[I]], %{{.*}}] : memref<4x32xf32>, vector<16xf32>
  // CHECK-COUNT-3: vector.store
  // CHECK-NOT: vector.transfer
  %tile = vector.transfer_read %x[%i, %c0], %zero {in_bounds = [true, true]}
      : memref<4x32xf32>, vector<2x32xf32>
  %n = arith.negf %tile : vector<2x32xf32>
  vector.transfer_write %n, %y[%i, %c0] {in_bounds = [true, true]}
      : vector<2x32xf32>, memref<4x32xf32>
  return
}

// A float repeated along a row is a scalar load; a row repeated is read once;
// the loop carries the pieces, the last of them short.
// CHECK-LABEL: @product
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[SHORT:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[SHORT]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[SHORT]])
// CHECK-COUNT-2: memref.load
// CHECK-COUNT-2: vector.load
// CHECK-NOT: load
// CHECK-COUNT-4: math.fma
// CHECK-COUNT-4: vector.store
func.func @product(%x: memref<2x8xf32>, %w: memref<8x20xf32>,
                   %y: memref<2x20xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<2x20xf32>
  %sums = scf.for %k = %c0 to %c8 step %c1 iter_args(%acc = %zero)
      -> (vector<2x20xf32>) {
    %a = vector.transfer_read %x[%c0, %k], %pad
        {in_bounds = [true, true], permutation_map = #column}
        : memref<2x8xf32>, vector<2x20xf32>
    %b = vector.transfer_read %w[%k, %c0], %pad
        {in_bounds = [true, true], permutation_map = #row}
        : memref<8x20xf32>, vector<2x20xf32>
    %next = math.fma %a, %b, %acc : vector<2x20xf32>
    scf.yield %next : vector<2x20xf32>
  }
  vector.transfer_write %sums, %y[%c0, %c0] {in_bounds = [true, true]}
      : vector<2x20xf32>, memref<2x20xf32>
  return
}

// Sums of pieces first, then of lanes, by halves; also of what is no more than a
// register. What is added to what is said: no op may be reordered.
// CHECK-LABEL: @sums
// CHECK-SAME: %{{.*}}: memref<40xf32>, %[[ZERO:.*]]: f32
// CHECK-DAG: %[[A:.*]] = vector.load %{{.*}} : memref<40xf32>, vector<16xf32>
// CHECK-DAG: %[[B:.*]] = vector.load %{{.*}} : memref<40xf32>, vector<16xf32>
// CHECK-DAG: %[[C:.*]] = vector.load %{{.*}} : memref<40xf32>, vector<8xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : vector<16xf32>
// CHECK: %[[LOW:.*]] = vector.shuffle %[[SUM]], %[[SUM]] [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: %[[HIGH:.*]] = vector.shuffle %[[SUM]], %[[SUM]] [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: %[[EIGHT:.*]] = arith.addf %[[LOW]], %[[HIGH]] : vector<8xf32>
// CHECK: vector.shuffle %[[EIGHT]], %[[EIGHT]] [0, 1, 2, 3]
// CHECK: vector.shuffle %[[EIGHT]], %[[EIGHT]] [4, 5, 6, 7]
// CHECK: %[[FOUR:.*]] = arith.addf %{{.*}} : vector<4xf32>
// CHECK: %[[TWO:.*]] = arith.addf %{{.*}} : vector<2xf32>
// CHECK: %[[ONE:.*]] = arith.addf %{{.*}} : vector<1xf32>
// CHECK: %[[FULL:.*]] = vector.extract %[[ONE]][0]
// CHECK: %[[LONG:.*]] = arith.addf %[[ZERO]], %[[FULL]] : f32
// CHECK: vector.shuffle %[[C]], %[[C]] [0, 1, 2, 3]
// CHECK: arith.addf %[[LONG]], %{{.*}} : f32
// Five elements: four, and then one.
// CHECK: %[[D:.*]] = vector.load %{{.*}} : memref<40xf32>, vector<5xf32>
// CHECK: vector.shuffle %[[D]], %[[D]] [4]
// CHECK: vector.shuffle %[[D]], %[[D]] [0, 1, 2, 3]
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.addf %[[ZERO]], %{{.*}} : f32
// CHECK-NOT: reduction
// CHECK-NOT: reassoc
func.func @sums(%x: memref<40xf32>, %zero: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %v = vector.transfer_read %x[%c0], %zero {in_bounds = [true]}
      : memref<40xf32>, vector<40xf32>
  %long = vector.multi_reduction <add>, %v, %zero [0] : vector<40xf32> to f32
  %w = vector.transfer_read %x[%c0], %zero {in_bounds = [true]}
      : memref<40xf32>, vector<5xf32>
  %short = vector.multi_reduction <add>, %w, %zero [0] : vector<5xf32> to f32
  return %long, %short : f32, f32
}

// Rows of one column: a tile of them is a column of the buffer.
// CHECK-LABEL: @column
// CHECK-COUNT-2: memref.load
// CHECK: vector.from_elements
// CHECK-COUNT-2: memref.store
func.func @column(%x: memref<2x8xf32>, %k: index) {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %k], %pad
      {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>}
      : memref<2x8xf32>, vector<2xf32>
  vector.transfer_write %v, %x[%c0, %c0]
      {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>}
      : vector<2xf32>, memref<2x8xf32>
  return
}

// CHECK-LABEL: @one_float
// CHECK: memref.load
// CHECK: arith.negf {{.*}} : vector<f32>
// CHECK: memref.store
func.func @one_float(%x: memref<2x8xf32>, %k: index) {
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%k, %k], %pad : memref<2x8xf32>, vector<f32>
  %n = arith.negf %v : vector<f32>
  vector.transfer_write %n, %x[%k, %k] : vector<f32>, memref<2x8xf32>
  return
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

// -----

func.func @no_such_tile(%v: vector<2x32xf32>, %x: memref<32x2xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{failed to legalize operation 'vector.transpose'}}
  %t = vector.transpose %v, [1, 0] : vector<2x32xf32> to vector<32x2xf32>
  vector.transfer_write %t, %x[%c0, %c0] {in_bounds = [true, true]}
      : vector<32x2xf32>, memref<32x2xf32>
  return
}
