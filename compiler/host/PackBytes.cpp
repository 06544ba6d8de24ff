// `pack` of integers of eight bits: made of floats, and taken as they are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/PackBuilder.h"

#include "compiler/kernel/Quantize.h"
#include "tfc/abi.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::pack;

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
  Value one = constant(1);
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
  GroupViews beside = viewGroups(b.getF32Type());
  auto all =
      scf::ForOp::create(b, constant(0), divide(fields[Columns], fields[Group]),
                         constant(1), {none, ok});
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
  Value zero = constant(0), one = constant(1);
  Value size = constant(from.getIntOrFloatBitWidth() / 8);
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

/// Bytes as they are, with their scales.
Value PackBuilder::takeBytes() {
  Value zero = constant(0), one = constant(1);
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
  GroupViews beside = viewGroups(b.getF32Type());
  auto all = scf::ForOp::create(b, constant(0), groups, constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(all.getBody());
  Value group = all.getInductionVar();
  Value given = add(multiply(own, groups), group);
  storeGroup(beside, row, group, memref::LoadOp::create(b, givenScales, given),
             Value());
}
