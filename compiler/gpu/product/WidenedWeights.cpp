// An integer behind a power of two in the bits of a float, minus that power.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/WidenedWeights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

Value WidenedWeights::strideOf(Value depth) {
  Value stretches = t.divide(t.add(depth, kColumns - 1), kColumns);
  return t.scale(stretches, form.weightBytes(kColumns));
}

SmallVector<Value> WidenedWeights::load(Value address, int32_t columns) {
  ImplicitLocOpBuilder &b = t.builder();
  int64_t count = laneBytes(columns) / 4;
  Value vector = t.load(VectorType::get(count, b.getI32Type()), address,
                        static_cast<unsigned>(laneBytes(columns)));
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i) {
    words.push_back(vector::ExtractOp::create(b, vector, i));
  }
  return words;
}

Value WidenedWeights::subtractPairs(Value x, Value y) {
  ImplicitLocOpBuilder &b = t.builder();
  auto pairs = VectorType::get(2, form.element);
  Value left = LLVM::BitcastOp::create(b, pairs, x);
  Value right = LLVM::BitcastOp::create(b, pairs, y);
  Value difference = arith::SubFOp::create(b, left, right);
  return LLVM::BitcastOp::create(b, b.getI32Type(), difference);
}

/// Some bits of a word that is moved down, and others that are set.
Value WidenedWeights::maskOf(Value word, int32_t shift, uint32_t mask,
                             uint32_t set) {
  ImplicitLocOpBuilder &b = t.builder();
  auto number = [&](uint32_t bits) {
    return t.number(static_cast<int32_t>(bits));
  };
  if (shift != 0) {
    word = arith::ShRUIOp::create(b, word, t.number(shift));
  }
  return arith::OrIOp::create(b, arith::AndIOp::create(b, word, number(mask)),
                              number(set));
}

/// bf16 has room for seven bits behind 2^7: with the sign of an integer in 2^8,
/// 2^7 + its low bits - (2^7 or 2^8) is the integer, each of which is exact.
/// f16 has room for all eight, once 128 is added to the integer.
SmallVector<Value> WidenedWeights::widenBytes(Value word) {
  bool isBf16 = form.element.isBF16();
  if (!isBf16) {
    word = t.exclusiveOr(word, t.number(static_cast<int32_t>(0x80808080)));
  }
  SmallVector<Value> pairs;
  for (int32_t shift : {0, 8}) {
    Value x = maskOf(word, shift, isBf16 ? 0x007f007f : 0x00ff00ff, above());
    Value y = isBf16 ? maskOf(word, shift, 0x00800080, above())
                     : t.number(static_cast<int32_t>(above() | 0x00800080));
    pairs.push_back(subtractPairs(x, y));
  }
  return pairs;
}

/// The integer and the group's zero point have 8 added, both.
SmallVector<Value> WidenedWeights::widenFours(Value word, Value zero) {
  ImplicitLocOpBuilder &b = t.builder();
  Value y = t.number(static_cast<int32_t>(above() | 0x00080008));
  if (zero) {
    Value wide = arith::ExtUIOp::create(b, b.getI32Type(), zero);
    y = arith::OrIOp::create(b, t.scale(wide, 0x00010001),
                             t.number(static_cast<int32_t>(above())));
  }
  SmallVector<Value> pairs;
  for (int32_t shift : {0, 4, 8, 12}) {
    pairs.push_back(subtractPairs(maskOf(word, shift, 0x000f000f, above()), y));
  }
  return pairs;
}

SmallVector<Value> WidenedWeights::widen(ArrayRef<Value> words, int32_t half,
                                         Value zero) {
  if (form.weightBits == 4) {
    return widenFours(words[half], zero);
  }
  SmallVector<Value> pairs = widenBytes(words[2 * half]);
  llvm::append_range(pairs, widenBytes(words[2 * half + 1]));
  return pairs;
}

RowGroups::RowGroups(ThreadBuilder &t, const ProductForm &form,
                     const ProductOperands::Groups &groups, Value row,
                     Value depth) {
  constexpr int32_t together = ProductForm::kScaleRows;
  Value count = t.divide(depth, static_cast<int32_t>(form.group));
  Value panel = t.divide(row, together), own = t.remainder(row, together);
  Value stride = t.scale(count, together);
  ImplicitLocOpBuilder &b = t.builder();
  scale = form.scale;
  scales = t.element(groups.scales, scale, panel, stride, own);
  if (groups.zeros) {
    zeros = t.element(groups.zeros, b.getI8Type(), panel, stride, own);
  }
}

Value RowGroups::loadScale(ThreadBuilder &t, Value group) const {
  auto bytes = static_cast<int32_t>(scale.getIntOrFloatBitWidth() / 8);
  return t.load(
      scale, t.bytes(scales, t.scale(group, ProductForm::kScaleRows * bytes)),
      static_cast<unsigned>(bytes));
}

Value RowGroups::loadZero(ThreadBuilder &t, Value group) const {
  constexpr int32_t apart = ProductForm::kScaleRows;
  return zeros ? t.load(t.builder().getI8Type(),
                        t.bytes(zeros, t.scale(group, apart)), 1)
               : Value();
}

Value RowGroups::find(ThreadBuilder &t, const ProductForm &form, Value k,
                      Value depth) {
  auto columns = static_cast<int32_t>(form.group);
  return t.min(t.divide(k, columns), t.subtract(t.divide(depth, columns), 1));
}
