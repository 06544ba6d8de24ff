// Places the weights and generates `pack`, which copies a stored tensor there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/PackGeometry.h"
#include "compiler/host/Passes.h"

#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/Quantize.h"
#include "tfc/abi.h"

#include "dialect/PackedLayout.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <climits>

namespace tfc {
#define GEN_PASS_DEF_PACKWEIGHTSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::pack;

/// What pack returns where nothing is wrong.
constexpr int64_t kPacked = 0;

/// A cache line: what every weight and layer begins on.
constexpr int64_t kAlignment = 64;

static Value constant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

/// The fields of parameter number `weight`, chosen by a switch.
static SmallVector<Value> buildSwitch(ImplicitLocOpBuilder &b, Value weight,
                                      ArrayRef<Geometry> geometries) {
  auto cases = llvm::to_vector(llvm::seq<int64_t>(0, geometries.size()));
  size_t numFields = countFields(geometries);
  SmallVector<Type> types(numFields, b.getIndexType());
  auto op =
      scf::IndexSwitchOp::create(b, types, weight, cases, geometries.size());
  auto fill = [&](Region &region, const Geometry &geometry) {
    OpBuilder::InsertionGuard guard(b);
    b.createBlock(&region);
    SmallVector<Value> values;
    for (int64_t field : ArrayRef(geometry).take_front(numFields)) {
      values.push_back(constant(b, field));
    }
    scf::YieldOp::create(b, values);
  };
  for (auto [region, geometry] : llvm::zip(op.getCaseRegions(), geometries)) {
    fill(region, geometry);
  }
  fill(op.getDefaultRegion(), noGeometry());
  return SmallVector<Value>(op.getResults());
}

namespace {

/// Generates @pack(weight, layer, begin, end, dtype, source, packed) -> status;
/// dtypes and statuses are those of abi.h.
class PackBuilder {
public:
  PackBuilder(ModuleOp module, ArrayRef<Geometry> geometries)
      : module(module), geometries(geometries),
        b(module.getLoc(), module.getContext()) {}

  void build();

private:
  struct RowPlaces {
    Value target, from, to, wordStride;
  };
  struct GroupViews {
    Value scales, zeros;
  };
  struct PairPlace {
    Value byte, lower, upper;
  };
  /// One of the regions of a switch over dtypes, for each of `storages`;
  /// the status that it yields, and 0 for others.
  Value buildSwitchOverTypes(Value number,
                             ArrayRef<transformer::Storage> storages,
                             function_ref<Value(Type)> body);
  Value buildCopy(Type from, Type to);
  Value buildQuantize(Type from);
  std::pair<Value, Value> buildBytes(Value stored, Value target,
                                     const RowPlaces &row, Value first,
                                     Value last,
                                     function_ref<void(Value)> storeScale);
  std::pair<Value, Value> buildByteGroups(Value stored, Value target,
                                          const RowPlaces &row);
  void storeExcess(Value hasExcess, Value sum, Value excess, Value row);
  Value buildFours(Type from);
  Value takeBytes();
  void takeScales(const RowPlaces &row, Value own);
  Value takeFours();
  Value loadInteger(Value row, Value column);
  Value buildGroup(Value stored, Value target, const GroupViews &beside,
                   const RowPlaces &row, Value group);
  GroupViews viewGroups();
  Value middleZero(Value scale);
  void storeGroup(const GroupViews &beside, const RowPlaces &row, Value group,
                  Value scale, Value zero);
  PairPlace findPair(const RowPlaces &row, Value first, Value pair);
  PairPlace findPairInHalves(const RowPlaces &row, Value first, Value pair);
  PairPlace findPairInFragments(const RowPlaces &row, Value first, Value pair);
  Value isOfFragments() {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, fields[Fragments],
                                 constant(b, 0));
  }
  void storePair(const PairPlace &at, ArrayRef<Value> fours, Value target);
  Value store(Value value, Value target, Value place);
  Value viewAs(Type type, Value memory, Value first, Value elements);
  Value viewCompanion(Type type, Field place, Field stride);
  RowPlaces findRow(Value row);
  Value load(Value stored, const RowPlaces &row, Value column);
  Value findPlace(const RowPlaces &row, Value column);
  Value findInFragments(Value column);
  Value findStatus(Value isSo, int64_t status);

