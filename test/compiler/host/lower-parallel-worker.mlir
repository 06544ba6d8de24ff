// A loop of one item that is known to be one is none: who runs it is alone, and
// has the first worker's memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --canonicalize --tfc-lower-parallel | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-NOT: transformer.worker
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: "test.use"(%[[ZERO]])
func.func @step(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%c1) step (%c1) {
    %worker = transformer.worker
    "test.use"(%worker) : (index) -> ()
    scf.reduce
  }
  %done = arith.constant 0 : i32
  return %done : i32
}
