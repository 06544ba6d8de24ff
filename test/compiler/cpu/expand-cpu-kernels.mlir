// What an entry gets and loses, weights, and taps. The kernels of attention and
// cache have a file of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-cpu-kernels --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-expand-cpu-kernels=kernels=scalar --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 4>
!scratch = !transformer.cache<scratch, layers = 3, kv_heads = 2, head_dim = 4>

// CHECK-DAG: llvm.mlir.global internal constant @[[$FIRST_ID:.*]]("attn:linear\00")
// CHECK-DAG: llvm.mlir.global internal constant @[[$SECOND_ID:.*]]("token:embedding\00")

transformer.parameter @w : tensor<8x4xf32> layers 3
  from <["w.{i}"], stored_rows = 8> at 64 stride 128
transformer.parameter @b : tensor<4xf32> from <["b"], stored_rows = 4> at 448

// A block holds 16 positions: 16 x 2 rows x 4 numbers x 4 bytes a layer.
// CHECK-LABEL: @takes_what_the_host_lends
// CHECK-SAME: (%{{.*}}: memref<?xi32>, %{{.*}}: !llvm.ptr {transformer.step}, %{{.*}}: memref<?xi8> {transformer.weights}, %{{.*}}: index {transformer.workers})
// CHECK-SAME: attributes {transformer.cache = {block_bytes = 1536 : i64, block_tokens = 16 : i64, layer_bytes = 512 : i64, layers = 3 : i64, query_rows = 4 : i64}}
func.func @takes_what_the_host_lends(%ids: memref<?xi32>,
                                     %batch: !transformer.batch,
                                     %cache: !cache) {
  return
}

// All layers use the one block in turn.
// CHECK-LABEL: @scratch_holds_one_layer
// CHECK-SAME: block_bytes = 1024 : i64, block_tokens = 16 : i64, layer_bytes = 0 : i64, layers = 1 : i64
func.func @scratch_holds_one_layer(%batch: !transformer.batch,
                                   %cache: !scratch) {
  return
}

// CHECK-LABEL: @leaves_functions_without_a_batch_alone
// CHECK-SAME: (%{{[a-z0-9]*}}: memref<?xi32>) {
func.func @leaves_functions_without_a_batch_alone(%x: memref<?xi32>) {
  return
}

// CHECK-LABEL: @views_weights_in_the_packed_area
// CHECK-SAME: %[[LAYER:[a-z0-9]*]]: index
// CHECK-SAME: %[[PACKED:[a-z0-9]*]]: memref<?xi8> {transformer.weights}
func.func @views_weights_in_the_packed_area(%layer: index,
                                            %batch: !transformer.batch,
                                            %x: memref<8x4xf32>,
                                            %y: memref<4xf32>) {
  // CHECK-DAG: %[[BIAS_OFFSET:.*]] = arith.constant 448
  // CHECK-DAG: %[[STRIDE:.*]] = arith.constant 128
  // CHECK-DAG: %[[OFFSET:.*]] = arith.constant 64
  // CHECK: %[[DISTANCE:.*]] = arith.muli %[[LAYER]], %[[STRIDE]]
  // CHECK: %[[PLACE:.*]] = arith.addi %[[DISTANCE]], %[[OFFSET]]
  // CHECK: memref.view %[[PACKED]][%[[PLACE]]][] : memref<?xi8> to memref<8x4xf32>
  // CHECK: memref.view %[[PACKED]][%[[BIAS_OFFSET]]][] : memref<?xi8> to memref<4xf32>
  %w = transformer.weight @w[%layer] : memref<8x4xf32>
  %b = transformer.weight @b : memref<4xf32>
  memref.copy %w, %x : memref<8x4xf32> to memref<8x4xf32>
  memref.copy %b, %y : memref<4xf32> to memref<4xf32>
  return
}

// The host may have no tap: then nothing is called.
// CHECK-LABEL: @calls_the_tap_if_there_is_one
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x8xf32>, %[[LAYER:[a-z0-9]*]]: index, %[[STEP:[a-z0-9]*]]: !llvm.ptr
func.func @calls_the_tap_if_there_is_one(%x: memref<?x8xf32>, %layer: index,
                                         %batch: !transformer.batch) {
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK-DAG: %[[WIDTH:.*]] = arith.constant 8 : i64
  // CHECK-DAG: %[[ID:.*]] = llvm.mlir.addressof @[[$FIRST_ID]]
  // CHECK: %[[HOST_FIELD:.*]] = llvm.getelementptr %[[STEP]][104]
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
  // CHECK: %[[CONTEXT:.*]] = llvm.load %[[HOST]]
  // CHECK: llvm.call %[[TAP]](%[[CONTEXT]], %[[ID]], %[[NUMBER]], %[[DATA]], %[[ROWS]], %[[WIDTH]])
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
