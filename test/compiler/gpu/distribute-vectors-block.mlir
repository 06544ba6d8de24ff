// Rows longer than a warp's registers hold: y = x + sum(x) + sum(x * x), which a
// block does together. 2056 columns are 257 pieces, of which one thread has a
// third one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-distribute-vectors --tfc-outline-threads | FileCheck %s

// A place in shared memory for each of the two sums, and no other barriers.
// CHECK: gpu.func @wide_0({{.*}}) workgroup(%[[A:.*]] : memref<4xf32, 3> {{.*}}, %[[B:.*]] : memref<4xf32, 3> {{.*}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>}
// CHECK: memref.store %{{.*}}, %[[A]][
// CHECK: gpu.barrier
// CHECK: memref.load %[[A]][
// CHECK: memref.store %{{.*}}, %[[B]][
// CHECK: gpu.barrier
// CHECK: memref.load %[[B]][
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
// CHECK: gpu.launch_func {{.*}} threads in (%c128
func.func @wide(%step: !llvm.ptr {transformer.step}, %x: memref<?x4096xf32>, %y: memref<?x4096xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %v = vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<?x4096xf32>, vector<4096xf32>
    %sum = vector.multi_reduction <add>, %v, %zero [0] : vector<4096xf32> to f32
    %squares = arith.mulf %v, %v : vector<4096xf32>
    %all = vector.multi_reduction <add>, %squares, %sum [0] : vector<4096xf32> to f32
    %sums = vector.broadcast %all : f32 to vector<4096xf32>
    %w = arith.addf %v, %sums : vector<4096xf32>
    vector.transfer_write %w, %y[%t, %c0] {in_bounds = [true]} : vector<4096xf32>, memref<?x4096xf32>
  }
  return
}

func.func @tail(%step: !llvm.ptr {transformer.step}, %x: memref<?x2056xf32>, %y: memref<?x2056xf32>, %tokens: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%t) = (%c0) to (%tokens) step (%c1) {
    %v = vector.transfer_read %x[%t, %c0], %zero {in_bounds = [true]} : memref<?x2056xf32>, vector<2056xf32>
    %sum = vector.multi_reduction <add>, %v, %zero [0] : vector<2056xf32> to f32
    %squares = arith.mulf %v, %v : vector<2056xf32>
    %all = vector.multi_reduction <add>, %squares, %sum [0] : vector<2056xf32> to f32
    %sums = vector.broadcast %all : f32 to vector<2056xf32>
    %w = arith.addf %v, %sums : vector<2056xf32>
    vector.transfer_write %w, %y[%t, %c0] {in_bounds = [true]} : vector<2056xf32>, memref<?x2056xf32>
  }
  return
}
