// `pack` of integers of four bits: made of floats, and taken as they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/PackBuilder.h"

#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/Quantize.h"
#include "tfc/abi.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::pack;

/// As findPair, of a word of fragments: a lane's eight columns of a half of it
/// are four bytes, which have columns 0 and 2, 4 and 6, 1 and 3, 5 and 7.
PackBuilder::PairPlace PackBuilder::findPairInFragments(const RowPlaces &row,
                                                        Value first,
                                                        Value pair) {
  auto number = [&](int64_t value) { return constant(value); };
  Value byte = remainder(pair, number(4));
  Value own = add(first, multiply(divide(pair, number(4)), number(8)));
  Value lower = add(own, add(multiply(remainder(byte, number(2)), number(4)),
                             divide(byte, number(2))));
  Value word =
      divide(multiply(divide(own, fields[Word]), row.wordStride), number(2));
  Value lane = remainder(divide(own, number(8)), number(4));
  Value half = remainder(divide(own, number(32)), number(2));
  Value inWord = add(multiply(lane, number(8)), multiply(half, number(4)));
  Value at = add(divide(row.to, number(2)), add(word, add(inWord, byte)));
  return {at, lower, add(lower, number(2))};
}

/// Two columns of a word in a byte, of which the word's first half has the
/// lower bits: where pair number `pair` of the group whose first column is
/// `first` is stored, and both columns.
PackBuilder::PairPlace PackBuilder::findPair(const RowPlaces &row, Value first,
                                             Value pair) {
  if (haveFragments(geometries)) {
    PairPlace own = findPairInFragments(row, first, pair);
    PairPlace plain = findPairInHalves(row, first, pair);
    auto choose = [&](Value x, Value y) -> Value {
      return arith::SelectOp::create(b, isOfFragments(), x, y);
    };
    return {choose(own.byte, plain.byte), choose(own.lower, plain.lower),
            choose(own.upper, plain.upper)};
  }
  return findPairInHalves(row, first, pair);
}

PackBuilder::PairPlace PackBuilder::findPairInHalves(const RowPlaces &row,
                                                     Value first, Value pair) {
  Value half = divide(fields[Word], constant(2));
  Value lower = add(first, add(multiply(divide(pair, half), fields[Word]),
                               remainder(pair, half)));
  // A column's place counts integers: those of a word begin at twice its
  // bytes'.
  Value word = divide(findPlace(row, lower), fields[Word]);
  return {add(multiply(word, half), remainder(pair, half)), lower,
          add(lower, half)};
}

/// Two integers without a sign as the bytes of a pair.
void PackBuilder::storePair(const PairPlace &at, ArrayRef<Value> fours,
                            Value target) {
  Value upper = arith::ShLIOp::create(
      b, fours[1], arith::ConstantIntOp::create(b, kFourBits, 32));
  Value byte = arith::TruncIOp::create(
      b, b.getI8Type(), arith::OrIOp::create(b, fours[0], upper));
  memref::StoreOp::create(b, byte, target, at.byte);
}

/// One group: its extreme, then its integers, two columns of a word a byte.
/// Returns the status.
Value PackBuilder::buildGroup(Value stored, Value target,
                              const GroupViews &beside, const RowPlaces &row,
                              Value group) {
  Value zero = constant(0), one = constant(1), two = constant(2);
  Value first = multiply(group, fields[Group]);
  Value last = add(first, fields[Group]);
  auto sizes = scf::ForOp::create(b, first, last, one, buildLeastExtreme(b));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(sizes.getBody());
  Value element = load(stored, row, sizes.getInductionVar());
  scf::YieldOp::create(b,
                       buildMoreExtreme(b, sizes.getRegionIterArg(0), element));
  b.setInsertionPointAfter(sizes);
  Value extreme = sizes.getResult(0), scale = buildFourScale(b, extreme);
  Type kept = scaleType();
  if (!kept.isF32()) {
    // Integers are made of what is kept.
    scale = widenFloat(b, buildKeptScale(b, scale, extreme, kept));
  }
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  auto pairs =
      scf::ForOp::create(b, zero, divide(fields[Group], two), one, never);
  b.setInsertionPointToStart(pairs.getBody());
  PairPlace at = findPair(row, first, pairs.getInductionVar());
  Value any = pairs.getRegionIterArg(0);
  SmallVector<Value> fours;
  for (Value column : {at.lower, at.upper}) {
    Value exact = load(stored, row, column);
    fours.push_back(buildFour(b, exact, scale));
    Value integer = arith::SubIOp::create(
        b, fours.back(), arith::ConstantIntOp::create(b, kFourZero, 32));
    Value wide = arith::SIToFPOp::create(b, b.getF32Type(), integer);
    Value isOther =
        arith::CmpFOp::create(b, arith::CmpFPredicate::ONE,
                              arith::MulFOp::create(b, wide, scale), exact);
    any = arith::OrIOp::create(b, any, isOther);
  }
  storePair(at, fours, target);
  scf::YieldOp::create(b, any);
  b.setInsertionPointAfter(pairs);
  Value isOther = storeGroup(beside, row, group, scale, middleZero(scale));
  Value status = arith::MaxSIOp::create(
      b, findStatus(pairs.getResult(0), TFC_PACK_ROUNDED),
      findStatus(buildIsExtremeInfinite(b, extreme), TFC_PACK_NOT_FINITE));
  if (kept.isF32()) {
    return status;
  }
  // Of an infinite extreme the scale is infinite in any case.
  Value isLost =
      arith::OrIOp::create(b, isOther, buildIsExtremeInfinite(b, scale));
  Value lost =
      arith::SelectOp::create(b, buildIsExtremeInfinite(b, extreme), status,
                              arith::ConstantIntOp::create(b, kScalesLost, 32));
  return arith::SelectOp::create(b, isLost, lost, status);
}

