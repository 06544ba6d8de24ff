// Values between ops are rounded where they are computed and widened for those
// that read them; loops carry them so, caches keep keys and values so. Outputs
// and what is made of positions alone stay f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision=values=bf16 | FileCheck %s
// RUN: tfc-opt %s --tfc-choose-precision | FileCheck %s --check-prefix=SAME
// SAME-NOT: arith.{{truncf|extf}}

transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
transformer.parameter @norm : tensor<8xf32> layers 2 from <["n"], stored_rows = 8>
transformer.parameter @q : tensor<8x8xf32> layers 2 from <["q"], stored_rows = 8>

// CHECK-LABEL: func.func @step(
// CHECK-SAME: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 4, bf16>
func.func @step(%ids: tensor<?xi32>, %positions: tensor<?xi32>, %rows: tensor<?xi32>,
                %batch: !transformer.batch,
                %cache: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 4>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %token = transformer.weight @token : tensor<9x8xf32>
  // Of a table that is not narrowed here.
  // CHECK: %[[X:.*]] = transformer.embedding
  // CHECK-NEXT: %[[KEPT:.*]] = arith.truncf %[[X]] : tensor<?x8xf32> to tensor<?x8xbf16>
  // CHECK-NEXT: arith.extf %[[KEPT]]
  %x = transformer.embedding %ids, %token : tensor<?xi32>, tensor<9x8xf32>
  // CHECK: %[[ANGLES:.*]] = transformer.rotary_angles
  // CHECK-NOT: truncf
  %angles = transformer.rotary_angles %positions times [1.0, 0.01] factors [1.0] : tensor<?xi32>
  // CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[KEPT]]) -> (tensor<?x8xbf16>)
  // CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[CARRIED]] : tensor<?x8xbf16> to tensor<?x8xf32>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x) -> (tensor<?x8xf32>) {
    %nw = transformer.weight @norm[%i] : tensor<8xf32>
    // CHECK: %[[N:.*]] = transformer.rms_norm %[[WIDE]]
    // CHECK-NEXT: %[[NK:.*]] = arith.truncf %[[N]]
    // CHECK-NEXT: %[[NW:.*]] = arith.extf %[[NK]]
    %n = transformer.rms_norm %h, %nw {eps = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<8xf32>
    %qw = transformer.weight @q[%i] : tensor<8x8xf32>
    // CHECK: %[[Q:.*]] = transformer.linear %[[NW]]
    // CHECK-NEXT: %[[QK:.*]] = arith.truncf %[[Q]]
    %q = transformer.linear %n, %qw : tensor<?x8xf32>, tensor<8x8xf32>
    // What is kept is what others read, so that is what a tap may change.
    // CHECK: transformer.tap "q" layer %{{.*}} %[[QK]] : tensor<?x8xbf16>
    transformer.tap "q" layer %i %q : tensor<?x8xf32>
    // CHECK: transformer.rotary half %{{.*}}, %[[ANGLES]]
    %r = transformer.rotary half %q, %angles heads 2 : tensor<?x8xf32>, tensor<?x4xf32>
    // CHECK: transformer.attention {{.*}}head_dim = 4, bf16>
    %a = transformer.attention %r, %q, %q, %cache[%i], %batch causal heads 2 {scale = 0.5 : f64}
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !transformer.cache<layers = 2, kv_heads = 2, head_dim = 4>
    // CHECK: %[[S:.*]] = transformer.add
    // CHECK-NEXT: %[[SK:.*]] = arith.truncf %[[S]]
    %s = transformer.add %h, %a : tensor<?x8xf32>, tensor<?x8xf32>
    // CHECK: scf.yield %[[SK]] : tensor<?x8xbf16>
    scf.yield %s : tensor<?x8xf32>
  }
  // CHECK: %[[LAST:.*]] = arith.extf %[[LOOP]]
  // CHECK: transformer.output "logits"
  // CHECK: %[[LOGITS:.*]] = transformer.linear
  // CHECK-NEXT: transformer.tap "logits" %[[LOGITS]] : tensor<?x9xf32>
  // CHECK-NEXT: transformer.yield %[[LOGITS]] : tensor<?x9xf32>
  transformer.output "logits" wanted take all {
    %last = transformer.gather_rows %y, %rows : tensor<?x8xf32>, tensor<?xi32>
    %logits = transformer.linear %last, %token : tensor<?x8xf32>, tensor<9x8xf32>
    transformer.tap "logits" %logits : tensor<?x9xf32>
    transformer.yield %logits : tensor<?x9xf32>
  }
  return
}
