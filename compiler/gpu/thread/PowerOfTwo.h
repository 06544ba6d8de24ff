// Powers of two for weights that are rounded to 16 bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_THREAD_POWEROFTWO_H
#define TFC_COMPILER_GPU_THREAD_POWEROFTWO_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// 2^x in f32 for x of at most 0, within 3e-6 of it, which is less than 16 bits
/// tell apart; below -125 it is 2^-125. Of arithmetic alone, without the
/// device's approximation, whose bits its makers leave open.
mlir::Value buildPowerOfTwo(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace tfc

#endif // TFC_COMPILER_GPU_THREAD_POWEROFTWO_H
