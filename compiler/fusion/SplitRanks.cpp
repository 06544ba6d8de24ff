// A model becomes what one of several ranks computes of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "compiler/fusion/ColumnShares.h"
#include "compiler/support/ClearStatistics.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace tfc {
#define GEN_PASS_DEF_SPLITRANKSPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// The tensor with an axis cut into equal parts.
static RankedTensorType cut(RankedTensorType type, unsigned axis,
                            int64_t parts) {
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] /= parts;
  return RankedTensorType::get(shape, type.getElementType());
}

namespace {

/// What of a parameter a rank has.
enum class Axis { Rows, Columns, FirstRank };
struct Part {
  Axis axis;
  int64_t parts;
  bool operator==(const Part &other) const {
    return axis == other.axis && parts == other.parts;
  }
};

/// Cuts what is shared, once it is known to be all that has to be.
class Splitter {
public:
  Splitter(ModuleOp module, const ColumnShares &shares)
      : module(module), symbols(module), shares(shares) {}

  LogicalResult run();
  unsigned numSums = 0;

private:
  void splitLinear(LinearOp op);
  void splitOp(SharedColumnsOpInterface op);
  void want(Value weight, Part part);
  void wantHeads(Value cache, int64_t parts);
  LogicalResult splitWeights();
  LogicalResult checkUses();
  void splitParameter(ParameterOp op, Part part);
  void splitCaches();

  ModuleOp module;
  SymbolTable symbols;
  const ColumnShares &shares;
  llvm::MapVector<WeightOp, Part> wanted;
  llvm::MapVector<StringAttr, Part> parts; // by parameter
  llvm::MapVector<Value, int64_t> heads;   // by cache
};

} // namespace

void Splitter::want(Value weight, Part part) {
  if (weight) {
    wanted.insert({weight.getDefiningOp<WeightOp>(), part});
  }
}

void Splitter::wantHeads(Value cache, int64_t parts) {
  if (parts > 1) {
    heads.insert({cache, parts});
  }
}

/// By rows of its matrix, or by columns; then every rank has a part of each
/// sum, and the bias is the first one's.
void Splitter::splitLinear(LinearOp op) {
  if (int64_t own = shares.of(op); own > 1) {
    want(op.getWeight(), {Axis::Rows, own});
    want(op.getBias(), {Axis::Rows, own});
    op.getResult().setType(cut(op.getType(), 1, own));
    return;
  }
  if (!shares.sumsRanks(op)) {
    return;
  }
  want(op.getWeight(), {Axis::Columns, shares.getRanks()});
  want(op.getBias(), {Axis::FirstRank, shares.getRanks()});
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  auto sum = AllReduceOp::create(b, op.getLoc(), op.getType(), op.getResult());
  op.getResult().replaceAllUsesExcept(sum.getResult(), sum);
  ++numSums;
}

void Splitter::splitOp(SharedColumnsOpInterface op) {
  int64_t own = shares.of(op);
  if (own == 1) {
    return;
  }
  SmallVector<int64_t> operands;
  std::string why;
  bool isShared = succeeded(op.shareOperands(own, operands, why));
  assert(isShared && "the shares were found with this");
  (void)isShared;
  for (auto [operand, count] : llvm::zip_equal(op->getOperands(), operands)) {
    if (isa<CacheType>(operand.getType())) {
      wantHeads(operand, count);
    } else if (count > 1 && operand.getDefiningOp<WeightOp>()) {
      want(operand, {Axis::Rows, count});
    }
  }
  op.takeShare(own);
  for (Value result : op->getResults()) {
    result.setType(cut(cast<RankedTensorType>(result.getType()), 1, own));
  }
}

/// A parameter has one part, whoever reads it.
LogicalResult Splitter::checkUses() {
  for (auto [weight, part] : wanted) {
    auto [known, isNew] = parts.insert({weight.getNameAttr().getAttr(), part});
    if (!isNew && !(known->second == part)) {
      return weight.emitError() << "expected a weight that is cut in one way "
                                   "for all that read it, got one that is not";
    }
  }
  WalkResult result = module.walk([&](WeightOp weight) -> WalkResult {
    if (parts.contains(weight.getNameAttr().getAttr()) &&
        !wanted.contains(weight)) {
      return weight.emitError() << "expected a weight that ranks have parts of "
                                   "alone, got one that is also read whole";
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  for (auto op : module.getOps<ParameterOp>()) {
    if (op.isTied() && parts.contains(op.getSource()->getTiedTo())) {
      return op.emitError() << "expected to be tied to a weight that all ranks "
                               "have, got one that ranks have parts of";
    }
  }
  return success();
}

void Splitter::splitParameter(ParameterOp op, Part part) {
  SourceAttr source = *op.getSource();
  RankedTensorType type = op.getTensorType();
  int64_t rows = 0, columns = 0;
  if (part.axis == Axis::Rows) {
    type = cut(type, 0, part.parts);
    rows = type.getDimSize(0) * source.getRowStep();
  } else if (part.axis == Axis::Columns) {
    columns = type.getDimSize(1) / part.parts;
  }
  int64_t storedColumns = source.getStoredCols();
  if (columns != 0 && storedColumns == 0) {
    storedColumns = type.getDimSize(1);
  }
  if (columns != 0) {
    type = cut(type, 1, part.parts);
  }
  auto share = ShareAttr::get(op.getContext(), part.parts, rows, columns,
                              part.axis == Axis::FirstRank);
  op.setType(type);
  op.setSourceAttr(SourceAttr::get(
      op.getContext(), source.getPatterns(), source.getFirstLayer(),
      source.getLayerStep(), source.getFirstRow(), source.getStoredRows(),
      source.getRowStep(), storedColumns, source.getInOut(),
      source.getFillZeros(), source.getStacked(), source.getTiedTo(), share));
}

LogicalResult Splitter::splitWeights() {
  if (failed(checkUses())) {
    return failure();
  }
  for (auto [name, part] : parts) {
    splitParameter(symbols.lookup<ParameterOp>(name), part);
  }
  for (auto [weight, part] : wanted) {
    weight.getResult().setType(
        symbols.lookup<ParameterOp>(weight.getName()).getTensorType());
  }
  return success();
}

void Splitter::splitCaches() {
  for (auto [cache, count] : heads) {
    cache.setType(cast<CacheType>(cache.getType()).shareHeads(count));
  }
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal()) {
      continue;
    }
    function.setFunctionType(FunctionType::get(
        function.getContext(), function.getBody().front().getArgumentTypes(),
        function.getFunctionType().getResults()));
  }
}

LogicalResult Splitter::run() {
  for (Operation *op : shares.getOps()) {
    if (auto linear = dyn_cast<LinearOp>(op)) {
      splitLinear(linear);
    } else {
      splitOp(cast<SharedColumnsOpInterface>(op));
    }
  }
  if (failed(splitWeights())) {
    return failure();
  }
  splitCaches();
  return success();
}

namespace {
struct SplitRanksPass : tfc::impl::SplitRanksPassBase<SplitRanksPass> {
  using Base::Base;

  void runOnOperation() override {
    clearStatistics(*this);
    if (ranks < 2) {
      return;
    }
    ColumnShares shares(getOperation(), ranks);
    if (failed(shares.check())) {
      return signalPassFailure();
    }
    Splitter splitter(getOperation(), shares);
    if (failed(splitter.run())) {
      return signalPassFailure();
    }
    getOperation()->setAttr(kRanksAttrName,
                            Builder(&getContext()).getI64IntegerAttr(ranks));
    numSums += splitter.numSums;
  }
};
} // namespace
