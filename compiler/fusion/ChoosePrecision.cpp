// What the elements of each matrix are kept in, and of the values between ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/fusion/Passes.h"

#include "compiler/support/ClearStatistics.h"
#include "dialect/PrecisionRules.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tfc {
#define GEN_PASS_DEF_CHOOSEPRECISIONPASS
#include "compiler/fusion/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;
using namespace tfc::transformer;

/// Whether all that read it widen it: products their weight, not their rows.
static bool isWidened(WeightOp weight) {
  return llvm::all_of(weight->getUses(), [](OpOperand &use) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    bool isRows = linear && &use == &linear.getInputMutable();
    return !isRows && use.getOwner()->hasTrait<WidensMatrices>();
  });
}

/// Rows of f32, as many as there are.
static bool isWideRows(Type type) {
  auto rows = dyn_cast<RankedTensorType>(type);
  return rows && rows.getRank() == 2 && rows.isDynamicDim(0) &&
         rows.getElementType().isF32();
}

/// Whether `op` is one of the model's. Structured ops, which have the type of
/// what they write to, come later.
static bool isOfModel(Operation *op) {
  return isa_and_nonnull<TransformerDialect>(op->getDialect()) &&
         !isa<DestinationStyleOpInterface, YieldOp>(op);
}

/// Whether `op` computes rows of floats, its own or a table's. What is made of
/// positions alone, angles, stays as exact as it is.
static bool computesRows(Operation *op) {
  return isOfModel(op) && op->getNumResults() == 1 &&
         isWideRows(op->getResult(0).getType()) &&
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

/// Whether experts, or what a row sees, are chosen by `value`: near ones would
/// change places.
static bool isChosenBy(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    auto hashed = dyn_cast<HashedAttentionOp>(use.getOwner());
    return isa<RouteOp>(use.getOwner()) ||
           (hashed && &use == &hashed.getQueryMutable());
  });
}

/// Whether `value` has the terms of sums alone, which may be far greater than
/// those.
static bool isTerm(Value value) {
  return llvm::all_of(value.getUsers(), llvm::IsaPred<CombineOp, TapOp>);
}

/// Whether `value` is how much of each expert a row takes, which is never
/// rounded.
static bool isShare(Value value) {
  return value.getDefiningOp<ScaleExpertsOp>();
}

/// Whether `value` says how fast states change, and nothing else: a number for
/// each head, with whose errors a state grows.
static bool isRate(Value value) {
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto recurrence = dyn_cast<RecurrenceOp>(user)) {
      return &use == &recurrence.getDecayMutable() ||
             &use == &recurrence.getBetaMutable();
    }
    return isa<TapOp>(user) || (isOfModel(user) && user->getNumResults() == 1 &&
                                isRate(user->getResult(0)));
  });
}

/// Rows in other elements: each is what it is.
static Value convertRows(Operation *user, Value rows, Type element) {
  // Where threads write what they share, nothing else stands.
  bool isShared = isa<scf::InParallelOp>(user->getParentOp());
  OpBuilder b(isShared ? user->getParentOp() : user);
  auto type = cast<RankedTensorType>(rows.getType());
  return ActivationOp::create(b, rows.getLoc(), type.clone(element),
                              Activation::Identity, rows);
}

namespace {

/// Changes what rows are kept in. Who computes them rounds them, and who reads
/// them takes them as they are; only others than the ops of the model, and
/// outputs, get them as they were.
class RowKeeper {
public:
  explicit RowKeeper(Type element) : element(element) {}

  void keep(Value rows) {
    auto type = cast<RankedTensorType>(rows.getType());
    rows.setType(type.clone(element));
    kept.push_back(rows);
  }
  /// What a loop carries from trip to trip.
  void keepCarried(LoopLikeOpInterface loop);
  /// Rows that come into a loop in other elements, and those that somebody
  /// reads who knows f32 alone. Last.
  void convertRest();

private:
  Type element;
  SmallVector<Value> kept;
  llvm::SmallSetVector<OpOperand *, 8> carried; // inits and yielded values
};

} // namespace

void RowKeeper::keepCarried(LoopLikeOpInterface loop) {
  std::optional<ResultRange> results = loop.getLoopResults();
  std::optional<MutableArrayRef<OpOperand>> yielded =
      loop.getYieldedValuesMutable();
  if (!results || !yielded) {
    return;
  }
  for (auto [init, argument, last, result] :
       llvm::zip_equal(loop.getInitsMutable(), loop.getRegionIterArgs(),
                       *yielded, *results)) {
    if (isWideRows(argument.getType())) {
      keep(argument);
      keep(result);
      carried.insert(&init);
      carried.insert(&last);
    }
  }
}

