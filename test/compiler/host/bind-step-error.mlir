// An argument of which nothing says where it is in the step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-step --split-input-file --verify-diagnostics

// expected-error @+1 {{expected every argument to carry an attribute that says where it is in the step, got none on argument 1}}
func.func @argument_without_a_mark(%step: !llvm.ptr {transformer.step},
                                   %n: index) {
  return
}

// -----

// expected-error @+1 {{got none on argument 0}}
func.func @argument_with_another_mark(%n: index {llvm.noundef},
                                      %step: !llvm.ptr {transformer.step}) {
  return
}
