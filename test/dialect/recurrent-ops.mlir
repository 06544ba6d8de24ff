// Round trip of convolutions and recurrences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @causal_conv
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[W:.*]]: tensor<8x3xf32>, %[[B:.*]]: tensor<8xf32>, %[[S:.*]]: !transformer.state<layers = 2, width = 20>, %[[L:.*]]: index, %[[BATCH:.*]]: !transformer.batch
func.func @causal_conv(%x: tensor<?x8xf32>, %w: tensor<8x3xf32>,
                       %b: tensor<8xf32>,
                       %s: !transformer.state<layers = 2, width = 20>,
                       %l: index, %batch: !transformer.batch) {
  // CHECK: transformer.causal_conv %[[X]], %[[W]], %[[S]][%[[L]]] at 4, %[[BATCH]] : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>
  %0 = transformer.causal_conv %x, %w, %s[%l] at 4, %batch
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>
  // CHECK: transformer.causal_conv %[[X]], %[[W]], %[[S]][%[[L]]] at 0, %[[BATCH]] bias %[[B]] : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>, tensor<8xf32> -> tensor<?x8xbf16>
  %1 = transformer.causal_conv %x, %w, %s[%l] at 0, %batch bias %b
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>,
        tensor<8xf32> -> tensor<?x8xbf16>
  return
}

// CHECK-LABEL: @recurrence
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<6xf32>
func.func @recurrence(%q: tensor<?x14xf32>, %v: tensor<?x30xf32>,
                      %e: tensor<?x6xf32>, %d: tensor<6xf32>,
                      %s: !transformer.state<layers = 2, width = 210>,
                      %l: index, %batch: !transformer.batch) {
  // CHECK: transformer.recurrence %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] at 0, %{{.*}} heads 6 key_heads 2 : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>, tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  // CHECK: transformer.recurrence {{.*}} heads 6 key_heads 2 rule add skip %[[D]] : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>, tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>, tensor<6xf32>
  %1 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>,
        tensor<6xf32>
  return
}

