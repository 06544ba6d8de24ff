// What the host is told of a value.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-call-taps --canonicalize --cse | FileCheck %s

// CHECK-DAG: llvm.mlir.global internal constant @[[$FIRST_ID:.*]]("attn:linear\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[$SECOND_ID:.*]]("token:embedding\00")

// The host may have no tap: then nothing is called.
// CHECK-LABEL: @calls_the_tap_if_there_is_one
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x8xf32>, %[[LAYER:[a-z0-9]*]]: index, %{{.*}}: !transformer.batch, %[[STEP:[a-z0-9]*]]: !llvm.ptr
func.func @calls_the_tap_if_there_is_one(%x: memref<?x8xf32>, %layer: index,
                                         %batch: !transformer.batch) {
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK-DAG: %[[WIDTH:.*]] = arith.constant 8 : i64
  // CHECK-DAG: %[[ID:.*]] = llvm.mlir.addressof @[[$FIRST_ID]]
  // CHECK: %[[HOST_FIELD:.*]] = llvm.getelementptr %[[STEP]][112]
  // CHECK: %[[HOST:.*]] = llvm.load %[[HOST_FIELD]]
  // CHECK: %[[TAP_FIELD:.*]] = llvm.getelementptr %[[HOST]][24]
  // CHECK: %[[TAP:.*]] = llvm.load %[[TAP_FIELD]]
  // CHECK: %[[GIVEN:.*]] = llvm.icmp "ne" %[[TAP]], %[[NULL]]
  // CHECK: scf.if %[[GIVEN]]
  // CHECK: %[[NUMBER:.*]] = arith.index_cast %[[LAYER]] : index to i64
  // CHECK: memref.extract_aligned_pointer_as_index %[[X]]
  // CHECK: %[[DATA:.*]] = llvm.inttoptr
  // CHECK: memref.dim %[[X]]
  // CHECK: %[[ROWS:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[HOST]][8]
  // CHECK: %[[CONTEXT:.*]] = llvm.load
  // CHECK: llvm.call %[[TAP]](%[[CONTEXT]], %[[ID]], %[[NUMBER]], %{{.*}}, %[[DATA]], %[[ROWS]], %[[WIDTH]])
  transformer.tap "attn:linear" layer %layer %x : memref<?x8xf32>
  return
}

// CHECK-LABEL: @outside_the_layers_a_tap_says_minus_one
func.func @outside_the_layers_a_tap_says_minus_one(%x: memref<?x8xf32>,
                                                   %batch: !transformer.batch) {
  // CHECK-DAG: %[[NO_LAYER:.*]] = arith.constant -1 : i64
  // CHECK-DAG: %[[ID:.*]] = llvm.mlir.addressof @[[$SECOND_ID]]
  // CHECK: llvm.call %{{.*}}(%{{.*}}, %[[ID]], %[[NO_LAYER]],
  transformer.tap "token:embedding" %x : memref<?x8xf32>
  return
}