  Value multiply(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value divide(Value x, Value y) { return arith::DivUIOp::create(b, x, y); }
  Value remainder(Value x, Value y) { return arith::RemUIOp::create(b, x, y); }

  ModuleOp module;
  ArrayRef<Geometry> geometries;
  ImplicitLocOpBuilder b;
  SmallVector<Value> fields;
  Value layer, expert, begin, end, source, packed, start, count;
  Value givenScales, givenZeros; // of integers that are packed as they are
};

} // namespace

Value PackBuilder::buildSwitchOverTypes(Value number,
                                        ArrayRef<transformer::Storage> storages,
                                        function_ref<Value(Type)> body) {
  SmallVector<int64_t> cases;
  for (transformer::Storage storage : storages) {
    cases.push_back(static_cast<int64_t>(storage));
  }
  auto op = scf::IndexSwitchOp::create(b, TypeRange(b.getI32Type()), number,
                                       cases, cases.size());
  OpBuilder::InsertionGuard guard(b);
  for (auto [region, storage] : llvm::zip(op.getCaseRegions(), storages)) {
    b.createBlock(&region);
    scf::YieldOp::create(b,
                         body(transformer::elementOf(b.getContext(), storage)));
  }
  b.createBlock(&op.getDefaultRegion());
  Value none = arith::ConstantIntOp::create(b, kPacked, 32);
  scf::YieldOp::create(b, none);
  return op.getResult(0);
}

/// Stores an f32; whether the target has another value then. A NaN stays one.
Value PackBuilder::store(Value value, Value target, Value place) {
  Type type = cast<MemRefType>(target.getType()).getElementType();
  if (type.isF32()) {
    memref::StoreOp::create(b, value, target, place);
    return arith::ConstantOp::create(b, b.getBoolAttr(false));
  }
  Value kept = narrowFloat(b, value, type);
  memref::StoreOp::create(b, kept, target, place);
  Value wide = arith::ExtFOp::create(b, b.getF32Type(), kept);
  return arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, wide, value);
}

Value PackBuilder::viewAs(Type type, Value memory, Value first,
                          Value elements) {
  return memref::ViewOp::create(b,
                                MemRefType::get({ShapedType::kDynamic}, type),
                                memory, first, elements);
}

/// The layer's vector.
Value PackBuilder::viewCompanion(Type type, Field place, Field stride) {
  Value first = add(fields[place], multiply(layer, fields[stride]));
  return viewAs(type, packed, first, add(fields[FirstTarget], fields[Rows]));
}

/// Of a row of what is stored, there and in what is packed.
PackBuilder::RowPlaces PackBuilder::findRow(Value row) {
  Value targetRow = add(fields[FirstTarget], row);
  Value words = arith::CeilDivUIOp::create(b, fields[Columns], fields[Word]);
  Value panelStride = multiply(multiply(fields[Panel], words), fields[Word]);
  Value to = add(multiply(divide(targetRow, fields[Panel]), panelStride),
                 multiply(remainder(targetRow, fields[Panel]), fields[Word]));
  Value wordStride = multiply(fields[Panel], fields[Word]);
  Value from = add(fields[FirstElement], multiply(row, fields[RowStride]));
  if (expert) {
    from = add(from, multiply(expert, fields[ExpertElements]));
  }
  return {targetRow, from, to, wordStride};
}

