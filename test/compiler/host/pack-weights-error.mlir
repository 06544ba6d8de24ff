// Weights that no address space holds, though each of them would fit; and a
// function that is there already.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --split-input-file --verify-diagnostics

transformer.parameter @a : tensor<1048576x1048576xf32> layers 2000000
  from <["a.{i}"], stored_rows = 1048576>
// expected-error @below {{expected less than 2^63 bytes of packed weights, got more with it}}
transformer.parameter @b : tensor<1048576x1048576xf32> layers 2000000
  from <["b.{i}"], stored_rows = 1048576>

// -----

// expected-error @below {{expected a module without @pack (the pass generates it), got one}}
func.func private @pack()
