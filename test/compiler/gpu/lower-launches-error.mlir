// A launch that has no step, or a kernel that no image has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --tfc-lower-launches

module attributes {gpu.container_module} {
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">,
    kernels = <[#gpu.kernel_metadata<"a", !llvm.func<void (f32)>>]>, "">]
func.func @step(%x: f32) {
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected an entry of one pointer (see tfc-bind-step)}}
  gpu.launch_func @kernels::@a blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1) args(%x : f32)
  return
}
}

// -----

module attributes {gpu.container_module} {
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">,
    kernels = <[#gpu.kernel_metadata<"a", !llvm.func<void ()>>]>, "">]
func.func @step(%step: !llvm.ptr) -> i32 {
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  // expected-error @+1 {{expected a kernel of the module's gpu.binary (see tfc-emit-image), got "b"}}
  gpu.launch_func @kernels::@b blocks in (%c1, %c1, %c1)
      threads in (%c1, %c1, %c1)
  return %ok : i32
}
}
