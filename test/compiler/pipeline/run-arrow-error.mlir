// Arrows need to know what the module is compiled for, and what that has.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-model-to-fused 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: expected a module with the attribute transformer.target (tfc-set-target writes it), got none
// RUN: not tfc-opt %s --tfc-set-target --tfc-linalg-to-tiled 2>&1 | FileCheck %s --check-prefix=ARROW
// ARROW: error: expected an arrow of x86-64-v3 with opt=none, got linalg to tiled
// RUN: not tfc-opt %s --tfc-set-target=opt=full --tfc-linalg-to-buffer 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: expected an arrow of x86-64-v3 with opt=full, got linalg to buffer

// RUN: not tfc-opt %s --tfc-set-target=target=cuda:sm_80 --tfc-buffer-to-llvm 2>&1 | FileCheck %s --check-prefix=CUDA
// CUDA: error: expected an arrow of sm_80 with opt=none, got buffer to llvm
// RUN: not tfc-opt %s --tfc-set-target="target=cuda opt=full" --tfc-linalg-to-tiled 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: expected an arrow of sm_80 with opt=full, got linalg to tiled

// What the attribute says is looked at as well.
// RUN: echo 'module attributes {transformer.target = #transformer.target<"sparc64", opt = full>} {}' > %t.mlir
// RUN: not tfc-opt %t.mlir --tfc-model-to-fused 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: error: expected the name of a program in transformer.target, got "sparc64"
module {
}
