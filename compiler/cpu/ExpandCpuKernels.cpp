// The pass: which emitter expands attention and the cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "compiler/cpu/ExpandAttention.h"
#include "compiler/cpu/ExpandCacheWrite.h"
#include "compiler/cpu/ExpandExperts.h"
#include "compiler/cpu/ExpandLatent.h"
#include "compiler/cpu/ExpandPool.h"
#include "compiler/cpu/ExpandProduct.h"
#include "compiler/cpu/ExpandRecurrent.h"
#include "compiler/cpu/ExpandScalar.h"
#include "compiler/kernel/StateBlocks.h"
#include "compiler/support/ClearStatistics.h"
#include "dialect/LayerFunctions.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tfc {
#define GEN_PASS_DEF_EXPANDCPUKERNELSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Batch, cache and states are in the step.
static llvm::BitVector findHandles(func::FuncOp function) {
  llvm::BitVector handles(function.getNumArguments());
  for (BlockArgument argument : function.getArguments()) {
    handles[argument.getArgNumber()] =
        isa<transformer::BatchType, transformer::CacheType,
            transformer::StateType>(argument.getType());
  }
  return handles;
}

/// Buffers; of kernels of vectors those of f32, but for what products multiply,
/// which depends on their tile, and what they store.
static LogicalResult expectBuffers(Operation *op, bool areVectors) {
  auto product = dyn_cast<transformer::ProductOp>(op);
  for (Value operand : op->getOperands()) {
    if (isa<TensorType>(operand.getType())) {
      return op->emitOpError() << "expected buffers, got tensors";
    }
    auto type = dyn_cast<MemRefType>(operand.getType());
    bool isStored = product && (operand == product.getPanels() ||
                                operand == product.getInput() ||
                                operand == product.getInit());
    if (areVectors && type && !isStored &&
        isa<FloatType>(type.getElementType()) &&
        !type.getElementType().isF32()) {
      return op->emitOpError()
             << "expected rows of f32 (kernels=vector), got " << type;
    }
  }
  return success();
}

namespace {
struct ExpandCpuKernelsPass
    : tfc::impl::ExpandCpuKernelsPassBase<ExpandCpuKernelsPass> {
  using Base::Base;

  bool isVector() const { return kernels == "vector"; }

  LogicalResult describeCaches(func::FuncOp entry) {
    for (BlockArgument argument : entry.getArguments()) {
      auto type = dyn_cast<transformer::CacheType>(argument.getType());
      if (type && failed(describeCache(entry, type,
                                       isVector() ? VectorCache(type)
                                                  : getScalarCache(type)))) {
        return failure();
      }
      auto state = dyn_cast<transformer::StateType>(argument.getType());
      if (state && failed(describeState(entry, state))) {
        return failure();
      }
    }
    return success();
  }

  LogicalResult expandKernels(func::FuncOp function) {
    Value step =
        transformer::findArgument(function, transformer::kStepAttrName);
    Value workers =
        transformer::findArgument(function, transformer::kWorkersAttrName);
    if (!step || !workers) {
      return function.emitOpError()
             << "expected arguments marked as '" << transformer::kStepAttrName
             << "' and '" << transformer::kWorkersAttrName
             << "' (by tfc-bind-weights)";
    }
    IRRewriter rewriter(function.getContext());
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      bool isExpanded =
          isa<transformer::CacheWriteOp, transformer::PagedAttentionOp,
              transformer::PagedLatentOp, transformer::RaggedPoolOp,
              transformer::RaggedConvOp, transformer::RaggedRecurrenceOp,
              transformer::ChooseExpertsOp, transformer::SortByExpertOp>(op) ||
          (isVector() && isa<transformer::ProductOp>(op));
      if (isExpanded && failed(expectBuffers(op, isVector()))) {
        return WalkResult::interrupt();
      }
      numExpanded += isExpanded;
      if (auto write = dyn_cast<transformer::CacheWriteOp>(op)) {
        isVector() ? expandCacheWrite(write, step, lanes, rewriter)
                   : expandScalar(write, step, rewriter);
      } else if (auto attention = dyn_cast<transformer::PagedAttentionOp>(op)) {
        isVector() ? expandAttention(attention, step, workers, lanes, rewriter)
                   : expandScalar(attention, step, workers, rewriter);
      } else if (auto latent = dyn_cast<transformer::PagedLatentOp>(op)) {
        expandLatent(latent, step, workers, isVector() ? lanes : 1, rewriter);
      } else if (auto pool = dyn_cast<transformer::RaggedPoolOp>(op)) {
        expandPool(pool, step, isVector() ? lanes : 1, rewriter);
      } else if (auto conv = dyn_cast<transformer::RaggedConvOp>(op)) {
        expandConv(conv, step, isVector() ? lanes : 1, rewriter);
      } else if (auto recurrence =
                     dyn_cast<transformer::RaggedRecurrenceOp>(op)) {
        expandRecurrence(recurrence, step, isVector() ? lanes : 1, rewriter);
      } else if (auto choose = dyn_cast<transformer::ChooseExpertsOp>(op)) {
        expandChooseExperts(choose, rewriter);
      } else if (auto sort = dyn_cast<transformer::SortByExpertOp>(op)) {
        expandSortByExpert(sort, rewriter);
      } else if (auto product = dyn_cast<transformer::ProductOp>(op);
                 product && isVector()) {
        return expandProduct(product, step, workers, dots == "amx", rewriter);
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// An entry and its layers; their handles have no users left.
  LogicalResult expandEntry(func::FuncOp entry) {
    FailureOr<SmallVector<transformer::LayerCall>> calls =
        transformer::listLayerCalls(entry);
    if (failed(calls) || failed(describeCaches(entry)) ||
        failed(expandKernels(entry))) {
      return failure();
    }
    for (const transformer::LayerCall &layers : *calls) {
      if (failed(expandKernels(layers.function)) ||
          failed(transformer::eraseArguments(layers,
                                             findHandles(layers.function)))) {
        return failure();
      }
    }
    return entry.eraseArguments(findHandles(entry));
  }

  void runOnOperation() override {
    clearStatistics(*this);
    if (kernels != "scalar" && !isVector()) {
      getOperation().emitError()
          << "expected kernels=scalar or kernels=vector, got \"" << kernels
          << '"';
      return signalPassFailure();
    }
    if (dots != "vector" && dots != "amx") {
      getOperation().emitError()
          << "expected dots=vector or dots=amx, got \"" << dots << '"';
      return signalPassFailure();
    }
    if (lanes != 16 && lanes != 8) {
      getOperation().emitError()
          << "expected lanes=16 or lanes=8, got " << lanes.getValue();
      return signalPassFailure();
    }
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      bool isEntry = llvm::any_of(entry.getArgumentTypes(),
                                  llvm::IsaPred<transformer::BatchType>);
      if (isEntry && !transformer::isOfLayers(entry) &&
          failed(expandEntry(entry))) {
        return signalPassFailure();
      }
    }
  }
};
} // namespace
