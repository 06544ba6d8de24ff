// Outputs of which a step may ask for some columns alone: products with packed
// matrices whose rows are the vocabulary.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Patterns.h"

#include "dialect/PanelShape.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tfc;

/// Whether the entry's tokens are numbers below `width`.
static bool isVocabulary(func::FuncOp entry, int64_t width) {
  for (unsigned i = 0; i < entry.getNumArguments(); ++i) {
    auto input = entry.getArgAttrOfType<transformer::InputAttr>(
        i, transformer::kInputAttrName);
    if (input && input.getName().ends_with("input_ids") &&
        input.getLimit() == width) {
      return true;
    }
  }
  return false;
}

/// What `map` does to each element of one value, which it gives; null where it
/// is something else.
static Value inputOfMap(linalg::GenericOp map) {
  auto isPlain = [](AffineMap each) { return each.isIdentity(); };
  if (map.getNumParallelLoops() != map.getNumLoops() ||
      !llvm::all_of(map.getIndexingMapsArray(), isPlain)) {
    return {};
  }
  if (map.getNumDpsInputs() == 0) {
    return map.getDpsInits()[0]; // in place
  }
  bool isOne = map.getNumDpsInputs() == 1 &&
               map.getBody()->getArguments().back().use_empty();
  return isOne ? map.getDpsInputs()[0] : Value();
}

/// Whether its ops may stand in the body of a product.
static bool isElementwise(linalg::GenericOp map) {
  Block &body = *map.getBody();
  auto isOwn = [&](Value value) { return value.getParentBlock() == &body; };
  return llvm::all_of(body, [&](Operation &op) {
    bool isMappable = OpTrait::hasElementwiseMappableTraits(&op) ||
                      op.hasTrait<OpTrait::ConstantLike>() ||
                      op.hasTrait<OpTrait::IsTerminator>();
    return isMappable && llvm::all_of(op.getOperands(), isOwn);
  });
}

/// product; map -> product whose body does what the map did
static void absorb(transformer::ProductOp product, linalg::GenericOp map) {
  auto yield =
      cast<transformer::YieldOp>(product.getBody().front().getTerminator());
  OpBuilder builder(yield);
  IRMapping values;
  // Its only element, in place or not.
  values.map(map.getBody()->getArgument(0), yield.getValue());
  for (Operation &op : map.getBody()->without_terminator()) {
    builder.clone(op, values);
  }
  Value y = map.getBody()->getTerminator()->getOperand(0);
  yield.getValueMutable().assign(values.lookupOrDefault(y));
  map.getResult(0).replaceAllUsesWith(product.getResult());
  map.erase();
}

bool tfc::offerHeadRows(transformer::OutputOp op) {
  Block &body = op.getBody().front();
  Value value = body.getTerminator()->getOperand(0);
  SmallVector<linalg::GenericOp> maps; // the last one first
  auto isOwn = [&] {
    Operation *from = value.getDefiningOp();
    return from && from->getBlock() == &body && value.hasOneUse();
  };
  while (isOwn() && value.getDefiningOp<linalg::GenericOp>()) {
    maps.push_back(value.getDefiningOp<linalg::GenericOp>());
    value = isElementwise(maps.back()) ? inputOfMap(maps.back()) : Value();
    if (!value) {
      return false;
    }
  }
  auto product = isOwn() ? value.getDefiningOp<transformer::ProductOp>()
                         : transformer::ProductOp();
  if (op.getPart() || op.getSqueezed() || !product || product.getExperts() ||
      !getElementTypeOrSelf(product.getInit()).isF32() ||
      !product.getInit().getDefiningOp<bufferization::AllocTensorOp>() ||
      !isVocabulary(op->getParentOfType<func::FuncOp>(),
                    transformer::widthOf(product.getInit()))) {
    return false;
  }
  for (linalg::GenericOp map : llvm::reverse(maps)) {
    absorb(product, map);
  }
  product.setHeadRows(true);
  return true;
}
