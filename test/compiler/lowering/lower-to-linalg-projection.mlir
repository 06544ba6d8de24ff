// linear, add, slice_columns: products from zero in the order of the
// columns, and maps that overwrite what nobody needs afterwards.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 2>

// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$ELEMENT:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: @multiplies_with_rows_of_the_weight
// CHECK-SAME: %[[INPUT:[a-z0-9]*]]: tensor<?x8xf32>, %[[WEIGHT:[a-z0-9]*]]: tensor<5x8xf32>, %[[BIAS:[a-z0-9]*]]: tensor<5xf32>
func.func @multiplies_with_rows_of_the_weight(
    %x: tensor<?x8xf32>, %w: tensor<5x8xf32>, %b: tensor<5xf32>)
    -> tensor<?x5xf32> {
  // CHECK: %[[TOKENS:.*]] = tensor.dim %[[INPUT]]
  // CHECK: %[[EMPTY:.*]] = tensor.empty(%[[TOKENS]]) : tensor<?x5xf32>
  // CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[EMPTY]]
  // CHECK: %[[PRODUCT:.*]] = linalg.generic {indexing_maps = [#[[$X]], #[[$W]], #[[$Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[INPUT]], %[[WEIGHT]] : {{.*}}) outs(%[[ZERO]]
  // CHECK: ^bb0(%[[XK:.*]]: f32, %[[WK:.*]]: f32, %[[SUM:.*]]: f32):
  // CHECK-NEXT: %[[TERM:.*]] = arith.mulf %[[XK]], %[[WK]]
  // CHECK-NEXT: arith.addf %[[SUM]], %[[TERM]]
  // CHECK: linalg.generic {indexing_maps = [#[[$COLUMN]], #[[$ELEMENT]]], {{.*}}} ins(%[[BIAS]] : {{.*}}) outs(%[[PRODUCT]]
  %0 = transformer.linear %x, %w bias %b
         : tensor<?x8xf32>, tensor<5x8xf32>, tensor<5xf32>
  return %0 : tensor<?x5xf32>
}

// CHECK-LABEL: @multiplies_with_the_factor
// CHECK-SAME: %[[INPUT:[a-z0-9]*]]: tensor<?x8xf32>, %[[UP:[a-z0-9]*]]: tensor<6x8xf32>, %[[FACTOR:[a-z0-9]*]]: tensor<?x6xf32>
func.func @multiplies_with_the_factor(
    %x: tensor<?x8xf32>, %up: tensor<6x8xf32>, %factor: tensor<?x6xf32>)
    -> tensor<?x6xf32> {
  // CHECK: %[[INNER:.*]] = linalg.generic {{.*}} ins(%[[INPUT]], %[[UP]]
  // CHECK: linalg.generic {{.*}} ins(%[[FACTOR]] : {{.*}}) outs(%[[INNER]]
  // CHECK: arith.maximumf
  // CHECK: arith.mulf
  %0 = transformer.linear %x, %up factor %factor act relu
         : tensor<?x8xf32>, tensor<6x8xf32>, tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: @adds_onto_the_operand_that_nobody_needs
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?x8xf32>, %[[B:[a-z0-9]*]]: tensor<?x8xf32>
func.func @adds_onto_the_operand_that_nobody_needs(%a: tensor<?x8xf32>,
                                                   %b: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[B]]
  %0 = transformer.add %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
  return %0, %a : tensor<?x8xf32>, tensor<?x8xf32>
}

// CHECK-LABEL: @adds_into_new_rows_when_both_are_needed
// CHECK-SAME: %[[A:[a-z0-9]*]]: tensor<?x8xf32>, %[[B:[a-z0-9]*]]: tensor<?x8xf32>
func.func @adds_into_new_rows_when_both_are_needed(%a: tensor<?x8xf32>,
                                                   %b: tensor<?x8xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: %[[NEW:.*]] = tensor.empty
  // CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : {{.*}}) outs(%[[NEW]]
  %0 = transformer.add %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
  return %0, %a, %b : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// A value of an outer block may be needed again in the next round.
// CHECK-LABEL: @keeps_rows_from_outside_the_loop
// CHECK-SAME: %[[OUTER:[a-z0-9]*]]: tensor<?x8xf32>
func.func @keeps_rows_from_outside_the_loop(%outer: tensor<?x8xf32>,
                                            %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: scf.for {{.*}} iter_args(%[[INNER:.*]] =
  // CHECK: linalg.generic {{.*}} ins(%[[OUTER]] : {{.*}}) outs(%[[INNER]]
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%inner = %outer)
         -> (tensor<?x8xf32>) {
    %1 = transformer.add %outer, %inner : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %1 : tensor<?x8xf32>
  }
  return %0 : tensor<?x8xf32>
}

// A view has rows with gaps, which a caller does not take.
// CHECK-LABEL: @copies_a_slice_of_columns
// CHECK-SAME: %[[INPUT:[a-z0-9]*]]: tensor<?x8xf32>
func.func @copies_a_slice_of_columns(%x: tensor<?x8xf32>) -> tensor<?x2xf32> {
  // CHECK-DAG: %[[FIRST:.*]] = arith.constant 3 : index
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2xf32>)
  // CHECK: %[[ROW:.*]] = linalg.index 0
  // CHECK: %[[COLUMN:.*]] = linalg.index 1
  // CHECK: %[[FROM:.*]] = arith.addi %[[COLUMN]], %[[FIRST]]
  // CHECK: tensor.extract %[[INPUT]][%[[ROW]], %[[FROM]]]
  %0 = transformer.slice_columns %x[3, 2] : tensor<?x8xf32>
  return %0 : tensor<?x2xf32>
}