/// As f32.
Value PackBuilder::load(Value stored, const RowPlaces &row, Value column) {
  Value place = add(row.from, multiply(column, fields[ColumnStride]));
  // A tensor in a file may begin at any byte.
  Value value = memref::LoadOp::create(b, stored, place, /*nontemporal=*/false,
                                       llvm::MaybeAlign(1));
  return value.getType().isF32()
             ? value
             : arith::ExtFOp::create(b, b.getF32Type(), value);
}

/// Of a column of a word of bytes, where fragments have it.
Value PackBuilder::findInFragments(Value column) {
  auto digit = [&](int64_t from, int64_t count) {
    return remainder(divide(column, constant(b, from)), constant(b, count));
  };
  auto times = [&](Value x, int64_t factor) {
    return multiply(x, constant(b, factor));
  };
  // From the highest place on: the lane, the half, four columns, of which the
  // second and the third change places.
  Value lane = times(digit(8, 4), 16), half = times(digit(32, 2), 8);
  Value four = times(digit(4, 2), 4);
  Value inFour = add(times(digit(1, 2), 2), digit(2, 2));
  return add(add(lane, half), add(four, inFour));
}

/// In what is packed.
Value PackBuilder::findPlace(const RowPlaces &row, Value column) {
  Value word = multiply(divide(column, fields[Word]), row.wordStride);
  Value inWord = remainder(column, fields[Word]);
  if (haveFragments(geometries)) {
    inWord = arith::SelectOp::create(b, isOfFragments(),
                                     findInFragments(inWord), inWord);
  }
  return add(row.to, add(word, inWord));
}

Value PackBuilder::findStatus(Value isSo, int64_t status) {
  Value yes = arith::ConstantIntOp::create(b, status, 32);
  Value no = arith::ConstantIntOp::create(b, kPacked, 32);
  return arith::SelectOp::create(b, isSo, yes, no);
}

/// One loop nest: packed[r][c] = source[...]; whether a value was rounded.
Value PackBuilder::buildCopy(Type from, Type to) {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value size = constant(b, from.getIntOrFloatBitWidth() / 8);
  Value bytes = memref::DimOp::create(b, source, 0);
  Value stored = viewAs(from, source, zero, divide(bytes, size));
  Value target = viewAs(to, packed, start, count);
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one, never);
  b.setInsertionPointToStart(rows.getBody());
  RowPlaces row = findRow(rows.getInductionVar());
  auto columns = scf::ForOp::create(b, zero, fields[Columns], one,
                                    rows.getRegionIterArg(0));
  b.setInsertionPointToStart(columns.getBody());
  Value column = columns.getInductionVar();
  Value value = load(stored, row, column);
  Value rounded = store(value, target, findPlace(row, column));
  Value any = arith::OrIOp::create(b, columns.getRegionIterArg(0), rounded);
  scf::YieldOp::create(b, any);
  b.setInsertionPointToEnd(rows.getBody());
  scf::YieldOp::create(b, columns.getResult(0));
  b.setInsertionPointAfter(rows);
  return findStatus(rows.getResult(0), TFC_PACK_ROUNDED);
}

