// Products with integers that have groups, as plain loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/GroupProduct.h"

#include "compiler/kernel/Quantize.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tfc;

namespace {

/// Emits one element of the result.
class GroupSum {
public:
  /// `expert` is null where there are none.
  GroupSum(ImplicitLocOpBuilder &b, Value x, Value weight, Value scales,
           Value zeros, Value expert)
      : b(b), x(x), weight(weight), scales(scales), zeros(zeros),
        expert(expert),
        isByte(cast<RankedTensorType>(weight.getType()).getRank() ==
               (expert ? 3 : 2)),
        groups(transformer::widthOf(scales)),
        columns(transformer::widthOf(x) / groups) {}

  /// sum_g float(sum of group g) * scales[n,g], a multiply-add a group, and
  /// where zeros are floats one more of minus the sum of the row and the zero.
  /// Of rows of floats a group's sum is one, too.
  Value emit(Value token, Value row);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value extract(Value from, ValueRange place) {
    return tensor::ExtractOp::create(b, from, place);
  }
  /// Of the weight, or of what its groups have.
  Value extractOwn(Value from, ValueRange place) {
    SmallVector<Value> whole(place);
    if (expert) {
      whole.insert(whole.begin(), expert);
    }
    return extract(from, whole);
  }
  Value reduce(int64_t count, Value init,
               llvm::function_ref<Value(Value, Value)> body);
  Value integerOf(Value row, Value column, Value zero);
  Value term(Value token, Value row, Value column, Value zero);
  Value takeOff(Value token, Value first, Value zero, Value sum);

  ImplicitLocOpBuilder &b;
  Value x, weight, scales, zeros, expert;
  bool isByte; // or two of four bits are one
  int64_t groups, columns;
};

} // namespace

Value GroupSum::reduce(int64_t count, Value init,
                       llvm::function_ref<Value(Value, Value)> body) {
  auto loop =
      scf::ForOp::create(b, constant(0), constant(count), constant(1), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

/// Of a byte of two the lower bits are the first column's.
Value GroupSum::integerOf(Value row, Value column, Value zero) {
  if (isByte) {
    return arith::ExtSIOp::create(b, b.getI32Type(),
                                  extractOwn(weight, {row, column}));
  }
  Value two = constant(2);
  Value both = extractOwn(
      weight, {row, arith::DivUIOp::create(b, column, two), constant(0)});
  Value wide = arith::ExtUIOp::create(b, b.getI32Type(), both);
  Value place = arith::IndexCastOp::create(
      b, b.getI32Type(), arith::RemUIOp::create(b, column, two));
  Value bits = arith::MulIOp::create(
      b, place, arith::ConstantIntOp::create(b, kFourBits, 32));
  Value four =
      arith::AndIOp::create(b, arith::ShRUIOp::create(b, wide, bits),
                            arith::ConstantIntOp::create(b, kFourMask, 32));
  return arith::SubIOp::create(b, four, zero);
}

Value GroupSum::term(Value token, Value row, Value column, Value zero) {
  Value own = integerOf(row, column, zero);
  Value factor = extract(x, {token, column});
  if (!factor.getType().isInteger()) {
    return arith::MulFOp::create(
        b, convertFloat(b, factor, b.getF32Type()),
        arith::SIToFPOp::create(b, b.getF32Type(), own));
  }
  factor = arith::ExtSIOp::create(b, b.getI32Type(), factor);
  return arith::MulIOp::create(b, factor, own);
}

/// sum - float(sum of the row's integers in the group) * zero
Value GroupSum::takeOff(Value token, Value first, Value zero, Value sum) {
  Value nothing = arith::ConstantIntOp::create(b, 0, 32);
  Value own = reduce(columns, nothing, [&](Value i, Value less) -> Value {
    Value factor = extract(x, {token, arith::AddIOp::create(b, first, i)});
    return arith::SubIOp::create(
        b, less, arith::ExtSIOp::create(b, b.getI32Type(), factor));
  });
  Value wide = arith::SIToFPOp::create(b, b.getF32Type(), own);
  return math::FmaOp::create(b, wide, zero, sum);
}

Value GroupSum::emit(Value token, Value row) {
  Value none = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
  return reduce(groups, none, [&](Value group, Value sum) -> Value {
    Value first = arith::MulIOp::create(b, group, constant(columns));
    Value own = zeros ? extractOwn(zeros, {row, group}) : Value();
    bool isFloat = own && isa<FloatType>(own.getType());
    own = isFloat ? convertFloat(b, own, b.getF32Type()) : own;
    Value zero = arith::ConstantIntOp::create(b, isFloat ? 0 : kFourZero, 32);
    if (own && !isFloat) {
      zero = arith::ExtUIOp::create(b, b.getI32Type(), own);
    }
    bool areInteger = getElementTypeOrSelf(x).isInteger();
    Value nothing =
        areInteger ? arith::ConstantIntOp::create(b, 0, 32).getResult() : none;
    Value all = reduce(columns, nothing, [&](Value i, Value sums) -> Value {
      Value column = arith::AddIOp::create(b, first, i);
      Value next = term(token, row, column, zero);
      return areInteger ? arith::AddIOp::create(b, sums, next).getResult()
                        : arith::AddFOp::create(b, sums, next).getResult();
    });
    Value wide =
        areInteger ? arith::SIToFPOp::create(b, b.getF32Type(), all) : all;
    Value scale =
        convertFloat(b, extractOwn(scales, {row, group}), b.getF32Type());
    Value next = math::FmaOp::create(b, wide, scale, sum);
    return isFloat ? takeOff(token, first, own, next) : next;
  });
}

Value tfc::buildGroupProduct(ImplicitLocOpBuilder &b, Value x, Value weight,
                             const Epilogue &epilogue, Value experts) {
  Value groupScales = epilogue.groupScales;
  int64_t width =
      cast<RankedTensorType>(groupScales.getType()).getDimSize(experts ? 1 : 0);
  Value init = emptyRows(b, x, width, b.getF32Type());
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, init.getType(), ValueRange(), init,
             ArrayRef<AffineMap>{b.getMultiDimIdentityMap(2)}, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value token = linalg::IndexOp::create(inner, 0);
               Value row = linalg::IndexOp::create(inner, 1);
               Value expert;
               if (experts) {
                 expert = arith::IndexCastOp::create(
                     inner, inner.getIndexType(),
                     tensor::ExtractOp::create(inner, experts, token));
               }
               GroupSum sum(inner, x, weight, groupScales, epilogue.groupZeros,
                            expert);
               linalg::YieldOp::create(inner, sum.emit(token, row));
             })
      .getResult(0);
}
