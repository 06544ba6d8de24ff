// Entries take what the host lends; weights are views of the packed ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {
#define GEN_PASS_DEF_BINDWEIGHTSPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Adds the step, the packed weights, which are returned, and the number of
/// workers.
static FailureOr<Value> addArguments(func::FuncOp entry) {
  Builder builder(entry.getContext());
  auto add = [&](Type type, StringRef name) -> FailureOr<Value> {
    unsigned index = entry.getNumArguments();
    DictionaryAttr marked = builder.getDictionaryAttr(
        builder.getNamedAttr(name, builder.getUnitAttr()));
    if (failed(entry.insertArgument(index, type, marked, entry.getLoc()))) {
      return failure();
    }
    return Value(entry.getArgument(index));
  };
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  FailureOr<Value> step = add(LLVM::LLVMPointerType::get(entry.getContext()),
                              transformer::kStepAttrName);
  FailureOr<Value> weights = add(bytes, transformer::kWeightsAttrName);
  FailureOr<Value> workers =
      add(builder.getIndexType(), transformer::kWorkersAttrName);
  if (failed(step) || failed(weights) || failed(workers)) {
    return failure();
  }
  return *weights;
}

/// weight @name[%layer] -> view of the packed weights at offset + layer *
/// stride
static LogicalResult bindWeight(transformer::WeightOp op, Value weights,
                                SymbolTable &symbols, RewriterBase &rewriter) {
  auto parameter = symbols.lookup<transformer::ParameterOp>(op.getName());
  if (!parameter || !parameter.getOffset() ||
      (op.getLayer() && !parameter.getStride())) {
    return op.emitOpError() << "expected a parameter with an offset (placed by "
                               "tfc-pack-weights)";
  }
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  Value offset = arith::ConstantIndexOp::create(b, *parameter.getOffset());
  if (op.getLayer()) {
    Value stride = arith::ConstantIndexOp::create(b, *parameter.getStride());
    Value distance = arith::MulIOp::create(b, op.getLayer(), stride);
    offset = arith::AddIOp::create(b, offset, distance);
  }
  rewriter.replaceOpWithNewOp<memref::ViewOp>(op, op.getType(), weights, offset,
                                              ValueRange());
  return success();
}

namespace {
struct BindWeightsPass : tfc::impl::BindWeightsPassBase<BindWeightsPass> {
  LogicalResult bindEntry(func::FuncOp entry, SymbolTable &symbols) {
    if (transformer::findArgument(entry, transformer::kStepAttrName)) {
      return entry.emitOpError()
             << "expected no argument marked as '" << transformer::kStepAttrName
             << "' (the pass adds it), got one";
    }
    FailureOr<Value> weights = addArguments(entry);
    if (failed(weights)) {
      return failure();
    }
    IRRewriter rewriter(entry.getContext());
    WalkResult result =
        entry.walk([&](transformer::WeightOp weight) -> WalkResult {
          return bindWeight(weight, *weights, symbols, rewriter);
        });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      bool isEntry = llvm::any_of(entry.getArgumentTypes(),
                                  llvm::IsaPred<transformer::BatchType>);
      if (isEntry && failed(bindEntry(entry, symbols))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