/// 128 times the sum of a row's bytes, where that is wanted.
void PackBuilder::storeExcess(Value hasExcess, Value sum, Value excess,
                              Value row) {
  auto isGiven = scf::IfOp::create(b, hasExcess, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(isGiven.thenBlock());
  Value times = arith::ConstantIntOp::create(b, kExcess, 32);
  memref::StoreOp::create(b, arith::MulIOp::create(b, sum, times), excess, row);
}

/// Columns [first, last) of a row as bytes: twice, for the greatest element by
/// size and for the multiples of its 127th part, which is their scale. The sum
/// of the integers, and the status.
std::pair<Value, Value>
PackBuilder::buildBytes(Value stored, Value target, const RowPlaces &row,
                        Value first, Value last,
                        function_ref<void(Value)> storeScale) {
  Value one = constant(b, 1);
  auto sizes = scf::ForOp::create(b, first, last, one, buildLeastGreatest(b));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(sizes.getBody());
  Value element = load(stored, row, sizes.getInductionVar());
  scf::YieldOp::create(b, buildGreater(b, sizes.getRegionIterArg(0), element));
  b.setInsertionPointAfter(sizes);
  Value greatest = sizes.getResult(0);
  Value scale = buildScale(b, greatest);
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  auto columns = scf::ForOp::create(
      b, first, last, one, {arith::ConstantIntOp::create(b, 0, 32), never});
  b.setInsertionPointToStart(columns.getBody());
  Value column = columns.getInductionVar();
  Value exact = load(stored, row, column);
  Value integer = buildInteger(b, exact, greatest, /*excess=*/0);
  memref::StoreOp::create(b, arith::TruncIOp::create(b, b.getI8Type(), integer),
                          target, findPlace(row, column));
  Value wide = arith::SIToFPOp::create(b, b.getF32Type(), integer);
  Value isOther =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE,
                            arith::MulFOp::create(b, wide, scale), exact);
  Value sum = arith::AddIOp::create(b, columns.getRegionIterArg(0), integer);
  Value any = arith::OrIOp::create(b, columns.getRegionIterArg(1), isOther);
  scf::YieldOp::create(b, ValueRange{sum, any});
  b.setInsertionPointAfter(columns);
  storeScale(scale);
  // Of two faults, that which nobody can ask for.
  Value status = arith::MaxSIOp::create(
      b, findStatus(columns.getResult(1), TFC_PACK_ROUNDED),
      findStatus(buildIsInfinite(b, greatest), TFC_PACK_NOT_FINITE));
  return {columns.getResult(0), status};
}

/// The same of a row's groups.
std::pair<Value, Value> PackBuilder::buildByteGroups(Value stored, Value target,
                                                     const RowPlaces &row) {
  Value none = arith::ConstantIntOp::create(b, 0, 32);
  Value ok = arith::ConstantIntOp::create(b, kPacked, 32);
  GroupViews beside = viewGroups();
  auto all = scf::ForOp::create(b, constant(b, 0),
                                divide(fields[Columns], fields[Group]),
                                constant(b, 1), {none, ok});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(all.getBody());
  Value group = all.getInductionVar();
  Value first = multiply(group, fields[Group]);
  auto [sum, status] = buildBytes(
      stored, target, row, first, add(first, fields[Group]),
      [&](Value scale) { storeGroup(beside, row, group, scale, Value()); });
  Value sums = arith::AddIOp::create(b, all.getRegionIterArg(0), sum);
  Value worst = arith::MaxSIOp::create(b, all.getRegionIterArg(1), status);
  scf::YieldOp::create(b, ValueRange{sums, worst});
  return {all.getResult(0), all.getResult(1)};
}

/// As buildCopy, to integers.
Value PackBuilder::buildQuantize(Type from) {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value size = constant(b, from.getIntOrFloatBitWidth() / 8);
  Value bytes = memref::DimOp::create(b, source, 0);
  Value stored = viewAs(from, source, zero, divide(bytes, size));
  Value target = viewAs(b.getI8Type(), packed, start, count);
  Value scales = viewCompanion(b.getF32Type(), Scales, ScalesStride);
  Value excess = viewCompanion(b.getI32Type(), Excess, ExcessStride);
  Value hasExcess = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                          fields[HasExcess], zero);
  Value ok = arith::ConstantIntOp::create(b, kPacked, 32);
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one, ok);
  b.setInsertionPointToStart(rows.getBody());
  RowPlaces row = findRow(rows.getInductionVar());
  auto [sum, status] =
      haveGroups(geometries)
          ? buildByteGroups(stored, target, row)
          : buildBytes(stored, target, row, zero, fields[Columns],
                       [&](Value scale) {
                         memref::StoreOp::create(b, scale, scales, row.target);
                       });
  storeExcess(hasExcess, sum, excess, row.target);
  scf::YieldOp::create(
      b,
      arith::MaxSIOp::create(b, rows.getRegionIterArg(0), status).getResult());
  return rows.getResult(0);
}

