// Round trip of mixtures of experts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @route
// CHECK-SAME: %[[Z:.*]]: tensor<?x12xf32>, %[[B:.*]]: tensor<12xf32>
func.func @route(%z: tensor<?x12xf32>, %b: tensor<12xf32>) {
  // CHECK: transformer.route softmax %[[Z]] take 3 : (tensor<?x12xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>)
  %0:2 = transformer.route softmax %z take 3
      : (tensor<?x12xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>)
  // CHECK: transformer.route sigmoid %[[Z]] bias %[[B]] take 3 renormalize sum {factor = 2.5{{.*}}, floor = 1.0{{.*}}, group_by = #transformer<group_rank top2>, groups = 4 : i64, groups_used = 2 : i64, plus = 5.0{{.*}}} : (tensor<?x12xf32>, tensor<12xf32>)
  %1:2 = transformer.route sigmoid %z bias %b take 3 renormalize sum
      {groups = 4 : i64, groups_used = 2 : i64,
       group_by = #transformer<group_rank top2>, plus = 5.0 : f64,
       floor = 1.0 : f64, factor = 2.5 : f64}
      : (tensor<?x12xf32>, tensor<12xf32>)
        -> (tensor<?x3xi32>, tensor<?x3xf32>)
  // CHECK: transformer.route logits %[[Z]] take 1 renormalize softmax :
  %2:2 = transformer.route logits %z take 1 renormalize softmax
      : (tensor<?x12xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>)
  return
}

// CHECK-LABEL: @experts
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[I:.*]]: tensor<?x2xi32>, %[[W:.*]]: tensor<?x2xf32>, %[[U:.*]]: tensor<5x6x8xf32>, %[[D:.*]]: tensor<5x8x6xf32>, %[[UB:.*]]: tensor<5x6xf32>, %[[DB:.*]]: tensor<5x8xf32>
func.func @experts(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>,
                   %w: tensor<?x2xf32>, %u: tensor<5x6x8xf32>,
                   %d: tensor<5x8x6xf32>, %ub: tensor<5x6xf32>,
                   %db: tensor<5x8xf32>) {
  // CHECK: transformer.experts %[[X]], %[[I]], %[[W]] up %[[U]] down %[[D]] act relu :
  %0 = transformer.experts %x, %i, %w up %u down %d act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.experts %[[X]], %[[I]], %[[W]] up %[[U]] down %[[D]] gate %[[U]] up_bias %[[UB]] gate_bias %[[UB]] down_bias %[[DB]] act silu :
  %1 = transformer.experts %x, %i, %w up %u down %d gate %u up_bias %ub
         gate_bias %ub down_bias %db act silu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>, tensor<5x6x8xf32>,
         tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @products
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[I:.*]]: tensor<?x2xi32>, %[[W:.*]]: tensor<?x2xf32>, %[[U:.*]]: tensor<5x6x8xbf16>, %[[B:.*]]: tensor<5x6xf32>
func.func @products(%x: tensor<?x8xf32>, %i: tensor<?x2xi32>,
                    %w: tensor<?x2xf32>, %u: tensor<5x6x8xbf16>,
                    %b: tensor<5x6xf32>) {
  // CHECK: %[[R:.*]], %[[E:.*]], %[[P:.*]] = transformer.group_by %[[I]] of 5 : tensor<?x2xi32>
  %r, %e, %p = transformer.group_by %i of 5 : tensor<?x2xi32>
  // CHECK: %[[S:.*]] = transformer.gather_rows %[[X]], %[[R]]
  %s = transformer.gather_rows %x, %r : tensor<?x8xf32>, tensor<?xi32>
  // CHECK: %[[A:.*]] = transformer.expert_linear %[[S]] of %[[E]], %[[U]] bias %[[B]] act silu :
  %a = transformer.expert_linear %s of %e, %u bias %b act silu
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x6x8xbf16>, tensor<5x6xf32>)
        -> tensor<?x6xf32>
  // CHECK: %[[H:.*]] = transformer.expert_linear %[[S]] of %[[E]], %[[U]] factor %[[A]] :
  %h = transformer.expert_linear %s of %e, %u factor %a
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x6x8xbf16>, tensor<?x6xf32>)
        -> tensor<?x6xf32>
  // CHECK: transformer.combine %[[H]], %[[P]], %[[W]] :
  %y = transformer.combine %h, %p, %w
      : (tensor<?x6xf32>, tensor<?x2xi32>, tensor<?x2xf32>) -> tensor<?x6xf32>
  return
}

