// Linears of one input become one linear, whose weight has the rows of all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

namespace tfc {
#define GEN_PASS_DEF_FUSEPROJECTIONSPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// attn.q.weight, attn.k.weight -> attn.q_k.weight: what is common in front and
/// behind, and between them what is not.
static std::string joinNames(ArrayRef<StringRef> names) {
  SmallVector<SmallVector<StringRef>> words(names.size());
  size_t least = SIZE_MAX;
  for (auto [name, own] : llvm::zip(names, words)) {
    name.split(own, '.');
    least = std::min(least, own.size());
  }
  auto isCommon = [&](auto wordOf) {
    return llvm::all_of(words, [&](ArrayRef<StringRef> own) {
      return wordOf(own) == wordOf(words.front());
    });
  };
  size_t front = 0, behind = 0;
  while (front + 1 < least &&
         isCommon([&](ArrayRef<StringRef> own) { return own[front]; })) {
    ++front;
  }
  while (front + behind + 1 < least && isCommon([&](ArrayRef<StringRef> own) {
           return own[own.size() - 1 - behind];
         })) {
    ++behind;
  }
  SmallVector<std::string> middles;
  for (ArrayRef<StringRef> own : words) {
    middles.push_back(llvm::join(own.drop_front(front).drop_back(behind), "."));
  }
  std::string middle = llvm::join(middles, "_");
  ArrayRef<StringRef> first = words.front();
  SmallVector<StringRef> all(first.take_front(front));
  all.push_back(middle);
  llvm::append_range(all, first.take_back(behind));
  return llvm::join(all, ".");
}

namespace {

using Group = SmallVector<LinearOp>;

/// Fuses the linears of one module.
class ProjectionFuser {
public:
  explicit ProjectionFuser(ModuleOp module) : symbols(module) {
    module.walk([&](WeightOp op) { ++numReaders[op.getNameAttr()]; });
  }

  /// What can become one: groups of linears of `block`, in its order.
  SmallVector<Group> findGroups(Block &block);
  void fuse(ArrayRef<LinearOp> group);

private:
  /// The op that reads the parameter behind `value`, if a linear in `block`
  /// may leave it to another; or null.
  WeightOp findWeight(Value value, Block *block);
  bool isCandidate(LinearOp op);
  bool belongTogether(LinearOp a, LinearOp b);
  ParameterOp parameterOf(Value weight) {
    return symbols.lookup<ParameterOp>(
        weight.getDefiningOp<WeightOp>().getName());
  }
  /// A parameter with these parts, in their order.
  ParameterOp buildWhole(ArrayRef<ParameterOp> parts);
  Value buildWeight(ImplicitLocOpBuilder &b, ArrayRef<Value> parts);

  SymbolTable symbols;
  llvm::DenseMap<Attribute, unsigned> numReaders;
};

} // namespace

WeightOp ProjectionFuser::findWeight(Value value, Block *block) {
  auto weight = value.getDefiningOp<WeightOp>();
  bool isOwn = weight && weight->getBlock() == block && weight->hasOneUse() &&
               numReaders.lookup(weight.getNameAttr()) == 1;
  return isOwn ? weight : WeightOp();
}

bool ProjectionFuser::isCandidate(LinearOp op) {
  // Of integers there are scales, too, which the whole would not have.
  if (op.getFactor() || op.getResidual() || op.getWeightScales() ||
      op.getAct() != Activation::Identity) {
    return false;
  }
  WeightOp weight = findWeight(op.getWeight(), op->getBlock());
  if (!weight) {
    return false;
  }
  if (op.getBias()) {
    WeightOp bias = findWeight(op.getBias(), op->getBlock());
    if (!bias || bias.getLayer() != weight.getLayer()) {
      return false;
    }
  }
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return user->hasTrait<AcceptsStridedRows>();
  });
}

bool ProjectionFuser::belongTogether(LinearOp a, LinearOp b) {
  auto layerOf = [](LinearOp op) {
    return op.getWeight().getDefiningOp<WeightOp>().getLayer();
  };
  auto areAlike = [&](Value x, Value y) {
    ParameterOp a = parameterOf(x), b = parameterOf(y);
    return a.getLayers() == b.getLayers() &&
           a.getTensorType().getElementType() ==
               b.getTensorType().getElementType();
  };
  return a.getInput() == b.getInput() && layerOf(a) == layerOf(b) &&
         a.getType().getElementType() == b.getType().getElementType() &&
         areAlike(a.getWeight(), b.getWeight()) &&
         !a.getBias() == !b.getBias() &&
         (!a.getBias() || areAlike(a.getBias(), b.getBias()));
}

