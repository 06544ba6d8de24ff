// A kernel of a gpu.module becomes a function of the NVVM dialect. A root is
// LLVM's, not a call of NVIDIA's library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline='builtin.module(gpu.module(tfc-convert-to-llvm))' | FileCheck %s

gpu.module @kernels {
  // CHECK: llvm.func @a(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: f32)
  // CHECK-SAME: nvvm.kernel
  // CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>
  // CHECK: nvvm.read.ptx.sreg.ctaid.x
  // CHECK: nvvm.read.ptx.sreg.tid.x
  // CHECK: llvm.cond_br
  // CHECK: llvm.intr.sqrt
  // The larger of two is a comparison, as on a CPU.
  // CHECK: llvm.fcmp
  // CHECK-NOT: llvm.call
  // CHECK: llvm.return
  gpu.func @a(%x: memref<?xf32>, %least: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c128 = arith.constant 128 : index
    %c8 = arith.constant 8 : index
    %block = gpu.block_id x
    %thread = gpu.thread_id x
    %first = arith.muli %block, %c128 : index
    %i = arith.addi %first, %thread : index
    %is_item = arith.cmpi ult, %i, %c8 : index
    scf.if %is_item {
      %v = memref.load %x[%i] : memref<?xf32>
      %root = math.sqrt %v : f32
      %y = arith.maximumf %root, %least : f32
      memref.store %y, %x[%i] : memref<?xf32>
    }
    gpu.return
  }
}
