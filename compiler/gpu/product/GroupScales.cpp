// Copies of panels of scales, and reads of pairs of them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/product/GroupScales.h"

#include "compiler/gpu/product/StageCopies.h"
#include "compiler/gpu/product/WidenedWeights.h"
#include "compiler/gpu/thread/AsyncCopies.h"
#include "compiler/kernel/NarrowFloat.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tfc;

static constexpr int32_t kPanel = ProductForm::kScaleRows;

void GroupScales::request(ThreadBuilder &t, const ProductForm &form,
                          const ProductOperands &p, Value firstColumn,
                          Value base, Value stage) const {
  // Those of eight columns, and copies that they are.
  int32_t panelBytes = kPanel * elementBytes();
  int32_t panelCopies = panelBytes / kCopyBytes;
  int32_t copies = 2 * columns / kPanel * panelCopies;
  assert(copies <= threads && "a copy a thread");
  t.when(t.isLess(t.thread(), t.number(copies)), [&] {
    Value piece = t.remainder(t.thread(), panelCopies);
    Value half = t.remainder(t.divide(t.thread(), panelCopies), 2);
    Value inTile = t.divide(t.thread(), 2 * panelCopies);
    // With a gate panels are of one and of the other in turns.
    Value from = p.groups.scales, own = inTile;
    if (form.gate) {
      Value isGate = t.isLess(t.remainder(inTile, 2), t.number(1));
      from = t.select(isGate, p.gateGroups.scales, from);
      own = t.divide(inTile, 2);
    }
    Value panel = t.add(t.divide(firstColumn, kPanel), own);
    Value k = t.add(t.scale(stage, StageCopies::kSteps),
                    t.scale(half, WidenedWeights::kHalf));
    Value group = RowGroups::find(t, form, k, p.depth);
    Value groups = t.divide(p.depth, static_cast<int32_t>(form.group));
    Value inPanel =
        t.add(t.scale(group, kPanel), t.scale(piece, kPanel / panelCopies));
    Value source =
        t.element(from, element, panel, t.scale(groups, kPanel), inPanel);
    Value isThere = t.isLess(t.scale(panel, kPanel), p.width);
    Value to =
        t.add(t.add(t.scale(half, halfBytes()), t.scale(inTile, panelBytes)),
              t.scale(piece, kCopyBytes));
    copyAsync(t.builder(), t.bytes(base, to), source,
              t.select(isThere, t.number(kCopyBytes), t.number(0)));
  });
}

std::array<Value, 2> GroupScales::load(ThreadBuilder &t, Value base,
                                       Value column, Value half) const {
  ImplicitLocOpBuilder &b = t.builder();
  int32_t bytes = elementBytes();
  column = t.add(column, t.scale(t.remainder(t.lane(), 4), 2));
  Value own = t.add(t.scale(column, bytes), t.scale(half, halfBytes()));
  Value pair = t.load(VectorType::get(2, element), t.bytes(base, own),
                      static_cast<unsigned>(2 * bytes));
  auto at = [&](int64_t i) -> Value {
    Value kept = vector::ExtractOp::create(b, pair, i);
    return element.isF32() ? kept : widenFloat(b, kept);
  };
  return {at(0), at(1)};
}
