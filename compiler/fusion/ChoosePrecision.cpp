// What the elements of each matrix are kept in, and of the values between ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
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

/// Rows of f32, as many as there are.
static bool isRows(Type type) {
  auto rows = dyn_cast<RankedTensorType>(type);
  return rows && rows.getRank() == 2 && rows.isDynamicDim(0) &&
         rows.getElementType().isF32();
}

/// Whether `op` computes rows of floats, its own or a table's. What is made of
/// positions alone, angles, stays as exact as it is.
static bool computesRows(Operation *op) {
  return isa<transformer::TransformerDialect>(op->getDialect()) &&
         op->getNumResults() == 1 && isRows(op->getResult(0).getType()) &&
         llvm::any_of(op->getOperandTypes(), [](Type type) {
           auto tensor = dyn_cast<RankedTensorType>(type);
           return tensor && isa<FloatType>(tensor.getElementType());
         });
}

/// Whether `value` is an output as it is: those are f32, and so is what is
/// computed for nobody else. A tap looks on.
static bool isOutput(Value value) {
  return llvm::all_of(value.getUsers(), [](Operation *user) {
    return isa<YieldOp, TapOp>(user);
  });
}

/// Rounds `value` where it is computed, and widens it for all that read it. A
/// tap reports what is kept, and whoever changes that changes what they read.
static void keep(Value value, Type element) {
  OpBuilder b(value.getContext());
  b.setInsertionPointAfterValue(value);
  auto type = cast<RankedTensorType>(value.getType());
  Value kept =
      arith::TruncFOp::create(b, value.getLoc(), type.clone(element), value);
  Value wide = arith::ExtFOp::create(b, value.getLoc(), type, kept);
  value.replaceAllUsesExcept(wide, kept.getDefiningOp());
  wide.replaceUsesWithIf(
      kept, [](OpOperand &use) { return isa<TapOp>(use.getOwner()); });
}

/// `value` as it is kept: what it was widened from, or rounded.
static Value narrowed(OpBuilder &b, Value value, Type element) {
  if (auto widening = value.getDefiningOp<arith::ExtFOp>()) {
    return widening.getIn();
  }
  auto type = cast<RankedTensorType>(value.getType());
  return arith::TruncFOp::create(b, value.getLoc(), type.clone(element), value);
}

/// What a loop carries from trip to trip is kept so, too.
static void keepCarried(LoopLikeOpInterface loop, Type element) {
  OpBuilder b(loop);
  std::optional<ResultRange> results = loop.getLoopResults();
  std::optional<MutableArrayRef<OpOperand>> yielded =
      loop.getYieldedValuesMutable();
  if (!results || !yielded) {
    return;
  }
  auto change = [&](Value value, Type type, Type wide) {
    value.setType(type);
    b.setInsertionPointAfterValue(value);
    Value widening = arith::ExtFOp::create(b, value.getLoc(), wide, value);
    value.replaceAllUsesExcept(widening, widening.getDefiningOp());
  };
  for (auto [init, carried, last, result] :
       llvm::zip_equal(loop.getInitsMutable(), loop.getRegionIterArgs(),
                       *yielded, *results)) {
    if (!isRows(init.get().getType())) {
      continue;
    }
    Type wide = init.get().getType();
    b.setInsertionPoint(loop);
    init.set(narrowed(b, init.get(), element));
    b.setInsertionPoint(last.getOwner());
    last.set(narrowed(b, last.get(), element));
    change(carried, init.get().getType(), wide);
    change(result, init.get().getType(), wide);
  }
}

/// Caches whose elements are f32 keep `element`.
static void keepCaches(Operation *root, Type element) {
  root->walk([&](func::FuncOp entry) {
    bool isChanged = false;
    for (BlockArgument argument : entry.getArguments()) {
      auto type = dyn_cast<CacheType>(argument.getType());
      if (type && type.getElementType().isF32()) {
        argument.setType(CacheType::get(
            type.getContext(), type.getLayers(), type.getKvHeads(),
            type.getHeadDim(), type.getKind(), type.getWindow(), element));
        isChanged = true;
      }
    }
    if (isChanged) {
      entry.setType(FunctionType::get(entry.getContext(),
                                      entry.front().getArgumentTypes(),
                                      entry.getResultTypes()));
    }
  });
}

namespace {
struct ChoosePrecisionPass
    : tfc::impl::ChoosePrecisionPassBase<ChoosePrecisionPass> {
  using Base::Base;

  void runOnOperation() override {
    if (weights != Storage::F32) {
      keepMatrices();
    }
    if (values != Storage::F32) {
      keepValues();
    }
  }

  void keepValues() {
    Type element = elementOf(&getContext(), values);
    SmallVector<Operation *> computing;
    getOperation().walk([&](Operation *op) {
      if (computesRows(op) && !isOutput(op->getResult(0))) {
        computing.push_back(op);
      }
    });
    for (Operation *op : computing) {
      keep(op->getResult(0), element);
      ++numValues;
    }
    getOperation().walk(
        [&](LoopLikeOpInterface loop) { keepCarried(loop, element); });
    keepCaches(getOperation(), element);
  }

  void keepMatrices() {
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
