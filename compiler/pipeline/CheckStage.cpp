// What a stage promises beyond the ops that it may have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/CheckStage.h"

#include "compiler/kernel/StepFields.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tfc;

/// Bytes of the longest vector that any target's registers hold.
static constexpr int64_t kRegisterBytes = 64;
/// Of a function's stack: threads of a host may have little of it.
static constexpr uint64_t kStackBytes = 64 << 10;

/// A product is a sum over more than the columns of a row.
static bool isProduct(linalg::LinalgOp op) {
  return op.getNumLoops() > 2 && op.getNumReductionLoops() > 0;
}

/// A gather, however static, is no tile.
static bool isGather(linalg::LinalgOp op) {
  return !op.getBlock()->getOps<tensor::ExtractOp>().empty();
}

static LogicalResult checkTiledOp(Operation *op) {
  if (Attribute sizes = op->getAttr(transformer::kStrategyAttrName)) {
    return op->emitOpError()
           << "expected no tile sizes after stage 'tiled' (tfc-tile-and-fuse "
              "takes them), got "
           << sizes;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && isProduct(linalgOp) && linalgOp.hasDynamicShape()) {
    return op->emitOpError() << "is a product that was not cut into tiles";
  }
  auto kernel = dyn_cast<transformer::KernelOpInterface>(op);
  if (kernel && !kernel.hasKernelTile()) {
    return op->emitOpError()
           << "expected a tile (tfc-select-strategy gives it), got none";
  }
  return success();
}

static LogicalResult checkVectorOp(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && !linalgOp.hasDynamicShape() && !isGather(linalgOp)) {
    return op->emitOpError() << "is a tile that did not become vectors";
  }
  return success();
}

static LogicalResult checkBufferOp(Operation *op) {
  for (Type type : op->getResultTypes()) {
    auto vector = dyn_cast<VectorType>(type);
    if (vector && (vector.getRank() > 1 ||
                   vector.getNumElements() * vector.getElementTypeBitWidth() >
                       8 * kRegisterBytes)) {
      return op->emitOpError()
             << "expected vectors of one row of at most " << kRegisterBytes
             << " bytes after stage 'buffer' (tfc-split-tiles), got " << vector;
    }
  }
  return success();
}

/// A table that is a constant of the library, in the host's memory.
static bool isTable(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>()) {
    buffer = view.getViewSource();
  }
  return isa_and_present<memref::GetGlobalOp>(buffer.getDefiningOp());
}

/// What an entry's pointers name is in a device's memory, where the host cannot
/// follow them.
static LogicalResult checkHostCode(func::FuncOp entry) {
  Value step = transformer::findArgument(entry, transformer::kStepAttrName);
  if (!step) {
    return success();
  }
  WalkResult walk = entry.walk([&](Operation *op) -> WalkResult {
    auto load = dyn_cast<LLVM::LoadOp>(op);
    auto tableLoad = dyn_cast<memref::LoadOp>(op);
    bool isAllowed = (load && isOfStep(load.getAddr(), step)) ||
                     (tableLoad && isTable(tableLoad.getMemRef()));
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    if (isAllowed || !effects || effects.hasNoEffect() ||
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
      return WalkResult::advance();
    }
    return op->emitOpError()
           << "expected host code that touches no memory but the step and "
              "constant tables after stage 'kernel' (tfc-outline-threads takes "
              "the rest to the device)";
  });
  return failure(walk.wasInterrupted());
}

static LogicalResult checkStack(LLVM::LLVMFuncOp function) {
  DataLayout layout = DataLayout::closest(function);
  uint64_t bytes = 0;
  WalkResult walk = function.walk([&](LLVM::AllocaOp op) {
    APInt count;
    if (!matchPattern(op.getArraySize(), m_ConstantInt(&count))) {
      op.emitOpError() << "expected a constant size on the stack";
      return WalkResult::interrupt();
    }
    bytes += count.getZExtValue() * layout.getTypeSize(op.getElemType());
    return WalkResult::advance();
  });
  if (walk.wasInterrupted()) {
    return failure();
  }
  return bytes <= kStackBytes ? success()
                              : function.emitOpError()
                                    << "expected at most " << kStackBytes
                                    << " bytes on the stack, got " << bytes;
}

/// Columns of a register of any level.
static constexpr int64_t kLanes = 16;

/// Maps and sums over rows whose width has no tile of a few registers. Loops of
/// more than rows and columns, such as a rotation of heads, have no tiles at
/// all: where whole registers fill a row, LLVM makes vectors of them.
static void warnOfLoops(ModuleOp module) {
  llvm::SmallSetVector<int64_t, 4> widths;
  unsigned count = 0;
  module.walk([&](linalg::LinalgOp op) {
    if (isa<linalg::GenericOp>(op.getOperation()) && !isGather(op) &&
        !ShapedType::isDynamic(op.getStaticLoopRanges().back()) &&
        !(op.getNumLoops() > 2 &&
          op.getStaticLoopRanges().back() % kLanes == 0)) {
      ++count;
      widths.insert(op.getStaticLoopRanges().back());
    }
  });
  if (count != 0) {
    // Without the op, which would be the whole module.
    InFlightDiagnostic warning = emitWarning(module.getLoc());
    warning << "expected vectors, got " << count
            << " plain loops over rows of width ";
    llvm::interleaveComma(widths, warning);
    warning << ", which no tile of a few registers divides: slow";
  }
}

/// Whether `check` succeeds for all ops; it reports those that it does not.
static LogicalResult checkOps(ModuleOp module,
                              LogicalResult (*check)(Operation *)) {
  WalkResult walk = module.walk([&](Operation *op) {
    return failed(check(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

template <typename Function>
static LogicalResult checkFunctions(ModuleOp module,
                                    LogicalResult (*check)(Function)) {
  return success(llvm::all_of(module.getOps<Function>(), [&](Function each) {
    return succeeded(check(each));
  }));
}

LogicalResult tfc::checkTiled(ModuleOp module) {
  return checkOps(module, checkTiledOp);
}

LogicalResult tfc::checkVector(ModuleOp module) {
  warnOfLoops(module);
  return failure(failed(checkOps(module, checkTiledOp)) ||
                 failed(checkOps(module, checkVectorOp)));
}

LogicalResult tfc::checkBuffer(ModuleOp module) {
  return checkOps(module, checkBufferOp);
}

LogicalResult tfc::checkKernel(ModuleOp module) {
  return checkFunctions(module, checkHostCode);
}

LogicalResult tfc::checkLlvm(ModuleOp module) {
  return checkFunctions(module, checkStack);
}
