// Allocations become views of one workspace; its size is a function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-plan-workspace --canonicalize --cse | FileCheck %s

!tokens = memref<?xi32>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>
#y = #transformer.output_port<"y", rows = wanted, take = all, width = 8>

// The largest rows first: each count times the bytes of a row, rounded up to
// lines of 64 bytes; a static buffer takes its lines once. Between those that
// grow there is a third of a page.
// CHECK-LABEL: @gives_every_kind_its_place
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: memref<?xi32>
// CHECK-SAME: %[[ROWS:[a-z0-9]*]]: memref<?xi32> {transformer.rows}
// CHECK-SAME: %[[OUT:[a-z0-9]*]]: memref<?x8xf32>
// CHECK-SAME: %[[WORKERS:[a-z0-9]*]]: index {transformer.workers}
// CHECK-SAME: %[[WORKSPACE:[a-z0-9]*]]: memref<?xi8> {transformer.workspace}
func.func @gives_every_kind_its_place(
    %ids: !tokens {transformer.input = #ids}, %rows: !tokens {transformer.rows},
    %out: memref<?x8xf32> {transformer.output = #y},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  // CHECK-NOT: memref.alloc
  // CHECK-DAG: %[[T:.*]] = memref.dim %[[IDS]]
  // CHECK-DAG: %[[R:.*]] = memref.dim %[[ROWS]]
  // CHECK: memref.view %[[WORKSPACE]][%{{.*}}][%[[T]]] : memref<?xi8> to memref<?x5xf32>
  %t = memref.dim %ids, %c0 : !tokens
  %tokens = memref.alloc(%t) : memref<?x5xf32>
  // CHECK: memref.view %[[WORKSPACE]][%{{.*}}][%[[R]]] : memref<?xi8> to memref<?x3xf32>
  %r = memref.dim %rows, %c0 : !tokens
  %wanted = memref.alloc(%r) : memref<?x3xf32>
  // The rows of an output are those of its kind.
  // CHECK: memref.view %[[WORKSPACE]][%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x2xf32>
  %o = memref.dim %out, %c0 : memref<?x8xf32>
  %as_output = memref.alloc(%o) : memref<?x2xf32>
  // CHECK: memref.view %[[WORKSPACE]][%{{.*}}][%[[WORKERS]]] : memref<?xi8> to memref<?x26xf32>
  %each = memref.alloc(%workers) : memref<?x26xf32>
  // CHECK: memref.view %[[WORKSPACE]][%{{.*}}][] : memref<?xi8> to memref<3xf32>
  %one = memref.alloc() : memref<3xf32>
  "test.use"(%tokens, %wanted, %as_output, %each, %one)
    : (memref<?x5xf32>, memref<?x3xf32>, memref<?x2xf32>, memref<?x26xf32>,
       memref<3xf32>) -> ()
  return
}

// CHECK-LABEL: @gives_every_kind_its_place_workspace_bytes
// CHECK-SAME: (%[[T:.*]]: index, %[[R:.*]]: index, %[[SEQUENCES:.*]]: index, %[[WORKERS:.*]]: index) -> index
// CHECK-DAG: %[[LINE:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[STAGGER:.*]] = arith.constant 1344 : index
// CHECK-DAG: %[[ROW_OF_TOKENS:.*]] = arith.constant 20 : index
// CHECK-DAG: %[[ROW_OF_WANTED:.*]] = arith.constant 12 : index
// CHECK-DAG: %[[ROW_OF_OUTPUT:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[ROW_OF_WORKERS:.*]] = arith.constant 104 : index
// CHECK-NOT: %[[SEQUENCES]]
// CHECK: %[[A:.*]] = arith.muli %[[WORKERS]], %[[ROW_OF_WORKERS]]
// CHECK: %[[A_LINES:.*]] = arith.ceildivui %[[A]], %[[LINE]]
// CHECK: %[[A_BYTES:.*]] = arith.muli %[[A_LINES]], %[[LINE]]
// CHECK: %[[A_PLACE:.*]] = arith.addi %[[A_BYTES]], %[[STAGGER]]
// CHECK: %[[B:.*]] = arith.muli %[[T]], %[[ROW_OF_TOKENS]]
// CHECK: %[[AB:.*]] = arith.addi %[[A_PLACE]],
// CHECK: %[[C:.*]] = arith.muli %[[R]], %[[ROW_OF_WANTED]]
// CHECK: %[[ABC:.*]] = arith.addi %[[AB]],
// CHECK: %[[ABCD:.*]] = arith.addi %[[ABC]], %[[LINE]]
// CHECK: %[[E:.*]] = arith.muli %[[R]], %[[ROW_OF_OUTPUT]]
// CHECK: %[[ALL:.*]] = arith.addi %[[ABCD]],
// CHECK: return %[[ALL]]

// CHECK-LABEL: func.func @leaves_functions_without_a_step_alone
func.func @leaves_functions_without_a_step_alone(%n: index) {
  // CHECK: memref.alloc
  %0 = memref.alloc(%n) : memref<?x8xf32>
  "test.use"(%0) : (memref<?x8xf32>) -> ()
  return
}
// CHECK-NOT: func.func @leaves_functions_without_a_step_alone_workspace_bytes

// The step says how many sequences there are.
// CHECK-LABEL: @counts_sequences
// CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}}[56]
// CHECK: %[[LOADED:.*]] = llvm.load %[[AT]]
// CHECK: %[[B:.*]] = arith.index_cast %[[LOADED]]
// CHECK: memref.view %{{.*}}[%{{.*}}][%{{.*}}] : memref<?xi8> to memref<?x8xf32>
func.func @counts_sequences(
    %ids: !tokens {transformer.input = #ids}, %rows: !tokens {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %at = llvm.getelementptr %step[56] : (!llvm.ptr) -> !llvm.ptr, i8
  %loaded = llvm.load %at : !llvm.ptr -> i64
  %sequences = arith.index_cast %loaded : i64 to index
  %each = memref.alloc(%sequences) : memref<?x8xf32>
  "test.use"(%each) : (memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @counts_sequences_workspace_bytes
// CHECK-SAME: (%{{.*}}: index, %{{.*}}: index, %[[SEQUENCES:.*]]: index, %{{.*}}: index) -> index
// CHECK-DAG: %[[ROW:.*]] = arith.constant 32 : index
// CHECK: arith.muli %[[SEQUENCES]], %[[ROW]]

// A minimum with a constant is at most that: 12 rows of 16 bytes, whatever the
// step.
// CHECK-LABEL: @knows_the_most_of_a_minimum
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: memref<?xi32>
// CHECK-SAME: %[[WORKSPACE:[a-z0-9]*]]: memref<?xi8> {transformer.workspace}
func.func @knows_the_most_of_a_minimum(
    %ids: !tokens {transformer.input = #ids}, %rows: !tokens {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  // CHECK: %[[T:.*]] = memref.dim %[[IDS]]
  // CHECK: %[[LEAST:.*]] = arith.minsi %[[T]], %c12
  // CHECK: memref.view %[[WORKSPACE]][%{{.*}}][%[[LEAST]]] : memref<?xi8> to memref<?x4xf32>
  %t = memref.dim %ids, %c0 : !tokens
  %least = arith.minsi %t, %c12 : index
  %few = memref.alloc(%least) : memref<?x4xf32>
  "test.use"(%few) : (memref<?x4xf32>) -> ()
  return
}
// CHECK: func.func @knows_the_most_of_a_minimum_workspace_bytes
// CHECK: %[[BYTES:.*]] = arith.constant 192 : index
// CHECK: return %[[BYTES]]

// So many rows for each token: the experts that it takes.
// CHECK-LABEL: @several_rows_a_token
// CHECK: %[[N:.*]] = arith.muli %{{.*}}, %c3 : index
// CHECK: memref.view %{{.*}}[%{{.*}}][%[[N]]] : memref<?xi8> to memref<?x5xf32>
func.func @several_rows_a_token(
    %ids: !tokens {transformer.input = #ids}, %rows: !tokens {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = memref.dim %ids, %c0 : !tokens
  %n = arith.muli %t, %c3 : index
  %pairs = memref.alloc(%n) : memref<?x5xf32>
  "test.use"(%pairs) : (memref<?x5xf32>) -> ()
  return
}

// CHECK-LABEL: @several_rows_a_token_workspace_bytes
// CHECK: %[[ROW:.*]] = arith.constant 60 : index
// CHECK: arith.muli %{{.*}}, %[[ROW]]

// Of an entry that prepares weights there are no tokens to count, and no ports.
// CHECK-LABEL: @prepares
// CHECK: memref.view %{{.*}}[%{{.*}}][] : memref<?xi8> to memref<16x8xf32>
func.func @prepares(
    %rows: !tokens {transformer.rows}, %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) attributes {transformer.prepare} {
  %table = memref.alloc() : memref<16x8xf32>
  "test.use"(%table) : (memref<16x8xf32>) -> ()
  return
}
// CHECK-LABEL: @prepares_workspace_bytes
// CHECK: %[[BYTES:.*]] = arith.constant 512 : index
// CHECK: return %[[BYTES]]
