// Factors of bf16 and sums of f32 as a unit of AMX has them, in vectors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AmxFactors.h"

#include "compiler/kernel/NarrowFloat.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <limits>

using namespace mlir;
using namespace tfc;

/// Of the instruction that rounds.
static constexpr int64_t kLanes = 16;
static constexpr int64_t kHalfBytes = 2; // of a bf16

Value tfc::roundFactors(ImplicitLocOpBuilder &b, Value numbers) {
  int64_t width = cast<VectorType>(numbers.getType()).getNumElements();
  if (width != kLanes) {
    return narrowFloat(b, numbers, b.getBF16Type());
  }
  return LLVM::CallIntrinsicOp::create(
             b, VectorType::get(width, b.getBF16Type()),
             b.getStringAttr("llvm.x86.avx512bf16.cvtneps2bf16.512"), numbers)
      .getResults();
}

Value tfc::loadFactors(KernelBuilder &k, const VectorCache &cache,
                       Value pointer, int64_t width) {
  ImplicitLocOpBuilder &b = k.builder();
  auto halves = VectorType::get(width, b.getI16Type());
  Value half;
  if (cache.element.isBF16()) {
    half = LLVM::LoadOp::create(b, halves, pointer, kHalfBytes);
  } else {
    Value wide = cache.load(k, pointer, f32Vector(k, width));
    half = arith::BitcastOp::create(b, halves, roundFactors(b, wide));
  }
  return arith::ExtUIOp::create(b, VectorType::get(width, b.getI32Type()),
                                half);
}

Value tfc::splatWord(ImplicitLocOpBuilder &b, int64_t width, int32_t word) {
  auto type = VectorType::get(width, b.getI32Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, word));
}

Value tfc::flushSums(ImplicitLocOpBuilder &b, Value sums) {
  auto splat = [&](float number) -> Value {
    auto type = cast<ShapedType>(sums.getType());
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, number));
  };
  Value isKept = arith::CmpFOp::create(
      b, arith::CmpFPredicate::UGE, math::AbsFOp::create(b, sums),
      splat(std::numeric_limits<float>::min()));
  return arith::SelectOp::create(b, isKept, sums, splat(0));
}