/// The layer's vectors, of all groups of all rows.
PackBuilder::GroupViews PackBuilder::viewGroups() {
  Value groups = divide(fields[Columns], fields[Group]);
  Value rows = multiply(
      arith::CeilDivUIOp::create(b, add(fields[FirstTarget], fields[Rows]),
                                 fields[ScalePanel]),
      fields[ScalePanel]);
  auto view = [&](Type type, Field place, Field stride) {
    Value first = add(fields[place], multiply(layer, fields[stride]));
    Value count = multiply(rows, groups);
    if (expert) {
      Value bytes =
          multiply(count, constant(b, type.getIntOrFloatBitWidth() / CHAR_BIT));
      first = add(first, multiply(expert, bytes));
    }
    return viewAs(type, packed, first, count);
  };
  Type zeros =
      haveFloatZeros(geometries) ? Type(b.getF32Type()) : Type(b.getI8Type());
  return {view(b.getF32Type(), Scales, ScalesStride),
          view(zeros, Zeros, ZerosStride)};
}

/// The zero of a group whose integers are rounded, or given without one.
Value PackBuilder::middleZero(Value scale) {
  return haveFloatZeros(geometries)
             ? arith::MulFOp::create(
                   b, scale,
                   arith::ConstantOp::create(b, b.getF32FloatAttr(kFourZero)))
                   .getResult()
             : arith::ConstantIntOp::create(b, kFourZero, 8).getResult();
}

/// What a group of a row has beside its integers; bytes have no zero.
void PackBuilder::storeGroup(const GroupViews &beside, const RowPlaces &row,
                             Value group, Value scale, Value zero) {
  Value groups = divide(fields[Columns], fields[Group]);
  Value place = multiply(divide(row.target, fields[ScalePanel]),
                         multiply(groups, fields[ScalePanel]));
  place = add(place, add(multiply(group, fields[ScalePanel]),
                         remainder(row.target, fields[ScalePanel])));
  memref::StoreOp::create(b, scale, beside.scales, place);
  if (!zero) {
    return;
  }
  Value hasZeros = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                         fields[HasZeros], constant(b, 0));
  auto given = scf::IfOp::create(b, hasZeros, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(given.thenBlock());
  memref::StoreOp::create(b, zero, beside.zeros, place);
}