/// As buildQuantize, to integers of four bits, a group of a row at a time.
Value PackBuilder::buildFours(Type from) {
  Value zero = constant(0), one = constant(1);
  Value size = constant(from.getIntOrFloatBitWidth() / 8);
  Value bytes = memref::DimOp::create(b, source, 0);
  Value stored = viewAs(from, source, zero, divide(bytes, size));
  Value target =
      viewAs(b.getI8Type(), packed, start, divide(count, constant(2)));
  Value groups = divide(fields[Columns], fields[Group]);
  GroupViews beside = viewGroups(scaleType());
  Value ok = arith::ConstantIntOp::create(b, kPacked, 32);
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one, ok);
  b.setInsertionPointToStart(rows.getBody());
  RowPlaces row = findRow(rows.getInductionVar());
  auto all = scf::ForOp::create(b, zero, groups, one, rows.getRegionIterArg(0));
  b.setInsertionPointToStart(all.getBody());
  Value status = buildGroup(stored, target, beside, row, all.getInductionVar());
  Value worst = arith::MaxSIOp::create(b, all.getRegionIterArg(0), status);
  scf::YieldOp::create(b, worst);
  b.setInsertionPointToEnd(rows.getBody());
  scf::YieldOp::create(b, all.getResult(0));
  return rows.getResult(0);
}

/// Integers of four bits as they are, with what their groups have: none of it
/// is rounded.
Value PackBuilder::takeFours() {
  Value zero = constant(0), one = constant(1), two = constant(2);
  Value target = viewAs(b.getI8Type(), packed, start, divide(count, two));
  Value groups = divide(fields[Columns], fields[Group]);
  GroupViews beside = viewGroups(scaleType());
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  Value middle = arith::ConstantIntOp::create(b, kFourZero, 8);
  bool areFloat = haveFloatZeros(geometries);
  Value zeros =
      areFloat ? viewAs(b.getF32Type(), givenZeros, zero,
                        multiply(arith::SubIOp::create(b, end, begin), groups))
               : givenZeros;
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one, never);
  b.setInsertionPointToStart(rows.getBody());
  RowPlaces row = findRow(rows.getInductionVar());
  Value own = arith::SubIOp::create(b, rows.getInductionVar(), begin);
  auto all = scf::ForOp::create(b, zero, groups, one, rows.getRegionIterArg(0));
  b.setInsertionPointToStart(all.getBody());
  Value group = all.getInductionVar();
  Value given = add(multiply(own, groups), group);
  Value point = memref::LoadOp::create(b, zeros, given);
  // Floats are for integers without a sign already.
  Value isOther = storeGroup(
      beside, row, group, memref::LoadOp::create(b, givenScales, given),
      areFloat ? point : arith::AddIOp::create(b, point, middle).getResult());
  Value first = multiply(group, fields[Group]);
  auto pairs = scf::ForOp::create(b, zero, divide(fields[Group], two), one);
  b.setInsertionPointToStart(pairs.getBody());
  PairPlace at = findPair(row, first, pairs.getInductionVar());
  SmallVector<Value> fours;
  for (Value column : {at.lower, at.upper}) {
    Value four = arith::AddIOp::create(b, loadInteger(own, column), middle);
    fours.push_back(arith::AndIOp::create(
        b, arith::ExtUIOp::create(b, b.getI32Type(), four),
        arith::ConstantIntOp::create(b, kFourMask, 32)));
  }
  storePair(at, fours, target);
  b.setInsertionPointToEnd(all.getBody());
  scf::YieldOp::create(
      b, arith::OrIOp::create(b, all.getRegionIterArg(0), isOther).getResult());
  b.setInsertionPointToEnd(rows.getBody());
  scf::YieldOp::create(b, all.getResult(0));
  b.setInsertionPointAfter(rows);
  return findStatus(rows.getResult(0), kScalesLost);
}
