// The feed-forward block as its products.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-decompose-ffn | FileCheck %s
// RUN: tfc-opt %s --tfc-decompose-ffn --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCATION

// CHECK-LABEL: @plain
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[U:[a-z0-9]*]]: tensor<12x8xf32>, %[[D:[a-z0-9]*]]: tensor<8x12xf32>, %[[UB:[a-z0-9]*]]: tensor<12xf32>, %[[DB:[a-z0-9]*]]: tensor<8xf32>
// LOCATION-LABEL: @plain
func.func @plain(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                 %d: tensor<8x12xf32>, %ub: tensor<12xf32>, %db: tensor<8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[H:.*]] = transformer.linear %[[X]], %[[U]] bias %[[UB]] act gelu
  // CHECK: %[[Y:.*]] = transformer.linear %[[H]], %[[D]] bias %[[DB]] :
  // CHECK: return %[[Y]]
  // LOCATION: act gelu {{.*}} loc("layers.ffn.up")
  // LOCATION: transformer.linear {{.*}} loc("layers.ffn.down")
  %y = transformer.ffn %x up %u down %d up_bias %ub down_bias %db act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12xf32>,
           tensor<8xf32> loc("layers.ffn")
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @gated
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[U:[a-z0-9]*]]: tensor<12x8xf32>, %[[D:[a-z0-9]*]]: tensor<8x12xf32>, %[[G:[a-z0-9]*]]: tensor<12x8xf32>, %[[GB:[a-z0-9]*]]: tensor<12xf32>
// LOCATION-LABEL: @gated
func.func @gated(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                 %d: tensor<8x12xf32>, %g: tensor<12x8xf32>,
                 %gb: tensor<12xf32>) -> tensor<?x8xf32> {
  // CHECK: %[[A:.*]] = transformer.linear %[[X]], %[[G]] bias %[[GB]] act silu
  // CHECK: %[[H:.*]] = transformer.linear %[[X]], %[[U]] factor %[[A]] :
  // CHECK: transformer.linear %[[H]], %[[D]] :
  // LOCATION: act silu {{.*}} loc("layers.ffn.gate")
  %y = transformer.ffn %x up %u down %d gate %g gate_bias %gb act silu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>,
           tensor<12x8xf32>, tensor<12xf32> loc("layers.ffn")
  return %y : tensor<?x8xf32>
}

// A block that is rounded is rounded once, behind the last of its products.
// CHECK-LABEL: @rounded
func.func @rounded(%x: tensor<?x8xbf16>, %u: tensor<12x8xf32>,
                   %d: tensor<8x12xf32>) -> tensor<?x8xbf16> {
  // CHECK: %[[H:.*]] = transformer.linear {{.*}} act gelu : tensor<?x8xbf16>, tensor<12x8xf32>{{$}}
  // CHECK: transformer.linear %[[H]], {{.*}} : tensor<?x12xf32>, tensor<8x12xf32> -> tensor<?x8xbf16>
  %y = transformer.ffn %x up %u down %d act gelu
         : tensor<?x8xbf16>, tensor<12x8xf32>, tensor<8x12xf32> -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}
