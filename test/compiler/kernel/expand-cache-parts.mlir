// Where the parts of a cache lie in a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s

!narrow = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 9, part = 0 of [2, 1, 9, 3, 2, 16]>
!wide = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 16, part = 1 of [2, 1, 9, 3, 2, 16]>

// A block of 16 positions has 2 x 9 keys and 3 x 32, and as many values; the
// second part begins behind the first.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 16, layers = 5, block_bytes = 14592, layer_bytes = 0, query_rows = 4>
// CHECK: %[[BLOCK:.*]] = arith.muli %{{.*}}, %c14592
// CHECK: llvm.getelementptr %{{.*}}[2304]
func.func @parts(%k: memref<?x32xf32>, %narrow: !narrow, %wide: !wide,
                 %batch: !transformer.batch) {
  %c1 = arith.constant 1 : index
  transformer.cache_write %k, %k into %wide[%c1], %batch
    : memref<?x32xf32>, memref<?x32xf32>, !wide
  return
}
