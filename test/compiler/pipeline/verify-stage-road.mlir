// What a stage allows is its road's: at `buffer` a CPU's product is loops and a
// device's is a product still; and a CPU's program has no kernels.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-set-target=target=cpu:x86-64-v4 --tfc-verify-stage=stage=buffer 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: tfc-opt %s --tfc-set-target=target=cuda:sm_80 --tfc-verify-stage=stage=buffer | FileCheck %s --check-prefix=DEVICE
// RUN: not tfc-opt %s --tfc-set-target="target=cpu:x86-64-v4 opt=full" --tfc-verify-stage=stage=kernel 2>&1 | FileCheck %s --check-prefix=KERNEL

// CPU: error: 'transformer.product' op is not allowed after stage 'buffer'
// CPU: note: expected it to be gone after 'tfc-expand-cpu-kernels'
// DEVICE: transformer.product
// KERNEL: error: expected the name of a stage (model, fused, linalg, tiled, vector, buffer, llvm), got "kernel"

func.func @product(%x: memref<?x8xf32>, %w: memref<1x8x16xf32>,
                   %y: memref<?x16xf32>) {
  transformer.product %x, %w outs(%y) : memref<?x8xf32>, memref<1x8x16xf32>,
      memref<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}
