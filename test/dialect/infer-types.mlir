// Types that ops infer from their operands: the custom form does not write them.
// Rows are of f32 then, whatever they are made of.
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
  // CHECK: "transformer.rms_norm"{{.*}} -> tensor<?x8xf32>
  %9 = transformer.rms_norm %x, %v {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  // CHECK: "transformer.scale"{{.*}} -> tensor<?x8xf32>
  %10 = transformer.scale %x by 2.0 : tensor<?x8xf32>
  // CHECK: "transformer.clamp"{{.*}} -> tensor<?x8xf32>
  %clamped = transformer.clamp %x least 2.0 : tensor<?x8xf32>
  %slope = arith.constant dense<1.0> : tensor<1xf32>
  // CHECK: "transformer.xielu"{{.*}} -> tensor<?x8xf32>
  %curved = transformer.xielu %x positive %slope negative %slope
              {beta = 0.5 : f64, least = -1.0 : f64}
              : (tensor<?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  // CHECK: "transformer.layer_scale"{{.*}} -> tensor<?x8xf32>
  %scaled = transformer.layer_scale %x, %slope
              : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  // CHECK: "transformer.rotary_angles"{{.*}} -> tensor<?x6xf32>
  %11 = transformer.rotary_angles %ids times [1.0, 0.5, 0.25]
          factors [1.0] : tensor<?xi32>
  // CHECK: "transformer.rotary"{{.*}} -> tensor<?x8xf32>
  %12 = transformer.rotary half %x, %11 heads 1
          : tensor<?x8xf32>, tensor<?x6xf32>
  // CHECK: "transformer.distance_bias"{{.*}} -> tensor<8x15xf32>
  %13 = transformer.distance_bias %w causal max_distance 7 : tensor<12x8xf32>
  %c0 = arith.constant 0 : index
  // CHECK: "transformer.per_layer"{{.*}} -> index
  %14 = transformer.per_layer index [3, 5][%c0]
  // CHECK: "transformer.per_layer"{{.*}} -> f32
  %15 = transformer.per_layer f32 [3.0, 5.0][%c0]
  return
}

// CHECK-LABEL: sym_name = "of_16_bits"
func.func @of_16_bits(%x: tensor<?x8xbf16>, %w: tensor<12x8xbf16>, %ids: tensor<?xi32>) {
  // CHECK: "transformer.linear"{{.*}} -> tensor<?x12xf32>
  %0 = transformer.linear %x, %w : tensor<?x8xbf16>, tensor<12x8xbf16>
  // CHECK: "transformer.add"{{.*}} -> tensor<?x8xf32>
  %1 = transformer.add %x, %x : tensor<?x8xbf16>, tensor<?x8xbf16>
  // CHECK: "transformer.gather_rows"{{.*}} -> tensor<?x8xf32>
  %2 = transformer.gather_rows %x, %ids : tensor<?x8xbf16>, tensor<?xi32>
  // CHECK: "transformer.slice_columns"{{.*}} -> tensor<?x5xf32>
  %3 = transformer.slice_columns %x[3, 5] : tensor<?x8xbf16>
  return
}

// CHECK-LABEL: sym_name = "attention"
func.func @attention(%q: tensor<?x8xf32>, %k: tensor<?x4xf32>,
                     %batch: !transformer.batch, %cache: !cache,
                     %layer: index,
                     %cross: !transformer.cache<cross, layers = 2, kv_heads = 1,
                                                head_dim = 4>) {
  // CHECK: "transformer.attention"{{.*}} -> tensor<?x8xf32>
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch causal heads 2
         {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !cache
  // CHECK: "transformer.cross_attention"{{.*}} -> tensor<?x8xf32>
  %1 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         {scale = 0.5 : f64} : tensor<?x8xf32>,
         !transformer.cache<cross, layers = 2, kv_heads = 1, head_dim = 4>
  return
}