/// As findPair, of a word of fragments: a lane's eight columns of a half of it
/// are four bytes, which have columns 0 and 2, 4 and 6, 1 and 3, 5 and 7.
PackBuilder::PairPlace PackBuilder::findPairInFragments(const RowPlaces &row,
                                                        Value first,
                                                        Value pair) {
  auto number = [&](int64_t value) { return constant(b, value); };
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
  Value half = divide(fields[Word], constant(b, 2));
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
  Value zero = constant(b, 0), one = constant(b, 1), two = constant(b, 2);
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
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  auto pairs =
      scf::ForOp::create(b, zero, divide(fields[Group], two), one, never);
  b.setInsertionPointToStart(pairs.getBody());
  PairPlace at = findPair(row, first, pairs.getInductionVar());
  Value any = pairs.getRegionIterArg(0);
  SmallVector<Value> fours;
  for (Value column : {at.lower, at.upper}) {
    Value exact = load(stored, row, column);
    fours.push_back(buildFour(b, exact, extreme));
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
  storeGroup(beside, row, group, scale, middleZero(scale));
  return arith::MaxSIOp::create(
      b, findStatus(pairs.getResult(0), TFC_PACK_ROUNDED),
      findStatus(buildIsExtremeInfinite(b, extreme), TFC_PACK_NOT_FINITE));
}

/// As buildQuantize, to integers of four bits, a group of a row at a time.
Value PackBuilder::buildFours(Type from) {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value size = constant(b, from.getIntOrFloatBitWidth() / 8);
  Value bytes = memref::DimOp::create(b, source, 0);
  Value stored = viewAs(from, source, zero, divide(bytes, size));
  Value target =
      viewAs(b.getI8Type(), packed, start, divide(count, constant(b, 2)));
  Value groups = divide(fields[Columns], fields[Group]);
  GroupViews beside = viewGroups();
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

/// Of row `row` of the call's, which are dense.
Value PackBuilder::loadInteger(Value row, Value column) {
  Value place = add(multiply(row, fields[Columns]), column);
  return memref::LoadOp::create(b, source, place);
}

/// Bytes as they are, with their scales.
Value PackBuilder::takeBytes() {
  Value zero = constant(b, 0), one = constant(b, 1);
  Value target = viewAs(b.getI8Type(), packed, start, count);
  Value scales = viewCompanion(b.getF32Type(), Scales, ScalesStride);
  Value excess = viewCompanion(b.getI32Type(), Excess, ExcessStride);
  Value hasExcess = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                          fields[HasExcess], zero);
  Value ok = arith::ConstantIntOp::create(b, kPacked, 32);
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one);
  b.setInsertionPointToStart(rows.getBody());
  RowPlaces row = findRow(rows.getInductionVar());
  Value own = arith::SubIOp::create(b, rows.getInductionVar(), begin);
  auto columns = scf::ForOp::create(b, zero, fields[Columns], one, ok);
  b.setInsertionPointToStart(columns.getBody());
  Value integer = loadInteger(own, columns.getInductionVar());
  memref::StoreOp::create(b, integer, target,
                          findPlace(row, columns.getInductionVar()));
  Value wide = arith::ExtSIOp::create(b, b.getI32Type(), integer);
  Value sum = arith::AddIOp::create(b, columns.getRegionIterArg(0), wide);
  scf::YieldOp::create(b, sum);
  b.setInsertionPointAfter(columns);
  if (haveGroups(geometries)) {
    takeScales(row, own);
  } else {
    memref::StoreOp::create(b, memref::LoadOp::create(b, givenScales, own),
                            scales, row.target);
  }
  storeExcess(hasExcess, columns.getResult(0), excess, row.target);
  return ok;
}

