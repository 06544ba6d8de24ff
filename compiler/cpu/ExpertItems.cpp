// Work items of products whose rows are sorted by expert: a list of tiles, and
// the loop over it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ExpertItems.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;

namespace {
/// What the list has of a tile: its expert, whose rows are [FirstRow, EndRow)
/// and whose tiles are Tiles ones from FirstTile on. So a tile's record finds
/// all items of its expert, whichever of them it stands for.
enum Field { Expert, FirstRow, EndRow, FirstTile, Tiles, NumFields };
} // namespace

Value ExpertItems::load(Value buffer, ValueRange place) {
  ImplicitLocOpBuilder &b = k.builder();
  Value number = memref::LoadOp::create(b, buffer, place);
  return arith::IndexCastOp::create(b, b.getIndexType(), number);
}

void ExpertItems::store(Value index, Value buffer, ValueRange place) {
  ImplicitLocOpBuilder &b = k.builder();
  Value number = arith::IndexCastOp::create(b, b.getI32Type(), index);
  memref::StoreOp::create(b, number, buffer, place);
}

/// How many rows each expert has.
Value ExpertItems::countRows(Value sorted) {
  ImplicitLocOpBuilder &b = k.builder();
  Value counts =
      memref::AllocOp::create(b, MemRefType::get({experts}, b.getI32Type()));
  k.loop(k.constant(experts),
         [&](Value expert) { store(k.constant(0), counts, expert); });
  k.loop(memref::DimOp::create(b, sorted, 0), [&](Value row) {
    Value expert = load(sorted, row);
    store(k.add(load(counts, expert), 1), counts, expert);
  });
  return counts;
}

ExpertItems::ExpertItems(KernelBuilder &builder, Value sorted, int64_t experts,
                         int64_t item)
    : k(builder), experts(experts), item(item) {
  ImplicitLocOpBuilder &b = k.builder();
  Value counts = countRows(sorted);
  // Each tile has a row at least.
  Value most = memref::DimOp::create(b, sorted, 0);
  tiles = memref::AllocOp::create(
      b, MemRefType::get({ShapedType::kDynamic, NumFields}, b.getI32Type()),
      most);
  Value zero = k.constant(0);
  Values ends =
      k.loop(zero, k.constant(experts), 1, {zero, zero},
             [&](Value expert, ValueRange before) -> Values {
               Value row = before[0], tile = before[1];
               Value rows = load(counts, expert);
               Value own = k.roundUpDivide(rows, item);
               Value end = k.add(row, rows);
               k.loop(own, [&](Value number) {
                 Value values[NumFields] = {expert, row, end, tile, own};
                 for (int64_t field = 0; field < NumFields; ++field) {
                   Value place[] = {k.add(tile, number), k.constant(field)};
                   store(values[field], tiles, place);
                 }
               });
               return {end, k.add(tile, own)};
             });
  numTiles = ends[1];
}

void ExpertItems::forEach(int64_t panels,
                          function_ref<void(const ExpertItem &)> body) {
  ImplicitLocOpBuilder &b = k.builder();
  auto loop = scf::ParallelOp::create(b, ValueRange{k.constant(0)},
                                      ValueRange{k.scale(numTiles, panels)},
                                      ValueRange{k.constant(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVars()[0];
  Value record = k.divide(number, panels);
  auto field = [&](Field which) {
    Value place[] = {record, k.constant(which)};
    return load(tiles, place);
  };
  Value own = field(Tiles);
  Value inExpert = k.subtract(number, k.scale(field(FirstTile), panels));
  Value tile = arith::RemUIOp::create(b, inExpert, own);
  ExpertItem at;
  at.expert = field(Expert);
  at.panel = arith::DivUIOp::create(b, inExpert, own);
  at.firstRow = k.add(field(FirstRow), k.scale(tile, item));
  at.rows = k.min(k.subtract(field(EndRow), at.firstRow), k.constant(item));
  body(at);
}
