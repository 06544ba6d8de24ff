// What layers compute of weights alone is computed once, and is a weight.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/LayerFunctions.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tfc {
#define GEN_PASS_DEF_PREPAREWEIGHTSPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

namespace {

/// What the layers of a loop compute of weights, constants and the layer's
/// number, and nothing else.
class FixedValues {
public:
  explicit FixedValues(scf::ForOp loop) : layer(loop.getInductionVar()) {}

  bool isFixed(Value value) { return kindOf(value) != Kind::OfTheStep; }
  /// Whether it is worth its place: there is a product in it.
  bool hasProduct(Value value) { return kindOf(value) == Kind::Product; }
  /// Whether the step itself reads it.
  bool isRead(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->getNumResults() == 0 ||
             !llvm::all_of(user->getResults(),
                           [&](Value result) { return isFixed(result); });
    });
  }
  /// Adds all ops that `value` is computed by.
  void collect(Value value, llvm::SetVector<Operation *> &ops) {
    Operation *op = value.getDefiningOp();
    if (!op || !ops.insert(op)) {
      return;
    }
    for (Value operand : op->getOperands()) {
      collect(operand, ops);
    }
  }

private:
  enum class Kind { OfTheStep, Fixed, Product };
  Kind kindOf(Value value) {
    if (value == layer) {
      return Kind::Fixed;
    }
    auto known = kinds.find(value);
    if (known != kinds.end()) {
      return known->second;
    }
    return kinds[value] = find(value);
  }
  Kind find(Value value) {
    Operation *op = value.getDefiningOp();
    auto rows = dyn_cast<RankedTensorType>(value.getType());
    bool hasStep = rows && !rows.hasStaticShape();
    if (!op || op->getNumRegions() != 0 || !isPure(op) || hasStep) {
      return Kind::OfTheStep;
    }
    Kind kind = op->hasTrait<WidensMatrices>() ? Kind::Product : Kind::Fixed;
    for (Value operand : op->getOperands()) {
      Kind own = kindOf(operand);
      if (own == Kind::OfTheStep) {
        return own;
      }
      kind = std::max(kind, own);
    }
    return kind;
  }

  Value layer;
  llvm::DenseMap<Value, Kind> kinds;
};

/// Moves what is fixed to an entry of its own.
class Preparer {
public:
  explicit Preparer(ModuleOp module) : module(module), symbols(module) {}

  /// Returns how many values became weights.
  unsigned prepare(func::FuncOp entry);

private:
  unsigned prepare(scf::ForOp loop, int64_t layers);
  void openEntry(Location loc);
  ParameterOp declare(Value value, int64_t layers);

  ModuleOp module;
  SymbolTable symbols;
  func::FuncOp made; // null until there is something to prepare
};

} // namespace

/// @prepare, with what every entry is told of a step: it has no ports.
void Preparer::openEntry(Location loc) {
  if (made) {
    return;
  }
  MLIRContext *context = module.getContext();
  OpBuilder b(context);
  Type types[] = {RankedTensorType::get({ShapedType::kDynamic}, b.getI32Type()),
                  BatchType::get(context)};
  made = func::FuncOp::create(loc, "prepare", b.getFunctionType(types, {}));
  made->setAttr(kPrepareAttrName, b.getUnitAttr());
  made.setArgAttr(0, kRowsAttrName, b.getUnitAttr());
  symbols.insert(made);
  b.setInsertionPointToStart(made.addEntryBlock());
  func::ReturnOp::create(b, loc);
}

