// Stages of cp.async, products by wgmma.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/WarpgroupProduct.h"

#include "compiler/gpu/product/TileOrder.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tfc;

namespace {

class WarpgroupKernel {
public:
  WarpgroupKernel(ThreadBuilder &t, const WarpgroupProduct &tile,
                  const ProductForm &form, const ProductOperands &operands,
                  Value shared)
      : t(t), tile(tile), form(form), p(operands), shared(shared),
        place(findTile(t, form, tile.rows(), tile.resultColumns(form))),
        copies(
            t, form, operands,
            {tile.threads(), tile.rows(), tile.columns, tile.weightsOffset()},
            place.row, place.column) {}

  void build();

private:
  /// The first of the warpgroup's rows in a tile.
  Value ownRow() {
    return t.scale(t.divide(t.warp(), kWarpgroupWarps), kWarpgroupRows);
  }
  Value multiplyStage(Value slot, Value sums);
  void requestStage(Value slot, Value stage);

  ThreadBuilder &t;
  const WarpgroupProduct &tile;
  const ProductForm &form;
  const ProductOperands &p;
  Value shared;
  TilePlace place;
  StageCopies copies;
  Value left, right; // the first stage's tiles, described
};

} // namespace

void WarpgroupKernel::requestStage(Value slot, Value stage) {
  copies.request(t.bytes(shared, t.scale(slot, tile.stageBytes())), stage);
}

Value WarpgroupKernel::multiplyStage(Value slot, Value sums) {
  ImplicitLocOpBuilder &b = t.builder();
  Value on = arith::ExtUIOp::create(
      b, b.getI64Type(),
      t.scale(slot, int32_t(describeBytes(tile.stageBytes()))));
  Value x = arith::AddIOp::create(b, left, on);
  Value w = arith::AddIOp::create(b, right, on);
  for (int32_t k = 0; k < StageCopies::kSteps; k += 16) {
    Value columns = arith::ConstantIntOp::create(b, k / 16 * kNextColumns, 64);
    sums = multiplyTiles(b, form.element, arith::AddIOp::create(b, x, columns),
                         arith::AddIOp::create(b, w, columns), sums);
  }
  return sums;
}

/// When stage s has come, all warpgroups have seen the end of the products of
/// the stage in whose place stage s + ahead is asked for, while those of stage
/// s are done. A group of copies a stage, also where there is none any more.
void WarpgroupKernel::build() {
  ImplicitLocOpBuilder &b = t.builder();
  left = describeTile(
      b, t.bytes(shared, t.scale(ownRow(), StageCopies::kRowBytes)));
  right = describeTile(b, t.bytes(shared, tile.weightsOffset()));
  Value stages =
      t.divide(t.add(p.depth, StageCopies::kSteps - 1), StageCopies::kSteps);
  int32_t ahead = tile.ahead();
  for (int32_t stage = 0; stage < ahead; ++stage) {
    Value number = t.number(stage);
    t.when(t.isLess(number, stages), [&] { requestStage(number, number); });
    commitCopies(b);
  }
  Value inits[] = {zeroSums(b, tile.columns), t.number(0), t.number(ahead)};
  Value sums = t.loop(t.number(0), stages, 1, inits,
                      [&](Value stage, ValueRange before) {
                        if (tile.waitsAtOnce) {
                          waitForProducts(b, 0);
                        }
                        waitForCopies(b, unsigned(ahead) - 1);
                        showProducts(b);
                        t.barrier();
                        orderSums(b);
                        Value sums = multiplyStage(before[1], before[0]);
                        commitProducts(b);
                        Value later = t.add(stage, ahead);
                        t.when(t.isLess(later, stages),
                               [&] { requestStage(before[2], later); });
                        commitCopies(b);
                        if (!tile.waitsAtOnce) {
                          waitForProducts(b, 1);
                        }
                        return ThreadBuilder::Values{
                            sums, nextSlot(t, before[1], tile.stages),
                            nextSlot(t, before[2], tile.stages)};
                      })
                   .front();
  waitForProducts(b, 0);
  Value row = t.add(t.add(place.row, ownRow()),
                    t.scale(t.remainder(t.warp(), kWarpgroupWarps), 16));
  ProductEpilogue(t, form, p).finish(row, place.column, takeSums(b, sums), 1);
}

void WarpgroupProduct::build(ThreadBuilder &t, const ProductForm &form,
                             const ProductOperands &operands,
                             Value shared) const {
  WarpgroupKernel(t, *this, form, operands, shared).build();
}
