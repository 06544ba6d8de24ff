// A kernel lets the next one begin, and waits for the one in front of it before it
// touches memory; one that begins alone is left as it is.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-overlap-launches | FileCheck %s

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // What does nothing to memory, and what asks the cache for weights, comes
    // first.
    // CHECK: gpu.func @reads
    // CHECK-NEXT: nvvm.griddepcontrol launch_dependents
    // CHECK-NEXT: nvvm.read.ptx.sreg.tid.x
    // CHECK-NEXT: arith.extui
    // CHECK-NEXT: llvm.getelementptr
    // CHECK-NEXT: llvm.mlir.constant
    // CHECK-NEXT: nvvm.cp.async.bulk.prefetch
    // CHECK-NEXT: nvvm.griddepcontrol wait
    // CHECK-NEXT: llvm.load
    gpu.func @reads(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>) kernel {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %wide = arith.extui %thread : i32 to i64
      %own = llvm.getelementptr %x[%wide] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %bytes = llvm.mlir.constant(64 : i32) : i32
      nvvm.cp.async.bulk.prefetch %x, %bytes : !llvm.ptr<1>
      %value = llvm.load %own : !llvm.ptr<1> -> f32
      llvm.store %value, %y : f32, !llvm.ptr<1>
      gpu.return
    }

    // What a branch does may be anything.
    // CHECK: gpu.func @branches
    // CHECK: arith.cmpi
    // CHECK-NEXT: nvvm.griddepcontrol wait
    // CHECK-NEXT: scf.if
    gpu.func @branches(%y: !llvm.ptr<1>, %n: i32) kernel {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %is = arith.cmpi slt, %thread, %n : i32
      scf.if %is {
        llvm.store %n, %y : i32, !llvm.ptr<1>
      }
      gpu.return
    }

    // CHECK: gpu.func @tiles
    // CHECK-NOT: griddepcontrol
    gpu.func @tiles(%y: !llvm.ptr<1>, %n: i32) kernel attributes {transformer.begins_alone} {
      llvm.store %n, %y : i32, !llvm.ptr<1>
      gpu.return
    }
  }

  // CHECK: func.func @step
  func.func @step(%x: !llvm.ptr<1>, %n: i32) {
    %c1 = arith.constant 1 : index
    // CHECK: gpu.launch_func @kernels::@reads {{.*}} {transformer.overlaps}
    gpu.launch_func @kernels::@reads blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : !llvm.ptr<1>, %x : !llvm.ptr<1>)
    // CHECK: gpu.launch_func @kernels::@tiles
    // CHECK-NOT: overlaps
    gpu.launch_func @kernels::@tiles blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : !llvm.ptr<1>, %n : i32)
    return
  }
}
