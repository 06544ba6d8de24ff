// How a word of a row is multiplied by words of a panel: by instructions that
// take all of it at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/WordProduct.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tfc;

static constexpr int64_t kWordBits = 32;

/// What they compute: InstructionModels.cpp. That of 16 bits does not add to a
/// sum.
static StringRef findDot(bool isBf16, int64_t lanes) {
  bool isLong = lanes == 16;
  if (isBf16) {
    return isLong ? "llvm.x86.avx512bf16.dpbf16ps.512" : "";
  }
  return isLong ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
}

/// By `intrinsic`, of 128 bits, for vectors of any multiple; sdot takes a word
/// of the second factor by its lane. Their parts are not vector's, which is cut
/// into rows of lanes.
static Value multiplySigned(ImplicitLocOpBuilder &b, StringRef intrinsic,
                            Value sum, Value first, Value second) {
  constexpr int64_t kWords = 4, kBytes = 16; // of an instruction
  auto part = [&](Value all, int64_t number, int64_t size) -> Value {
    SmallVector<int32_t> lanes(size);
    std::iota(lanes.begin(), lanes.end(), number * size);
    return LLVM::ShuffleVectorOp::create(b, all, all, lanes);
  };
  // Both of the same size.
  auto join = [&](Value first, Value second) -> Value {
    int64_t size = cast<VectorType>(first.getType()).getNumElements();
    SmallVector<int32_t> lanes(2 * size);
    std::iota(lanes.begin(), lanes.end(), 0);
    return LLVM::ShuffleVectorOp::create(b, first, second, lanes);
  };
  SmallVector<Value> parts;
  int64_t width = cast<VectorType>(sum.getType()).getNumElements();
  for (int64_t number = 0; number < width / kWords; ++number) {
    Value operands[] = {part(sum, number, kWords), part(first, number, kBytes),
                        part(second, number, kBytes)};
    Value own =
        LLVM::CallIntrinsicOp::create(b, operands[0].getType(),
                                      b.getStringAttr(intrinsic), operands)
            .getResult(0);
    parts.push_back(own);
  }
  while (parts.size() > 1) {
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      parts[i] = join(parts[2 * i], parts[2 * i + 1]);
    }
    parts.resize(parts.size() / 2);
  }
  return parts.front();
}

/// A word, or the two of a pair, as often as `type` has room for it.
static Value repeat(ImplicitLocOpBuilder &b, Value row, Type type) {
  int64_t bytes = cast<VectorType>(type).getNumElements();
  if (auto pair = dyn_cast<VectorType>(row.getType())) {
    SmallVector<int32_t> lanes(bytes);
    for (auto [i, lane] : llvm::enumerate(lanes)) {
      lane = static_cast<int32_t>(i % pair.getNumElements());
    }
    return LLVM::ShuffleVectorOp::create(b, row, row, lanes);
  }
  int64_t words = bytes * 8 / row.getType().getIntOrFloatBitWidth();
  Value all = vector::BroadcastOp::create(
      b, VectorType::get(words, row.getType()), row);
  return LLVM::BitcastOp::create(b, type, all);
}

Value WordProduct::multiplyBytes(ImplicitLocOpBuilder &b,
                                 transformer::ProductKind kind, Value sum,
                                 Value first, Value second) {
  if (kind == transformer::ProductKind::SignedDot) {
    return multiplySigned(b, "llvm.aarch64.neon.sdot.v4i32.v16i8", sum, first,
                          second);
  }
  int64_t width = cast<VectorType>(sum.getType()).getNumElements();
  StringAttr name =
      b.getStringAttr(width == 16 ? "llvm.x86.avx512.vpdpbusd.512"
                                  : "llvm.x86.avx512.vpdpbusd.256");
  return LLVM::CallIntrinsicOp::create(b, sum.getType(), name,
                                       ValueRange{sum, first, second})
      .getResult(0);
}

bool WordProduct::isKnown() const {
  if (kind == transformer::ProductKind::SignedDot) {
    return weightElement.isInteger(8) && rowElement.isInteger(8) &&
           (lanes == 16 || lanes == 8);
  }
  if (isMatrix()) {
    return weightElement.isInteger(8) && rowElement.isInteger(8) &&
           rows % 2 == 0 && lanes == 8;
  }
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
  Type whole = b.getIntegerType(bits * columns());
  return count == columns() ? word : arith::ExtUIOp::create(b, whole, word);
}

/// By an instruction of its own: two neighbours that one loads (ldp) are more
/// registers than matrices leave, and by LLVM's model of a Neoverse V2 a third
/// operation.
static Value loadApart(ImplicitLocOpBuilder &b, Type type, Value place,
                       unsigned alignment) {
  return LLVM::LoadOp::create(b, type, place, alignment, /*isVolatile=*/true);
}

Value WordProduct::loadPair(ImplicitLocOpBuilder &b, Value place) const {
  return loadApart(b, VectorType::get(2 * columns(), rowElement), place,
                   /*alignment=*/1);
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
  if (isMatrix()) {
    return loadApart(b, elements, place, /*alignment=*/4);
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
  if (isMatrix()) {
    return multiplySigned(b, "llvm.aarch64.neon.smmla.v4i32.v16i8", sum,
                          repeat(b, row, weights.getType()), weights);
  }
  auto sums = cast<VectorType>(sum.getType());
  int64_t width = sums.getDimSize(0);
  Value all = vector::BroadcastOp::create(
      b, VectorType::get(width, b.getI32Type()), row);
  all = LLVM::BitcastOp::create(b, weights.getType(), all);
  auto call = [&](ValueRange operands) -> Value {
    StringAttr name = b.getStringAttr(findDot(isBf16(), width));
    return LLVM::CallIntrinsicOp::create(b, sums, name, operands).getResult(0);
  };
  if (isWide()) {
    return arith::AddIOp::create(b, sum, call({all, weights}));
  }
  // Of bf16 either may come first, and of bytes with a sign.
  if (isBf16()) {
    return call({sum, weights, all});
  }
  return kind == transformer::ProductKind::SignedDot
             ? multiplyBytes(b, kind, sum, weights, all)
             : multiplyBytes(b, kind, sum, all, weights);
}
