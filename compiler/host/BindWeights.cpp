// Entries take what the host lends; weights are views of the packed ones.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "dialect/LayerFunctions.h"
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

namespace {
/// What the host lends: a value each of an entry or of its layers.
struct Lent {
  Value step, weights, workers;
};
} // namespace

/// Adds an argument for each of what is lent.
static FailureOr<Lent> addArguments(func::FuncOp entry) {
  Builder builder(entry.getContext());
  bool isGood = true;
  auto add = [&](Type type, StringRef name) -> Value {
    unsigned index = entry.getNumArguments();
    DictionaryAttr marked = builder.getDictionaryAttr(
        builder.getNamedAttr(name, builder.getUnitAttr()));
    isGood &=
        succeeded(entry.insertArgument(index, type, marked, entry.getLoc()));
    return isGood ? Value(entry.getArgument(index)) : Value();
  };
  auto bytes = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  Lent lent;
  lent.step = add(LLVM::LLVMPointerType::get(entry.getContext()),
                  transformer::kStepAttrName);
  lent.weights = add(bytes, transformer::kWeightsAttrName);
  lent.workers = add(builder.getIndexType(), transformer::kWorkersAttrName);
  if (!isGood) {
    return failure();
  }
  return lent;
}

/// The same of a function of layers, which its entry lends what it is lent.
/// Returns the weights.
static FailureOr<Value> addArguments(const transformer::LayerCall &layers,
                                     const Lent &lent) {
  auto add = [&](Value value, StringRef name) {
    return transformer::addArgument(layers, value, name);
  };
  FailureOr<BlockArgument> step = add(lent.step, transformer::kStepAttrName);
  FailureOr<BlockArgument> weights =
      add(lent.weights, transformer::kWeightsAttrName);
  FailureOr<BlockArgument> workers =
      add(lent.workers, transformer::kWorkersAttrName);
  if (failed(step) || failed(weights) || failed(workers)) {
    return failure();
  }
  return Value(*weights);
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
  if (!isa<MemRefType>(op.getType())) {
    return op.emitOpError() << "expected a weight in memory (the pass runs "
                               "behind bufferization), got "
                            << op.getType();
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
  LogicalResult bindWeights(func::FuncOp function, Value weights,
                            SymbolTable &symbols) {
    IRRewriter rewriter(function.getContext());
    WalkResult result =
        function.walk([&](transformer::WeightOp weight) -> WalkResult {
          ++numWeights;
          return bindWeight(weight, weights, symbols, rewriter);
        });
    return failure(result.wasInterrupted());
  }

  LogicalResult bindEntry(func::FuncOp entry, SymbolTable &symbols) {
    if (transformer::findArgument(entry, transformer::kStepAttrName)) {
      return entry.emitOpError()
             << "expected no argument marked as '" << transformer::kStepAttrName
             << "' (the pass adds it), got one";
    }
    FailureOr<Lent> lent = addArguments(entry);
    if (failed(lent) || failed(bindWeights(entry, lent->weights, symbols))) {
      return failure();
    }
    FailureOr<SmallVector<transformer::LayerCall>> calls =
        transformer::listLayerCalls(entry);
    if (failed(calls)) {
      return failure();
    }
    for (const transformer::LayerCall &layers : *calls) {
      FailureOr<Value> weights = addArguments(layers, *lent);
      if (failed(weights) ||
          failed(bindWeights(layers.function, *weights, symbols))) {
        return failure();
      }
    }
    return success();
  }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto entry : getOperation().getOps<func::FuncOp>()) {
      bool isEntry = llvm::any_of(entry.getArgumentTypes(),
                                  llvm::IsaPred<transformer::BatchType>);
      if (isEntry && !transformer::isOfLayers(entry) &&
          failed(bindEntry(entry, symbols))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
