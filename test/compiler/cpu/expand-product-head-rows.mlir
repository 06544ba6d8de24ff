// Heads on buffers: a panel without a column that the step names is not read,
// and of the others the named columns are written side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>
#port = #transformer.output_port<"logits", rows = wanted, take = all,
    head_rows = true, width = 30>

// CHECK-LABEL: func.func @head
// A shorter step than that which has them has none.
// CHECK: %[[KNOWN:.*]] = arith.cmpi sge, %{{.*}}, %c144 : index
// CHECK: %[[ASKED:.*]]:2 = scf.if %[[KNOWN]] -> (index, !llvm.ptr)
// CHECK: scf.parallel (%[[PANEL:.*]], %{{.*}}) =
// CHECK: %[[ALL:.*]] = arith.cmpi eq, %[[ASKED]]#0, %c0
// CHECK: %[[READ:.*]] = scf.for %{{.*}} = %c0 to %[[ASKED]]#0 step %c1 iter_args(%{{.*}} = %[[ALL]]) -> (i1)
// CHECK: arith.cmpi ult
// CHECK: arith.ori
// CHECK: scf.if %[[READ]]
// CHECK: func.call @product.
// CHECK: scf.if %[[ALL]]
// CHECK: vector.store
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0 to %[[ASKED]]#0 step %c1
// CHECK: scf.if
// CHECK: llvm.load %{{.*}} -> vector<1xf32>
// CHECK: vector.load %{{.*}} : memref<30xf32>, vector<1xf32>
// CHECK: arith.addf %{{.*}} : vector<1xf32>
// CHECK: llvm.store %{{.*}} : vector<1xf32>, !llvm.ptr
func.func @head(
    %x: memref<?x64xf32>, %w: memref<2x64x16xf32>, %b: memref<30xf32>,
    %y: memref<?x30xf32> {transformer.output = #port},
    %batch: !transformer.batch) {
  transformer.product %x, %w columns(%b) outs(%y) {head_rows, tile = #tile}
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<30xf32>,
        memref<?x30xf32> {
  ^bb0(%sum: f32, %bias: f32):
    %z = arith.addf %sum, %bias : f32
    transformer.yield %z : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>
// What would be copied afterwards has all columns.
func.func @head_that_is_no_output(
    %x: memref<?x64xf32>, %w: memref<2x64x16xf32>, %y: memref<?x30xf32>,
    %batch: !transformer.batch) {
  // expected-error @below {{expected the memory of an output (with head_rows), got}}
  transformer.product %x, %w outs(%y) {head_rows, tile = #tile}
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<?x30xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}
