// The arrow from fused to linalg: what is left of the dialect, and that equal
// fills stay apart, each the zero of its own product.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-set-target --tfc-fused-to-linalg | FileCheck %s
// RUN: tfc-opt %s --tfc-set-target --tfc-fused-to-linalg | tfc-opt --tfc-verify-stage=stage=linalg

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

// CHECK: module attributes {transformer.packed_bytes = 576 : i64, transformer.packed_layout = "f32-{{[0-9a-f]+}}", {{.*}}}
// CHECK: transformer.parameter @token {{.*}} at 0
transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
// CHECK: transformer.parameter @w {{.*}} at 320
transformer.parameter @w : tensor<8x8xf32> from <["w"], stored_rows = 8>

// CHECK-LABEL: func.func @step
// CHECK-SAME: memref<?x9xf32> {transformer.output
func.func @step(%ids: tensor<?xi32> {transformer.input = #ids},
                %rows: tensor<?xi32> {transformer.rows},
                %batch: !transformer.batch, %cache: !cache) {
  %c0 = arith.constant 0 : index
  %table = transformer.weight @token : tensor<9x8xf32>
  %w = transformer.weight @w : tensor<8x8xf32>
  // CHECK: %[[X:.*]] = linalg.generic
  %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<9x8xf32>
  // CHECK: %[[Q_ZERO:.*]] = linalg.fill
  // CHECK: %[[Q:.*]] = linalg.generic {{.*}} outs(%[[Q_ZERO]]
  // CHECK: %[[K_ZERO:.*]] = linalg.fill
  // CHECK: %[[K:.*]] = linalg.generic {{.*}} outs(%[[K_ZERO]]
  %q = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %k = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  // CHECK: transformer.cache_write %[[K]], %[[X]]
  // CHECK: transformer.paged_attention %[[Q]]
  %a = transformer.attention %q, %k, %x, %cache[%c0], %batch causal heads 1
         {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  // CHECK: transformer.tap "a"
  transformer.tap "a" %a : tensor<?x8xf32>
  // CHECK: scf.if
  // CHECK-NOT: transformer.output
  transformer.output "logits" wanted take all {
    %r = transformer.gather_rows %a, %rows : tensor<?x8xf32>, tensor<?xi32>
    %y = transformer.linear %r, %table : tensor<?x8xf32>, tensor<9x8xf32>
    transformer.yield %y : tensor<?x9xf32>
  }
  return
}
// CHECK-LABEL: func.func @pack