/// Of bytes, the scales of row `own` of the call's.
void PackBuilder::takeScales(const RowPlaces &row, Value own) {
  Value groups = divide(fields[Columns], fields[Group]);
  GroupViews beside = viewGroups();
  auto all = scf::ForOp::create(b, constant(b, 0), groups, constant(b, 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(all.getBody());
  Value group = all.getInductionVar();
  Value given = add(multiply(own, groups), group);
  storeGroup(beside, row, group, memref::LoadOp::create(b, givenScales, given),
             Value());
}

/// Integers of four bits as they are, with what their groups have.
Value PackBuilder::takeFours() {
  Value zero = constant(b, 0), one = constant(b, 1), two = constant(b, 2);
  Value target = viewAs(b.getI8Type(), packed, start, divide(count, two));
  Value groups = divide(fields[Columns], fields[Group]);
  GroupViews beside = viewGroups();
  Value ok = arith::ConstantIntOp::create(b, kPacked, 32);
  Value middle = arith::ConstantIntOp::create(b, kFourZero, 8);
  bool areFloat = haveFloatZeros(geometries);
  Value zeros =
      areFloat ? viewAs(b.getF32Type(), givenZeros, zero,
                        multiply(arith::SubIOp::create(b, end, begin), groups))
               : givenZeros;
  OpBuilder::InsertionGuard guard(b);
  auto rows = scf::ForOp::create(b, begin, end, one);
  b.setInsertionPointToStart(rows.getBody());
  RowPlaces row = findRow(rows.getInductionVar());
  Value own = arith::SubIOp::create(b, rows.getInductionVar(), begin);
  auto all = scf::ForOp::create(b, zero, groups, one);
  b.setInsertionPointToStart(all.getBody());
  Value group = all.getInductionVar();
  Value given = add(multiply(own, groups), group);
  Value point = memref::LoadOp::create(b, zeros, given);
  // Floats are for integers without a sign already.
  storeGroup(beside, row, group, memref::LoadOp::create(b, givenScales, given),
             areFloat ? point
                      : arith::AddIOp::create(b, point, middle).getResult());
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
  return ok;
}

void PackBuilder::build() {
  b.setInsertionPointToEnd(module.getBody());
  Type index = b.getIndexType();
  Type bytes = MemRefType::get({ShapedType::kDynamic}, b.getI8Type());
  SmallVector<Type> arguments = {index, index, index, index,
                                 index, bytes, bytes};
  bool takesIntegers = haveIntegers(geometries);
  if (takesIntegers) {
    // Scales and zero points of integers that are packed as they are.
    arguments.push_back(
        MemRefType::get({ShapedType::kDynamic}, b.getF32Type()));
    arguments.push_back(bytes);
  }
  auto function = func::FuncOp::create(
      b, "pack", b.getFunctionType(arguments, b.getI32Type()));
  function->setAttr(transformer::kRoleAttrName,
                    transformer::RoleAttr::get(b.getContext(),
                                               transformer::RoleKind::Pack,
                                               FlatSymbolRefAttr()));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  fields = buildSwitch(b, body->getArgument(0), geometries);
  begin = body->getArgument(2);
  end = body->getArgument(3);
  layer = body->getArgument(1);
  if (haveExperts(geometries)) {
    expert = remainder(layer, fields[Experts]);
    layer = divide(layer, fields[Experts]);
  }
  source = body->getArgument(5);
  packed = body->getArgument(6);
  if (takesIntegers) {
    givenScales = body->getArgument(7);
    givenZeros = body->getArgument(8);
  }
  start = add(fields[Offset], multiply(layer, fields[LayerStride]));
  if (expert) {
    start = add(start, multiply(expert, fields[ExpertBytes]));
  }
  // The last panel's rows beyond the last row included.
  Value panels = arith::CeilDivUIOp::create(
      b, add(fields[FirstTarget], fields[Rows]), fields[Panel]);
  Value words = arith::CeilDivUIOp::create(b, fields[Columns], fields[Word]);
  count =
      multiply(multiply(panels, fields[Panel]), multiply(words, fields[Word]));
  const SmallVector<transformer::Storage> stored = {transformer::Storage::F32,
                                                    transformer::Storage::F16,
                                                    transformer::Storage::BF16};
  // A copy for each type that something is kept in.
  SmallVector<transformer::Storage> kept;
  auto known = llvm::to_vector(stored);
  known.push_back(transformer::Storage::Int8);
  known.push_back(transformer::Storage::Int4);
  for (transformer::Storage storage : known) {
    if (llvm::any_of(geometries, [&](const Geometry &geometry) {
          return geometry[Storage] == static_cast<int64_t>(storage);
        })) {
      kept.push_back(storage);
    }
  }
  Value status = buildSwitchOverTypes(fields[Storage], kept, [&](Type to) {
    auto read = stored;
    if (to.isInteger()) {
      // Of four bits each is a byte, too.
      read.push_back(transformer::storageOf(to));
    }
    return buildSwitchOverTypes(body->getArgument(4), read, [&](Type from) {
      return from.isInteger(4)  ? takeFours()
             : from.isInteger() ? takeBytes()
             : to.isInteger(4)  ? buildFours(from)
             : to.isInteger()   ? buildQuantize(from)
                                : buildCopy(from, to);
    });
  });
  Value mayRound = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                         fields[Rounds], constant(b, 0));
  Value isRounded = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, status,
      arith::ConstantIntOp::create(b, TFC_PACK_ROUNDED, 32));
  Value isWanted = arith::AndIOp::create(b, mayRound, isRounded);
  func::ReturnOp::create(
      b, arith::SelectOp::create(
             b, isWanted, arith::ConstantIntOp::create(b, kPacked, 32), status)
             .getResult());
}

