// A tap behind every op whose result is rows, named by location and op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-insert-taps | FileCheck %s
// What is reported is not reported again.
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-insert-taps --tfc-insert-taps | FileCheck %s
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-insert-taps --canonicalize --cse | FileCheck %s --check-prefix=CLEAN

transformer.parameter @w : tensor<8xf32> layers 2
  from <["w.{i}"], stored_rows = 8>

// CHECK-LABEL: @names_the_tap_by_the_spec_path
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8xf32>
func.func @names_the_tap_by_the_spec_path(%x: tensor<?x8xf32>,
                                          %w: tensor<8xf32>) {
  // CHECK: %[[Y:.*]] = transformer.layer_norm %[[X]], %[[W]]
  // CHECK-NEXT: transformer.tap "encoder.final_norm:layer_norm" %[[Y]] : tensor<?x8xf32>
  // CHECK-NEXT: return
  %0 = transformer.layer_norm %x, %w {eps = 1.0 : f64}
         : tensor<?x8xf32>, tensor<8xf32> loc("encoder.final_norm")
  return
}

// CHECK-LABEL: @reports_the_op_alone_without_a_path
// CHECK: %[[SUM:.*]] = transformer.add
// CHECK-NEXT: transformer.tap ":add" %[[SUM]]
func.func @reports_the_op_alone_without_a_path(%x: tensor<?x8xf32>) {
  %0 = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// CHECK-LABEL: @carries_the_layer_in_the_loop
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @carries_the_layer_in_the_loop(%x: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: scf.for %[[LAYER:.*]] = {{.*}} iter_args(%[[ROWS:.*]] =
  // The weight is no rows: it gets none.
  // CHECK-NEXT: transformer.weight
  // CHECK-NEXT: %[[Y:.*]] = transformer.layer_norm %[[ROWS]]
  // CHECK-NEXT: transformer.tap "norm:layer_norm" layer %[[LAYER]] %[[Y]]
  // CHECK-NEXT: scf.yield %[[Y]]
  %0 = scf.for %layer = %c0 to %c2 step %c1 iter_args(%rows = %x)
         -> (tensor<?x8xf32>) {
    %w = transformer.weight @w[%layer] : tensor<8xf32>
    %y = transformer.layer_norm %rows, %w {eps = 1.0 : f64}
           : tensor<?x8xf32>, tensor<8xf32> loc("norm")
    scf.yield %y : tensor<?x8xf32>
  }
  // The loop's own result is none of the dialect's.
  // CHECK: }
  // CHECK-NEXT: return
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @taps_what_an_output_computes
func.func @taps_what_an_output_computes(%x: tensor<?x8xf32>) {
  // CHECK: transformer.output
  // CHECK-NEXT: %[[Y:.*]] = transformer.activation relu
  // CHECK-NEXT: transformer.tap ":activation" %[[Y]]
  // CHECK-NEXT: transformer.yield %[[Y]]
  transformer.output "y" tokens take all {
    %y = transformer.activation relu %x : tensor<?x8xf32>
    transformer.yield %y : tensor<?x8xf32>
  }
  return
}

// CHECK-LABEL: @leaves_other_dialects_alone
func.func @leaves_other_dialects_alone(%n: index) -> tensor<?x8xf32> {
  // CHECK-NEXT: tensor.empty
  // CHECK-NEXT: return
  %0 = tensor.empty(%n) : tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// What a tap reports survives the passes that follow, used or not, and two
// equal values stay two reports.
// CLEAN-LABEL: @keeps_tapped_values
func.func @keeps_tapped_values(%x: tensor<?x8xf32>) {
  // CLEAN: transformer.add
  // CLEAN: transformer.tap ":add"
  // CLEAN: transformer.tap ":add"
  %0 = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  %1 = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  return
}

// CHECK-LABEL: @leaves_what_nobody_registered
func.func @leaves_what_nobody_registered() {
  // CHECK: "somebody.elses"
  // CHECK-NOT: transformer.tap
  %0 = "somebody.elses"() : () -> tensor<?x4xf32>
  return
}
