// Attention by tensor cores: the kernels that test/e2e/attention-kernels runs one by
// one. An item of few queries is done in parts, which one more kernel puts together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels --tfc-outline-threads --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 16, bf16>

// Three blocks a multiprocessor have registers.
// CHECK: gpu.func @plain_0{{.*}}nvvm.minctasm = 3 : i32
// CHECK-LABEL: func.func @plain
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_0
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_1
// CHECK: gpu.launch_func {{ *}}@kernels::@plain_2
func.func @plain(%q: memref<?x64xbf16>, %y: memref<?x64xbf16>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x64xbf16>) : memref<?x64xbf16>, !cache
  return
}

// A window, sinks and a cap.
// CHECK-LABEL: func.func @terms
// CHECK: gpu.launch_func {{ *}}@kernels::@terms_3
func.func @terms(%q: memref<?x64xbf16>, %y: memref<?x64xbf16>, %left: index, %sinks: memref<4xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal left %left heads 4 sinks %sinks outs(%y : memref<?x64xbf16>) {cap = 30.0 : f64} : memref<?x64xbf16>, !cache sinks memref<4xf32>
  return
}
