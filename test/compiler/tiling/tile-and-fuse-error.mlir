// Strategies that do not fit their op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(func.func(tfc-tile-and-fuse{level=parallel},tfc-tile-and-fuse{level=rows},tfc-tile-and-fuse{level=reduction}))"
// RUN: not tfc-opt %s --pass-pipeline="builtin.module(func.func(tfc-tile-and-fuse{level=columns}))" 2>&1 | FileCheck %s

// CHECK: error: expected level parallel, rows or reduction, got "columns"

func.func @fewer_sizes_than_loops(%x: tensor<?x64xf32>, %init: tensor<?xf32>)
    -> tensor<?xf32> {
  // expected-error @+1 {{expected 2 sizes in reduction of its strategy (one for each loop), got 1}}
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x64xf32>)
       outs(%init : tensor<?xf32>) dimensions = [1]
       {transformer.strategy = #transformer.strategy<parallel = [], rows = [], reduction = [1]>}
  return %0 : tensor<?xf32>
}

// -----

func.func @more_sizes_than_loops(%x: tensor<?x64xf32>, %init: tensor<?x64xf32>)
    -> tensor<?x64xf32> {
  // expected-error @+1 {{expected 2 sizes in parallel of its strategy (one for each loop), got 5}}
  %0 = linalg.exp
       {transformer.strategy = #transformer.strategy<parallel = [8, 0, 3, 4, 5], rows = [], reduction = []>}
       ins(%x : tensor<?x64xf32>) outs(%init : tensor<?x64xf32>)
       -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

func.func @items_of_a_reduction(%x: tensor<?x64xf32>, %init: tensor<?xf32>)
    -> tensor<?xf32> {
  // expected-error @+1 {{expected size 0 for loop 1 in parallel of its strategy (it is a reduction), got 8}}
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<?x64xf32>)
       outs(%init : tensor<?xf32>) dimensions = [1]
       {transformer.strategy = #transformer.strategy<parallel = [1, 8], rows = [], reduction = []>}
  return %0 : tensor<?xf32>
}