/// Behind all other parameters, and so behind all that is packed.
ParameterOp Preparer::declare(Value value, int64_t layers) {
  OpBuilder b(module.getContext());
  Operation *last = nullptr;
  for (auto parameter : module.getOps<ParameterOp>()) {
    last = parameter;
  }
  last ? b.setInsertionPointAfter(last)
       : b.setInsertionPointToStart(module.getBody());
  auto path = value.getLoc()->findInstanceOf<NameLoc>();
  auto parameter = ParameterOp::create(
      b, value.getLoc(), path ? path.getName().getValue() : "prepared",
      value.getType(), b.getI64IntegerAttr(layers),
      /*experts=*/IntegerAttr(), /*source=*/SourceAttr(),
      /*parts=*/ArrayAttr(), /*companion=*/CompanionAttr(),
      /*packed=*/PackedAttr(), /*rounds=*/false, /*offset=*/IntegerAttr(),
      /*stride=*/IntegerAttr(), /*prepared=*/true);
  // It gets another name where there is one of this name.
  symbols.insert(parameter);
  return parameter;
}

/// The values of a loop's body that are fixed, have a product and are read by
/// what is not fixed.
static SmallVector<Value> findPrepared(scf::ForOp loop, FixedValues &fixed) {
  SmallVector<Value> found;
  for (Operation &op : *loop.getBody()) {
    for (Value value : op.getResults()) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (type && type.getRank() == 2 && type.getElementType().isF32() &&
          fixed.hasProduct(value) && fixed.isRead(value)) {
        found.push_back(value);
      }
    }
  }
  return found;
}

unsigned Preparer::prepare(scf::ForOp loop, int64_t layers) {
  FixedValues fixed(loop);
  SmallVector<Value> values = findPrepared(loop, fixed);
  if (values.empty()) {
    return 0;
  }
  llvm::SetVector<Operation *> ops;
  for (Value value : values) {
    fixed.collect(value, ops);
  }
  openEntry(loop.getLoc());
  ImplicitLocOpBuilder b(loop.getLoc(), made.getBody().front().getTerminator());
  IRMapping copies;
  auto copy = [&](Block *block) {
    for (Operation &op : *block) {
      if (ops.contains(&op)) {
        b.clone(op, copies);
      }
    }
  };
  copy(loop->getBlock());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto again =
      scf::ForOp::create(b, constant(0), constant(layers), constant(1));
  copies.map(loop.getInductionVar(), again.getInductionVar());
  b.setInsertionPoint(again.getBody()->getTerminator());
  copy(loop.getBody());
  for (Value value : values) {
    ParameterOp parameter = declare(value, layers);
    KeepOp::create(b, value.getLoc(), copies.lookup(value),
                   parameter.getSymName(), again.getInductionVar());
    OpBuilder step(value.getDefiningOp());
    Value weight =
        WeightOp::create(step, value.getLoc(), value.getType(),
                         parameter.getSymName(), loop.getInductionVar());
    value.replaceAllUsesWith(weight);
  }
  // Users are behind what they use, in each block.
  for (Block *block : {loop.getBody(), loop->getBlock()}) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block))) {
      if (ops.contains(&op) && op.use_empty()) {
        op.erase();
      }
    }
  }
  return values.size();
}

unsigned Preparer::prepare(func::FuncOp entry) {
  unsigned count = 0;
  for (auto loop : llvm::to_vector(entry.getOps<scf::ForOp>())) {
    APInt layers;
    if (matchPattern(loop.getLowerBound(), m_Zero()) &&
        matchPattern(loop.getStep(), m_One()) &&
        matchPattern(loop.getUpperBound(), m_ConstantInt(&layers)) &&
        layers.sgt(0)) {
      count += prepare(loop, layers.getSExtValue());
    }
  }
  return count;
}

namespace {
struct PrepareWeightsPass
    : tfc::impl::PrepareWeightsPassBase<PrepareWeightsPass> {
  void runOnOperation() override {
    if (Operation *taken = getOperation().lookupSymbol("prepare")) {
      taken->emitOpError() << "expected a module without @prepare (the pass "
                              "makes it), got one";
      return signalPassFailure();
    }
    Preparer preparer(getOperation());
    for (auto entry : llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      bool isEntry =
          llvm::any_of(entry.getArgumentTypes(), llvm::IsaPred<BatchType>);
      if (isEntry && !isOfLayers(entry)) {
        numPrepared += preparer.prepare(entry);
      }
    }
  }
};
} // namespace
