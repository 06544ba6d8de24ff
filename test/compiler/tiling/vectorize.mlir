// Static tiles become vectors; accumulators stay in registers over the reduction.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-vectorize{unroll=2}))" | FileCheck %s

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// The tile of sums is carried by the loop, and a step is one fma on tiles.
// CHECK-LABEL: @accumulators_stay_in_registers
func.func @accumulators_stay_in_registers(
    %x: tensor<2x64xf32>, %w: tensor<64x32xf32>, %y: tensor<2x32xf32>)
    -> tensor<2x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  // CHECK: %[[SUMS:.*]] = scf.for {{.*}} step %c2 {{.*}} -> (vector<2x32xf32>)
  // CHECK-NOT: vector.transfer_write
  // CHECK-COUNT-2: math.fma {{.*}} : vector<2x32xf32>
  // CHECK-NOT: math.fma
  // CHECK: scf.yield
  // CHECK: vector.transfer_write %[[SUMS]]
  // CHECK-NOT: linalg.
  %r = scf.for %k = %c0 to %c64 step %c1 iter_args(%t = %y)
      -> (tensor<2x32xf32>) {
    %a = tensor.extract_slice %x[0, %k] [2, 1] [1, 1]
        : tensor<2x64xf32> to tensor<2x1xf32>
    %b = tensor.extract_slice %w[%k, 0] [1, 32] [1, 1]
        : tensor<64x32xf32> to tensor<1x32xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #y],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<2x1xf32>, tensor<1x32xf32>)
        outs(%t : tensor<2x32xf32>) {
      ^bb0(%e: f32, %f: f32, %g: f32):
        %m = arith.mulf %e, %f fastmath<contract> : f32
        %s = arith.addf %g, %m fastmath<contract> : f32
        linalg.yield %s : f32
    } -> tensor<2x32xf32>
    scf.yield %p : tensor<2x32xf32>
  } {transformer.reduction_loop}
  return %r : tensor<2x32xf32>
}

// CHECK-LABEL: @leaves_dynamic_rows
func.func @leaves_dynamic_rows(%x: tensor<?x32xf32>, %y: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  // CHECK: linalg.generic
  // CHECK-NOT: vector.
  %r = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x32xf32>) outs(%y : tensor<?x32xf32>) {
    ^bb0(%e: f32, %o: f32):
      %n = arith.negf %e : f32
      linalg.yield %n : f32
  } -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
}
