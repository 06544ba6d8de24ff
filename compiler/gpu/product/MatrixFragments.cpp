// mma.sync and ldmatrix.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/MatrixFragments.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tfc;

/// Four registers of one type: what both instructions return.
static Type fourOf(Type type) {
  return LLVM::LLVMStructType::getLiteral(type.getContext(),
                                          SmallVector<Type>(4, type));
}

static std::array<Value, 4> takeApart(ImplicitLocOpBuilder &b, Value four) {
  std::array<Value, 4> values;
  for (int64_t i = 0; i < 4; ++i) {
    values[i] = LLVM::ExtractValueOp::create(b, four, i);
  }
  return values;
}

SumFragment tfc::multiplyFragments(ImplicitLocOpBuilder &b, Type element,
                                   const LeftFragment &left,
                                   const RightFragment &right,
                                   const SumFragment &sums) {
  bool isBf16 = element.isBF16();
  // NVVM has pairs of bf16 as words, pairs of f16 as vectors.
  auto pairs = [&](ArrayRef<Value> words) {
    return llvm::map_to_vector(words, [&](Value word) -> Value {
      return isBf16 ? word
                    : LLVM::BitcastOp::create(b, VectorType::get(2, element),
                                              word);
    });
  };
  NVVM::MMATypes type = isBf16 ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
  SmallVector<Value> a = pairs(left), c = pairs(right);
  Value result =
      NVVM::MmaOp::create(b, fourOf(b.getF32Type()), a, c, sums, {16, 8, 16},
                          /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
                          std::array<NVVM::MMATypes, 2>{type, type},
                          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                                         NVVM::MMALayout::col});
  return takeApart(b, result);
}

LeftFragment tfc::loadTiles(ImplicitLocOpBuilder &b, Value address,
                            bool isTransposed) {
  Value result = NVVM::LdMatrixOp::create(
      b, fourOf(b.getI32Type()), address, 4u,
      isTransposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  return takeApart(b, result);
}