// What reads the slices takes rows with gaps.
// CHECK-LABEL: @views_a_slice_of_columns
// CHECK-SAME: %[[INPUT:[a-z0-9]*]]: tensor<?x8xf32>
func.func @views_a_slice_of_columns(%x: tensor<?x8xf32>,
                                    %angles: tensor<?x2xf32>,
                                    %batch: !transformer.batch,
                                    %cache: !cache, %layer: index) {
  // CHECK: %[[TOKENS:.*]] = tensor.dim %[[INPUT]]
  // CHECK: %[[K:.*]] = tensor.extract_slice %[[INPUT]][0, 3] [%[[TOKENS]], 2] [1, 1]
  // CHECK: tensor.expand_shape %[[K]]
  // CHECK: %[[V:.*]] = tensor.extract_slice %[[INPUT]][0, 5] [%{{.*}}, 2] [1, 1]
  // CHECK: transformer.cache_write %{{.*}}, %[[V]] into
  %k = transformer.slice_columns %x[3, 2] : tensor<?x8xf32>
  %turned = transformer.rotary half %k, %angles heads 1
              : tensor<?x2xf32>, tensor<?x2xf32>
  %v = transformer.slice_columns %x[5, 2] : tensor<?x8xf32>
  transformer.cache_write %turned, %v into %cache[%layer], %batch
    : tensor<?x2xf32>, tensor<?x2xf32>, !cache
  return
}

// One of its users takes dense rows only.
// CHECK-LABEL: @copies_a_slice_for_another_reader
func.func @copies_a_slice_for_another_reader(%x: tensor<?x8xf32>,
                                             %batch: !transformer.batch,
                                             %cache: !cache, %layer: index) {
  // CHECK-NOT: tensor.extract_slice
  // CHECK: %[[V:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2xf32>)
  // CHECK: transformer.cache_write %[[V]], %[[V]] into
  // CHECK: transformer.tap "v" %[[V]]
  %v = transformer.slice_columns %x[5, 2] : tensor<?x8xf32>
  transformer.cache_write %v, %v into %cache[%layer], %batch
    : tensor<?x2xf32>, tensor<?x2xf32>, !cache
  transformer.tap "v" %v : tensor<?x2xf32>
  return
}

// CHECK-LABEL: @scales_in_place
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
func.func @scales_in_place(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK: linalg.generic {{.*}} outs(%[[X]] : tensor<?x8xf32>)
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  %0 = transformer.scale %x by 0.5 : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Each element makes slopes of the two numbers: a loop over one number is none
// that devices have a kernel for.
// CHECK-LABEL: @xielu
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1xf32>, tensor<1xf32>){{.*}} outs(%{{.*}} : tensor<?x8xf32>)
// CHECK-COUNT-2: math.log
// CHECK: arith.minimumf
// Eight terms of exp(x) - 1 for what is near zero.
// CHECK-COUNT-7: math.fma
// CHECK-NOT: math.fma
// CHECK: math.exp
// CHECK: arith.select
// CHECK: arith.select
func.func @xielu(%x: tensor<?x8xf32>, %p: tensor<1xf32>, %n: tensor<1xf32>)
    -> tensor<?x8xf32> {
  %y = transformer.xielu %x positive %p negative %n
         {beta = 0.5 : f64, least = -1.0e-6 : f64}
         : (tensor<?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// One number for all columns is a number, of which no loop is made.
// CHECK-LABEL: @layer_scale
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1xf32>) outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: arith.mulf
func.func @layer_scale(%x: tensor<?x8xf32>, %w: tensor<1xf32>) -> tensor<?x8xf32> {
  %y = transformer.layer_scale %x, %w
         : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// The columns of a layer begin where its number says.
// CHECK-LABEL: @slice_of_a_layer
// CHECK-SAME: %{{.*}}: tensor<?x24xf32>, %[[LAYER:.*]]: index
// CHECK: %[[FIRST:.*]] = arith.muli %[[LAYER]], %{{.*}} : index
// CHECK: linalg.generic
// CHECK: %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[FIRST]] : index
// CHECK: tensor.extract %{{.*}}[%{{.*}}, %[[COLUMN]]]
func.func @slice_of_a_layer(%x: tensor<?x24xf32>, %layer: index) -> tensor<?x8xf32> {
  %y = transformer.slice_columns %x[0, 8] layer %layer : tensor<?x24xf32>
  return %y : tensor<?x8xf32>
}
