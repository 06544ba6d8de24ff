// Begins with everything cut, and takes back what somebody reads whole.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/ColumnShares.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// What an op is called in the spec, else by its own name.
static std::string nameOf(Operation *op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().str() : op->getName().getStringRef().str();
}

static bool isRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == 2 && type.isDynamicDim(0);
}

/// Whether the rank may have `parts` of an axis of a stored weight.
static bool canCut(Value weight, unsigned axis, int64_t parts) {
  auto use = weight.getDefiningOp<WeightOp>();
  auto parameter = use ? SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
                             use, use.getNameAttr())
                       : ParameterOp();
  return parameter && parameter.getSource() && !parameter.getExperts() &&
         axis < parameter.getTensorType().getRank() &&
         parameter.getTensorType().getDimSize(axis) % parts == 0;
}

ColumnShares::ColumnShares(ModuleOp module, int64_t ranks)
    : module(module), ranks(ranks) {
  collect();
  // First who wants less, from the last reader on: few heads of keys.
  SmallVector<Operation *> ops = getOps();
  for (Operation *op : llvm::reverse(ops)) {
    SmallVector<int64_t> operands;
    std::string why;
    auto shared = dyn_cast<SharedColumnsOpInterface>(op);
    if (shared && succeeded(shared.shareOperands(of(op), operands, why))) {
      for (auto [operand, parts] :
           llvm::zip_equal(op->getOperands(), operands)) {
        if (isRows(operand)) {
          lowerRows(operand, parts, "");
        }
      }
    }
  }
  for (bool isLower = true; isLower;) {
    isLower = false;
    for (auto &entry : shares) {
      isLower |= restrict(entry.first);
    }
  }
}

/// Of layers alone: what is before and behind them every rank computes.
void ColumnShares::collect() {
  module.walk([&](Operation *op) {
    bool isOfLayer = isa_and_nonnull<scf::ForOp>(op->getParentOp());
    if (isOfLayer && isa<LinearOp, SharedColumnsOpInterface>(op)) {
      shares.insert({op, {ranks, ""}});
    }
  });
}

int64_t ColumnShares::of(Operation *op) const {
  auto found = shares.find(op);
  return found == shares.end() ? 1 : found->second.parts;
}

int64_t ColumnShares::ofRows(Value rows) const {
  return rows.getDefiningOp() ? of(rows.getDefiningOp()) : 1;
}

SmallVector<Operation *> ColumnShares::getOps() const {
  return llvm::to_vector(llvm::make_first_range(shares));
}

bool ColumnShares::lower(Operation *op, int64_t parts, std::string why) {
  Share &share = shares.find(op)->second;
  if (share.parts <= parts) {
    return false;
  }
  share = {parts, std::move(why)};
  return true;
}

bool ColumnShares::lowerRows(Value rows, int64_t parts,
                             const std::string &why) {
  return ofRows(rows) > parts && lower(rows.getDefiningOp(), parts, why);
}

bool ColumnShares::restrict(Operation *op) {
  bool isLower = restrictByUsers(op);
  if (auto linear = dyn_cast<LinearOp>(op)) {
    return restrictLinear(linear) || isLower;
  }
  return restrictOp(cast<SharedColumnsOpInterface>(op)) || isLower;
}

/// Users that are none of those reckon with whole rows.
bool ColumnShares::restrictByUsers(Operation *op) {
  for (Operation *user : op->getUsers()) {
    if (!shares.contains(user)) {
      bool isCarried = isa<scf::YieldOp>(user);
      return lower(op, 1,
                   isCarried ? "all of it goes on to the next layer"
                             : nameOf(user) + " (" +
                                   user->getName().getStringRef().str() +
                                   ") reads all of its columns");
    }
  }
  return false;
}

/// Makes what `op` reads and its own share agree: both are cut as far as the
/// one that is cut less.
bool ColumnShares::fit(Operation *op, Value operand, int64_t parts,
                       const std::string &why) {
  int64_t own = ofRows(operand);
  if (own > parts) {
    return lowerRows(operand, parts, why);
  }
  return own < parts &&
         lower(op, own,
               nameOf(op) + " reads rows of which every rank has all columns");
}

