// The pass: value ops become linalg, outputs become arguments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/Passes.h"
#include "compiler/lowering/Patterns.h"

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

namespace tfc {
#define GEN_PASS_DEF_LOWERTOLINALGPASS
#include "compiler/lowering/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// What emit-abi needs to describe the port, on its argument.
static DictionaryAttr describe(transformer::OutputOp op, int64_t width) {
  OpBuilder b(op.getContext());
  return b.getDictionaryAttr(
      {b.getNamedAttr("name", op.getNameAttr()),
       b.getNamedAttr("rows", op.getRowsAttr()),
       b.getNamedAttr("take", op.getTakeAttr()),
       b.getNamedAttr("squeezed", b.getBoolAttr(op.getSqueezed())),
       b.getNamedAttr("width", b.getI64IntegerAttr(width))});
}

/// The op's own destination, or null: the empty tensor at the root of the chain
/// of destinations that ends in `value`, if all of it is in `block`.
static tensor::EmptyOp findDestination(Value value, Block *block) {
  while (Operation *op = value.getDefiningOp()) {
    if (op->getBlock() != block) {
      return {};
    }
    if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      return empty;
    }
    auto destination = dyn_cast<DestinationStyleOpInterface>(op);
    if (!destination) {
      return {};
    }
    value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
  }
  return {};
}

/// Stores `value` to the buffer `out`. What is computed for this output alone
/// is computed in place; a value from outside is copied, because the buffer
/// exists only where the output is wanted (so upstream's elimination of empty
/// tensors, which would make it the home of the outer value, does not do).
static void storeOutput(ImplicitLocOpBuilder &b, Value value, Value out) {
  if (tensor::EmptyOp empty = findDestination(value, b.getBlock())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(empty);
    Value destination = bufferization::ToTensorOp::create(
        b, empty.getType(), out, /*restrict=*/true, /*writable=*/true);
    empty.getResult().replaceAllUsesWith(destination);
    empty.erase();
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
  then.getOperations().splice(then.begin(),
                              op.getBody().front().getOperations(),
                              op.getBody().front().begin(), Block::iterator(yield));
  b.setInsertionPoint(then.getTerminator());
  storeOutput(b, yield.getValue(), out);
  op.erase();
  return success();
}

namespace {
struct LowerToLinalgPass : tfc::impl::LowerToLinalgPassBase<LowerToLinalgPass> {
  void runOnOperation() override {
    LastUses lastUses(getOperation());
    RewritePatternSet patterns(&getContext());
    populateNormPatterns(patterns, lastUses);
    populateEmbeddingPatterns(patterns);
    populateProjectionPatterns(patterns, lastUses);
    populateAttentionPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));

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
