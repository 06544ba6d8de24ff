// What the host is told of rows that ranks add up.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-call-reduce --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-call-reduce --tfc-call-reduce --canonicalize | FileCheck %s --check-prefix=AGAIN

// CHECK-LABEL: @calls_reduce
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<?x8xf32>, %{{.*}}: !transformer.batch, %[[STEP:[a-z0-9]*]]: !llvm.ptr
// AGAIN-LABEL: @calls_reduce
func.func @calls_reduce(%x: memref<?x8xf32>, %batch: !transformer.batch) {
  // CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
  // CHECK: %[[HOST_FIELD:.*]] = llvm.getelementptr %[[STEP]][112]
  // CHECK: %[[HOST:.*]] = llvm.load %[[HOST_FIELD]]
  // CHECK: %[[REDUCE_FIELD:.*]] = llvm.getelementptr %[[HOST]][40]
  // CHECK: %[[REDUCE:.*]] = llvm.load %[[REDUCE_FIELD]]
  // CHECK: llvm.getelementptr %[[HOST]][8]
  // CHECK: %[[CONTEXT:.*]] = llvm.load
  // CHECK: %[[ROWS:.*]] = memref.dim %[[X]]
  // CHECK: %[[NUMBERS:.*]] = arith.muli %[[ROWS]], %[[EIGHT]]
  // CHECK: %[[COUNT:.*]] = arith.index_cast %[[NUMBERS]] : index to i64
  // CHECK: %[[PARTS:.*]] = builtin.unrealized_conversion_cast %[[X]]
  // CHECK: %[[DATA:.*]] = llvm.extractvalue %[[PARTS]][1]
  // CHECK: llvm.call %[[REDUCE]](%[[CONTEXT]], %[[DATA]], %[[COUNT]]) {transformer.status} : {{.*}} -> i32
  // AGAIN-COUNT-1: llvm.call
  // AGAIN-NOT: llvm.call
  transformer.reduce_in_place outs(%x : memref<?x8xf32>)
  return
}