// CHECK-LABEL: @recurrence_of_keys
func.func @recurrence_of_keys(%q: tensor<?x14xf32>, %v: tensor<?x30xf32>,
                              %d: tensor<?x42xf32>, %e: tensor<?x6xf32>,
                              %s: !transformer.state<layers = 2, width = 210>,
                              %l: index, %batch: !transformer.batch) {
  // CHECK: transformer.recurrence {{.*}} heads 6 key_heads 2 : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>, tensor<?x42xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  %0 = transformer.recurrence %q, %q, %v, %d, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x42xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// CHECK-LABEL: @selective
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<30xf32>, %[[R:[a-z0-9]+]]: tensor<7x30xf32>
func.func @selective(%q: tensor<?x7xf32>, %v: tensor<?x30xf32>,
                     %d: tensor<30xf32>, %r: tensor<7x30xf32>,
                     %s: !transformer.state<layers = 2, width = 210>,
                     %l: index, %batch: !transformer.batch) {
  // CHECK: transformer.recurrence {{.*}} heads 1 key_heads 1 rule add skip %[[D]] log_rate %[[R]] : tensor<?x7xf32>, tensor<?x7xf32>, tensor<?x30xf32>, tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>, tensor<30xf32> log_rate tensor<7x30xf32>
  %0 = transformer.recurrence %q, %q, %v, %v, %v, %s[%l] at 0, %batch
         heads 1 key_heads 1 rule add skip %d log_rate %r
      : tensor<?x7xf32>, tensor<?x7xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>,
        tensor<30xf32> log_rate tensor<7x30xf32>
  // CHECK: transformer.recurrence {{.*}} heads 1 key_heads 1 rule add log_rate %[[R]] : {{.*}}, <layers = 2, width = 210> log_rate tensor<7x30xf32>
  %1 = transformer.recurrence %q, %q, %v, %v, %v, %s[%l] at 0, %batch
         heads 1 key_heads 1 rule add log_rate %r
      : tensor<?x7xf32>, tensor<?x7xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>
        log_rate tensor<7x30xf32>
  return
}

// CHECK-LABEL: @decay
func.func @decay(%x: tensor<?x6xf32>, %r: tensor<6xf32>) {
  // CHECK: transformer.decay %{{.*}}, %{{.*}} : tensor<?x6xf32>, tensor<6xf32>
  %0 = transformer.decay %x, %r : tensor<?x6xf32>, tensor<6xf32>
  return
}

// CHECK-LABEL: @decay_of_keys
func.func @decay_of_keys(%x: tensor<?x42xf32>, %r: tensor<6xf32>) {
  // CHECK: transformer.decay %{{.*}}, %{{.*}} : tensor<?x42xf32>, tensor<6xf32>
  %0 = transformer.decay %x, %r : tensor<?x42xf32>, tensor<6xf32>
  return
}

// CHECK-LABEL: @multiply
func.func @multiply(%x: tensor<?x6xf32>, %g: tensor<?x6xbf16>) {
  // CHECK: transformer.multiply %{{.*}} by %{{.*}} : tensor<?x6xf32>, tensor<?x6xbf16>
  %0 = transformer.multiply %x by %g : tensor<?x6xf32>, tensor<?x6xbf16>
  // CHECK: transformer.multiply %{{.*}} by %{{.*}} act sigmoid : tensor<?x6xf32>, tensor<?x6xbf16> -> tensor<?x6xbf16>
  %1 = transformer.multiply %x by %g act sigmoid
      : tensor<?x6xf32>, tensor<?x6xbf16> -> tensor<?x6xbf16>
  return
}

// CHECK-LABEL: @structured
func.func @structured(%x: memref<?x8xf32>, %w: memref<8x3xf32>,
                      %b: memref<8xf32>, %e: memref<?x2xf32>,
                      %d: memref<2xf32>, %r: memref<8x8xf32>,
                      %s: !transformer.state<layers = 2, width = 64>,
                      %l: index, %batch: !transformer.batch,
                      %y: memref<?x8xf32>) {
  // CHECK: transformer.ragged_conv %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] at 0, %{{.*}} bias %{{.*}} outs(%{{.*}} : memref<?x8xf32>) : memref<?x8xf32>, memref<8x3xf32>, <layers = 2, width = 64>, memref<8xf32>
  transformer.ragged_conv %x, %w, %s[%l] at 0, %batch bias %b
      outs(%y : memref<?x8xf32>)
      : memref<?x8xf32>, memref<8x3xf32>, <layers = 2, width = 64>,
        memref<8xf32>
  // CHECK: transformer.ragged_recurrence %{{.*}} at 0, %{{.*}} heads 2 key_heads 1 outs(%{{.*}} : memref<?x8xf32>) :
  transformer.ragged_recurrence %x, %x, %x, %e, %e, %s[%l] at 0, %batch
      heads 2 key_heads 1 outs(%y : memref<?x8xf32>)
      : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2xf32>,
        memref<?x2xf32>, <layers = 2, width = 64>
  // CHECK: transformer.ragged_recurrence {{.*}} heads 2 key_heads 1 rule add skip %{{.*}} outs(%{{.*}} : memref<?x8xf32>) : {{.*}}, <layers = 2, width = 64>, memref<2xf32>
  transformer.ragged_recurrence %x, %x, %x, %e, %e, %s[%l] at 0, %batch
      heads 2 key_heads 1 rule add skip %d outs(%y : memref<?x8xf32>)
      : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2xf32>,
        memref<?x2xf32>, <layers = 2, width = 64>, memref<2xf32>
  // CHECK: transformer.ragged_recurrence {{.*}} heads 1 key_heads 1 rule add skip %{{.*}} log_rate %{{.*}} outs(%{{.*}} : memref<?x8xf32>) : {{.*}}, <layers = 2, width = 64>, memref<8xf32> log_rate memref<8x8xf32>
  transformer.ragged_recurrence %x, %x, %x, %x, %x, %s[%l] at 0, %batch
      heads 1 key_heads 1 rule add skip %b log_rate %r
      outs(%y : memref<?x8xf32>)
      : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>,
        memref<?x8xf32>, <layers = 2, width = 64>, memref<8xf32>
        log_rate memref<8x8xf32>
  return
}
