// Attention to latents by tensor cores: the kernels that test/e2e/wide-attention-kernels runs
// one by one. Rows are written first; values are keys' last columns, so that a tile is
// both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels --tfc-outline-threads --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels=shared-bytes=24000 --tfc-outline-threads --canonicalize --cse | FileCheck %s --check-prefix=ALONE
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels=shared-bytes=16000 | FileCheck %s --check-prefix=NONE

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 80, values = 64, bf16>

// A tile ahead, where there is room; the kernel in front of those of attention puts the
// two parts of a row behind each other.
// CHECK: gpu.func @plain_2{{.*}}memref<27904xi8, 3>
// CHECK-LABEL: func.func @plain
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_0
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_4
// ALONE: gpu.func @plain_2{{.*}}memref<16640xi8, 3>
// Without room, it is left to plain loops.
// NONE: transformer.paged_latent
func.func @plain(%q: memref<?x320xbf16>, %rope: memref<?x16xbf16>, %latent: memref<?x64xbf16>, %y: memref<?x256xbf16>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  transformer.paged_latent %q, %rope, %latent, %cache[%layer], %batch heads 4 outs(%y : memref<?x256xbf16>) {scale = 0.5 : f64} : memref<?x320xbf16>, memref<?x16xbf16>, memref<?x64xbf16>, !cache
  return
}