// CHECK-LABEL: @integers
func.func @integers(%q: tensor<?x64xi8>, %e: tensor<?xi32>, %s: tensor<?xf32>, %w: tensor<5x6x64xi4>,
                    %ws: tensor<5x6x2xf32>, %z: tensor<5x6x2xf32>, %b: tensor<5x6xf32>) {
  // CHECK: transformer.expert_linear %{{.*}} of %{{.*}}, %{{.*}} scales %{{.*}}, %{{.*}} zeros %{{.*}} bias %{{.*}} act silu : (tensor<?x64xi8>, tensor<?xi32>, tensor<5x6x64xi4>, tensor<?xf32>, tensor<5x6x2xf32>, tensor<5x6x2xf32>, tensor<5x6xf32>) -> tensor<?x6xf32>
  %y = transformer.expert_linear %q of %e, %w scales %s, %ws zeros %z bias %b act silu
      : (tensor<?x64xi8>, tensor<?xi32>, tensor<5x6x64xi4>, tensor<?xf32>, tensor<5x6x2xf32>,
         tensor<5x6x2xf32>, tensor<5x6xf32>) -> tensor<?x6xf32>
  return
}

// CHECK-LABEL: @gate_rows
func.func @gate_rows(%x: tensor<?x8xf32>, %g: tensor<?x1xf32>,
                     %h: tensor<?x4xf32>) {
  // CHECK: transformer.gate_rows %{{.*}} by %{{.*}} act sigmoid : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %0 = transformer.gate_rows %x by %g act sigmoid
      : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.gate_rows %{{.*}} by %{{.*}} act softplus : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %1 = transformer.gate_rows %x by %h act softplus
      : (tensor<?x8xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @structured_tensors
func.func @structured_tensors(%z: tensor<?x12xf32>, %i: tensor<?x3xi32>,
                              %w: tensor<?x3xf32>, %n: tensor<?xi32>) {
  // CHECK: transformer.choose_experts logits %{{.*}} take 3 outs(%{{.*}}, %{{.*}}) : {{.*}} -> (tensor<?x3xi32>, tensor<?x3xf32>)
  %0:2 = transformer.choose_experts logits %z take 3 outs(%i, %w)
      : (tensor<?x12xf32>, tensor<?x3xi32>, tensor<?x3xf32>)
        -> (tensor<?x3xi32>, tensor<?x3xf32>)
  // CHECK: transformer.sort_by_expert %{{.*}} of 12 outs(%{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> (tensor<?xi32>, tensor<?xi32>, tensor<?x3xi32>)
  %1:3 = transformer.sort_by_expert %i of 12 outs(%n, %n, %i)
      : (tensor<?x3xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x3xi32>)
        -> (tensor<?xi32>, tensor<?xi32>, tensor<?x3xi32>)
  return
}

// CHECK-LABEL: @structured_buffers
func.func @structured_buffers(%z: memref<?x12xf32>, %b: memref<12xf32>,
                              %i: memref<?x3xi32>, %w: memref<?x3xf32>,
                              %n: memref<?xi32>) {
  // CHECK: transformer.choose_experts sigmoid %{{.*}} bias %{{.*}} take 3 renormalize sum outs(%{{.*}}, %{{.*}}) : {{.*}} -> ()
  transformer.choose_experts sigmoid %z bias %b take 3 renormalize sum
      outs(%i, %w)
      : (memref<?x12xf32>, memref<12xf32>, memref<?x3xi32>, memref<?x3xf32>)
        -> ()
  // CHECK: transformer.sort_by_expert %{{.*}} of 12 outs(%{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> ()
  transformer.sort_by_expert %i of 12 outs(%n, %n, %i)
      : (memref<?x3xi32>, memref<?xi32>, memref<?xi32>, memref<?x3xi32>) -> ()
  return
}

// CHECK-LABEL: @product
func.func @product(%x: tensor<?x8xf32>, %p: tensor<5x2x8x48xf32>,
                   %b: tensor<5x90xf32>, %e: tensor<?xi32>,
                   %y: tensor<?x90xf32>) -> tensor<?x90xf32> {
  // CHECK: transformer.product %{{.*}}, %{{.*}} columns(%{{.*}}) experts(%{{.*}}) outs(%{{.*}}) :
  %0 = transformer.product %x, %p columns(%b) experts(%e) outs(%y)
      : tensor<?x8xf32>, tensor<5x2x8x48xf32>, tensor<5x90xf32>, tensor<?xi32>,
        tensor<?x90xf32> -> tensor<?x90xf32> {
  ^bb0(%s: f32, %c: f32):
    %z = arith.addf %s, %c : f32
    transformer.yield %z : f32
  }
  return %0 : tensor<?x90xf32>
}

// CHECK: transformer.parameter @up : tensor<6x8xf32> layers 2 experts 5 from<["layers.{i}.{e}.up"], stored_rows = 6>
transformer.parameter @up : tensor<6x8xf32> layers 2 experts 5
  from <["layers.{i}.{e}.up"], stored_rows = 6>
// CHECK: transformer.parameter @down : tensor<8x6xf32> layers 2 experts 5 from<["layers.{i}.down"], stored_rows = 8, stacked = true> packed
transformer.parameter @down : tensor<8x6xf32> layers 2 experts 5
  from <["layers.{i}.down"], stored_rows = 8, stacked = true>
  packed<panel = 48>

// CHECK-LABEL: @weights
func.func @weights(%layer: index) {
  // CHECK: transformer.weight @up[%{{.*}}] : tensor<5x6x8xf32>
  %0 = transformer.weight @up[%layer] : tensor<5x6x8xf32>
  // CHECK: transformer.weight @down[%{{.*}}] : tensor<5x1x6x48xf32>
  %1 = transformer.weight @down[%layer] : tensor<5x1x6x48xf32>
  return
}

// CHECK-LABEL: @scaled
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<?x2xf32>, %[[I:[a-z0-9]+]]: tensor<?x2xi32>, %[[S:[a-z0-9]+]]: tensor<5xf32>
func.func @scaled(%w: tensor<?x2xf32>, %i: tensor<?x2xi32>, %s: tensor<5xf32>) {
  // CHECK: transformer.scale_experts %[[W]], %[[I]] by %[[S]] : tensor<?x2xf32>, tensor<?x2xi32>, tensor<5xf32>
  %0 = transformer.scale_experts %w, %i by %s
         : tensor<?x2xf32>, tensor<?x2xi32>, tensor<5xf32>
  return
}

// CHECK-LABEL: @mixers
// CHECK-SAME: %[[Z:.*]]: tensor<?x12xf32>
func.func @mixers(%z: tensor<?x12xf32>) {
  // CHECK: transformer.route sparsemixer %[[Z]] take 2 {tolerance = 5.0{{.*}}} :
  %0:2 = transformer.route sparsemixer %z take 2 {tolerance = 0.5 : f64}
      : (tensor<?x12xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  // CHECK: transformer.clamped_gate %[[Z]] by %[[Z]] {alpha = 1.5{{.*}}, limit = 7.0{{.*}}} :
  %1 = transformer.clamped_gate %z by %z {alpha = 1.5 : f64, limit = 7.0 : f64}
      : (tensor<?x12xf32>, tensor<?x12xf32>) -> tensor<?x12xf32>
  return
}
