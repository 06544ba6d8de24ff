// How the elements of a row become integers, for whoever makes them: rows of a
// step, and those of a matrix when it is packed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_KERNEL_QUANTIZE_H
#define TFC_COMPILER_KERNEL_QUANTIZE_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// What rows of bytes without a sign are more than they stand for.
constexpr int32_t kExcess = 128;

/// Arithmetic on numbers, or, but for the least, on vectors of them lane by
/// lane, to the same bits: elements are f32, a row's greatest one by size is
/// its bits without a sign, an i32. Integers have one order, in which a NaN is
/// greater than infinity, so that the greatest does not depend on how a row is
/// cut, nor whether it is finite. It is at least that of 2^-100: no quotient is
/// infinite, and no scale is a denormal.
mlir::Value buildLeastGreatest(mlir::ImplicitLocOpBuilder &b);
/// The greater one of what was found and `element`.
mlir::Value buildGreater(mlir::ImplicitLocOpBuilder &b, mlir::Value greatest,
                         mlir::Value element);
/// i1: whether the row has an infinity or a NaN.
mlir::Value buildIsInfinite(mlir::ImplicitLocOpBuilder &b,
                            mlir::Value greatest);
/// The greatest over 127; NaN of such a row.
mlir::Value buildScale(mlir::ImplicitLocOpBuilder &b, mlir::Value greatest);
/// An i32: `element` times (127 over the greatest) to the nearest integer, of
/// two equally near ones the even one, and `excess`. Any of a row that is not
/// finite.
mlir::Value buildInteger(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                         mlir::Value greatest, int32_t excess);

/// Integers of four bits: how many, their mask, and what is added to one of
/// [-8, 7] so that it has no sign.
constexpr int32_t kFourBits = 4;
constexpr int32_t kFourMask = 15;
constexpr int32_t kFourZero = 8;

/// The same of those, a group of a row at a time. Its scale is the -8th part of
/// its extreme, the element that is greatest by size, of several the first: of
/// that sign there is one integer more. It is at least 2^-100 by size; a NaN or
/// an infinity is one.
mlir::Value buildLeastExtreme(mlir::ImplicitLocOpBuilder &b);
/// The greater one by size of what was found and `element`.
mlir::Value buildMoreExtreme(mlir::ImplicitLocOpBuilder &b, mlir::Value extreme,
                             mlir::Value element);
/// i1: whether the group has an infinity or a NaN.
mlir::Value buildIsExtremeInfinite(mlir::ImplicitLocOpBuilder &b,
                                   mlir::Value extreme);
mlir::Value buildFourScale(mlir::ImplicitLocOpBuilder &b, mlir::Value extreme);
/// The scale as it is kept, in `element`, an f16 or bf16: the nearest, or where
/// f16 is so coarse that the extreme would be less than -8, the next one by
/// size. Infinite of one that f16 does not reach.
mlir::Value buildKeptScale(mlir::ImplicitLocOpBuilder &b, mlir::Value scale,
                           mlir::Value extreme, mlir::Type element);
/// An i32 in [0, 15]: the nearest integer to `element` over `scale`, an f32, of
/// two equally near ones the even one, at most 7, and kFourZero.
mlir::Value buildFour(mlir::ImplicitLocOpBuilder &b, mlir::Value element,
                      mlir::Value scale);

} // namespace tfc

#endif // TFC_COMPILER_KERNEL_QUANTIZE_H
