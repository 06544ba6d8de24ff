// Arguments of which nothing says where they are in the step, and a function that
// does not pack.
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

// -----

// A function that packs is known by its role, whatever it is called, and by
// nothing else.
// expected-error @+1 {{expected a body and the type '(index, index, index, index, index, memref<?xi8>, memref<?xi8>) -> i32' of a function that packs (by tfc-pack-weights), got '(memref<?xi8>, index, i8) -> ()'}}
func.func @something(%to: memref<?xi8>, %i: index, %x: i8)
    attributes {transformer.role = #transformer.role<pack>} {
  return
}

// -----

func.func @pack(%to: memref<?xi8>, %i: index, %x: i8) {
  memref.store %x, %to[%i] : memref<?xi8>
  return
}