void RowKeeper::convertRest() {
  for (OpOperand *operand : carried) {
    if (isWideRows(operand->get().getType())) {
      operand->set(convertRows(operand->getOwner(), operand->get(), element));
    }
  }
  Type wide = Float32Type::get(element.getContext());
  for (Value rows : kept) {
    for (OpOperand &use : llvm::make_early_inc_range(rows.getUses())) {
      Operation *user = use.getOwner();
      if (!isOfModel(user) && !carried.contains(&use)) {
        use.set(convertRows(user, rows, wide));
      }
    }
  }
}

/// Caches whose elements are f32 keep `element`, all or those of one step.
static void keepCaches(Operation *root, Type element, bool scratchAlone) {
  root->walk([&](func::FuncOp entry) {
    if (entry.isExternal()) {
      return;
    }
    bool isChanged = false;
    for (BlockArgument argument : entry.getArguments()) {
      auto type = dyn_cast<CacheType>(argument.getType());
      if (type && type.getElementType().isF32() &&
          (type.isScratch() || !scratchAlone)) {
        argument.setType(type.withElements(element));
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

/// Whether products whose weights are kept in `element` are all that read
/// `rows`, and all that they do with them is to multiply.
static bool isFactorAlone(Value rows, Type element) {
  return llvm::all_of(rows.getUses(), [&](OpOperand &use) {
    auto linear = dyn_cast<LinearOp>(use.getOwner());
    return linear && &use == &linear.getInputMutable() && !isChosenBy(linear) &&
           getElementTypeOrSelf(linear.getWeight().getType()) == element;
  });
}

/// The longest row whose products of bytes are sums that 32 bits hold.
static constexpr int64_t kMaxByteColumns = 1 << 17;

/// Whether `use` is a weight whose product may multiply integers: never one
/// that chooses.
static bool isFactor(OpOperand &use) {
  if (auto linear = dyn_cast<LinearOp>(use.getOwner())) {
    return &use == &linear.getWeightMutable() && !isChosenBy(linear) &&
           isWideRows(linear.getInput().getType());
  }
  auto linear = dyn_cast<ExpertLinearOp>(use.getOwner());
  return linear && &use == &linear.getWeightMutable() &&
         isWideRows(linear.getInput().getType());
}

/// Whether products read the matrix as their weight, and nobody else does, and
/// it can be of bytes for them.
static bool isFactorAlone(ParameterOp parameter, ArrayRef<WeightOp> weights) {
  return parameter.getTensorType().getDimSize(1) <= kMaxByteColumns &&
         llvm::all_of(weights, [](WeightOp weight) {
           return llvm::all_of(weight->getUses(), isFactor);
         });
}

/// Whether a rule says so of the matrix, or of a part of it. Parts multiply the
/// same rows, and are kept alike.
static bool isKept(ParameterOp parameter, StringRef rule) {
  return parameter->hasAttr(rule) ||
         llvm::any_of(listParts(parameter),
                      [&](ParameterOp part) { return part->hasAttr(rule); });
}

namespace {
struct ChoosePrecisionPass
    : tfc::impl::ChoosePrecisionPassBase<ChoosePrecisionPass> {
  using Base::Base;

  void runOnOperation() override {
    clearStatistics(*this);
    bytes.clear();
    grouped.clear();
    areIntegers = weights == Storage::Int8 || weights == Storage::Int4;
    if (areIntegers && factors != Storage::F32) {
      getOperation().emitError()
          << "expected factors of f32 with weights="
          << stringifyStorage(weights)
          << " (its products multiply integers), got others";
      return signalPassFailure();
    }
    bool isKnown = llvm::is_contained({32, 64, 128}, group.getValue()) ||
                   (weights == Storage::Int8 && group == 0);
    if (areIntegers && !isKnown) {
      getOperation().emitError()
          << "expected group 32, 64 or 128 with weights="
          << stringifyStorage(weights)
          << (weights == Storage::Int8 ? ", or 0 (a scale a row)" : "")
          << ", got " << group.getValue();
      return signalPassFailure();
    }
    if (weights != Storage::F32) {
      keepMatrices();
    }
    if (values != Storage::F32) {
      keepValues();
    }
    if (factors != Storage::F32) {
      keepFactors();
    }
    if (attention != Storage::F32) {
      keepAttention();
    }
  }

  /// All attention has factors, or none: kernels share a form of work items.
  void keepAttention() {
    auto element = TypeAttr::get(elementOf(&getContext(), attention));
    SmallVector<Operation *> all;
    bool areKnown = true;
    auto add = [&](Operation *op, CacheType cache, bool isRelative) {
      all.push_back(op);
      areKnown &= !isRelative && isa<FloatType>(cache.getElementType());
    };
    getOperation().walk([&](Operation *op) {
      if (auto self = dyn_cast<AttentionOp>(op)) {
        add(op, self.getCache().getType(), self.getSpan().has_value());
      } else if (auto cross = dyn_cast<CrossAttentionOp>(op)) {
        add(op, cross.getCache().getType(), /*isRelative=*/false);
      } else {
        areKnown &= !isa<LatentAttentionOp>(op);
      }
    });
    if (!areKnown) {
      return;
    }
    // Read rounded in any case.
    keepCaches(getOperation(), element.getValue(), /*scratchAlone=*/true);
    for (Operation *op : all) {
      if (auto self = dyn_cast<AttentionOp>(op)) {
        self.setFactorsAttr(element);
      } else {
        cast<CrossAttentionOp>(op).setFactorsAttr(element);
      }
    }
  }

  void keepFactors() {
    Type element = elementOf(&getContext(), factors);
    // In the order of the program: what one block has made, others do not see.
    llvm::MapVector<Value, SmallVector<LinearOp>> readers;
    getOperation().walk([&](LinearOp linear) {
      if (!isChosenBy(linear) && isWideRows(linear.getInput().getType()) &&
          getElementTypeOrSelf(linear.getWeight().getType()) == element) {
        readers[linear.getInput()].push_back(linear);
      }
    });
    for (auto &[rows, linears] : readers) {
      Operation *op = rows.getDefiningOp();
      if (op && op->hasTrait<RoundsRows>() && isFactorAlone(rows, element)) {
        auto type = cast<RankedTensorType>(rows.getType());
        Value(rows).setType(type.clone(element));
      } else {
        roundBeside(rows, linears, element);
      }
      ++numFactors;
    }
  }

  static void roundBeside(Value rows, ArrayRef<LinearOp> linears,
                          Type element) {
    llvm::DenseMap<Block *, Value> rounded;
    for (LinearOp linear : linears) {
      Value &own = rounded[linear->getBlock()];
      own = own ? own : convertRows(linear, rows, element);
      linear.getInputMutable().assign(own);
    }
  }

  void keepValues() {
    Type element = elementOf(&getContext(), values);
    SmallVector<Operation *> computing;
    getOperation().walk([&](Operation *op) {
      Value rows = computesRows(op) ? op->getResult(0) : Value();
      if (rows && !isOutput(rows) && !isChosenBy(rows) && !isTerm(rows) &&
          !isShare(rows) && !isRate(rows)) {
        computing.push_back(op);
      }
    });
    RowKeeper keeper(element);
    for (Operation *op : computing) {
      keeper.keep(op->getResult(0));
      ++numValues;
    }
    getOperation().walk(
        [&](LoopLikeOpInterface loop) { keeper.keepCarried(loop); });
    keeper.convertRest();
    keepCaches(getOperation(), element, /*scratchAlone=*/false);
  }

  void keepMatrices() {
    SymbolTable symbols(getOperation());
    llvm::MapVector<Operation *, SmallVector<WeightOp>> uses;
    getOperation().walk([&](WeightOp weight) {
      uses[symbols.lookup(weight.getName())].push_back(weight);
    });
    for (auto &[declared, weightOps] : uses) {
      auto parameter = cast<ParameterOp>(declared);
      RankedTensorType type = parameter.getTensorType();
      // Scales of integers are what they are.
      if (type.getRank() != 2 || type.getElementType().isInteger() ||
          parameter.getCompanion() || !llvm::all_of(weightOps, isWidened)) {
        continue;
      }
      Storage own = choose(parameter, weightOps);
      narrow(parameter, own);
      for (WeightOp weight : weightOps) {
        weight.getResult().setType(parameter.getPackedType());
      }
      if (own == Storage::Int8 || own == Storage::Int4) {
        quantize(parameter, weightOps, symbols);
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

  /// What the matrix is kept in.
  Storage choose(ParameterOp parameter, ArrayRef<WeightOp> weightOps) {
    if (!areIntegers) {
      return weights;
    }
    // What is looked up in is no product's alone, and worth its two bytes.
    // Products of experts multiply integers that have groups, and do not widen
    // any.
    bool isOther = parameter.getExpertsAttr() &&
                   (values != Storage::F32 || !cutsGroups(parameter));
    if (isKept(parameter, kKeptWideAttrName) || isOther ||
        !isFactorAlone(parameter, weightOps)) {
      return Storage::BF16;
    }
    bool isFour = weights == Storage::Int4 &&
                  !isKept(parameter, kKeptByteAttrName) &&
                  cutsGroups(parameter);
    if (isFour && hasFloatZeros && values != Storage::F32) {
      // Who widens integers takes off no floats.
      return Storage::BF16;
    }
    return isFour ? Storage::Int4 : Storage::Int8;
  }

  /// Whether groups divide the matrix's columns.
  bool cutsGroups(ParameterOp parameter) {
    return group > 0 && parameter.getTensorType().getDimSize(1) % group == 0;
  }

  /// With its parts, which have no use of their own.
  void narrow(ParameterOp parameter, transformer::Storage storage) {
    Type element = elementOf(&getContext(), storage);
    SmallVector<ParameterOp> all = listParts(parameter);
    all.push_back(parameter);
    for (ParameterOp each : all) {
      each.setType(each.getTensorType().clone(element));
      each.setRounds(rounds);
    }
    ++numNarrow;
  }

  /// Gives a matrix of integers its scales, and integers to the products that
  /// read it; those whose rows are of 16 bits widen the matrix instead.
  void quantize(ParameterOp parameter, ArrayRef<WeightOp> weightOps,
                SymbolTable &symbols) {
    OpBuilder b(parameter->getContext());
    RankedTensorType matrix = parameter.getTensorType();
    SmallVector<int64_t> shape = {matrix.getDimSize(0)};
    bool isFour = matrix.getElementType().isInteger(4);
    // Who widens bytes has a scale a row of them.
    bool hasGroups =
        (isFour || values == Storage::F32) && cutsGroups(parameter);
    if (hasGroups) {
      shape.push_back(matrix.getDimSize(1) / group);
    }
    // Those of bytes are few beside them.
    auto type = RankedTensorType::get(
        shape, isFour ? elementOf(parameter->getContext(),
                                  transformer::Storage(scales.getValue()))
                      : b.getF32Type());
    ParameterOp beside =
        addCompanion(parameter, CompanionKind::Scales, type, symbols);
    auto zerosType = hasFloatZeros ? type : type.clone(b.getI8Type());
    ParameterOp zeros =
        isFour && (hasZeros || hasFloatZeros)
            ? addCompanion(parameter, CompanionKind::Zeros, zerosType, symbols)
            : ParameterOp();
    for (WeightOp weight : weightOps) {
      b.setInsertionPointAfter(weight);
      auto find = [&](ParameterOp companion) -> Value {
        return companion
                   ? WeightOp::create(b, weight.getLoc(),
                                      companion.getPackedType(),
                                      companion.getSymName(), weight.getLayer())
                         .getResult()
                   : Value();
      };
      Value own = find(beside), ownZeros = find(zeros);
      for (Operation *user : llvm::to_vector(weight->getUsers())) {
        llvm::TypeSwitch<Operation *>(user).Case<LinearOp, ExpertLinearOp>(
            [&](auto linear) {
              linear.getWeightScalesMutable().assign(own);
              if (ownZeros) {
                linear.getWeightZerosMutable().assign(ownZeros);
              }
              if (values == Storage::F32) {
                multiplyIntegers(linear, hasGroups ? grouped : bytes);
              }
            });
      }
    }
  }

  /// Declares what is kept beside a matrix.
  static ParameterOp addCompanion(ParameterOp parameter, CompanionKind kind,
                                  Type type, SymbolTable &symbols) {
    OpBuilder b(parameter->getContext());
    b.setInsertionPointAfter(parameter);
    std::string name =
        (parameter.getSymName() + "." + stringifyCompanionKind(kind)).str();
    auto companion = ParameterOp::create(
        b, parameter.getLoc(), name, type, parameter.getLayersAttr(),
        parameter.getExpertsAttr(), /*source=*/SourceAttr(),
        /*parts=*/ArrayAttr(),
        CompanionAttr::get(b.getContext(), kind,
                           FlatSymbolRefAttr::get(parameter.getSymNameAttr())),
        /*packed=*/PackedAttr(), /*rounds=*/false, /*offset=*/IntegerAttr(),
        /*stride=*/IntegerAttr());
    // It gets another name where there is one of this name.
    symbols.insert(companion);
    return companion;
  }

  using Integers = llvm::DenseMap<std::pair<Value, Block *>, QuantizeRowsOp>;

  /// Rows are made integers once for all products of a block that read them
  /// alike.
  template <typename Product>
  void multiplyIntegers(Product linear, Integers &integers) {
    QuantizeRowsOp &rows = integers[{linear.getInput(), linear->getBlock()}];
    if (!rows || !rows->isBeforeInBlock(linear)) {
      OpBuilder b(linear);
      rows = QuantizeRowsOp::create(b, linear.getLoc(), linear.getInput());
      ++numFactors;
    }
    linear.getInputMutable().assign(rows.getQuantized());
    linear.getInputScalesMutable().assign(rows.getScales());
  }

  bool areIntegers = false;
  /// Rows for matrices of bytes, and of integers that have groups: their
  /// kernels want them in other forms.
  Integers bytes, grouped;
};
} // namespace