SmallVector<Group> ProjectionFuser::findGroups(Block &block) {
  SmallVector<Group> groups;
  for (auto op : block.getOps<LinearOp>()) {
    if (!isCandidate(op)) {
      continue;
    }
    auto *group = llvm::find_if(groups, [&](const Group &group) {
      return belongTogether(group.front(), op);
    });
    if (group == groups.end()) {
      groups.push_back({op});
    } else {
      group->push_back(op);
    }
  }
  llvm::erase_if(groups, [](const Group &group) { return group.size() < 2; });
  return groups;
}

ParameterOp ProjectionFuser::buildWhole(ArrayRef<ParameterOp> parts) {
  OpBuilder b(parts.front()->getContext());
  SmallVector<StringRef> names;
  SmallVector<Attribute> references;
  SmallVector<Location> locations;
  int64_t rows = 0;
  for (ParameterOp part : parts) {
    names.push_back(part.getSymName());
    locations.push_back(part.getLoc());
    rows += part.getTensorType().getDimSize(0);
    // A parameter of parts is no part itself.
    if (ArrayAttr own = part.getPartsAttr()) {
      llvm::append_range(references, own);
    } else {
      references.push_back(FlatSymbolRefAttr::get(part));
    }
  }
  ParameterOp first = parts.front();
  SmallVector<int64_t> shape(first.getTensorType().getShape());
  shape.front() = rows;
  b.setInsertionPointAfter(parts.back());
  auto whole = ParameterOp::create(
      b, b.getFusedLoc(locations), joinNames(names),
      first.getTensorType().clone(shape), first.getLayersAttr(),
      /*experts=*/IntegerAttr(), /*source=*/SourceAttr(),
      b.getArrayAttr(references),
      /*companion=*/CompanionAttr(), /*packed=*/PackedAttr(), /*rounds=*/false,
      /*offset=*/IntegerAttr(),
      /*stride=*/IntegerAttr());
  // It gets another name where there is one of this name.
  symbols.insert(whole);
  return whole;
}

Value ProjectionFuser::buildWeight(ImplicitLocOpBuilder &b,
                                   ArrayRef<Value> parts) {
  auto parameters =
      llvm::map_to_vector(parts, [&](Value part) { return parameterOf(part); });
  ParameterOp whole = buildWhole(parameters);
  Value layer = parts.front().getDefiningOp<WeightOp>().getLayer();
  return WeightOp::create(b, whole.getLoc(), whole.getTensorType(),
                          whole.getSymName(), layer);
}

/// linear x, w0; linear x, w1 -> slices of linear x, [w0; w1]
void ProjectionFuser::fuse(ArrayRef<LinearOp> group) {
  LinearOp first = group.front();
  SmallVector<Value> weights, biases;
  SmallVector<Location> locations;
  for (LinearOp op : group) {
    weights.push_back(op.getWeight());
    biases.push_back(op.getBias());
    locations.push_back(op.getLoc());
  }
  Location loc = OpBuilder(first).getFusedLoc(locations);
  ImplicitLocOpBuilder b(loc, first);
  Value weight = buildWeight(b, weights);
  Value bias = first.getBias() ? buildWeight(b, biases) : Value();
  auto type =
      RankedTensorType::get({first.getType().getDimSize(0), rowsOf(weight)},
                            first.getType().getElementType());
  Value y = LinearOp::create(b, type, first.getInput(), weight,
                             /*input_scales=*/Value(),
                             /*weight_scales=*/Value(),
                             /*weight_zeros=*/Value(), bias, /*factor=*/Value(),
                             /*residual=*/Value(), Activation::Identity);
  int64_t column = 0;
  for (LinearOp op : group) {
    int64_t width = widthOf(op.getResult());
    b.setInsertionPoint(op);
    b.setLoc(op.getLoc());
    Value part = SliceColumnsOp::create(b, op.getType(), y, column, width,
                                        /*layer=*/Value());
    op.getResult().replaceAllUsesWith(part);
    column += width;
    op.erase();
  }
  for (ArrayRef<Value> read : {ArrayRef<Value>(weights), ArrayRef(biases)}) {
    for (Value value : read) {
      if (value) {
        ParameterOp part = parameterOf(value);
        value.getDefiningOp()->erase();
        // A part is stored, a whole was for this reader alone.
        if (part.getPartsAttr()) {
          symbols.erase(part);
        }
      }
    }
  }
}

namespace {
struct FuseProjectionsPass
    : tfc::impl::FuseProjectionsPassBase<FuseProjectionsPass> {
  void runOnOperation() override {
    ProjectionFuser fuser(getOperation());
    getOperation().walk([&](Block *block) {
      for (const Group &group : fuser.findGroups(*block)) {
        fuser.fuse(group);
        numFused += group.size();
      }
    });
  }
};
} // namespace
