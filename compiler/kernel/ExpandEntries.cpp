// Which structured ops of an entry are expanded, and what is written of its
// caches: what all expansions have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandEntries.h"

#include "compiler/kernel/ExpandExperts.h"
#include "compiler/kernel/ExpandHashed.h"
#include "compiler/kernel/ExpandLogSoftmax.h"
#include "compiler/kernel/ExpandPairs.h"
#include "compiler/kernel/ExpandPool.h"
#include "compiler/kernel/ExpandRecurrent.h"
#include "compiler/kernel/ExpandSinks.h"
#include "compiler/kernel/ExpandUnfold.h"
#include "compiler/kernel/StateBlocks.h"
#include "dialect/LayerFunctions.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

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

static LogicalResult describeCaches(func::FuncOp entry,
                                    const KernelExpansion &expansion) {
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<transformer::CacheType>(argument.getType());
    if (type && failed(describeCache(entry, type, expansion.layOut(type)))) {
      return failure();
    }
    auto state = dyn_cast<transformer::StateType>(argument.getType());
    if (state && failed(describeState(entry, state))) {
      return failure();
    }
  }
  return success();
}

/// The number of ops.
static FailureOr<int64_t> expandKernels(func::FuncOp function,
                                        const KernelExpansion &expansion) {
  Value step = transformer::findArgument(function, transformer::kStepAttrName);
  Value workers =
      transformer::findArgument(function, transformer::kWorkersAttrName);
  if (!step || !workers) {
    return function.emitOpError()
           << "expected arguments marked as '" << transformer::kStepAttrName
           << "' and '" << transformer::kWorkersAttrName
           << "' (by tfc-bind-weights)";
  }
  IRRewriter rewriter(function.getContext());
  int64_t count = 0;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    FailureOr<bool> isTaken = expansion.takes(op);
    if (failed(isTaken)) {
      return WalkResult::interrupt();
    }
    if (!*isTaken) {
      return WalkResult::advance();
    }
    ++count;
    return expansion.expand(op, step, workers, rewriter);
  });
  if (result.wasInterrupted()) {
    return failure();
  }
  return count;
}

/// An entry and its layers; their handles have no users left.
static FailureOr<int64_t> expandEntry(func::FuncOp entry,
                                      const KernelExpansion &expansion) {
  FailureOr<SmallVector<transformer::LayerCall>> calls =
      transformer::listLayerCalls(entry);
  if (failed(calls) || failed(describeCaches(entry, expansion))) {
    return failure();
  }
  FailureOr<int64_t> count = expandKernels(entry, expansion);
  if (failed(count)) {
    return failure();
  }
  for (const transformer::LayerCall &layers : *calls) {
    FailureOr<int64_t> more = expandKernels(layers.function, expansion);
    if (failed(more) || failed(transformer::eraseArguments(
                            layers, findHandles(layers.function)))) {
      return failure();
    }
    *count += *more;
  }
  if (failed(entry.eraseArguments(findHandles(entry)))) {
    return failure();
  }
  return count;
}

FailureOr<int64_t> tfc::expandEntries(ModuleOp module,
                                      const KernelExpansion &expansion) {
  int64_t count = 0;
  for (auto entry : llvm::to_vector(module.getOps<func::FuncOp>())) {
    bool isEntry = llvm::any_of(entry.getArgumentTypes(),
                                llvm::IsaPred<transformer::BatchType>);
    if (!isEntry || transformer::isOfLayers(entry)) {
      continue;
    }
    FailureOr<int64_t> more = expandEntry(entry, expansion);
    if (failed(more)) {
      return failure();
    }
    count += *more;
  }
  return count;
}

LogicalResult tfc::expectBuffers(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), llvm::IsaPred<TensorType>)) {
    return op->emitOpError() << "expected buffers, got tensors";
  }
  return success();
}

bool tfc::isLaneKernel(Operation *op) {
  return isa<transformer::RaggedHashedOp, transformer::RaggedPoolOp,
             transformer::RaggedUnfoldOp, transformer::RaggedPairsOp,
             transformer::RaggedWeightsOp, transformer::ClusteredLogSoftmaxOp,
             transformer::RaggedSinksOp, transformer::RaggedConvOp,
             transformer::RaggedRecurrenceOp, transformer::ChooseExpertsOp,
             transformer::SortByExpertOp>(op);
}

void tfc::expandLaneKernel(Operation *op, Value step, int64_t lanes,
                           RewriterBase &rewriter) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](transformer::RaggedHashedOp hashed) {
        expandHashed(hashed, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedPoolOp pool) {
        expandPool(pool, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedUnfoldOp unfold) {
        expandUnfold(unfold, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedPairsOp pairs) {
        expandPairs(pairs, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedWeightsOp weights) {
        expandWeights(weights, step, lanes, rewriter);
      })
      .Case([&](transformer::ClusteredLogSoftmaxOp softmax) {
        expandLogSoftmax(softmax, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedSinksOp sinks) {
        expandSinks(sinks, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedConvOp conv) {
        expandConv(conv, step, lanes, rewriter);
      })
      .Case([&](transformer::RaggedRecurrenceOp recurrence) {
        expandRecurrence(recurrence, step, lanes, rewriter);
      })
      .Case([&](transformer::ChooseExpertsOp choose) {
        expandChooseExperts(choose, rewriter);
      })
      .Case([&](transformer::SortByExpertOp sort) {
        expandSortByExpert(sort, /*inTurns=*/lanes > 1, rewriter);
      });
}
