// The pass: value ops become linalg, outputs become arguments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Passes.h"
#include "compiler/lowering/Patterns.h"
#include "compiler/support/PassOptions.h"

#include "dialect/LayerFunctions.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// What emit-abi needs to describe the port, on its argument.
static transformer::OutputPortAttr describe(transformer::OutputOp op,
                                            int64_t width) {
  return transformer::OutputPortAttr::get(op.getContext(), op.getName(),
                                          op.getRows(), op.getTake(),
                                          op.getSqueezed(), width);
}

/// The value at the root of the chain of destinations that ends in `value`.
static Value findRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      value = insert.getDest();
    } else if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
    } else {
      break;
    }
  }
  return value;
}

/// The new tensor that `value` is computed in, if that is in `block`; or null.
static Operation *findDestination(Value value, Block *block) {
  Operation *root = findRoot(value).getDefiningOp();
  bool isNew =
      isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(root);
  return isNew && root->getBlock() == block ? root : nullptr;
}

/// Stores `value` to the buffer `out`. What is computed for this output alone
/// is computed in place; a value from outside is copied, because the buffer
/// exists only where the output is wanted (so upstream's elimination of empty
/// tensors, which would make it the home of the outer value, does not do).
static void storeOutput(ImplicitLocOpBuilder &b, Value value, Value out) {
  if (Operation *root = findDestination(value, b.getBlock())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(root);
    Value destination = bufferization::ToTensorOp::create(
        b, root->getResult(0).getType(), out, /*restrict=*/true,
        /*writable=*/true);
    root->getResult(0).replaceAllUsesWith(destination);
    root->erase();
  }
  auto store = bufferization::MaterializeInDestinationOp::create(b, value, out);
  store.setRestrict(true);
  store.setWritable(true);
}

/// output "name" { ... yield %y } -> if %out is given { ...; %y into %out }
static LogicalResult lowerOutput(transformer::OutputOp op) {
  auto entry = cast<func::FuncOp>(op->getParentOp());
  auto yield = cast<transformer::YieldOp>(op.getBody().front().getTerminator());
  auto type = cast<RankedTensorType>(yield.getValue().getType());
  auto buffer = MemRefType::get(type.getShape(), type.getElementType());
  unsigned index = entry.getNumArguments();
  OpBuilder builder(op);
  DictionaryAttr attributes = builder.getDictionaryAttr(builder.getNamedAttr(
      transformer::kOutputAttrName, describe(op, type.getDimSize(1))));
  if (failed(entry.insertArgument(index, buffer, attributes, op.getLoc()))) {
    return failure();
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value out = entry.getArgument(index);
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(b, out);
  Value null = arith::ConstantIndexOp::create(b, 0);
  Value given =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, address, null);
  auto conditional = scf::IfOp::create(b, given, /*withElseRegion=*/false);
  Block &then = conditional.getThenRegion().front();
  then.getOperations().splice(
      then.begin(), op.getBody().front().getOperations(),
      op.getBody().front().begin(), Block::iterator(yield));
  b.setInsertionPoint(then.getTerminator());
  storeOutput(b, yield.getValue(), out);
  op.erase();
  return success();
}

/// Whether a product reads rows and a matrix of the same 16 bits, whole times
/// `multiple` elements long.
static bool isNarrow(transformer::LinearOp op, int64_t multiple) {
  auto rows = cast<RankedTensorType>(keptRows(op.getInput()).getType());
  Type matrix = getElementTypeOrSelf(op.getWeight().getType());
  return !matrix.isF32() && rows.getElementType() == matrix &&
         rows.getDimSize(1) % multiple == 0;
}

/// Says that there are products without panels, by the first one.
static void reportPlain(ArrayRef<transformer::LinearOp> plain,
                        int64_t multiple) {
  if (!plain.empty()) {
    transformer::LinearOp first = plain.front();
    emitRemark(first.getLoc())
        << "expected rows of 16 bits, a multiple of " << multiple
        << " elements long, got " << keptRows(first.getInput()).getType()
        << ": a plain loop does this product, and " << plain.size() - 1
        << " more";
  }
}

