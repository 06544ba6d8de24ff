// Mixtures of experts as products of rows sorted by expert.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-decompose-experts | FileCheck %s
// RUN: tfc-opt %s --tfc-decompose-experts --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCATION

// CHECK-LABEL: @plain
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[I:[a-z0-9]*]]: tensor<?x2xi32>, %[[W:[a-z0-9]*]]: tensor<?x2xf32>, %[[U:[a-z0-9]*]]: tensor<5x6x8xf32>, %[[D:[a-z0-9]*]]: tensor<5x8x6xf32>, %[[UB:[a-z0-9]*]]: tensor<5x6xf32>
// LOCATION-LABEL: @plain
func.func @plain(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>,
                 %w: tensor<?x2xf32>, %u: tensor<5x6x8xf32>,
                 %d: tensor<5x8x6xf32>, %ub: tensor<5x6xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[R:.*]], %[[E:.*]], %[[P:.*]] = transformer.group_by %[[I]] of 5
  // CHECK: %[[S:.*]] = transformer.gather_rows %[[X]], %[[R]]
  // CHECK: %[[H:.*]] = transformer.expert_linear %[[S]] of %[[E]], %[[U]] bias %[[UB]] act relu
  // CHECK: %[[F:.*]] = transformer.expert_linear %[[H]] of %[[E]], %[[D]] :
  // CHECK: %[[Y:.*]] = transformer.combine %[[F]], %[[P]], %[[W]]
  // CHECK: return %[[Y]]
  // LOCATION: transformer.group_by {{.*}} loc("layers.moe.group_by")
  // LOCATION: act relu {{.*}} loc("layers.moe.up")
  // LOCATION: transformer.expert_linear {{.*}} loc("layers.moe.down")
  // LOCATION: transformer.combine {{.*}} loc("layers.moe")
  %y = transformer.experts %x, %i, %w up %u down %d up_bias %ub act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>, tensor<5x6xf32>)
        -> tensor<?x8xf32> loc("layers.moe")
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @gated
// CHECK-SAME: %{{[a-z0-9]*}}: tensor<?x8xf32>, %{{[a-z0-9]*}}: tensor<?x2xi32>, %{{[a-z0-9]*}}: tensor<?x2xf32>, %[[U:[a-z0-9]*]]: tensor<5x6x8xf32>, %[[G:[a-z0-9]*]]: tensor<5x6x8xf32>
func.func @gated(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>,
                 %w: tensor<?x2xf32>, %u: tensor<5x6x8xf32>,
                 %g: tensor<5x6x8xf32>, %d: tensor<5x8x6xf32>)
    -> tensor<?x8xbf16> {
  // CHECK: %[[A:.*]] = transformer.expert_linear %[[S:.*]] of %[[E:.*]], %[[G]] act silu
  // CHECK: transformer.expert_linear %[[S]] of %[[E]], %[[U]] factor %[[A]] :
  // CHECK: transformer.combine {{.*}} -> tensor<?x8xbf16>
  %y = transformer.experts %x, %i, %w up %u down %d gate %g act silu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>, tensor<5x6x8xf32>)
        -> tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}
