// Kernels read the step, so entries are bound to the host before.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-scalar-kernels --verify-diagnostics

// expected-error @+1 {{expected arguments marked as 'transformer.step' and 'transformer.workers' (by tfc-bind-weights)}}
func.func @unbound(%batch: !transformer.batch) {
  return
}
