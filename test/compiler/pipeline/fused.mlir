// The arrow from model to fused: the same language, cleaned.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-set-target --tfc-model-to-fused | FileCheck %s
// RUN: tfc-opt %s --tfc-set-target --tfc-model-to-fused | tfc-opt --tfc-verify-stage=stage=model
// RUN: tfc-opt %s --tfc-set-target --tfc-model-to-fused | tfc-opt --tfc-model-to-fused | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

// CHECK: transformer.parameter @token
transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>

// CHECK-LABEL: func.func @step
func.func @step(%ids: tensor<?xi32> {transformer.input = #ids},
                %rows: tensor<?xi32> {transformer.rows},
                %batch: !transformer.batch, %cache: !cache) {
  // One look-up of a table for all its users.
  // CHECK: %[[TABLE:.*]] = transformer.weight @token
  // CHECK-NOT: transformer.weight
  // CHECK: %[[X:.*]] = transformer.embedding %{{.*}}, %[[TABLE]]
  %c0 = arith.constant 0 : index
  %t0 = transformer.weight @token : tensor<9x8xf32>
  %t1 = transformer.weight @token : tensor<9x8xf32>
  %x = transformer.embedding %ids, %t0 : tensor<?xi32>, tensor<9x8xf32>
  // CHECK-NOT: transformer.add
  %unused = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  // CHECK-NOT: transformer.activation identity
  %same = transformer.activation identity %x : tensor<?x8xf32>
  // Attention writes the cache: it stays, used or not.
  // CHECK: transformer.attention %[[X]], %[[X]], %[[X]]
  %a = transformer.attention %same, %same, %same, %cache[%c0], %batch causal
         heads 1 {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  // CHECK: transformer.output "logits"
  // CHECK: transformer.linear %{{.*}}, %[[TABLE]]
  transformer.output "logits" wanted take all {
    %r = transformer.gather_rows %same, %rows : tensor<?x8xf32>, tensor<?xi32>
    %y = transformer.linear %r, %t1 : tensor<?x8xf32>, tensor<9x8xf32>
    transformer.yield %y : tensor<?x9xf32>
  }
  // No taps, unless they are asked for.
  // CHECK-NOT: transformer.tap
  return
}
