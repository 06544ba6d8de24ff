// Attention for 8 lanes: the same layout and order, in halves.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels="lanes=8" --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @groups_are_read_in_halves
// CHECK-SAME: block_tokens = 64,
func.func @groups_are_read_in_halves(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK-NOT: vector<16xf32>
  // Eight rows are two tiles of four, whose sums fit in 16 registers: a loop.
  // CHECK: default {
  // CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4 {
  // CHECK: %{{.*}}:9 = scf.for {{.*}} iter_args(%[[LINE:[a-z0-9]+]] = %{{[^,]*}}, %{{.*}} = %cst
  // CHECK: llvm.load %[[LINE]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  // CHECK: %[[HALF:.*]] = llvm.getelementptr %[[LINE]][32]
  // CHECK: llvm.load %[[HALF]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  // CHECK-NOT: %{{.*}}:9 = scf.for
  // The maximum and the total are folded 32 to 1 by halves: as with 16 lanes.
  // CHECK: %{{.*}}:4 = scf.for
  // CHECK-NOT: vector<16xf32>
  // CHECK: return
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}
