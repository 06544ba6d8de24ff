// Factors of bf16 and sums of f32 as a unit of AMX has them, in vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_AMXFACTORS_H
#define TFC_COMPILER_CPU_AMXFACTORS_H

#include "compiler/cpu/VectorCache.h"

namespace tfc {

/// Vectors of f32 as bf16, for who takes denormals for zeros.
mlir::Value roundFactors(mlir::ImplicitLocOpBuilder &b, mlir::Value numbers);

/// Words, i32, whose lower halves are `width` of the cache's elements from
/// `pointer` on, rounded where those are wider.
mlir::Value loadFactors(KernelBuilder &k, const VectorCache &cache,
                        mlir::Value pointer, int64_t width);

/// `width` words, all of them `word`.
mlir::Value splatWord(mlir::ImplicitLocOpBuilder &b, int64_t width,
                      int32_t word);

/// What has passed the unit, or was to, and is below the normal numbers is
/// zero; no zero has a sign.
mlir::Value flushSums(mlir::ImplicitLocOpBuilder &b, mlir::Value sums);

} // namespace tfc

#endif // TFC_COMPILER_CPU_AMXFACTORS_H
