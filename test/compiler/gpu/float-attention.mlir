// Attention of f32 in tiles: the kernels that test/e2e/float-attention-kernels runs one by
// one. Items of up to 8 queries are done by warps, in the same order of operations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels --tfc-outline-threads --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 20>

// What a block has of shared memory is a kernel's own up to 48 KB.
// CHECK: gpu.func @plain_1{{.*}} workgroup(%{{.*}} : memref<32768xi8, 3>
// CHECK-SAME: nvvm.minctasm = 2 : i32
// CHECK: gpu.func @wide_5
// CHECK-SAME: transformer.shared_bytes = 81920 : i32
// CHECK-LABEL: func.func @plain
// CHECK-SAME: query_rows = 128
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_0
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_1
func.func @plain(%q: memref<?x80xf32>, %y: memref<?x80xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x80xf32>) : memref<?x80xf32>, !cache
  return
}

// A window, sinks and a cap.
// CHECK-LABEL: func.func @terms
// CHECK: gpu.launch_func {{ *}}@kernels::@terms_3
func.func @terms(%q: memref<?x80xf32>, %y: memref<?x80xf32>, %left: index, %sinks: memref<4xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal left %left heads 4 sinks %sinks outs(%y : memref<?x80xf32>) {cap = 30.0 : f64} : memref<?x80xf32>, !cache sinks memref<4xf32>
  return
}

// CHECK-LABEL: func.func @wide
func.func @wide(%q: memref<?x128xf32>, %y: memref<?x128xf32>, %batch: !transformer.batch, %cache: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 64>, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional heads 2 outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !transformer.cache<layers = 2, kv_heads = 2, head_dim = 64>
  return
}

// A step has items of one size: a head of another width makes them smaller, and
// what tiles do not take, one query each.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: query_rows = 1>
func.func @odd(%q: memref<?x28xf32>, %y: memref<?x28xf32>, %batch: !transformer.batch, %cache: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 14>, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2 outs(%y : memref<?x28xf32>) : memref<?x28xf32>, !transformer.cache<layers = 2, kv_heads = 2, head_dim = 14>
  return
}
