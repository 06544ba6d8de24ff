// A panel of 12 steps of 32 bytes, of which a block may have 128: three of 4.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-block-reductions{block-bytes=128 block=6}))" | FileCheck %s

#column = affine_map<(d0, d1) -> (d0, 0)>
#row = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: @product
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x12xf32>, %[[W:[a-z0-9]*]]: memref<12x8xf32>, %[[Y:[a-z0-9]*]]: memref<?x8xf32>, %[[ROWS:[a-z0-9]*]]: index, %[[WORKERS:[a-z0-9]*]]: index
func.func @product(%x: memref<?x12xf32>, %w: memref<12x8xf32>,
                   %y: memref<?x8xf32>, %rows: index,
                   %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<2x8xf32>
  // The sums of an item's rows, for each worker, outside of the parallel loop.
  // CHECK: %[[ZERO:.*]] = arith.constant dense
  // CHECK: %[[SUMS:.*]] = memref.alloc(%[[WORKERS]]) : memref<?x6x8xf32>
  // CHECK: scf.parallel
  scf.parallel (%panel) = (%c0) to (%c1) step (%c1) {
    // CHECK: %[[WORKER:.*]] = transformer.worker
    // CHECK: %[[FOUR:.*]] = arith.constant 4 : index
    // CHECK: scf.for %[[FIRST:[a-z0-9]+]] = %{{.*}} to %[[ALL:.*]] step %[[FOUR]] {
    // CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %[[FOUR]]
    // CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[FIRST]], %{{.*}}
    // CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[END]], %[[ALL]]
    // CHECK: scf.for %[[R:[a-z0-9]+]] = %{{.*}} to %[[ROWS]]
    scf.for %r = %c0 to %rows step %c2 {
      // CHECK: %[[INIT:.*]] = scf.if %[[IS_FIRST]] -> (vector<2x8xf32>) {
      // CHECK: scf.yield %[[ZERO]]
      // CHECK: } else {
      // CHECK: %[[SO_FAR:.*]] = vector.transfer_read %[[SUMS]][%[[WORKER]], %[[R]], %{{.*}}]
      // CHECK: scf.yield %[[SO_FAR]]
      // CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[END]] {{.*}} iter_args(%{{.*}} = %[[INIT]])
      %sum = scf.for %k = %c0 to %c12 step %c1 iter_args(%acc = %zero)
          -> (vector<2x8xf32>) {
        %a = vector.transfer_read %x[%r, %k], %pad
            {in_bounds = [true, true], permutation_map = #column}
            : memref<?x12xf32>, vector<2x8xf32>
        %b = vector.transfer_read %w[%k, %c0], %pad
            {in_bounds = [true, true], permutation_map = #row}
            : memref<12x8xf32>, vector<2x8xf32>
        %next = math.fma %a, %b, %acc : vector<2x8xf32>
        scf.yield %next : vector<2x8xf32>
      }
      // CHECK: scf.if %[[IS_LAST]] {
      // CHECK: %[[TWICE:.*]] = arith.addf %[[SUM]], %[[SUM]]
      // CHECK: vector.transfer_write %[[TWICE]], %[[Y]]
      // CHECK: } else {
      // CHECK: vector.transfer_write %[[SUM]], %[[SUMS]][%[[WORKER]], %[[R]], %{{.*}}]
      %twice = arith.addf %sum, %sum : vector<2x8xf32>
      vector.transfer_write %twice, %y[%r, %c0] {in_bounds = [true, true]}
          : vector<2x8xf32>, memref<?x8xf32>
    }
  }
  return
}

// What every tile reads is half of it, the rest each reads for itself: one block.
// CHECK-LABEL: @what_tiles_share
// CHECK-NOT: memref.alloc
// CHECK-COUNT-2: scf.for
// CHECK-NOT: scf.for
func.func @what_tiles_share(%x: memref<?x12xf32>, %w: memref<12x2xf32>,
                            %y: memref<?x2xf32>, %rows: index,
                            %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<2x2xf32>
  scf.for %r = %c0 to %rows step %c2 {
    %sum = scf.for %k = %c0 to %c12 step %c1 iter_args(%acc = %zero)
        -> (vector<2x2xf32>) {
      %a = vector.transfer_read %x[%r, %k], %pad
          {in_bounds = [true, true], permutation_map = #column}
          : memref<?x12xf32>, vector<2x2xf32>
      %b = vector.transfer_read %w[%k, %c0], %pad
          {in_bounds = [true, true], permutation_map = #row}
          : memref<12x2xf32>, vector<2x2xf32>
      %next = math.fma %a, %b, %acc : vector<2x2xf32>
      scf.yield %next : vector<2x2xf32>
    }
    vector.transfer_write %sum, %y[%r, %c0] {in_bounds = [true, true]}
        : vector<2x2xf32>, memref<?x2xf32>
  }
  return
}

// 13 steps have no equal blocks of at most 4, and without workers there is no
// memory for each.
// CHECK-LABEL: @steps_without_divisor
// CHECK-NOT: memref.alloc
// CHECK-LABEL: @no_workers
// CHECK-NOT: memref.alloc
func.func @steps_without_divisor(%w: memref<13x8xf32>, %y: memref<?x8xf32>,
                                 %rows: index,
                                 %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c13 = arith.constant 13 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<2x8xf32>
  scf.for %r = %c0 to %rows step %c2 {
    %sum = scf.for %k = %c0 to %c13 step %c1 iter_args(%acc = %zero)
        -> (vector<2x8xf32>) {
      %b = vector.transfer_read %w[%k, %c0], %pad
          {in_bounds = [true, true], permutation_map = #row}
          : memref<13x8xf32>, vector<2x8xf32>
      %next = arith.addf %b, %acc : vector<2x8xf32>
      scf.yield %next : vector<2x8xf32>
    }
    vector.transfer_write %sum, %y[%r, %c0] {in_bounds = [true, true]}
        : vector<2x8xf32>, memref<?x8xf32>
  }
  return
}

func.func @no_workers(%w: memref<12x8xf32>, %y: memref<?x8xf32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c12 = arith.constant 12 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<2x8xf32>
  scf.for %r = %c0 to %rows step %c2 {
    %sum = scf.for %k = %c0 to %c12 step %c1 iter_args(%acc = %zero)
        -> (vector<2x8xf32>) {
      %b = vector.transfer_read %w[%k, %c0], %pad
          {in_bounds = [true, true], permutation_map = #row}
          : memref<12x8xf32>, vector<2x8xf32>
      %next = arith.addf %b, %acc : vector<2x8xf32>
      scf.yield %next : vector<2x8xf32>
    }
    vector.transfer_write %sum, %y[%r, %c0] {in_bounds = [true, true]}
        : vector<2x8xf32>, memref<?x8xf32>
  }
  return
}
