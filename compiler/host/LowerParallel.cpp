// Outermost parallel loops become calls of the host's parallel_for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/host/Passes.h"

#include "compiler/host/OutlineBody.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"

namespace tfc {
#define GEN_PASS_DEF_LOWERPARALLELPASS
#include "compiler/host/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Whether one function can be the body of both loops: they do the same to what
/// they take from outside, constants apart, which must be equal.
static bool haveSameBody(scf::ParallelOp a, scf::ParallelOp b) {
  llvm::SetVector<Value> fromA = outsideValues(a), fromB = outsideValues(b);
  if (fromA.size() != fromB.size() || a.getNumLoops() != b.getNumLoops()) {
    return false;
  }
  llvm::DenseMap<Value, Value> equivalent;
  for (auto [x, y] : llvm::zip(fromA, fromB)) {
    bool same = x.getType() == y.getType() && isConstant(x) == isConstant(y) &&
                (!isConstant(x) || OperationEquivalence::isEquivalentTo(
                                       x.getDefiningOp(), y.getDefiningOp(),
                                       OperationEquivalence::IgnoreLocations));
    if (!same) {
      return false;
    }
    equivalent[x] = y;
  }
  for (auto [x, y] : llvm::zip(a->getOperands(), b->getOperands())) {
    if (equivalent.lookup(x) != y) {
      return false;
    }
  }
  return OperationEquivalence::isRegionEquivalentTo(
      &a.getRegion(), &b.getRegion(),
      [&](Value x, Value y) { return success(equivalent.lookup(x) == y); },
      [&](Value x, Value y) { equivalent[x] = y; },
      OperationEquivalence::IgnoreLocations);
}

/// The paths that the locations of `loops` name, in order, divided by '+':
/// those of the ops that they were made of. A path that another one goes on
/// from says nothing more: a sublayer's addition, fused into the product before
/// it.
static std::string nameOf(ArrayRef<scf::ParallelOp> loops) {
  llvm::SetVector<StringRef> paths;
  for (scf::ParallelOp loop : loops) {
    loop.getLoc()->walk([&](Location part) {
      if (auto name = dyn_cast<NameLoc>(part)) {
        paths.insert(name.getName().getValue());
      }
      return WalkResult::advance();
    });
  }
  auto goesOn = [&](StringRef path) {
    return llvm::any_of(paths, [&](StringRef other) {
      return other.consume_front(path) && other.starts_with(".");
    });
  };
  SmallVector<StringRef> names;
  llvm::copy_if(paths, std::back_inserter(names),
                [&](StringRef path) { return !goesOn(path); });
  return llvm::join(names, "+");
}

/// An inner parallel loop, inside a body that is already parallel.
static void makeSequential(scf::ParallelOp loop) {
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  scf::LoopNest nest =
      scf::buildLoopNest(rewriter, loop.getLoc(), loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep());
  Block *body = nest.loops.back().getBody();
  rewriter.eraseOp(loop.getBody()->getTerminator());
  SmallVector<Value> indices;
  for (scf::ForOp op : nest.loops) {
    indices.push_back(op.getInductionVar());
  }
  rewriter.inlineBlockBefore(loop.getBody(), body->getTerminator(), indices);
  rewriter.eraseOp(loop);
}

namespace {
struct LowerParallelPass : tfc::impl::LowerParallelPassBase<LowerParallelPass> {
  void runOnOperation() override {
    SmallVector<scf::ParallelOp> outer, inner;
    getOperation().walk([&](scf::ParallelOp loop) {
      bool nested = loop->getParentOfType<scf::ParallelOp>() != nullptr;
      (nested ? inner : outer).push_back(loop);
    });
    for (scf::ParallelOp loop : inner) {
      makeSequential(loop);
    }
    // Loops that one body serves, for one: the norms of a layer.
    SmallVector<SmallVector<scf::ParallelOp>> groups;
    for (scf::ParallelOp loop : outer) {
      auto entry = loop->getParentOfType<func::FuncOp>();
      bool bound = entry && entry.getNumArguments() == 1 &&
                   isa<LLVM::LLVMPointerType>(entry.getArgumentTypes()[0]);
      if (!bound || loop.getNumReductions() != 0) {
        loop.emitOpError() << "expected a loop without reductions in an entry "
                              "of one pointer (see tfc-bind-step)";
        return signalPassFailure();
      }
      auto *same = llvm::find_if(groups, [&](ArrayRef<scf::ParallelOp> group) {
        return entry == group[0]->getParentOfType<func::FuncOp>() &&
               haveSameBody(group[0], loop);
      });
      if (same == groups.end()) {
        groups.push_back({loop});
      } else {
        same->push_back(loop);
        ++numShared;
      }
    }
    for (ArrayRef<scf::ParallelOp> group : groups) {
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
