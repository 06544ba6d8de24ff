// Outermost parallel loops become calls of the host's parallel_for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/host/OutlineBody.h"
#include "compiler/host/ParallelLoops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERPARALLELPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

static bool isOfBoundEntry(scf::ParallelOp loop) {
  auto entry = loop->getParentOfType<func::FuncOp>();
  return loop.getNumReductions() == 0 && entry &&
         entry.getNumArguments() == 1 &&
         isa<LLVM::LLVMPointerType>(entry.getArgumentTypes()[0]);
}

namespace {
struct LowerParallelPass : tfc::impl::LowerParallelPassBase<LowerParallelPass> {
  void runOnOperation() override {
    for (ArrayRef<scf::ParallelOp> group : groupParallelLoops(getOperation())) {
      for (scf::ParallelOp loop : group) {
        if (!isOfBoundEntry(loop)) {
          loop.emitOpError() << "expected a loop without reductions in an "
                                "entry of one pointer (see tfc-bind-step)";
          return signalPassFailure();
        }
      }
      numShared += group.size() - 1;
      outline(group);
    }
  }

  void outline(ArrayRef<scf::ParallelOp> group) {
    auto entry = group[0]->getParentOfType<func::FuncOp>();
    std::string name =
        (entry.getName() + "_body_" + std::to_string(numBodies)).str();
    if (std::string ops = nameOf(group); !ops.empty()) {
      name += "." + ops;
    }
    LLVM::LLVMFuncOp body = Outliner(group[0]).buildBody(name);
    for (scf::ParallelOp loop : group) {
      Outliner(loop).buildCall(body);
    }
    ++numBodies;
  }
};
} // namespace
