// Each argument is read from the ABI's structs, at the offset of its field.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-bind-step --canonicalize --cse | FileCheck %s

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
#type = #transformer.input<"token_type_ids", fill = zero, limit = 2>
#y = #transformer.output_port<"y", rows = tokens, take = all, width = 8>
#z = #transformer.output_port<"z", rows = wanted, take = all, width = 8>

// Ports stay behind as attributes, in their order; what fields are is said by
// tfc_step_v0: weights 8, workspace 16, n_tokens 40, inputs 48, n_rows 88,
// rows 96, outputs 104, host 112; n_workers of tfc_host_v0: 4.
// CHECK: func.func @step(%[[STEP:.*]]: !llvm.ptr) -> i32
// CHECK-SAME: transformer.inputs = [#transformer.input<"input_ids", {{[^>]*}}>, #transformer.input<"token_type_ids", {{[^>]*}}>]
// CHECK-SAME: transformer.outputs = [#transformer.output_port<"y", {{.*}}>, #transformer.output_port<"z", {{.*}}>]
func.func @step(
    %ids: memref<?xi32> {transformer.input = #ids},
    %type: memref<?xi32> {transformer.input = #type},
    %rows: memref<?xi32> {transformer.rows},
    %y: memref<?x8xf32> {transformer.output = #y},
    %z: memref<?x8xf32> {transformer.output = #z},
    %step: !llvm.ptr {transformer.step},
    %weights: memref<?xi8> {transformer.weights},
    %workers: index {transformer.workers},
    %workspace: memref<?xi8> {transformer.workspace}) {
  // CHECK-DAG: %[[END:.*]] = arith.constant 9223372036854775807 : i64
  // CHECK-DAG: %[[OK:.*]] = arith.constant 0 : i32
  // An input: the pointer of its port, n_tokens long.
  // CHECK: llvm.getelementptr %[[STEP]][48]
  // CHECK: %[[INPUTS:.*]] = llvm.load
  // CHECK: %[[FIRST:.*]] = llvm.load %[[INPUTS]]
  // CHECK: llvm.getelementptr %[[STEP]][40]
  // CHECK: %[[TOKENS:.*]] = llvm.load
  // CHECK: llvm.insertvalue %[[FIRST]], %{{.*}}[0]
  // CHECK: llvm.insertvalue %[[FIRST]], %{{.*}}[1]
  // CHECK: llvm.insertvalue %[[TOKENS]], %{{.*}}[3, 0]
  // CHECK: %[[IDS:.*]] = builtin.unrealized_conversion_cast
  // CHECK: llvm.getelementptr %[[INPUTS]][8]
  // CHECK: %[[TYPE:.*]] = builtin.unrealized_conversion_cast
  // CHECK: llvm.getelementptr %[[STEP]][96]
  // CHECK: llvm.getelementptr %[[STEP]][88]
  // CHECK: %[[WANTED:.*]] = llvm.load
  // CHECK: llvm.insertvalue %[[WANTED]], %{{.*}}[3, 0]
  // CHECK: %[[ROWS:.*]] = builtin.unrealized_conversion_cast
  // An output has the rows of its kind.
  // CHECK: llvm.getelementptr %[[STEP]][104]
  // CHECK: %[[OUTPUTS:.*]] = llvm.load
  // CHECK: llvm.load %[[OUTPUTS]]
  // CHECK: llvm.insertvalue %[[TOKENS]], %{{.*}}[3, 0]
  // CHECK: %[[Y:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?x8xf32>
  // CHECK: llvm.getelementptr %[[OUTPUTS]][8]
  // CHECK: llvm.insertvalue %[[WANTED]], %{{.*}}[3, 0]
  // CHECK: %[[Z:.*]] = builtin.unrealized_conversion_cast
  // The host says how large weights and workspace are, not the library.
  // CHECK: llvm.getelementptr %[[STEP]][8]
  // CHECK: llvm.insertvalue %[[END]], %{{.*}}[3, 0]
  // CHECK: %[[WEIGHTS:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xi8>
  // CHECK: llvm.getelementptr %[[STEP]][112]
  // CHECK: %[[HOST:.*]] = llvm.load
  // CHECK: llvm.getelementptr %[[HOST]][4]
  // CHECK: llvm.load %{{.*}} : !llvm.ptr -> i32
  // CHECK: %[[WORKERS:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[STEP]][16]
  // CHECK: %[[WORKSPACE:.*]] = builtin.unrealized_conversion_cast
  // CHECK: "test.use"(%[[IDS]], %[[TYPE]], %[[ROWS]], %[[Y]], %[[Z]], %[[STEP]], %[[WEIGHTS]], %[[WORKERS]], %[[WORKSPACE]])
  // CHECK: return %[[OK]] : i32
  "test.use"(%ids, %type, %rows, %y, %z, %step, %weights, %workers, %workspace)
    : (memref<?xi32>, memref<?xi32>, memref<?xi32>, memref<?x8xf32>,
       memref<?x8xf32>, !llvm.ptr, memref<?xi8>, index, memref<?xi8>) -> ()
  return
}

// tfc_pack_v0: weight 4, layer 8, sources 16, packed 24, row_begin 32, row_end
// 40; tfc_stored_v0: data 0, dtype 8.
// CHECK: func.func @pack(%[[PACK:.*]]: !llvm.ptr) -> i32
func.func @pack(%weight: index, %layer: index, %begin: index, %end: index,
                %dtype: index, %source: memref<?xi8>, %packed: memref<?xi8>)
    -> i32 attributes {transformer.role = #transformer.role<pack>} {
  // CHECK: llvm.getelementptr %[[PACK]][16]
  // CHECK: %[[SOURCES:.*]] = llvm.load
  // CHECK: llvm.getelementptr %[[PACK]][4]
  // CHECK: %[[WEIGHT:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[PACK]][8]
  // CHECK: %[[LAYER:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[PACK]][32]
  // CHECK: %[[BEGIN:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[PACK]][40]
  // CHECK: %[[END:.*]] = arith.index_cast
  // CHECK: llvm.getelementptr %[[SOURCES]][8]
  // CHECK: %[[DTYPE:.*]] = arith.index_cast
  // CHECK: llvm.load %[[SOURCES]]
  // CHECK: %[[SOURCE:.*]] = builtin.unrealized_conversion_cast
  // CHECK: llvm.getelementptr %[[PACK]][24]
  // CHECK: %[[PACKED:.*]] = builtin.unrealized_conversion_cast
  // CHECK: "test.use"(%[[WEIGHT]], %[[LAYER]], %[[BEGIN]], %[[END]], %[[DTYPE]], %[[SOURCE]], %[[PACKED]])
  // CHECK: return %{{.*}} : i32
  "test.use"(%weight, %layer, %begin, %end, %dtype, %source, %packed)
    : (index, index, index, index, index, memref<?xi8>, memref<?xi8>) -> ()
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// CHECK: func.func @leaves_functions_without_a_step_alone(%{{.*}}: index) -> index {
func.func @leaves_functions_without_a_step_alone(%n: index) -> index {
  // CHECK-NEXT: return
  return %n : index
}
