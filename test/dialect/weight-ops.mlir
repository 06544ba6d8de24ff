// Round trip of the weight table and its uses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK: transformer.parameter @table : tensor<97x104xf32> from<["{p}embeddings.weight"], stored_rows = 97>
transformer.parameter @table : tensor<97x104xf32>
  from <["{p}embeddings.weight"], stored_rows = 97>
// CHECK: transformer.parameter @attn.k.weight : tensor<104x104xf32> layers 2 from<["{p}h.{i}.attn.c_attn.weight", "h.{i}.attn.weight"], first_layer = 1, first_row = 104, stored_rows = 312, in_out = true>
transformer.parameter @attn.k.weight : tensor<104x104xf32> layers 2
  from <["{p}h.{i}.attn.c_attn.weight", "h.{i}.attn.weight"],
        first_layer = 1, first_row = 104, stored_rows = 312, in_out = true>
// CHECK: transformer.parameter @every_third : tensor<8xf32> layers 2 from<["w.{i}"], first_layer = 1, layer_step = 3, stored_rows = 8>
transformer.parameter @every_third : tensor<8xf32> layers 2
  from <["w.{i}"], first_layer = 1, layer_step = 3, stored_rows = 8>
// CHECK: transformer.parameter @decoder.bias : tensor<97xf32> from<["decoder.bias"], stored_rows = 97, fill_zeros = true>
transformer.parameter @decoder.bias : tensor<97xf32>
  from <["decoder.bias"], stored_rows = 97, fill_zeros = true>
// CHECK: transformer.parameter @head : tensor<97x104xf32> from<["lm_head.weight"], stored_rows = 97, tied_to = "table">
transformer.parameter @head : tensor<97x104xf32>
  from <["lm_head.weight"], stored_rows = 97, tied_to = "table">
// CHECK: transformer.parameter @packed : tensor<8xf32> layers 3 from<["w"], stored_rows = 8> at 128 stride 64
transformer.parameter @packed : tensor<8xf32> layers 3
  from <["w"], stored_rows = 8> at 128 stride 64
// CHECK: transformer.parameter @k : tensor<3x4xf32> layers 2 from
transformer.parameter @k : tensor<3x4xf32> layers 2
  from <["k.{i}"], stored_rows = 3>
// CHECK: transformer.parameter @v : tensor<5x4xf32> layers 2 from
transformer.parameter @v : tensor<5x4xf32> layers 2
  from <["v.{i}"], stored_rows = 5>
// CHECK: transformer.parameter @k_v : tensor<8x4xf32> layers 2 parts [@k, @v] packed<panel = 16> at 64 stride 256
transformer.parameter @k_v : tensor<8x4xf32> layers 2 parts [@k, @v]
  packed<panel = 16> at 64 stride 256

// CHECK: transformer.parameter @prepared : tensor<8x4xf32> layers 2 prepared at 64 stride 128
transformer.parameter @prepared : tensor<8x4xf32> layers 2 prepared
  at 64 stride 128
// CHECK: transformer.parameter @prepared.once : tensor<8x4xf32> prepared
transformer.parameter @prepared.once : tensor<8x4xf32> prepared

// CHECK: transformer.parameter @words : tensor<8x4xbf16> from<["w"], stored_rows = 8> packed<panel = 16, word = 2> rounds
transformer.parameter @words : tensor<8x4xbf16>
  from <["w"], stored_rows = 8> packed<panel = 16, word = 2> rounds

// CHECK: transformer.parameter @fragments : tensor<8x72xi8> from<["w"], stored_rows = 8> packed<panel = 1, word = 64> rounds at 0
// 64 columns more than there are: a word is whole.
transformer.parameter @fragments : tensor<8x72xi8>
  from <["w"], stored_rows = 8> packed<panel = 1, word = 64>
  rounds at 0

// CHECK-LABEL: @weight
// CHECK-SAME: %[[LAYER:.*]]: index
func.func @weight(%layer: index) {
  // CHECK: transformer.weight @table : tensor<97x104xf32>
  %0 = transformer.weight @table : tensor<97x104xf32>
  // CHECK: transformer.weight @attn.k.weight[%[[LAYER]]] : tensor<104x104xf32>
  %1 = transformer.weight @attn.k.weight[%layer] : tensor<104x104xf32>
  // CHECK: transformer.weight @decoder.bias : memref<97xf32>
  %2 = transformer.weight @decoder.bias : memref<97xf32>
  return
}

// CHECK-LABEL: @keep
// CHECK-SAME: %[[X:.*]]: tensor<8x4xf32>, %[[LAYER:.*]]: index
func.func @keep(%x: tensor<8x4xf32>, %layer: index) {
  // CHECK: transformer.keep %[[X]], @prepared[%[[LAYER]]] : tensor<8x4xf32>
  transformer.keep %x, @prepared[%layer] : tensor<8x4xf32>
  // CHECK: transformer.keep %[[X]], @prepared.once : tensor<8x4xf32>
  transformer.keep %x, @prepared.once : tensor<8x4xf32>
  return
}

// CHECK: transformer.parameter @bytes : tensor<8x4xi8> layers 2 from<["b{i}"], stored_rows = 8> packed<panel = 48, word = 4> rounds
transformer.parameter @bytes : tensor<8x4xi8> layers 2 from <["b{i}"], stored_rows = 8> packed<panel = 48, word = 4> rounds
// CHECK: transformer.parameter @bytes.scales : tensor<8xf32> layers 2 companion<scales of @bytes>
transformer.parameter @bytes.scales : tensor<8xf32> layers 2 companion<scales of @bytes>
// CHECK: transformer.parameter @bytes.excess : tensor<8xi32> layers 2 companion<excess of @bytes>
transformer.parameter @bytes.excess : tensor<8xi32> layers 2 companion<excess of @bytes>
// CHECK-LABEL: @read_bytes
func.func @read_bytes(%layer: index) {
  // CHECK: transformer.weight @bytes[%{{.*}}] : tensor<1x1x48x4xi8>
  %w = transformer.weight @bytes[%layer] : tensor<1x1x48x4xi8>
  // CHECK: transformer.weight @bytes.excess[%{{.*}}] : tensor<8xi32>
  %e = transformer.weight @bytes.excess[%layer] : tensor<8xi32>
  return
}

// Parts of ranks, by rows, by columns, and what the first one has.
// CHECK: transformer.parameter @rows : tensor<4x8xf32> from<["w"], stored_rows = 8, share = <parts = 2, rows = 4>>
transformer.parameter @rows : tensor<4x8xf32>
  from <["w"], stored_rows = 8, share = <parts = 2, rows = 4>>
// CHECK: transformer.parameter @columns : tensor<8x4xf32> from<["w"], stored_rows = 8, stored_cols = 8, share = <parts = 2, cols = 4>>
transformer.parameter @columns : tensor<8x4xf32>
  from <["w"], stored_rows = 8, stored_cols = 8, share = <parts = 2, cols = 4>>
// CHECK: transformer.parameter @first : tensor<8xf32> from<["b"], stored_rows = 8, share = <parts = 2, first_rank = true>>
transformer.parameter @first : tensor<8xf32>
  from <["b"], stored_rows = 8, share = <parts = 2, first_rank = true>>
