// The arrow between two stages is the one of the module's level: with none the
// product stays what it was, with full the addition joins it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-set-target '--tfc-run-arrow=from=model to=fused' | FileCheck %s --check-prefix=NONE
// RUN: tfc-opt %s --tfc-set-target=opt=full '--tfc-run-arrow=from=model to=fused' | FileCheck %s --check-prefix=FULL
// RUN: tfc-opt %s --tfc-set-target=opt=full --tfc-model-to-fused | FileCheck %s --check-prefix=FULL

// NONE: transformer.linear
// NONE: transformer.add
// FULL: transformer.linear {{.*}} residual
// FULL-NOT: transformer.add
func.func @product(%x: tensor<?x8xf32>, %w: tensor<8x8xf32>)
    -> tensor<?x8xf32> {
  %0 = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %1 = transformer.add %x, %0 : tensor<?x8xf32>, tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
