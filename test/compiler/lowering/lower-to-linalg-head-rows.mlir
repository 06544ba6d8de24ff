// Outputs of which a step may name columns: products over the vocabulary that
// are the output, with what is done to each of their elements.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=48 --canonicalize | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s --check-prefix=ROWS
// RUN: tfc-opt %s --tfc-lower-to-linalg=kernel-rows=8 --canonicalize | FileCheck %s --check-prefix=DEVICE

#ids = #transformer.input<"input_ids", fill = required, limit = 97>
transformer.parameter @head : tensor<97x8xf32> from <["h"], stored_rows = 97>
transformer.parameter @labels : tensor<96x8xf32> from <["l"], stored_rows = 96>

// Weights in rows are products of linalg, which compute all.
// ROWS-NOT: head_rows
// A device's kernels have no panels to leave out.
// DEVICE: transformer.product
// DEVICE-NOT: head_rows

// CHECK-LABEL: @of_the_vocabulary
// CHECK-SAME: #transformer.output_port<"logits", rows = wanted, take = all, head_rows = true, width = 97>
func.func @of_the_vocabulary(%ids: tensor<?xi32> {transformer.input = #ids},
                             %x: tensor<?x8xf32>) {
  // CHECK: scf.if
  // CHECK: %[[OUT:.*]] = bufferization.to_tensor
  // CHECK: transformer.product {{.*}} outs(%[[OUT]]) {head_rows}
  transformer.output "logits" wanted take all {
    %w = transformer.weight @head : tensor<97x8xf32>
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<97x8xf32>
    transformer.yield %y : tensor<?x97xf32>
  }
  return
}

// A cap is part of the body.
// CHECK-LABEL: @what_is_done_to_elements_joins
// CHECK-SAME: head_rows = true
func.func @what_is_done_to_elements_joins(
    %ids: tensor<?xi32> {transformer.input = #ids}, %x: tensor<?x8xf32>) {
  // CHECK: transformer.product {{.*}} {head_rows}
  // CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32):
  // CHECK-NEXT: %[[SMALL:.*]] = arith.mulf %[[SUM]], %{{.*}} : f32
  // CHECK-NEXT: %[[BENT:.*]] = math.tanh %[[SMALL]] : f32
  // CHECK-NEXT: %[[CAPPED:.*]] = arith.mulf %[[BENT]], %{{.*}} : f32
  // CHECK-NEXT: transformer.yield %[[CAPPED]] : f32
  // CHECK-NOT: linalg.generic
  transformer.output "logits" tokens take all {
    %w = transformer.weight @head : tensor<97x8xf32>
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<97x8xf32>
    %small = transformer.scale %y by 0.5 : tensor<?x97xf32>
    %bent = transformer.activation tanh %small : tensor<?x97xf32>
    %z = transformer.scale %bent by 2.0 : tensor<?x97xf32>
    transformer.yield %z : tensor<?x97xf32>
  }
  return
}

// CHECK-LABEL: @of_anything_else
// CHECK-NOT: head_rows
func.func @of_anything_else(%ids: tensor<?xi32> {transformer.input = #ids},
                            %x: tensor<?x8xf32>) {
  transformer.output "labels" wanted take all {
    %w = transformer.weight @labels : tensor<96x8xf32>
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<96x8xf32>
    transformer.yield %y : tensor<?x96xf32>
  }
  // Columns of it.
  transformer.output "score" wanted take all squeezed {
    %w = transformer.weight @head : tensor<97x8xf32>
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<97x8xf32>
    %z = transformer.slice_columns %y[3, 1] : tensor<?x97xf32>
    transformer.yield %z : tensor<?x1xf32>
  }
  // Somebody else reads it.
  transformer.output "told" wanted take all {
    %w = transformer.weight @head : tensor<97x8xf32>
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<97x8xf32>
    transformer.tap "head" %y : tensor<?x97xf32>
    transformer.yield %y : tensor<?x97xf32>
  }
  return
}
