// Conversions of f16 as arithmetic, of whole vectors without branches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/emit/HalfConversions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

/// A mantissa of f16 has so many bits less than one of f32, and an exponent is
/// so much less.
static constexpr uint32_t kBits = 13, kBias = 112;
static constexpr uint32_t kInfinity = 0x7f800000, kQuiet = 0x00400000;
static constexpr uint32_t kHalfInfinity = 0x7c00, kHalfQuiet = 0x0200;

/// `like` is a type of the shape that is wanted, of any element.
static Type *withElement(Type *like, Type *element) {
  auto *vector = dyn_cast<VectorType>(like);
  return vector ? VectorType::get(element, vector->getElementCount()) : element;
}

static Value *widen(IRBuilder<> &b, Value *half) {
  Type *shape = half->getType();
  Type *words = withElement(shape, b.getInt32Ty());
  Type *floats = withElement(shape, b.getFloatTy());
  auto word = [&](uint32_t value) { return ConstantInt::get(words, value); };
  Value *bits = b.CreateZExt(
      b.CreateBitCast(half, withElement(shape, b.getInt16Ty())), words);
  Value *sign = b.CreateShl(b.CreateAnd(bits, word(0x8000)), 16);
  Value *size = b.CreateShl(b.CreateAnd(bits, word(0x7fff)), kBits);
  // A power of two makes the exponent right, and denormals normal.
  auto *power = ConstantFP::get(floats, 0x1p112);
  Value *number = b.CreateBitCast(
      b.CreateFMul(b.CreateBitCast(size, floats), power), words);
  Value *infinity = word(kHalfInfinity << kBits);
  Value *exponent = b.CreateSelect(b.CreateICmpUGT(size, infinity),
                                   word(kInfinity | kQuiet), word(kInfinity));
  Value *all = b.CreateSelect(b.CreateICmpUGE(size, infinity),
                              b.CreateOr(size, exponent), number);
  return b.CreateBitCast(b.CreateOr(all, sign), floats);
}

static Value *narrow(IRBuilder<> &b, Value *number) {
  Type *shape = number->getType();
  Type *words = withElement(shape, b.getInt32Ty());
  auto word = [&](uint32_t value) { return ConstantInt::get(words, value); };
  Value *bits = b.CreateBitCast(number, words);
  Value *sign = b.CreateAnd(b.CreateLShr(bits, 16), word(0x8000));
  Value *size = b.CreateAnd(bits, word(0x7fffffff));
  // Half of the last place is added, less one where the number is even.
  Value *upper = b.CreateLShr(size, kBits);
  Value *odd = b.CreateAnd(upper, word(1));
  uint32_t rounding = (1U << (kBits - 1)) - 1 - (kBias << 23);
  Value *normal =
      b.CreateLShr(b.CreateAdd(b.CreateAdd(size, word(rounding)), odd), kBits);
  // The last place of a half is that of a denormal: the addition rounds.
  auto *half = ConstantFP::get(shape, 0.5);
  Value *sum = b.CreateFAdd(b.CreateBitCast(size, shape), half);
  Value *denormal =
      b.CreateSub(b.CreateBitCast(sum, words), b.CreateBitCast(half, words));
  Value *payload =
      b.CreateOr(b.CreateAnd(upper, word(0x3ff)), kHalfInfinity | kHalfQuiet);
  Value *all = b.CreateSelect(b.CreateICmpULT(size, word((kBias + 1) << 23)),
                              denormal, normal);
  all = b.CreateSelect(b.CreateICmpUGE(size, word((kBias + 31) << 23)),
                       word(kHalfInfinity), all);
  all = b.CreateSelect(b.CreateICmpUGT(size, word(kInfinity)), payload, all);
  Value *result =
      b.CreateTrunc(b.CreateOr(all, sign), withElement(shape, b.getInt16Ty()));
  return b.CreateBitCast(result, withElement(shape, b.getHalfTy()));
}

void tfc::expandHalves(Module &module) {
  for (Function &function : module) {
    for (Instruction &instruction :
         make_early_inc_range(instructions(function))) {
      auto *cast = dyn_cast<CastInst>(&instruction);
      if (!cast) {
        continue;
      }
      Type *from = cast->getSrcTy()->getScalarType();
      Type *to = cast->getDestTy()->getScalarType();
      IRBuilder<> b(cast);
      if (from->isHalfTy() && to->isFloatTy()) {
        cast->replaceAllUsesWith(widen(b, cast->getOperand(0)));
        cast->eraseFromParent();
      } else if (from->isFloatTy() && to->isHalfTy()) {
        cast->replaceAllUsesWith(narrow(b, cast->getOperand(0)));
        cast->eraseFromParent();
      }
    }
  }
}
