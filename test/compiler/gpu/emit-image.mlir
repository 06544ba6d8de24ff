// Kernels become PTX whose arithmetic is that of the IR: each product, sum,
// quotient and root rounded for itself. Without ptxas that is the one image.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline='builtin.module(gpu.module(tfc-convert-to-llvm),tfc-emit-image{ptxas=none})' > %t
// RUN: FileCheck %s < %t
// RUN: sed 's/\\0A/\n/g; s/\\09/ /g' %t | FileCheck %s --check-prefix=PTX

// The order of the table is that of the names: it is the kernels' numbers.
// CHECK: gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80", features = "+ptx80">, kernels = <[
// CHECK-SAME: #gpu.kernel_metadata<"a", !llvm.func<void (ptr, f32)>, metadata = {nvvm.maxntid = array<i32: 128, 1, 1>}>
// CHECK-SAME: #gpu.kernel_metadata<"b", !llvm.func<void (ptr)>, metadata = {nvvm.maxntid = array<i32: 64, 1, 1>}>
// CHECK-SAME: ]>, assembly =
// CHECK-NOT: gpu.object
// CHECK-NOT: gpu.module

// PTX: .version 8.0
// PTX: .target sm_80
// PTX: .visible .entry b(
// PTX: .maxntid 64
// PTX: ld.global.b32
// PTX: sqrt.rn.f32
// PTX: div.rn.f32
// PTX: .visible .entry a(
// PTX: .maxntid 128
// PTX-NOT: fma
// PTX: mul.rn.f32
// PTX-NEXT: add.rn.f32

gpu.module @kernels {
  gpu.func @b(%x: !llvm.ptr) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %v = llvm.load %x : !llvm.ptr -> f32
    %root = math.sqrt %v : f32
    %y = arith.divf %v, %root : f32
    llvm.store %y, %x : f32, !llvm.ptr
    gpu.return
  }
  gpu.func @a(%x: !llvm.ptr, %scale: f32) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = llvm.load %x : !llvm.ptr -> f32
    %product = arith.mulf %v, %scale : f32
    %y = arith.addf %product, %v : f32
    llvm.store %y, %x : f32, !llvm.ptr
    gpu.return
  }
}
