// Where factors are lanes: four columns of each query are one load, and four
// weights of each row of scores.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels="lanes=8 by-lane" --canonicalize --cse --split-input-file | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @four_factors_are_a_load
func.func @four_factors_are_a_load(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // Scores of four queries with sixteen keys: a load for each query and turn.
  // CHECK: default {
  // CHECK: %{{.*}}:9 = scf.for {{.*}} step %c4 iter_args(
  // CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
  // CHECK-NOT: vector.load
  // CHECK: vector.extract %[[QUERY:.*]][0] : f32 from vector<4xf32>
  // CHECK: vector.broadcast {{.*}} : f32 to vector<8xf32>
  // CHECK: vector.extract %[[QUERY]][3] : f32 from vector<4xf32>
  // CHECK-NOT: memref.load
  // CHECK: scf.yield
  // Sums of values, two vectors of columns a pass; and positions behind the
  // last four.
  // CHECK: default {
  // CHECK: %{{.*}}:10 = scf.for {{.*}} step %c4 iter_args(
  // CHECK-COUNT-4: vector.load {{.*}} vector<4xf32>
  // CHECK-NOT: vector.load
  // CHECK: vector.extract %[[WEIGHT:.*]][0] : f32 from vector<4xf32>
  // CHECK: vector.extract %[[WEIGHT]][3] : f32 from vector<4xf32>
  // CHECK-NOT: memref.load
  // CHECK: scf.yield
  // CHECK: %{{.*}}:10 = scf.for {{.*}} step %c1 iter_args(
  // CHECK: memref.load
  // CHECK: return
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 1, kv_heads = 2, head_dim = 26>

// A width that four does not divide goes on in pairs.
// CHECK-LABEL: @two_factors_are_a_load
func.func @two_factors_are_a_load(
    %q: memref<?x52xf32>, %y: memref<?x52xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK: default {
  // CHECK: %{{.*}}:9 = scf.for {{.*}} step %c2 iter_args(
  // CHECK-COUNT-4: vector.load {{.*}} vector<2xf32>
  // CHECK: return
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x52xf32>) : memref<?x52xf32>, !cache
  return
}
