// Loops over layers, where an entry has many, become functions of their own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/LayerFunctions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {
#define GEN_PASS_DEF_OUTLINELAYERSPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

/// Whether functions are worth their calls: the layers are of several
/// structures. An encoder's entry has a loop over its own layers and one over
/// those that read what it found, which carries nothing.
static bool areMany(ArrayRef<scf::ForOp> loops) {
  auto carrying = llvm::count_if(
      loops, [](scf::ForOp loop) { return loop.getNumResults() != 0; });
  return carrying > 1 || static_cast<int64_t>(loops.size()) - carrying > 1;
}

/// <entry>.decoder.layers.3: the runs of layers in the loop's location.
static std::string nameOf(func::FuncOp entry, scf::ForOp loop) {
  llvm::SetVector<StringRef> runs;
  loop.getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part)) {
      runs.insert(name.getName().getValue());
    }
    return WalkResult::advance();
  });
  std::string layers = runs.empty() ? "layers" : llvm::join(runs, "+");
  return (entry.getName() + "." + layers).str();
}

namespace {

/// What a loop takes from outside. Constants are its bounds: a loop of one
/// layer becomes that layer. Others it is told, so that what layers do to their
/// number is the same.
struct Outside {
  explicit Outside(scf::ForOp loop) : inits(loop.getInits()) {
    llvm::SetVector<Value> values;
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}) {
      Operation *op = bound.getDefiningOp();
      if (op && op->hasTrait<OpTrait::ConstantLike>()) {
        constants.insert(bound);
      } else {
        values.insert(bound);
      }
    }
    getUsedValuesDefinedAbove(loop.getRegion(), values);
    // The results' places come first, a place each, be it that two results
    // begin as one value.
    all = inits;
    llvm::copy_if(values, std::back_inserter(all), [&](Value value) {
      return !llvm::is_contained(inits, value);
    });
  }

  SmallVector<Value> inits, all;
  llvm::SetVector<Value> constants;
};

} // namespace

/// Marks what has a row for each token: nothing else that layers take has a
/// number of rows that the step decides.
static void markTokens(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    auto rows = dyn_cast<RankedTensorType>(argument.getType());
    if (rows && !rows.hasStaticShape()) {
      function.setArgAttr(argument.getArgNumber(), transformer::kTokensAttrName,
                          UnitAttr::get(function.getContext()));
    }
  }
}

static void outline(scf::ForOp loop, SymbolTable &symbols) {
  auto entry = loop->getParentOfType<func::FuncOp>();
  Outside outside(loop);
  OpBuilder b(entry);
  auto function = func::FuncOp::create(
      b, loop.getLoc(), nameOf(entry, loop),
      b.getFunctionType(TypeRange(outside.all), loop.getResultTypes()));
  function.setPrivate();
  function->setAttr(transformer::kLayersOfAttrName,
                    FlatSymbolRefAttr::get(entry));
  symbols.insert(function);
  Block *body = function.addEntryBlock();
  markTokens(function);

  b.setInsertionPoint(loop);
  auto call = func::CallOp::create(b, loop.getLoc(), function, outside.all);
  loop.replaceAllUsesWith(call.getResults());
  loop->moveBefore(body, body->end());
  Region &region = function.getBody();
  for (auto [value, argument] :
       llvm::zip_equal(outside.all, function.getArguments())) {
    replaceAllUsesInRegionWith(value, argument, region);
  }
  for (auto [init, argument] :
       llvm::zip(loop.getInitsMutable(), function.getArguments())) {
    init.set(argument);
  }
  b.setInsertionPointToStart(body);
  for (Value value : outside.constants) {
    Value copy = b.clone(*value.getDefiningOp())->getResult(0);
    replaceAllUsesInRegionWith(value, copy, region);
  }
  b.setInsertionPointToEnd(body);
  func::ReturnOp::create(b, loop.getLoc(), loop.getResults());
}

namespace {
struct OutlineLayersPass : tfc::impl::OutlineLayersPassBase<OutlineLayersPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      bool isEntry = llvm::any_of(entry.getArgumentTypes(),
                                  llvm::IsaPred<transformer::BatchType>);
      if (!isEntry || transformer::isOfLayers(entry) ||
          entry->hasAttr(transformer::kPrepareAttrName)) {
        continue;
      }
      auto loops = llvm::to_vector(entry.getOps<scf::ForOp>());
      if (!areMany(loops)) {
        continue;
      }
      for (scf::ForOp loop : loops) {
        outline(loop, symbols);
        ++numFunctions;
      }
    }
  }
};
} // namespace
