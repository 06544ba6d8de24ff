// Rows that are vectors are shared out in a warp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-distribute-vectors --canonicalize --cse | FileCheck %s

// Pieces of 8 columns, 16 bytes: three for each lane, and a mean once.
// CHECK-LABEL: func.func @mean
// CHECK: scf.parallel (%[[T:.*]], %[[LANE:.*]]) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %c32)
// CHECK-COUNT-3: vector.load %{{.*}}[%[[T]], %{{.*}}] {alignment = 16 : i64} : memref<?x768xbf16>, vector<8xbf16>
// CHECK-NOT: vector.load
// CHECK-COUNT-3: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: arith.divf %{{.*}} : f32
// CHECK-NOT: arith.divf
// CHECK-COUNT-3: arith.subf %{{.*}} : vector<8xf32>
// CHECK-COUNT-3: vector.store %{{.*}}[%[[T]], %{{.*}}] {alignment = 16 : i64} : memref<?x768xbf16>, vector<8xbf16>
func.func @mean(%x: memref<?x768xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %pad = arith.constant 0.0 : bf16
  %width = arith.constant dense<768.0> : vector<768xf32>
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %kept = vector.transfer_read %x[%t, %c0], %pad {in_bounds = [true]} : memref<?x768xbf16>, vector<768xbf16>
    %v = arith.extf %kept : vector<768xbf16> to vector<768xf32>
    %s = vector.multi_reduction <add>, %v, %zero [0] : vector<768xf32> to f32
    %all = vector.broadcast %s : f32 to vector<768xf32>
    %mean = arith.divf %all, %width : vector<768xf32>
    %d = arith.subf %v, %mean : vector<768xf32>
    %y = arith.truncf %d : vector<768xf32> to vector<768xbf16>
    vector.transfer_write %y, %x[%t, %c0] {in_bounds = [true]} : vector<768xbf16>, memref<?x768xbf16>
  }
  return
}

// 78 columns are 39 pieces of 2: seven lanes have a second one, and the others
// neither read, count nor write it.
// CHECK-LABEL: func.func @short
// CHECK: %[[HAS:.*]] = arith.cmpi ult, %{{.*}}, %c39
// CHECK: vector.load {{.*}} vector<2xf32>
// CHECK: scf.if %[[HAS]]
// CHECK-NEXT: vector.load {{.*}} vector<2xf32>
// CHECK: arith.select %[[HAS]]
// CHECK: gpu.shuffle
// CHECK: scf.if %[[HAS]]
// CHECK-NEXT: vector.store
func.func @short(%x: memref<?x78xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %v = vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<?x78xf32>, vector<78xf32>
    %s = vector.multi_reduction <add>, %v, %zero [0] : vector<78xf32> to f32
    %all = vector.broadcast %s : f32 to vector<78xf32>
    %y = arith.divf %v, %all : vector<78xf32>
    vector.transfer_write %y, %x[%t, %c0] {in_bounds = [true]} : vector<78xf32>, memref<?x78xf32>
  }
  return
}

// Vectors of two lengths stay, and so does what is added up in another way.
// CHECK-LABEL: func.func @stay
// CHECK-NOT: gpu.shuffle
func.func @stay(%x: memref<?x64xf32>, %z: memref<?x32xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %v = vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
    %w = vector.transfer_read %z[%t, %c0], %zero {in_bounds = [true]} : memref<?x32xf32>, vector<32xf32>
    vector.transfer_write %w, %z[%t, %c0] {in_bounds = [true]} : vector<32xf32>, memref<?x32xf32>
    vector.transfer_write %v, %x[%t, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
  }
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %v = vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
    %s = vector.multi_reduction <mul>, %v, %zero [0] : vector<64xf32> to f32
    %all = vector.broadcast %s : f32 to vector<64xf32>
    vector.transfer_write %all, %x[%t, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
  }
  return
}

// A row that a warp's registers do not hold is a block's: 128 threads with four
// pieces of 8, and warps tell each other their sums, at a place for each sum.
// CHECK-LABEL: func.func @block
// CHECK: scf.parallel (%[[T:.*]], %[[THREAD:.*]]) = (%{{.*}}, %{{.*}}) to (%{{.*}}, %c128)
// CHECK-COUNT-4: vector.load %{{.*}}[%[[T]], %{{.*}}] {alignment = 16 : i64} : memref<?x4096xbf16>, vector<8xbf16>
// CHECK-NOT: vector.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NEXT: %[[SUM:.*]] = arith.addf
// CHECK-NEXT: %[[SUMS:.*]] = memref.alloca() {alignment = 16 : i64} : memref<4xf32, 3>
// CHECK: %[[WARP:.*]] = arith.divui %[[THREAD]], %c32
// CHECK: %[[LANE:.*]] = arith.remui %[[THREAD]], %c32
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK: scf.if %[[IS_FIRST]]
// CHECK-NEXT: memref.store %[[SUM]], %[[SUMS]][%[[WARP]]]
// CHECK: gpu.barrier
// CHECK-COUNT-4: memref.load %[[SUMS]]
// CHECK: %[[MORE:.*]] = memref.alloca() {alignment = 16 : i64} : memref<4xf32, 3>
// CHECK: gpu.barrier
// CHECK: memref.load %[[MORE]]
// CHECK: vector.store
func.func @block(%x: memref<?x4096xbf16>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %pad = arith.constant 0.0 : bf16
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %kept = vector.transfer_read %x[%t, %c0], %pad {in_bounds = [true]} : memref<?x4096xbf16>, vector<4096xbf16>
    %v = arith.extf %kept : vector<4096xbf16> to vector<4096xf32>
    %s = vector.multi_reduction <add>, %v, %zero [0] : vector<4096xf32> to f32
    %all = vector.broadcast %s : f32 to vector<4096xf32>
    %d = arith.subf %v, %all : vector<4096xf32>
    %r = vector.multi_reduction <add>, %d, %zero [0] : vector<4096xf32> to f32
    %rest = vector.broadcast %r : f32 to vector<4096xf32>
    %e = arith.subf %d, %rest : vector<4096xf32>
    %y = arith.truncf %e : vector<4096xf32> to vector<4096xbf16>
    vector.transfer_write %y, %x[%t, %c0] {in_bounds = [true]} : vector<4096xbf16>, memref<?x4096xbf16>
  }
  return
}

// A number for all columns is loaded once by each lane.
// CHECK-LABEL: func.func @number
// CHECK: %[[W:.*]] = memref.load %{{.*}}[%c0] : memref<1xf32>
// CHECK: %[[ALL:.*]] = vector.broadcast %[[W]] : f32 to vector<2xf32>
// CHECK: arith.mulf %{{.*}}, %[[ALL]] : vector<2xf32>
func.func @number(%x: memref<?x64xf32>, %w: memref<1xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f32
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %v = vector.transfer_read %x[%t, %c0], %pad {in_bounds = [true]} : memref<?x64xf32>, vector<64xf32>
    %n = vector.transfer_read %w[%c0], %pad {in_bounds = [true], permutation_map = affine_map<(d0) -> (0)>} : memref<1xf32>, vector<64xf32>
    %y = arith.mulf %v, %n : vector<64xf32>
    vector.transfer_write %y, %x[%t, %c0] {in_bounds = [true]} : vector<64xf32>, memref<?x64xf32>
  }
  return
}
