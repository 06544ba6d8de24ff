// exp, log, tanh, erf, rsqrt, sin and cos as arithmetic: values of f32 or
// vectors of f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_MATHPOLYNOMIALS_H
#define TFC_COMPILER_KERNEL_MATHPOLYNOMIALS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

// Each builds ops of arith and math (fma, sqrt) at `b` and returns a value of
// the type of `x`: f32, or a vector of f32 of any shape. The bits of a lane
// depend on neither the number of lanes nor the instruction set, given one with
// fused multiply-add. NaN gives NaN. The errors are the largest over all
// floats, in units in the last place of the correct result.

/// e^x; 0.9 ulp. Exact at 0 and at the infinities; infinite where the correct
/// result overflows. Results below 2^-125.5 (x < -86.98) are 0: products with
/// subnormal numbers are slow, and softmax has no use for them.
mlir::Value buildExp(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// ln x of a normal x above 0, at which anything else is anything; 2 ulp and
/// 1e-7. Exact at 1.
mlir::Value buildLog(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// tanh x; 4.7 ulp. Odd, keeps the sign of 0, never above 1.
mlir::Value buildTanh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// erf x; 4.7 ulp. Odd, keeps the sign of 0, never above 1.
mlir::Value buildErf(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// 1 / sqrt(x), each correctly rounded; 1.5 ulp. Infinite at 0 with its sign,
/// NaN below.
mlir::Value buildRsqrt(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// sin x and cos x; 1.6 ulp for |x| up to 2^17. Beyond that they may be
/// anything; at the infinities they are NaN. sin -0 is 0.
mlir::Value buildSin(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value buildCos(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_MATHPOLYNOMIALS_H
