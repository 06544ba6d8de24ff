// What a stage does not allow, and who should have got rid of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(tfc-verify-stage{stage=buffer})'
// RUN: not tfc-opt %s --tfc-verify-stage=stage=shingles 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tfc-opt %s --tfc-verify-stage 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tfc-opt %S/fused.mlir --tfc-verify-stage=stage=linalg 2>&1 | FileCheck %s --check-prefix=LINALG
// RUN: not tfc-opt %S/fused.mlir --tfc-set-target --tfc-fused-to-linalg --tfc-verify-stage=stage=model 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not tfc-opt %S/fused.mlir --tfc-set-target --tfc-fused-to-linalg --tfc-linalg-to-buffer --tfc-verify-stage=stage=llvm 2>&1 | FileCheck %s --check-prefix=LLVM

// NAME: error: expected the name of a stage (model, fused, linalg,{{.*}} llvm), got "shingles"
// NONE: error: expected the name of a stage (model, fused, linalg,{{.*}} llvm), got ""
// LINALG: error: 'transformer.embedding' op is not allowed after stage 'linalg'
// LINALG: note: expected it to be gone after 'tfc-lower-to-linalg'
// LINALG-NOT: error:
// MODEL: error: 'linalg.generic' op is not allowed after stage 'model'
// MODEL: note: expected it to be gone after 'the frontend'
// LLVM: error: 'transformer.parameter' op is not allowed after stage 'llvm'
// LLVM: note: expected it to be gone after 'tfc-emit-abi'

// The outermost offender is the one to report, and only the first.
func.func @outermost_first(%x: tensor<8xf32>) {
  // expected-error @+2 {{'linalg.exp' op is not allowed after stage 'buffer'}}
  // expected-note @+1 {{expected it to be gone after 'tfc-expand-cpu-kernels'}}
  %0 = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>)
         -> tensor<8xf32>
  %1 = linalg.exp ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>)
         -> tensor<8xf32>
  return
}

// -----

// Whatever is in the buffers is lent by the host.
func.func @no_stage_allocates() {
  // expected-error @+2 {{'memref.alloc' op is not allowed after stage 'buffer'}}
  // expected-note @+1 {{}}
  %0 = memref.alloc() : memref<8xf32>
  return
}

// -----

func.func @ops_of_the_dialect_one_by_one(%x: memref<?x8xf32>) {
  // expected-error @+2 {{'transformer.tap' op is not allowed after stage 'buffer'}}
  // expected-note @+1 {{}}
  transformer.tap "x" %x : memref<?x8xf32>
  return
}
