// Loops that have no step to be launched from, have a result or call functions,
// and kernels that are an image already.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --tfc-outline-threads

func.func @no_step(%x: memref<?xf32>, %v: f32, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected a loop without reductions in an entry with an argument marked as 'transformer.step' (by tfc-bind-weights)}}
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    memref.store %v, %x[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// -----

func.func @a_sum(%step: !llvm.ptr {transformer.step}, %x: memref<?xf32>,
                 %rows: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{expected a loop without reductions}}
  %sum = scf.parallel (%i) = (%c0) to (%rows) step (%c1) init (%zero) -> f32 {
    %v = memref.load %x[%i] : memref<?xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      scf.reduce.return %c : f32
    }
  }
  return %sum : f32
}

// -----

func.func private @elsewhere(index)

func.func @calls(%step: !llvm.ptr {transformer.step}, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    // expected-error @+1 {{expected no call in a loop that becomes a kernel, got one of @elsewhere}}
    func.call @elsewhere(%i) : (index) -> ()
    scf.reduce
  }
  return
}

// -----

// expected-error @+1 {{expected a gpu.module for the kernels, got another op of its name}}
gpu.binary @kernels [#gpu.object<#nvvm.target, assembly = "ptx">]