bool ColumnShares::restrictLinear(LinearOp op) {
  int64_t read = ofRows(op.getInput());
  bool isPlain = !op.getFactor() && !op.getResidual() &&
                 op.getAct() == Activation::Identity &&
                 (!op.getBias() || canCut(op.getBias(), 0, 1));
  bool canSum = isPlain && read == ranks && canCut(op.getWeight(), 1, ranks);
  if (read > 1 && !canSum) {
    return lowerRows(op.getInput(), 1,
                     nameOf(op) + " cannot add up parts of its " +
                         std::to_string(widthOf(op.getInput())) + " columns");
  }
  int64_t own = of(op);
  if (own > 1 && read > 1) {
    return lower(op, 1, "its sums are those of all ranks");
  }
  if (own > 1 && (!canCut(op.getWeight(), 0, own) ||
                  (op.getBias() && !canCut(op.getBias(), 0, own)))) {
    return lower(op, 1,
                 "it has " + std::to_string(widthOf(op.getResult())) +
                     " rows, which are not stored in " + std::to_string(own) +
                     " equal parts");
  }
  for (Value beside : {op.getFactor(), op.getResidual()}) {
    if (beside && fit(op, beside, own, shares.find(op)->second.why)) {
      return true;
    }
  }
  return false;
}

bool ColumnShares::restrictOp(SharedColumnsOpInterface op) {
  Share own = shares.find(op)->second;
  SmallVector<int64_t> operands(op->getNumOperands(), 1);
  if (own.parts > 1) {
    std::string why;
    if (failed(op.shareOperands(own.parts, operands, why))) {
      return lower(op, 1, nameOf(op) + " " + why);
    }
  }
  for (auto [operand, parts] : llvm::zip_equal(op->getOperands(), operands)) {
    if (isRows(operand) && fit(op, operand, parts, own.why)) {
      return true;
    }
    bool isWeight =
        isa<RankedTensorType>(operand.getType()) && !isRows(operand);
    if (isWeight && parts > 1 && !canCut(operand, 0, parts)) {
      return lower(op, 1, nameOf(op) + " reads all of a weight");
    }
  }
  return false;
}

/// Whether all that read it are of ranks that each need all of it: few heads of
/// keys.
bool ColumnShares::isOfSeveral(Operation *op) const {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [&](Operation *user) {
    return isa<SharedColumnsOpInterface>(user) && shares.contains(user) &&
           (of(user) > 1 || isOfSeveral(user));
  });
}

/// One that is read in a layer, by a product or by an op that has a part of it.
LogicalResult ColumnShares::checkMatrix(WeightOp weight) const {
  for (Operation *user : weight->getUsers()) {
    if (!shares.contains(user)) {
      return user->emitError() << "expected layers whose matrices " << ranks
                               << " ranks can share (--ranks), got "
                               << user->getName().getStringRef()
                               << ", which reads all of " << weight.getName();
    }
    const std::string &why = shares.find(user)->second.why;
    auto linear = dyn_cast<LinearOp>(user);
    bool isWhole = linear && of(user) == 1 && !sumsRanks(linear);
    if (isWhole && !isOfSeveral(user)) {
      return user->emitError()
             << "expected a product that " << ranks
             << " ranks can share (--ranks), got one that they cannot: " << why;
    }
  }
  return success();
}

LogicalResult ColumnShares::check() const {
  WalkResult result = module->walk([&](WeightOp weight) -> WalkResult {
    bool isOfLayer = isa_and_nonnull<scf::ForOp>(weight->getParentOp());
    bool isMatrix = cast<ShapedType>(weight.getType()).getRank() > 1;
    return isOfLayer && isMatrix ? checkMatrix(weight) : success();
  });
  return failure(result.wasInterrupted());
}
