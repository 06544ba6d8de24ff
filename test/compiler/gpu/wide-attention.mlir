// Attention over wide heads by tensor cores: warps share out positions, then columns.
// Its shared memory is what a launch gives.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels=shared-bytes=232448 --tfc-outline-threads --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 192, bf16>
!wider = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 576, bf16>

// Two tiles of 64 rows of 400 bytes, 16 queries, as many rows of weights, and a number of
// each row and warp.
// CHECK: gpu.func @plain_0{{.*}}transformer.shared_bytes = 60160 : i32
// CHECK: gpu.func @plain_2{{.*}}transformer.begins_alone{{.*}}transformer.shared_bytes = 69120 : i32
// Beyond 512 columns there are warps, which share nothing.
// CHECK: gpu.func @wider_
// CHECK-NOT: transformer.shared_bytes
// CHECK-LABEL: func.func @plain
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_0
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_1
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_2
func.func @plain(%q: memref<?x768xbf16>, %y: memref<?x768xbf16>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x768xbf16>) : memref<?x768xbf16>, !cache
  return
}

func.func @wider(%q: memref<?x2304xbf16>, %y: memref<?x2304xbf16>, %batch: !transformer.batch, %cache: !wider, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x2304xbf16>) : memref<?x2304xbf16>, !wider
  return
}
