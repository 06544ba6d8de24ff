// Convolutions, recurrences and their gates as structured ops and maps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg | FileCheck %s

// CHECK-LABEL: @causal_conv
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8x3xf32>, %[[B:.*]]: tensor<8xf32>
func.func @causal_conv(%x: tensor<?x8xf32>, %w: tensor<8x3xf32>,
                       %b: tensor<8xf32>,
                       %s: !transformer.state<layers = 2, width = 20>,
                       %l: index, %batch: !transformer.batch)
    -> tensor<?x8xbf16> {
  // CHECK: %[[Y:.*]] = tensor.empty(%{{.*}}) : tensor<?x8xbf16>
  // CHECK: transformer.ragged_conv %[[X]], %[[W]], %{{.*}}[%{{.*}}] at 4, %{{.*}} bias %[[B]] outs(%[[Y]] : tensor<?x8xbf16>)
  %0 = transformer.causal_conv %x, %w, %s[%l] at 4, %batch bias %b
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>,
        tensor<8xf32> -> tensor<?x8xbf16>
  return %0 : tensor<?x8xbf16>
}

// CHECK-LABEL: @recurrence
// CHECK-SAME: %[[Q:.*]]: tensor<?x14xf32>, %[[V:.*]]: tensor<?x30xf32>, %[[E:.*]]: tensor<?x6xf32>
func.func @recurrence(%q: tensor<?x14xf32>, %v: tensor<?x30xf32>,
                      %e: tensor<?x6xf32>,
                      %s: !transformer.state<layers = 2, width = 210>,
                      %l: index, %batch: !transformer.batch)
    -> tensor<?x30xf32> {
  // CHECK: %[[Y:.*]] = tensor.empty(%{{.*}}) : tensor<?x30xf32>
  // CHECK: transformer.ragged_recurrence %[[Q]], %[[Q]], %[[V]], %[[E]], %[[E]], %{{.*}}[%{{.*}}] at 0, %{{.*}} heads 6 key_heads 2 outs(%[[Y]] : tensor<?x30xf32>)
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return %0 : tensor<?x30xf32>
}

// CHECK-LABEL: @recurrence_of_sums
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<6xf32>
func.func @recurrence_of_sums(%q: tensor<?x14xf32>, %v: tensor<?x30xf32>,
                      %e: tensor<?x6xf32>, %d: tensor<6xf32>,
                      %s: !transformer.state<layers = 2, width = 210>,
                      %l: index, %batch: !transformer.batch)
    -> tensor<?x30xf32> {
  // CHECK: transformer.ragged_recurrence {{.*}} heads 6 key_heads 2 rule add skip %[[D]] outs(
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>,
        tensor<6xf32>
  return %0 : tensor<?x30xf32>
}

// CHECK-LABEL: @selective
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<7x30xf32>
func.func @selective(%q: tensor<?x7xf32>, %v: tensor<?x30xf32>,
                     %r: tensor<7x30xf32>,
                     %s: !transformer.state<layers = 2, width = 210>,
                     %l: index, %batch: !transformer.batch)
    -> tensor<?x30xf32> {
  // CHECK: transformer.ragged_recurrence {{.*}} heads 1 key_heads 1 rule add log_rate %[[R]] outs(
  %0 = transformer.recurrence %q, %q, %v, %v, %v, %s[%l] at 0, %batch
         heads 1 key_heads 1 rule add log_rate %r
      : tensor<?x7xf32>, tensor<?x7xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>
        log_rate tensor<7x30xf32>
  return %0 : tensor<?x30xf32>
}

// CHECK-LABEL: @decay
func.func @decay(%x: tensor<?x6xf32>, %r: tensor<6xf32>) -> tensor<?x6xf32> {
  // CHECK: linalg.generic
  // CHECK: %[[RATE:.*]] = math.exp
  // CHECK: %[[SIZE:.*]] = math.absf
  // CHECK: %[[E:.*]] = math.exp
  // CHECK: %[[SUM:.*]] = arith.addf %[[E]]
  // CHECK: %[[LEFT:.*]] = arith.subf %[[SUM]]
  // CHECK: math.log %[[SUM]]
  // CHECK: arith.divf %[[E]], %[[LEFT]]
  // CHECK: arith.maximumf
  // CHECK: %[[LOG:.*]] = arith.select %{{.*}}, %[[E]],
  // CHECK: %[[SOFTPLUS:.*]] = arith.addf %{{.*}}, %[[LOG]]
  // CHECK: %[[LOST:.*]] = arith.mulf %[[RATE]], %[[SOFTPLUS]]
  // CHECK: %[[NEGATIVE:.*]] = arith.negf %[[LOST]]
  // CHECK: math.exp %[[NEGATIVE]]
  %0 = transformer.decay %x, %r : tensor<?x6xf32>, tensor<6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: @decay_of_keys
// CHECK-SAME: %{{.*}}: tensor<?x42xf32>, %[[R:.*]]: tensor<6xf32>
func.func @decay_of_keys(%x: tensor<?x42xf32>, %r: tensor<6xf32>)
    -> tensor<?x42xf32> {
  // CHECK: %[[EACH:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<6x7xf32>)
  // CHECK: %[[HEAD:.*]] = linalg.index 0
  // CHECK: tensor.extract %[[R]][%[[HEAD]]]
  // CHECK: %[[ALL:.*]] = tensor.collapse_shape %[[EACH]] {{.*}} into tensor<42xf32>
  // CHECK: linalg.generic {{.*}}%[[ALL]]
  %0 = transformer.decay %x, %r : tensor<?x42xf32>, tensor<6xf32>
  return %0 : tensor<?x42xf32>
}

// CHECK-LABEL: @clamp
func.func @clamp(%x: tensor<?x6xbf16>) -> tensor<?x6xf32> {
  // CHECK: linalg.generic
  // CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
  // CHECK: arith.maximumf %[[WIDE]], %{{.*}} : f32
  %0 = transformer.clamp %x least -6.5 : tensor<?x6xbf16> -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}

// CHECK-LABEL: @multiply
func.func @multiply(%x: tensor<?x6xf32>, %g: tensor<?x6xbf16>)
    -> tensor<?x6xf32> {
  // CHECK: linalg.generic
  // CHECK: ^bb0(%[[B:.*]]: bf16, %[[A:.*]]: f32):
  // CHECK: %[[WIDE:.*]] = arith.extf %[[B]] : bf16 to f32
  // CHECK: %[[NEGATIVE:.*]] = arith.negf %[[WIDE]]
  // CHECK: %[[E:.*]] = math.exp %[[NEGATIVE]]
  // CHECK: %[[SUM:.*]] = arith.addf %[[E]],
  // CHECK: %[[SIGMOID:.*]] = arith.divf %{{.*}}, %[[SUM]]
  // CHECK: arith.mulf %[[A]], %[[SIGMOID]]
  %0 = transformer.multiply %x by %g act sigmoid
      : tensor<?x6xf32>, tensor<?x6xbf16>
  return %0 : tensor<?x6xf32>
}
