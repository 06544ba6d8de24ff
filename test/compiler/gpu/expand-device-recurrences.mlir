// Recurrences by warps, whose lanes share out keys and columns; convolutions by
// stretches of tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-recurrences --canonicalize --cse | FileCheck %s

// Of 100 keys eight lanes have 13 each, the last one fewer, of two columns: four
// times two are a warp's.
func.func @delta(%q: memref<?x100xf32>, %k: memref<?x100xf32>,
                 %v: memref<?x40xf32>, %d: memref<?x2xf32>,
                 %e: memref<?x2xf32>, %y: memref<?x40xf32>,
                 %s: !transformer.state<layers = 2, width = 4000>,
                 %batch: !transformer.batch) {
  %c1 = arith.constant 1 : index
  transformer.ragged_recurrence %q, %k, %v, %d, %e, %s[%c1] at 0, %batch
      heads 2 key_heads 1 outs(%y : memref<?x40xf32>)
      : memref<?x100xf32>, memref<?x100xf32>, memref<?x40xf32>,
        memref<?x2xf32>, memref<?x2xf32>, <layers = 2, width = 4000>
  return
}

func.func @add(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>,
               %v: memref<?x48xbf16>, %d: memref<?x4xf32>,
               %e: memref<?x4xf32>, %skip: memref<4xf32>,
               %y: memref<?x48xbf16>,
               %s: !transformer.state<layers = 1, width = 1544>,
               %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %k, %v, %d, %e, %s[%c0] at 8, %batch
      heads 4 key_heads 2 rule add skip %skip outs(%y : memref<?x48xbf16>)
      : memref<?x64xbf16>, memref<?x64xbf16>, memref<?x48xbf16>,
        memref<?x4xf32>, memref<?x4xf32>, <layers = 1, width = 1544>,
        memref<4xf32>
  return
}

func.func @conv(%x: memref<?x264xf32>, %w: memref<264x4xf32>,
                %bias: memref<264xf32>, %y: memref<?x264xf32>,
                %s: !transformer.state<layers = 1, width = 792>,
                %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_conv %x, %w, %s[%c0] at 0, %batch bias %bias
      outs(%y : memref<?x264xf32>)
      : memref<?x264xf32>, memref<264x4xf32>, <layers = 1, width = 792>,
        memref<264xf32>
  return
}

func.func @left(%q: memref<?x520xf32>, %v: memref<?x2xf32>,
                %e: memref<?x1xf32>, %w: memref<2x10xf32>,
                %y: memref<?x2xf32>,
                %s: !transformer.state<layers = 1, width = 1058>,
                %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %e, %e, %s[%c0] at 0, %batch
      heads 1 key_heads 1 outs(%y : memref<?x2xf32>)
      : memref<?x520xf32>, memref<?x520xf32>, memref<?x2xf32>,
        memref<?x1xf32>, memref<?x1xf32>, <layers = 1, width = 1058>
  transformer.ragged_conv %v, %w, %s[%c0] at 1040, %batch
      outs(%y : memref<?x2xf32>)
      : memref<?x2xf32>, memref<2x10xf32>, <layers = 1, width = 1058>
  return
}
