// Outermost parallel loops become calls of the host's parallel_for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/host/OutlineBody.h"
#include "compiler/kernel/ParallelLoops.h"
#include "dialect/LayerFunctions.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERPARALLELPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

static bool isOfBoundEntry(scf::ParallelOp loop) {
  auto entry = loop->getParentOfType<func::FuncOp>();
  if (loop.getNumReductions() != 0 || !entry || entry.getNumArguments() == 0 ||
      !isa<LLVM::LLVMPointerType>(entry.getArgumentTypes()[0])) {
    return false;
  }
  return entry.getNumArguments() == 1 || transformer::isOfLayers(entry);
}

namespace {
/// Where each function keeps what its loops capture: one place for all of
/// them, which are over when their call returns. In the entry block: inside of
/// a loop it would grow the stack.
class Frames {
public:
  explicit Frames(ModuleOp module) : layout(module) {}

  void reserve(scf::ParallelOp loop) {
    Type type = Outliner(loop).getContextType();
    Frame &frame = frames[loop->getParentOfType<func::FuncOp>()];
    frame.bytes =
        std::max(frame.bytes, layout.getTypeSize(type).getFixedValue());
    frame.alignment =
        std::max(frame.alignment, layout.getTypeABIAlignment(type));
  }

  Value get(func::FuncOp function) {
    Frame &frame = frames[function];
    if (!frame.place) {
      ImplicitLocOpBuilder b(function.getLoc(), function.getContext());
      b.setInsertionPointToStart(&function.getBody().front());
      auto type = LLVM::LLVMArrayType::get(b.getI8Type(), frame.bytes);
      Value single = LLVM::ConstantOp::create(b, b.getI64Type(), 1);
      frame.place =
          LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                 type, single, frame.alignment);
    }
    return frame.place;
  }

private:
  struct Frame {
    uint64_t bytes = 0, alignment = 1;
    Value place;
  };

  DataLayout layout;
  llvm::DenseMap<Operation *, Frame> frames;
};
} // namespace

namespace {
struct LowerParallelPass : tfc::impl::LowerParallelPassBase<LowerParallelPass> {
  void runOnOperation() override {
    WalkResult result =
        getOperation().walk([](scf::ParallelOp loop) -> WalkResult {
          if (loop->getParentOfType<scf::ParallelOp>()) {
            return WalkResult::advance();
          }
          if (!isOfBoundEntry(loop)) {
            return loop.emitOpError()
                   << "expected a loop without reductions in an entry of one "
                      "pointer (see tfc-bind-step)";
          }
          hoistLengths(loop);
          return WalkResult::advance();
        });
    if (result.wasInterrupted()) {
      return signalPassFailure();
    }
    SmallVector<LoopGroup> groups = groupParallelLoops(getOperation());
    Frames frames(getOperation());
    for (const LoopGroup &group : groups) {
      llvm::for_each(group,
                     [&](scf::ParallelOp loop) { frames.reserve(loop); });
    }
    for (ArrayRef<scf::ParallelOp> group : groups) {
      numShared += group.size() - 1;
      outline(group, frames);
    }
    // A loop of one item that is known to be one is none, and who runs it is
    // alone: any worker's memory does.
    getOperation().walk([](transformer::WorkerOp op) {
      OpBuilder b(op);
      op.replaceAllUsesWith(
          arith::ConstantIndexOp::create(b, op.getLoc(), 0).getResult());
      op.erase();
    });
  }

  void outline(ArrayRef<scf::ParallelOp> group, Frames &frames) {
    auto entry = group[0]->getParentOfType<func::FuncOp>();
    std::string name =
        (transformer::entryNameOf(entry) + "_body_" + std::to_string(numBodies))
            .str();
    if (std::string ops = nameOf(group); !ops.empty()) {
      name += "." + ops;
    }
    LLVM::LLVMFuncOp body = Outliner(group[0]).buildBody(name);
    for (scf::ParallelOp loop : group) {
      Value frame = frames.get(loop->getParentOfType<func::FuncOp>());
      Outliner(loop).buildCall(body, frame);
    }
    ++numBodies;
  }
};
} // namespace
