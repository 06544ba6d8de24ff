// How a word of a row is multiplied by words of a panel: by instructions that
// take all of it at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/WordProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kWordBits = 32;

/// What they compute: InstructionModels.cpp. That of 16 bits does not add to a
/// sum.
static StringRef findDot(bool isBf16, bool isWide, int64_t lanes) {
  bool isLong = lanes == 16;
  if (isBf16) {
    return isLong ? "llvm.x86.avx512bf16.dpbf16ps.512" : "";
  }
  if (isWide) {
    return isLong ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
  }
  return isLong ? "llvm.x86.avx512.vpdpbusd.512"
                : "llvm.x86.avx512.vpdpbusd.256";
}

bool WordProduct::isKnown(int64_t lanes) const {
  if (isBf16()) {
    return weightElement.isBF16() && lanes == 16;
  }
  return weightElement.isInteger(8) && (isWide() || rowElement.isInteger(8)) &&
         (lanes == 16 || lanes == 8);
}

Type WordProduct::sumElement() const {
  MLIRContext *context = rowElement.getContext();
  return isBf16() ? Type(Float32Type::get(context))
                  : IntegerType::get(context, kWordBits);
}

Value WordProduct::loadRow(ImplicitLocOpBuilder &b, Value place,
                           int64_t count) const {
  int64_t bits = rowElement.getIntOrFloatBitWidth();
  Value word = LLVM::LoadOp::create(b, b.getIntegerType(bits * count), place,
                                    /*alignment=*/bits / 8);
  return count == columns() ? word
                            : arith::ExtUIOp::create(b, b.getI32Type(), word);
}

Value WordProduct::loadWeights(ImplicitLocOpBuilder &b, Value place,
                               int64_t width, int64_t count) const {
  auto elements = VectorType::get(columns() * width, weightElement);
  if (isWide()) {
    Value bytes = LLVM::LoadOp::create(b, elements, place, /*alignment=*/2);
    // Not arith's, which is cut into rows of lanes.
    return LLVM::SExtOp::create(
        b, VectorType::get(columns() * width, b.getI16Type()), bytes);
  }
  auto words = VectorType::get(width, b.getI32Type());
  Value all = LLVM::LoadOp::create(b, words, place, /*alignment=*/4);
  if (isBf16() && count < columns()) {
    // What the weights have behind a row's end must not meet it: zero times NaN
    // is one.
    Value first = arith::ConstantOp::create(
        b, DenseElementsAttr::get(words, llvm::APInt(kWordBits, 0xffff)));
    all = arith::AndIOp::create(b, all, first);
  }
  return LLVM::BitcastOp::create(b, elements, all);
}

Value WordProduct::multiply(ImplicitLocOpBuilder &b, Value sum, Value row,
                            Value weights) const {
  auto sums = cast<VectorType>(sum.getType());
  int64_t width = sums.getDimSize(0);
  Value all = vector::BroadcastOp::create(
      b, VectorType::get(width, b.getI32Type()), row);
  all = LLVM::BitcastOp::create(b, weights.getType(), all);
  auto call = [&](ValueRange operands) -> Value {
    StringAttr name = b.getStringAttr(findDot(isBf16(), isWide(), width));
    return LLVM::CallIntrinsicOp::create(b, sums, name, operands).getResult(0);
  };
  if (isWide()) {
    return arith::AddIOp::create(b, sum, call({all, weights}));
  }
  // Of bf16 either may come first.
  return isBf16() ? call({sum, weights, all}) : call({sum, all, weights});
}
