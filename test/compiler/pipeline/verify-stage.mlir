// What each stage allows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --tfc-verify-stage=stage=buffer | FileCheck %s

// It changes nothing.
// CHECK-LABEL: @buffers_hold_loops_and_memory_of_the_host
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: transformer.worker
// CHECK-NEXT: return
func.func @buffers_hold_loops_and_memory_of_the_host(%x: memref<?xf32>,
                                                     %n: index) {
  scf.for %i = %n to %n step %n {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = math.sqrt %0 : f32
    memref.store %1, %x[%i] : memref<?xf32>
  }
  %w = transformer.worker
  return
}

// -----

// CHECK: transformer.parameter @parameters_stay_for_the_tables
transformer.parameter @parameters_stay_for_the_tables : tensor<8xf32>
  from <["w"], stored_rows = 8>
