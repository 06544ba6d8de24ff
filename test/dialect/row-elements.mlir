// Round trip of rows in 16 bits: all ops of rows read them, and give them where
// they say so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
!cross = !transformer.cache<cross, layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: @lookups
func.func @lookups(%ids: tensor<?xi32>, %table: tensor<9x8xf16>, %batch: !transformer.batch) {
  // CHECK: transformer.embedding {{.*}} : tensor<?xi32>, tensor<9x8xf16> -> tensor<?x8xf16>
  %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<9x8xf16> -> tensor<?x8xf16>
  // CHECK: transformer.sinusoid {{.*}} : tensor<?xi32> -> tensor<?x8xbf16>
  %s = transformer.sinusoid half %ids times [1.0, 0.5, 0.25, 0.125] : tensor<?xi32> -> tensor<?x8xbf16>
  // CHECK: %[[A:.*]] = transformer.rotary_angles {{.*}} : tensor<?xi32> -> tensor<?x4xf16>
  %a = transformer.rotary_angles %ids times [1.0, 0.5] factors [1.0] : tensor<?xi32> -> tensor<?x4xf16>
  // CHECK: transformer.rotary half %{{.*}}, %[[A]] heads 2 : tensor<?x8xf16>, tensor<?x4xf16> -> tensor<?x8xbf16>
  %r = transformer.rotary half %x, %a heads 2 : tensor<?x8xf16>, tensor<?x4xf16> -> tensor<?x8xbf16>
  // CHECK: transformer.gather_rows {{.*}} : tensor<?x8xbf16>, tensor<?xi32> -> tensor<?x8xbf16>
  %g = transformer.gather_rows %r, %ids : tensor<?x8xbf16>, tensor<?xi32> -> tensor<?x8xbf16>
  // CHECK: transformer.pool_rows {{.*}} : tensor<?x8xbf16>, tensor<?xi32> -> tensor<?x8xbf16>
  %p = transformer.pool_rows mean %r, %ids, %batch : tensor<?x8xbf16>, tensor<?xi32> -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @products
func.func @products(%x: tensor<?x8xbf16>, %w: tensor<12x8xbf16>, %u: tensor<12x8xf32>,
                    %d: tensor<8x12xf32>, %b: tensor<12xf32>, %r: tensor<?x12xf32>) {
  // CHECK: %[[Y:.*]] = transformer.linear {{.*}} bias %{{.*}} : tensor<?x8xbf16>, tensor<12x8xbf16>, tensor<12xf32> -> tensor<?x12xbf16>
  %y = transformer.linear %x, %w bias %b : tensor<?x8xbf16>, tensor<12x8xbf16>, tensor<12xf32> -> tensor<?x12xbf16>
  // CHECK: transformer.linear {{.*}} factor %[[Y]] residual %{{.*}} : tensor<?x8xbf16>, tensor<12x8xbf16>, tensor<?x12xbf16>, tensor<?x12xf32>{{$}}
  %z = transformer.linear %x, %w factor %y residual %r
    : tensor<?x8xbf16>, tensor<12x8xbf16>, tensor<?x12xbf16>, tensor<?x12xf32>
  // CHECK: transformer.ffn {{.*}} : tensor<?x8xbf16>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12xf32> -> tensor<?x8xbf16>
  %f = transformer.ffn %x up %u down %d up_bias %b act gelu
    : tensor<?x8xbf16>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12xf32> -> tensor<?x8xbf16>
  // CHECK: transformer.activation gelu {{.*}} : tensor<?x12xbf16> -> tensor<?x12xf16>
  %a = transformer.activation gelu %y : tensor<?x12xbf16> -> tensor<?x12xf16>
  // CHECK: transformer.add {{.*}} : tensor<?x12xbf16>, tensor<?x12xf32> -> tensor<?x12xbf16>
  %s = transformer.add %y, %r : tensor<?x12xbf16>, tensor<?x12xf32> -> tensor<?x12xbf16>
  // CHECK: transformer.scale {{.*}} : tensor<?x12xbf16> -> tensor<?x12xbf16>
  %m = transformer.scale %y by 2.0 : tensor<?x12xbf16> -> tensor<?x12xbf16>
  // CHECK: transformer.slice_columns {{.*}} : tensor<?x12xbf16> -> tensor<?x5xbf16>
  %c = transformer.slice_columns %y[1, 5] : tensor<?x12xbf16> -> tensor<?x5xbf16>
  return
}

// CHECK-LABEL: @norms
func.func @norms(%x: tensor<?x8xbf16>, %w: tensor<8xf32>) {
  // CHECK: transformer.layer_norm {{.*}} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  %0 = transformer.layer_norm %x {eps = 1.0 : f64} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  // CHECK: transformer.layer_norm %{{.*}} bias %{{.*}} : tensor<?x8xbf16>, tensor<8xf32> -> tensor<?x8xbf16>
  %1 = transformer.layer_norm %x bias %w {eps = 1.0 : f64} : tensor<?x8xbf16>, tensor<8xf32> -> tensor<?x8xbf16>
  // CHECK: transformer.layer_norm {{.*}} : tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>{{$}}
  %2 = transformer.layer_norm %x, %w bias %w {eps = 1.0 : f64} : tensor<?x8xbf16>, tensor<8xf32>, tensor<8xf32>
  // CHECK: transformer.rms_norm {{.*}} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  %3 = transformer.rms_norm %x {eps = 1.0 : f64} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  // CHECK: transformer.rms_norm {{.*}} : tensor<?x8xbf16>, tensor<8xf32> -> tensor<?x8xf16>
  %4 = transformer.rms_norm %x, %w {eps = 1.0 : f64} : tensor<?x8xbf16>, tensor<8xf32> -> tensor<?x8xf16>
  // CHECK: transformer.l2_normalize {{.*}} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  %5 = transformer.l2_normalize %x {eps = 1.0 : f64} : tensor<?x8xbf16> -> tensor<?x8xbf16>
  // CHECK: transformer.cut_rows {{.*}} : tensor<?x8xbf16> -> tensor<?x8xf16>
  %cut = transformer.cut_rows %x {deviations = 1.0 : f64} : tensor<?x8xbf16> -> tensor<?x8xf16>
  return
}

// CHECK-LABEL: @attention
func.func @attention(%q: tensor<?x8xf16>, %k: tensor<?x8xf32>, %batch: !transformer.batch,
                     %cache: !cache, %cross: !cross, %layer: index, %sinks: tensor<1xf32>) {
  // CHECK: transformer.attention {{.*}} sinks tensor<1xf32> -> tensor<?x8xf16>
  %0 = transformer.attention %q, %k, %q, %cache[%layer], %batch causal heads 1 sinks %sinks {scale = 0.5 : f64}
    : tensor<?x8xf16>, tensor<?x8xf32>, tensor<?x8xf16>, !cache sinks tensor<1xf32> -> tensor<?x8xf16>
  // CHECK: transformer.cross_attention {{.*}} -> tensor<?x8xbf16>
  %1 = transformer.cross_attention %q, %cross[%layer], %batch heads 1 {scale = 0.5 : f64}
    : tensor<?x8xf16>, !cross -> tensor<?x8xbf16>
  return
}
