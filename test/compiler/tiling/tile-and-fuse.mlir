// The levels of a strategy, one at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-tile-and-fuse{level=parallel}))" | FileCheck %s --check-prefix=PARALLEL
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-tile-and-fuse{level=rows}))" | FileCheck %s --check-prefix=ROWS
// RUN: tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-tile-and-fuse{level=reduction}))" | FileCheck %s --check-prefix=REDUCTION
// RUN: not tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-tile-and-fuse{level=columns}))" 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: expected level parallel, rows or reduction, got "columns"

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>

// PARALLEL-LABEL: @fuses_the_product_into_its_epilogue
// ROWS-LABEL: @fuses_the_product_into_its_epilogue
// REDUCTION-LABEL: @fuses_the_product_into_its_epilogue
func.func @fuses_the_product_into_its_epilogue(
    %x: tensor<?x32xf32>, %w: tensor<32x48xf32>, %sums: tensor<?x48xf32>,
    %init: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %zero = arith.constant 0.0 : f32
  // PARALLEL: scf.forall {{.*}} step (64)
  // PARALLEL: linalg.fill
  // PARALLEL: linalg.generic {{.*}} attrs = {{.*}}parallel = [], rows = [], reduction = [0, 0, 1]
  // PARALLEL: linalg.generic {{.*}} attrs = {{.*}}parallel = [], rows = [8, 0], reduction = []
  // PARALLEL: scf.forall.in_parallel
  // ROWS: scf.for
  // ROWS: linalg.fill
  // ROWS: linalg.generic
  // ROWS: linalg.generic {{.*}} attrs = {{.*}}parallel = [64, 0], rows = [], reduction = []
  // ROWS: scf.yield
  // REDUCTION: linalg.fill
  // REDUCTION: scf.for {{.*}} iter_args
  // REDUCTION: linalg.generic
  // REDUCTION-NOT: strategy
  // REDUCTION: } {transformer.reduction_loop}
  // REDUCTION: linalg.generic {{.*}} attrs = {{.*}}parallel = [64, 0], rows = [8, 0], reduction = []
  %filled = linalg.fill ins(%zero : f32) outs(%sums : tensor<?x48xf32>)
      -> tensor<?x48xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #y],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x32xf32>, tensor<32x48xf32>)
      outs(%filled : tensor<?x48xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [], rows = [], reduction = [0, 0, 1]>} {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
  } -> tensor<?x48xf32>
  %y = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<?x48xf32>) outs(%init : tensor<?x48xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [64, 0], rows = [8, 0], reduction = []>} {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
  } -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

// PARALLEL-LABEL: @leaves_roots_in_loops_of_their_own
func.func @leaves_roots_in_loops_of_their_own(
    %x: tensor<?x48xf32>, %u: tensor<?x48xf32>, %v: tensor<?x48xf32>)
    -> tensor<?x48xf32> {
  // PARALLEL: scf.forall
  // PARALLEL: math.absf
  // PARALLEL: scf.forall
  // PARALLEL-NOT: math.absf
  // PARALLEL: arith.negf
  %a = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x48xf32>) outs(%u : tensor<?x48xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [8, 0], rows = [], reduction = []>} {
    ^bb0(%e: f32, %o: f32):
      %n = math.absf %e : f32
      linalg.yield %n : f32
  } -> tensor<?x48xf32>
  %y = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<?x48xf32>) outs(%v : tensor<?x48xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [8, 0], rows = [], reduction = []>} {
    ^bb0(%e: f32, %o: f32):
      %n = arith.negf %e : f32
      linalg.yield %n : f32
  } -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}

#row = affine_map<(d0, d1) -> (d0)>

// A step of more than one: a partial sum for each of its places, added up when
// the loop is done.
// REDUCTION-LABEL: @sums_a_row_in_partial_sums
func.func @sums_a_row_in_partial_sums(%x: tensor<1x768xf32>,
                                      %init: tensor<1xf32>) -> tensor<1xf32> {
  // REDUCTION: %[[NONE:.*]] = linalg.fill {{.*}} -> tensor<1x64xf32>
  // REDUCTION: %[[PARTS:.*]] = scf.for {{.*}} to %c768{{.*}} step %c64{{.*}} iter_args(%[[PART:.*]] = %[[NONE]]) -> (tensor<1x64xf32>) {
  // REDUCTION: %[[MORE:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
  // REDUCTION-SAME: outs(%{{.*}} : tensor<1x64xf32>)
  // REDUCTION-NOT: strategy
  // REDUCTION: } {transformer.reduction_loop}
  // REDUCTION: %[[SUM:.*]] = linalg.reduce ins(%[[PARTS]] : tensor<1x64xf32>) outs(%{{.*}} : tensor<1xf32>) dimensions = [1]
  // REDUCTION: return %[[SUM]]
  %y = linalg.generic {indexing_maps = [#id, #row],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<1x768xf32>) outs(%init : tensor<1xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [], rows = [], reduction = [0, 64]>} {
    ^bb0(%e: f32, %s: f32):
      %t = arith.addf %s, %e : f32
      linalg.yield %t : f32
  } -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// A map has no reduction: the loop is over its columns and nobody's to keep a
// sum in.
// REDUCTION-LABEL: @maps_a_row_some_columns_at_a_time
func.func @maps_a_row_some_columns_at_a_time(
    %x: tensor<1x768xf32>, %init: tensor<1x768xf32>) -> tensor<1x768xf32> {
  // REDUCTION: scf.for %[[K:.*]] = {{.*}} to %c768{{.*}} step %c64{{.*}} -> (tensor<1x768xf32>) {
  // REDUCTION: tensor.extract_slice %{{.*}}[0, %[[K]]] [1, 64] [1, 1]
  // REDUCTION: math.absf
  // REDUCTION: tensor.insert_slice
  // REDUCTION-NOT: transformer.reduction_loop
  // REDUCTION: return
  %y = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1x768xf32>) outs(%init : tensor<1x768xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [], rows = [], reduction = [0, 64]>} {
    ^bb0(%e: f32, %o: f32):
      %n = math.absf %e : f32
      linalg.yield %n : f32
  } -> tensor<1x768xf32>
  return %y : tensor<1x768xf32>
}

func.func private @layers(%x: tensor<?x48xf32>) -> tensor<?x48xf32>

// What a function computes is computed once.
// PARALLEL-LABEL: @leaves_calls_outside
func.func @leaves_calls_outside(%x: tensor<?x48xf32>, %init: tensor<?x48xf32>)
    -> tensor<?x48xf32> {
  // PARALLEL: call @layers
  // PARALLEL: scf.forall
  // PARALLEL-NOT: call @layers
  // PARALLEL: return
  %h = call @layers(%x) : (tensor<?x48xf32>) -> tensor<?x48xf32>
  %y = linalg.generic {indexing_maps = [#id, #id],
      iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<?x48xf32>) outs(%init : tensor<?x48xf32>)
      attrs = {transformer.strategy =
        #transformer.strategy<parallel = [64, 0], rows = [8, 0], reduction = []>} {
    ^bb0(%a: f32, %o: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
  } -> tensor<?x48xf32>
  return %y : tensor<?x48xf32>
}