/// Matrices of products are packed in panels; so are tables tied to them. Where
/// `multiple` is not 0, those of narrow products alone.
static void choosePanels(ModuleOp module, int64_t panel, int64_t multiple) {
  SymbolTable symbols(module);
  llvm::MapVector<Operation *, SmallVector<transformer::LinearOp>> uses;
  module.walk([&](transformer::LinearOp op) {
    if (auto weight = op.getWeight().getDefiningOp<transformer::WeightOp>()) {
      uses[symbols.lookup(weight.getName())].push_back(op);
    }
  });
  Builder builder(module.getContext());
  SmallVector<transformer::LinearOp> plain;
  for (auto &[parameter, products] : uses) {
    bool fits = multiple == 0 || llvm::all_of(products, [&](auto op) {
                  return isNarrow(op, multiple);
                });
    if (fits) {
      cast<transformer::ParameterOp>(parameter).setPanelAttr(
          builder.getI64IntegerAttr(panel));
    } else {
      llvm::append_range(plain, products);
    }
  }
  reportPlain(plain, multiple);
}

/// Roundings and widenings of rows that no op took over become maps.
static void lowerCasts(ModuleOp module) {
  SmallVector<arith::TruncFOp> roundings;
  SmallVector<arith::ExtFOp> widenings;
  module.walk([&](Operation *op) {
    if (op->getNumResults() != 1 ||
        !isa<RankedTensorType>(op->getResult(0).getType())) {
      return;
    }
    if (auto rounding = dyn_cast<arith::TruncFOp>(op)) {
      roundings.push_back(rounding);
    } else if (auto widening = dyn_cast<arith::ExtFOp>(op)) {
      widenings.push_back(widening);
    }
  });
  auto lower = [](Operation *op) {
    Value x = op->getOperand(0), y = op->getResult(0);
    if (!y.use_empty() && x.getType() != y.getType()) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      Type element = cast<RankedTensorType>(y.getType()).getElementType();
      x = mapRows(b, x, {}, {cast<FloatType>(element)},
                  [](ImplicitLocOpBuilder &, ValueRange v) { return v[0]; });
    }
    if (!y.use_empty()) {
      y.replaceAllUsesWith(x);
    }
    op->erase();
  };
  // An op that rounds what it computes has taken the place of what it rounded.
  llvm::for_each(roundings, lower);
  llvm::for_each(widenings, lower);
}

/// What `end` hands on, it hands on in the place of `carried`; where the last
/// op could not write there, a copy does.
static void carryInPlace(Operation *end, ValueRange carried) {
  ImplicitLocOpBuilder b(end->getLoc(), end);
  for (auto [operand, place] : llvm::zip(end->getOpOperands(), carried)) {
    Value root = findRoot(operand.get());
    // A loop computes in the place of what it is given.
    if (auto loop = root.getDefiningOp<scf::ForOp>()) {
      root = loop.getTiedLoopInit(cast<OpResult>(root))->get();
    }
    if (isa<RankedTensorType>(place.getType()) && root != place) {
      operand.set(linalg::CopyOp::create(b, operand.get(), place).getResult(0));
    }
  }
}

/// Loops and functions of layers carry their values in one place.
static void carryInPlace(ModuleOp module) {
  module.walk([](scf::ForOp loop) {
    carryInPlace(loop.getBody()->getTerminator(), loop.getRegionIterArgs());
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (transformer::isOfLayers(function)) {
      Block &body = function.getBody().front();
      carryInPlace(body.getTerminator(), body.getArguments());
    }
  }
}

namespace {
struct LowerToLinalgPass : tfc::impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    return failure(
        failed(expectAtLeast(*this, context, "panel", 0, panel)) ||
        failed(expectAtLeast(*this, context, "multiple", 0, multiple)));
  }

  void runOnOperation() override {
    if (panel > 0) {
      choosePanels(getOperation(), panel, multiple);
    }
    LastUses lastUses(getOperation());
    RewritePatternSet patterns(&getContext());
    populateNormPatterns(patterns, lastUses);
    populateEmbeddingPatterns(patterns);
    populateLayerPatterns(patterns);
    populatePositionPatterns(patterns);
    populateProjectionPatterns(patterns, lastUses);
    populateAttentionPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    lowerCasts(getOperation());

    carryInPlace(getOperation());
    // What read the matrices as rows is gone.
    getOperation().walk([](transformer::WeightOp op) {
      if (op.use_empty()) {
        op.erase();
      }
    });
    SmallVector<transformer::OutputOp> outputs;
    getOperation().walk(
        [&](transformer::OutputOp op) { outputs.push_back(op); });
    for (transformer::OutputOp op : outputs) {
      if (failed(lowerOutput(op))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
