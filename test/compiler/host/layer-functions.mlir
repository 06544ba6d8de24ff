// Layers that are functions get what their entry is lent: the weights, their
// places in its workspace, the step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-bind-weights --canonicalize | FileCheck %s --check-prefix=WEIGHTS
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse --tfc-plan-workspace --canonicalize --cse | FileCheck %s --check-prefix=WORKSPACE
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse --tfc-plan-workspace --tfc-bind-step --canonicalize --cse | FileCheck %s --check-prefix=BOUND

!tokens = memref<?xi32>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

transformer.parameter @w : tensor<8x4xf32> from <["w"], stored_rows = 8> at 64

// WEIGHTS: func.func private @step.layers.0(%{{.*}}: memref<?x4xf32> {transformer.tokens}, %{{.*}}: !transformer.batch, %{{.*}}: index, %{{.*}}: !llvm.ptr {transformer.step}, %[[WEIGHTS:.*]]: memref<?xi8> {transformer.weights}, %{{.*}}: index {transformer.workers})
// WEIGHTS: memref.view %[[WEIGHTS]][%{{.*}}][] : memref<?xi8> to memref<8x4xf32>

// The place of a buffer is the entry's plan, and is found of what the step says.
// WORKSPACE: func.func private @step.layers.0(%[[X:.*]]: memref<?x4xf32> {transformer.tokens}, %{{.*}}: index, %[[STEP:.*]]: !llvm.ptr {transformer.step}, %{{.*}}: memref<?xi8> {transformer.weights}, %{{.*}}: index {transformer.workers}, %[[SPACE:.*]]: memref<?xi8> {transformer.workspace})
// WORKSPACE-DAG: %[[AT:.*]] = llvm.getelementptr %[[STEP]][40]
// WORKSPACE-DAG: %[[ROWS:.*]] = memref.dim %[[X]]
// WORKSPACE-NOT: memref.alloc
// WORKSPACE: memref.view %[[SPACE]][%{{.*}}][%[[ROWS]]] : memref<?xi8> to memref<?x3xf32>

// BOUND: func.func private @step.layers.0(%[[STEP:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr, %[[LAYER:.*]]: index) -> i32
// BOUND: llvm.getelementptr %[[STEP]][40]
// BOUND: %[[TOKENS:.*]] = llvm.load
// BOUND: llvm.insertvalue %[[X]], %{{.*}}[1]
// BOUND: llvm.insertvalue %[[TOKENS]], %{{.*}}[3, 0]
// BOUND: %[[ROWS:.*]] = builtin.unrealized_conversion_cast
// BOUND: "test.use"(%{{.*}}, %{{.*}}, %[[ROWS]], %[[LAYER]])
func.func private @step.layers.0(%x: memref<?x4xf32> {transformer.tokens},
                                 %batch: !transformer.batch, %layer: index)
    attributes {transformer.layers_of = @step} {
  %c0 = arith.constant 0 : index
  %t = memref.dim %x, %c0 : memref<?x4xf32>
  %own = memref.alloc(%t) : memref<?x3xf32>
  %w = transformer.weight @w : memref<8x4xf32>
  "test.use"(%own, %w, %x, %layer)
    : (memref<?x3xf32>, memref<8x4xf32>, memref<?x4xf32>, index) -> ()
  return
}

func.func private @step.layers.1(%x: memref<?x4xf32> {transformer.tokens})
    attributes {transformer.layers_of = @step} {
  %c0 = arith.constant 0 : index
  %t = memref.dim %x, %c0 : memref<?x4xf32>
  %own = memref.alloc(%t) : memref<?x2xf32>
  "test.use"(%own) : (memref<?x2xf32>) -> ()
  return
}

// WEIGHTS: func.func @step(%{{.*}}, %[[BATCH:.*]]: !transformer.batch, %[[STEP:.*]]: !llvm.ptr {transformer.step}, %[[LENT:.*]]: memref<?xi8> {transformer.weights}, %[[WORKERS:.*]]: index {transformer.workers})
// WEIGHTS: call @step.layers.0(%{{.*}}, %[[BATCH]], %{{.*}}, %[[STEP]], %[[LENT]], %[[WORKERS]])
// WEIGHTS: call @step.layers.1(%{{.*}}, %[[STEP]], %[[LENT]], %[[WORKERS]])
// WORKSPACE: func.func @step(
// WORKSPACE-SAME: %[[ALL:[a-z0-9]*]]: memref<?xi8> {transformer.workspace}
// WORKSPACE: call @step.layers.0({{.*}}, %[[ALL]])
// What the two layers have of their own shares a place.
// WORKSPACE: func.func @step_workspace_bytes(%[[T:.*]]: index, %{{.*}}: index, %{{.*}}: index, %{{.*}}: index) -> index
// WORKSPACE-COUNT-2: arith.muli %[[T]], %
// WORKSPACE-NOT: arith.muli %[[T]], %
// WORKSPACE: return
// BOUND: func.func @step(%[[STEP:.*]]: !llvm.ptr) -> i32
// BOUND-DAG: %[[NINE:.*]] = arith.constant 9 : index
// BOUND: %[[BEGIN:.*]] = llvm.extractvalue %{{.*}}[1]
// BOUND: call @step.layers.0(%[[STEP]], %[[BEGIN]], %[[NINE]]) {transformer.status} : (!llvm.ptr, !llvm.ptr, index) -> i32
// BOUND: call @step.layers.1(%[[STEP]], %[[BEGIN]]) {transformer.status}
func.func @step(%ids: !tokens {transformer.input = #ids},
                %rows: !tokens {transformer.rows},
                %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  %t = memref.dim %ids, %c0 : !tokens
  %x = memref.alloc(%t) : memref<?x4xf32>
  call @step.layers.0(%x, %batch, %c9)
    : (memref<?x4xf32>, !transformer.batch, index) -> ()
  call @step.layers.1(%x) : (memref<?x4xf32>) -> ()
  return
}
