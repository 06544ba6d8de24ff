// What the elements of each matrix are kept in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/ShapeUtils.h"
#include "llvm/ADT/MapVector.h"

namespace tfc {
#define GEN_PASS_DEF_CHOOSEPRECISIONPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

static bool isWidened(WeightOp weight) {
  return llvm::all_of(weight->getUsers(), [](Operation *user) {
    return user->hasTrait<WidensMatrices>();
  });
}

namespace {
struct ChoosePrecisionPass
    : tfc::impl::ChoosePrecisionPassBase<ChoosePrecisionPass> {
  using Base::Base;

  void runOnOperation() override {
    if (weights == Storage::F32) {
      return;
    }
    SymbolTable symbols(getOperation());
    llvm::MapVector<Operation *, SmallVector<WeightOp>> uses;
    getOperation().walk([&](WeightOp weight) {
      uses[symbols.lookup(weight.getName())].push_back(weight);
    });
    for (auto &[declared, weightOps] : uses) {
      auto parameter = cast<ParameterOp>(declared);
      if (parameter.getTensorType().getRank() == 2 &&
          llvm::all_of(weightOps, isWidened)) {
        narrow(parameter);
        for (WeightOp weight : weightOps) {
          weight.getResult().setType(parameter.getTensorType());
        }
      }
    }
    // Other names of a parameter have its type.
    for (auto parameter : getOperation().getOps<ParameterOp>()) {
      if (parameter.isTied()) {
        auto other = symbols.lookup<ParameterOp>(
            parameter.getSource()->getTiedTo().getValue());
        parameter.setType(other.getType());
        parameter.setRounds(other.getRounds());
      }
    }
  }

  /// With its parts, which have no use of their own.
  void narrow(ParameterOp parameter) {
    Type element = elementOf(&getContext(), weights);
    SmallVector<ParameterOp> all = listParts(parameter);
    all.push_back(parameter);
    for (ParameterOp each : all) {
      each.setType(each.getTensorType().clone(element));
      each.setRounds(rounds);
    }
    ++numNarrow;
  }
};
} // namespace
