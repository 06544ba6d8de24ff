// Many queries of heads of whole panels are multiplied by four warps together;
// few of them, and other heads, are not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels=warpgroups=true | FileCheck %s

// CHECK-LABEL: func.func @panels
// Few queries: fragments of each warp.
// CHECK: scf.parallel
// CHECK: memref.alloca() {alignment = 128 : i64} : memref<34816xi8, 3>
// CHECK: nvvm.mma.sync
// CHECK-NOT: nvvm.wgmma
// Many: a tile of queries, of keys and of values.
// CHECK: memref.alloca() {alignment = 1024 : i64} : memref<49152xi8, 3>
// CHECK-NOT: nvvm.mma.sync
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: nvvm.fence.proxy
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 64, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// Weights are a left side in registers, values a right one that is transposed.
// CHECK: llvm.inline_asm has_side_effects{{.*}}"wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, 1, 1, 1, 1;"
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: transformer.begins_alone
!panels = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 128, bf16>
func.func @panels(%q: memref<?x512xbf16>, %y: memref<?x512xbf16>, %batch: !transformer.batch, %cache: !panels, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x512xbf16>) : memref<?x512xbf16>, !panels
  return
}

// CHECK-LABEL: func.func @others
// CHECK-NOT: nvvm.wgmma
!others = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 48, bf16>
func.func @others(%q: memref<?x192xbf16>, %y: memref<?x192xbf16>, %batch: !transformer.batch, %cache: !others, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x192xbf16>) : memref<?x192xbf16>, !others
  return
}
