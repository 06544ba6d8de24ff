// A device has no library to link with, and an assembler that fails is shown.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --pass-pipeline='builtin.module(tfc-emit-image{ptxas=none})' 2>&1 | FileCheck %s --check-prefix=CALL
// CALL: error: 'gpu.module' op expected kernels that call nothing (tfc-expand-math makes arithmetic of what has no instruction), got a call of __nv_expf

// RUN: sed 's/@__nv_expf(%v)/@inner(%v)/' %s > %t.mlir
// RUN: not tfc-opt %t.mlir --pass-pipeline='builtin.module(tfc-emit-image{ptxas=/bin/false})' 2>&1 | FileCheck %s --check-prefix=PTXAS
// PTXAS: error: 'gpu.module' op expected ptxas to succeed, got exit code 1: /bin/false -arch=sm_80 {{.*}}.ptx -o {{.*}}.cubin

// Options are checked before there is a kernel.
// RUN: echo "" | not tfc-opt - --pass-pipeline='builtin.module(tfc-emit-image{chip=sm_10})' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: echo "" | not tfc-opt - --pass-pipeline='builtin.module(tfc-emit-image{chip=x86-64-v3})' 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: echo "" | not tfc-opt - --pass-pipeline='builtin.module(tfc-emit-image{ptxas-level=4})' 2>&1 | FileCheck %s --check-prefix=LEVEL
// CHIP: option chip of tfc-emit-image: expected the name of an architecture that programs are made for, as sm_80, got "{{sm_10|x86-64-v3}}"
// LEVEL: option ptxas-level of tfc-emit-image: expected 0 to 3, got 4

// RUN: sed 's/, nvvm.maxntid = array<i32: 128, 1, 1>//' %t.mlir | not tfc-opt - --pass-pipeline='builtin.module(tfc-emit-image{ptxas=none})' 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: error: 'llvm.func' op expected the size of its blocks as the attribute 'nvvm.maxntid' (from tfc-outline-threads)

gpu.module @kernels {
  llvm.func @__nv_expf(f32) -> f32
  llvm.func internal @inner(%x: f32) -> f32 {
    llvm.return %x : f32
  }
  llvm.func @a(%x: !llvm.ptr) attributes {
      gpu.kernel, nvvm.kernel, nvvm.maxntid = array<i32: 128, 1, 1>} {
    %v = llvm.load %x : !llvm.ptr -> f32
    %y = llvm.call @__nv_expf(%v) : (f32) -> f32
    llvm.store %y, %x : f32, !llvm.ptr
    llvm.return
  }
}
