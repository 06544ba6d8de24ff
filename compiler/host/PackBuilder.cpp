// `pack`: which tensor goes where, and floats as floats.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/PackBuilder.h"

#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/Quantize.h"
#include "tfc/abi.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <climits>

using namespace mlir;
using namespace tfc;
using namespace tfc::pack;

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
      values.push_back(arith::ConstantIndexOp::create(b, field));
    }
    scf::YieldOp::create(b, values);
  };
  for (auto [region, geometry] : llvm::zip(op.getCaseRegions(), geometries)) {
    fill(region, geometry);
  }
  fill(op.getDefaultRegion(), noGeometry());
  return SmallVector<Value>(op.getResults());
}

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

/// Stores an f32, or a byte as it is; whether the target has another value
/// then. A NaN stays one.
Value PackBuilder::store(Value value, Value target, Value place) {
  Type type = cast<MemRefType>(target.getType()).getElementType();
  if (type == value.getType()) {
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
    return remainder(divide(column, constant(from)), constant(count));
  };
  auto times = [&](Value x, int64_t factor) {
    return multiply(x, constant(factor));
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
  Value zero = constant(0), one = constant(1);
  Value size = constant(from.getIntOrFloatBitWidth() / 8);
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

/// The layer's vectors, of all groups of all rows, whose scales are `scales`.
PackBuilder::GroupViews PackBuilder::viewGroups(Type scales) {
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
          multiply(count, constant(type.getIntOrFloatBitWidth() / CHAR_BIT));
      first = add(first, multiply(expert, bytes));
    }
    return viewAs(type, packed, first, count);
  };
  Type zeros = haveFloatZeros(geometries) ? scales : Type(b.getI8Type());
  return {view(scales, Scales, ScalesStride), view(zeros, Zeros, ZerosStride)};
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

/// What a group of a row has beside its integers; bytes have no zero. Whether
/// floats of it are others then.
Value PackBuilder::storeGroup(const GroupViews &beside, const RowPlaces &row,
                              Value group, Value scale, Value zero) {
  Value groups = divide(fields[Columns], fields[Group]);
  Value place = multiply(divide(row.target, fields[ScalePanel]),
                         multiply(groups, fields[ScalePanel]));
  place = add(place, add(multiply(group, fields[ScalePanel]),
                         remainder(row.target, fields[ScalePanel])));
  Value isOther = store(scale, beside.scales, place);
  if (!zero) {
    return isOther;
  }
  Value hasZeros = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                         fields[HasZeros], constant(0));
  auto given = scf::IfOp::create(b, TypeRange(b.getI1Type()), hasZeros,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(given.thenBlock());
  Value isOtherZero = store(zero, beside.zeros, place);
  scf::YieldOp::create(
      b, arith::OrIOp::create(b, isOther, isOtherZero).getResult());
  b.setInsertionPointToStart(given.elseBlock());
  scf::YieldOp::create(b, isOther);
  return given.getResult(0);
}

/// Of row `row` of the call's, which are dense.
Value PackBuilder::loadInteger(Value row, Value column) {
  Value place = add(multiply(row, fields[Columns]), column);
  return memref::LoadOp::create(b, source, place);
}

/// To the host, which knows nothing of them.
Value PackBuilder::reportScales(Value status) {
  Value areLost =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, status,
                            arith::ConstantIntOp::create(b, kScalesLost, 32));
  return arith::SelectOp::create(
      b, areLost, arith::ConstantIntOp::create(b, TFC_PACK_ROUNDED, 32),
      status);
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
                                         fields[Rounds], constant(0));
  Value isRounded = arith::CmpIOp::create(
      b, arith::CmpIPredicate::eq, status,
      arith::ConstantIntOp::create(b, TFC_PACK_ROUNDED, 32));
  Value isWanted = arith::AndIOp::create(b, mayRound, isRounded);
  Value result = arith::SelectOp::create(
      b, isWanted, arith::ConstantIntOp::create(b, kPacked, 32), status);
  if (scaleStorage(geometries) != transformer::Storage::F32) {
    result = reportScales(result);
  }
  func::ReturnOp::create(b, result);
}