/// The parts of all parameters, each with its place.
static llvm::DenseMap<Operation *, Target> findParts(ModuleOp module) {
  llvm::DenseMap<Operation *, Target> targets;
  for (auto whole : module.getOps<transformer::ParameterOp>()) {
    int64_t first = 0;
    for (transformer::ParameterOp part : transformer::listParts(whole)) {
      targets[part] = {whole, first};
      first += part.getTensorType().getDimSize(0);
    }
  }
  return targets;
}

/// The layout's name: what is packed as which type, and a hash of where each
/// stored parameter of the table goes. It takes in all that `pack` is generated
/// from, so that no choice of a layout can be forgotten here.
static std::string nameLayout(transformer::Storage storage,
                              ArrayRef<transformer::ParameterOp> stored,
                              ArrayRef<Geometry> geometries) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto [parameter, geometry] : llvm::zip_equal(stored, geometries)) {
    transformer::ParameterOp op = parameter;
    stream << op.getSymName() << ' ' << op.getLayers().value_or(1);
    for (int64_t field :
         ArrayRef(geometry).take_front(countFields(geometries))) {
      stream << ' ' << field;
    }
    stream << '\n';
  }
  return stringifyStorage(storage).str() + "-" +
         llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}

namespace {
struct PackWeightsPass : tfc::impl::PackWeightsPassBase<PackWeightsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (Operation *taken = module.lookupSymbol("pack")) {
      taken->emitOpError() << "expected a module without @pack (the pass "
                              "generates it), got one";
      return signalPassFailure();
    }
    Builder builder(module.getContext());
    llvm::DenseMap<Operation *, Target> parts = findParts(module);
    int64_t next = 0;
    for (auto op : module.getOps<transformer::ParameterOp>()) {
      if (op.isTied() || parts.contains(op)) {
        continue;
      }
      std::optional<int64_t> bytes = op.getPackedBytes();
      int64_t layers = op.getLayers().value_or(1);
      int64_t stride = bytes ? llvm::alignTo(*bytes, kAlignment) : 0;
      std::optional<int64_t> end =
          bytes ? llvm::checkedAdd(next, stride * layers) : std::nullopt;
      if (!end) {
        op.emitOpError() << "expected less than 2^63 bytes of packed weights, "
                            "got more with it";
        return signalPassFailure();
      }
      op.setOffset(next);
      if (op.getLayers()) {
        op.setStride(stride);
      }
      next = *end;
    }
    SmallVector<Geometry> geometries;
    SmallVector<transformer::ParameterOp> stored =
        transformer::listStored(module);
    for (transformer::ParameterOp op : stored) {
      if (op.isTied()) {
        // In the table for the host's check, never packed.
        geometries.push_back(noGeometry());
        continue;
      }
      auto part = parts.find(op);
      geometries.push_back(
          geometryOf(op, part == parts.end() ? Target{op, 0} : part->second));
    }
    // What most of it is kept in: the narrowest, or what is nearest to it.
    auto storage = transformer::Storage::F32;
    for (const Geometry &geometry : geometries) {
      storage = std::max(storage,
                         static_cast<transformer::Storage>(geometry[Storage]));
    }
    module->setAttr(transformer::kPackedBytesAttrName,
                    builder.getI64IntegerAttr(next));
    module->setAttr(
        transformer::kPackedLayoutAttrName,
        builder.getStringAttr(nameLayout(storage, stored, geometries)));
    PackBuilder(module, geometries).build();
    numStored += stored.size();
  }
};
} // namespace
