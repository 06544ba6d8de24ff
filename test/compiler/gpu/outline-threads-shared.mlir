// What a thread allocates in shared memory, its block has once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-outline-threads | FileCheck %s

// CHECK: gpu.func @exchange_0(
// CHECK-SAME: workgroup(%[[SHARED:.*]] : memref<128xf32, 3> {llvm.align = 16 : i64})
// CHECK-NOT: memref.alloca
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[SHARED]]
func.func @exchange(%step: !llvm.ptr {transformer.step}, %x: memref<?x128xf32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c127 = arith.constant 127 : index
  %c128 = arith.constant 128 : index
  scf.parallel (%row, %thread) = (%c0, %c0) to (%rows, %c128) step (%c1, %c1) {
    %shared = memref.alloca() {alignment = 16 : i64} : memref<128xf32, 3>
    %v = memref.load %x[%row, %thread] : memref<?x128xf32>
    memref.store %v, %shared[%thread] : memref<128xf32, 3>
    gpu.barrier
    %other = arith.subi %c127, %thread : index
    %w = memref.load %shared[%other] : memref<128xf32, 3>
    memref.store %w, %x[%row, %thread] : memref<?x128xf32>
    scf.reduce
  }
  return
}
