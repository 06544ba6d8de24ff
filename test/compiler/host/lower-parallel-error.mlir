// Loops that the host cannot run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-parallel --split-input-file --verify-diagnostics

func.func @loop_outside_an_entry(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{expected a loop without reductions in an entry of one pointer (see tfc-bind-step)}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.reduce
  }
  return
}

// -----

func.func @loop_with_a_reduction(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  // expected-error @+1 {{expected a loop without reductions}}
  %sum = scf.parallel (%i) = (%c0) to (%c1) step (%c1) init (%ok) -> i32 {
    scf.reduce(%ok : i32) {
    ^bb0(%a: i32, %b: i32):
      scf.reduce.return %a : i32
    }
  }
  return %sum : i32
}
