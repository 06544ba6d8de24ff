// Mixtures of experts as structured ops and maps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=4 | FileCheck %s --check-prefix=PANEL

transformer.parameter @w : tensor<6x8xf32> experts 5
  from <["{e}.w"], stored_rows = 6>
// PANEL: transformer.parameter @w {{.*}} packed<panel = 4>

// CHECK-LABEL: @route
// CHECK-SAME: %[[Z:.*]]: tensor<?x12xf32>
func.func @route(%z: tensor<?x12xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>) {
  // CHECK: %[[T:.*]] = tensor.dim %[[Z]]
  // CHECK: %[[I:.*]] = bufferization.alloc_tensor(%[[T]]) : tensor<?x3xi32>
  // CHECK: %[[W:.*]] = bufferization.alloc_tensor(%[[T]]) : tensor<?x3xf32>
  // CHECK: transformer.choose_experts sigmoid %[[Z]] take 3 renormalize sum outs(%[[I]], %[[W]]) {factor = 2.0
  %0:2 = transformer.route sigmoid %z take 3 renormalize sum
      {factor = 2.0 : f64}
      : (tensor<?x12xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>)
  return %0#0, %0#1 : tensor<?x3xi32>, tensor<?x3xf32>
}

// CHECK-LABEL: @scale_experts
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<?x3xf32>, %[[I:[a-z0-9]+]]: tensor<?x3xi32>, %[[S:[a-z0-9]+]]: tensor<5xf32>
func.func @scale_experts(%w: tensor<?x3xf32>, %i: tensor<?x3xi32>,
                         %s: tensor<5xf32>) -> tensor<?x3xf32> {
  // CHECK: linalg.generic {{.*}} ins(%[[W]], %[[I]] :
  // CHECK: ^bb0(%[[WEIGHT:.*]]: f32, %[[ID:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[AT:.*]] = arith.index_cast %[[ID]]
  // CHECK: %[[SCALE:.*]] = tensor.extract %[[S]][%[[AT]]]
  // CHECK: arith.mulf %[[WEIGHT]], %[[SCALE]]
  %0 = transformer.scale_experts %w, %i by %s
         : tensor<?x3xf32>, tensor<?x3xi32>, tensor<5xf32>
  return %0 : tensor<?x3xf32>
}

// CHECK-LABEL: @group_by
// CHECK-SAME: %[[I:.*]]: tensor<?x3xi32>
func.func @group_by(%i: tensor<?x3xi32>)
    -> (tensor<?xi32>, tensor<?xi32>, tensor<?x3xi32>) {
  // CHECK: %[[T:.*]] = tensor.dim %[[I]]
  // CHECK: %[[N:.*]] = arith.muli %[[T]], %{{.*}} : index
  // CHECK: bufferization.alloc_tensor(%[[N]]) : tensor<?xi32>
  // CHECK: bufferization.alloc_tensor(%[[N]]) : tensor<?xi32>
  // CHECK: bufferization.alloc_tensor(%[[T]]) : tensor<?x3xi32>
  // CHECK: transformer.sort_by_expert %[[I]] of 12 outs
  %r, %e, %p = transformer.group_by %i of 12 : tensor<?x3xi32>
  return %r, %e, %p : tensor<?xi32>, tensor<?xi32>, tensor<?x3xi32>
}

// The matrix of a row's expert is looked up; in panels, that is the kernel's.
// CHECK-LABEL: @expert_linear
// PANEL-LABEL: @expert_linear
func.func @expert_linear(%x: tensor<?x8xf32>, %e: tensor<?xi32>,
                         %b: tensor<5x6xf32>) -> tensor<?x6xf32> {
  // CHECK: linalg.generic {{.*}} "reduction"
  // CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<5x6x8xf32>
  // CHECK: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<5x6xf32>
  // PANEL: %[[W:.*]] = transformer.weight @w : tensor<5x2x8x4xf32>
  // PANEL: transformer.product %{{.*}}, %[[W]] columns(%{{.*}}) experts(%{{.*}}) outs
  %w = transformer.weight @w : tensor<5x6x8xf32>
  %0 = transformer.expert_linear %x of %e, %w bias %b act relu
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x6x8xf32>, tensor<5x6xf32>)
        -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// Terms are added in the order of the places.
// CHECK-LABEL: @combine
func.func @combine(%x: tensor<?x8xf32>, %p: tensor<?x2xi32>,
                   %w: tensor<?x2xf32>) -> tensor<?x8xf32> {
  // CHECK: linalg.generic
  // CHECK: %[[A:.*]] = arith.mulf
  // CHECK: %[[B:.*]] = arith.mulf
  // CHECK: arith.addf %[[A]], %[[B]]
  %0 = transformer.combine %x, %p, %w
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @gate_rows
func.func @gate_rows(%x: tensor<?x8xf32>, %g: tensor<?x1xf32>)
    -> tensor<?x8xf32> {
  // CHECK: tensor.collapse_shape {{.*}} : tensor<?x1xf32> into tensor<?xf32>
  // CHECK: math.exp
  // CHECK: arith.divf
  // CHECK: arith.mulf
  %0 = transformer.gate_rows %x by %g act sigmoid
      : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// Parts are rows of their own.
// CHECK-LABEL: @gate_heads
func.func @gate_heads(%x: tensor<?x8xf32>, %g: tensor<?x4xf32>)
    -> tensor<?x8xf32> {
  // CHECK: tensor.collapse_shape {{.*}} : tensor<?x4xf32> into tensor<?xf32>
  // CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<?x2xf32>)
  // CHECK: math.log
  // CHECK: return %{{.*}} : tensor<?x8xf32>
  %0 = transformer.gate_rows %x by %g act softplus
      : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
