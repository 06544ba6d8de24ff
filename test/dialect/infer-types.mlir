// Types that ops infer from their operands: the custom form does not write them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --mlir-print-op-generic | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 4>

// CHECK-LABEL: sym_name = "value_ops"
func.func @value_ops(%ids: tensor<?xi32>, %few: tensor<3xi32>,
                     %x: tensor<?x8xf32>, %table: tensor<97x8xf32>,
                     %w: tensor<12x8xf32>, %d: tensor<8x12xf32>,
                     %v: tensor<8xf32>) {
  // CHECK: "transformer.embedding"{{.*}} -> tensor<?x8xf32>
  %0 = transformer.embedding %ids, %table : tensor<?xi32>, tensor<97x8xf32>
  // CHECK: "transformer.embedding"{{.*}} -> tensor<3x8xf32>
  %1 = transformer.embedding %few, %table : tensor<3xi32>, tensor<97x8xf32>
  // CHECK: "transformer.layer_norm"{{.*}} -> tensor<?x8xf32>
  %2 = transformer.layer_norm %x, %v {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  // CHECK: "transformer.linear"{{.*}} -> tensor<?x12xf32>
  %3 = transformer.linear %x, %w : tensor<?x8xf32>, tensor<12x8xf32>
  // CHECK: "transformer.ffn"{{.*}} -> tensor<?x8xf32>
  %4 = transformer.ffn %x up %w down %d act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>
  // CHECK: "transformer.activation"{{.*}} -> tensor<?x8xf32>
  %5 = transformer.activation gelu %x : tensor<?x8xf32>
  // CHECK: "transformer.add"{{.*}} -> tensor<?x8xf32>
  %6 = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  // CHECK: "transformer.gather_rows"{{.*}} -> tensor<3x8xf32>
  %7 = transformer.gather_rows %x, %few : tensor<?x8xf32>, tensor<3xi32>
  // CHECK: "transformer.slice_columns"{{.*}} -> tensor<?x5xf32>
  %8 = transformer.slice_columns %x[3, 5] : tensor<?x8xf32>
  return
}

// CHECK-LABEL: sym_name = "attention"
func.func @attention(%q: tensor<?x8xf32>, %k: tensor<?x4xf32>,
                     %batch: !transformer.batch, %cache: !cache,
                     %layer: index) {
  // CHECK: "transformer.attention"{{.*}} -> tensor<?x8xf32>
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch causal heads 2
         {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !cache
  return
}
