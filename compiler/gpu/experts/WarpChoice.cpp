// Scores in registers; the best of all lanes, again and again.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/gpu/experts/WarpChoice.h"

#include "compiler/gpu/thread/WarpBuilder.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;
using transformer::GroupRank;
using transformer::Renormalize;
using transformer::RouterScore;

/// Experts of a lane, at most.
static constexpr int64_t kMaxExperts = 32;
/// Of a score that is no number, and of an expert that is out of the question.
static constexpr double kLeast = -std::numeric_limits<float>::max();
static constexpr double kNever = -std::numeric_limits<double>::infinity();

namespace {

/// Numbers of experts are i32, of lanes and rows indices.
class WarpChoice {
public:
  WarpChoice(transformer::ChooseExpertsOp op, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, Value()), b(k.builder()), warp(k),
        experts(transformer::widthOf(op.getLogits())),
        perToken(static_cast<int64_t>(op.getPerToken())) {}

  void emit();

private:
  /// An expert's choice, and its number.
  struct Best {
    Value choice, expert;
  };

  void loadScores(Value row);
  void beginChoices();
  void leaveGroups();
  Value rankGroup(int64_t group);
  void chooseAll();
  Value normalize(Value weight);
  void storeOwn(Value row);

  /// Of this lane's choices that are in the question.
  Best bestOfLane(ArrayRef<Value> choices);
  /// Of all lanes: of equal ones the lower number.
  Best bestOf(Best own);
  /// The score of an expert, in all lanes.
  Value scoreOf(Value expert);
  Value isOf(int64_t number, Value expert);

  Value expert(int64_t number) {
    return add(lane, word(number * WarpBuilder::kLanes));
  }
  Value word(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value select(Value condition, Value x, Value y) {
    return arith::SelectOp::create(b, condition, x, y);
  }
  Value isLess(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
  }
  Value isGreater(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  }
  Value exponential(Value x) { return math::ExpOp::create(b, x); }
  Value sigmoid(Value x) {
    Value raised = exponential(arith::NegFOp::create(b, x));
    return arith::DivFOp::create(b, k.number(1),
                                 arith::AddFOp::create(b, raised, k.number(1)));
  }
  /// exp(x - highest) of those there are, 0 of the others.
  Value raise(Value isThere, Value x, Value highest) {
    Value raised = exponential(arith::SubFOp::create(b, x, highest));
    return select(isThere, raised, k.number(0));
  }
  Value exchange(Value value, int32_t distance) {
    return gpu::ShuffleOp::create(b, value, distance, WarpBuilder::kLanes,
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  }

  transformer::ChooseExpertsOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  WarpBuilder warp;
  int64_t experts, perToken;
  Value lane;                           // i32
  SmallVector<Value> isThere;           // of the lane's experts
  SmallVector<Value> scores, choices;   // their
  SmallVector<Value> chosen;            // in the order of choices
  Value ownExpert, ownWeight, isChosen; // of the choice of the lane's number
};

} // namespace

void WarpChoice::loadScores(Value row) {
  for (int64_t i = 0; i * WarpBuilder::kLanes < experts; ++i) {
    Value number = k.add(warp.lane, i * WarpBuilder::kLanes);
    isThere.push_back(k.isLess(number, k.constant(experts)));
    Value place[] = {row, k.min(number, k.constant(experts - 1))};
    scores.push_back(k.loadFloat(op.getLogits(), place));
  }
  if (op.getScore() == RouterScore::Sigmoid) {
    for (Value &z : scores) {
      z = sigmoid(z);
    }
  }
  if (op.getScore() != RouterScore::Softmax) {
    return;
  }
  Value highest, sum;
  for (auto [is, z] : llvm::zip_equal(isThere, scores)) {
    Value own = select(is, z, k.number(kNever));
    highest = highest ? arith::MaximumFOp::create(b, highest, own) : own;
  }
  highest = warp.maximum(highest);
  for (auto [is, z] : llvm::zip_equal(isThere, scores)) {
    z = raise(is, z, highest);
    sum = sum ? arith::AddFOp::create(b, sum, z).getResult() : z;
  }
  sum = warp.sum(sum);
  for (Value &z : scores) {
    z = arith::DivFOp::create(b, z, sum);
  }
}

/// A score that is no number is the least there is.
void WarpChoice::beginChoices() {
  for (size_t i = 0; i < scores.size(); ++i) {
    Value choice = scores[i];
    if (Value bias = op.getChoiceBias()) {
      Value number = k.min(k.add(warp.lane, i * WarpBuilder::kLanes),
                           k.constant(experts - 1));
      choice = arith::AddFOp::create(b, choice,
                                     memref::LoadOp::create(b, bias, number));
    }
    choice = arith::MaxNumFOp::create(b, choice, k.number(kLeast));
    choices.push_back(select(isThere[i], choice, k.number(kNever)));
  }
}

WarpChoice::Best WarpChoice::bestOfLane(ArrayRef<Value> from) {
  Best best = {from[0], expert(0)};
  for (size_t i = 1; i < from.size(); ++i) {
    Value isBetter = isGreater(from[i], best.choice);
    best = {select(isBetter, from[i], best.choice),
            select(isBetter, expert(static_cast<int64_t>(i)), best.expert)};
  }
  return best;
}

WarpChoice::Best WarpChoice::bestOf(Best own) {
  for (int32_t distance = WarpBuilder::kLanes / 2; distance > 0;
       distance /= 2) {
    Best other = {exchange(own.choice, distance),
                  exchange(own.expert, distance)};
    Value isEqual = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ,
                                          other.choice, own.choice);
    Value isBetter = arith::OrIOp::create(
        b, isGreater(other.choice, own.choice),
        arith::AndIOp::create(b, isEqual, isLess(other.expert, own.expert)));
    own = {select(isBetter, other.choice, own.choice),
           select(isBetter, other.expert, own.expert)};
  }
  return own;
}

/// Whether the lane's expert `number` is `expert`.
Value WarpChoice::isOf(int64_t number, Value expert) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                               this->expert(number), expert);
}

Value WarpChoice::scoreOf(Value expert) {
  Value own = scores[0];
  for (size_t i = 1; i < scores.size(); ++i) {
    own = select(isOf(static_cast<int64_t>(i), expert), scores[i], own);
  }
  Value owner = arith::RemUIOp::create(b, expert, word(WarpBuilder::kLanes));
  return gpu::ShuffleOp::create(b, own, owner, word(WarpBuilder::kLanes),
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

/// Its greatest choice, or the sum of its two greatest.
Value WarpChoice::rankGroup(int64_t group) {
  int64_t size = experts / static_cast<int64_t>(op.getGroups());
  Value first = word(group * size), end = word((group + 1) * size);
  SmallVector<Value> own;
  for (auto [i, choice] : llvm::enumerate(choices)) {
    Value number = expert(static_cast<int64_t>(i));
    Value isIn = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, number, first),
        isLess(number, end));
    own.push_back(select(isIn, choice, k.number(kNever)));
  }
  auto greatest = [&] {
    Value best = own[0];
    for (Value choice : ArrayRef(own).drop_front()) {
      best = arith::MaximumFOp::create(b, best, choice);
    }
    return warp.maximum(best);
  };
  Value rank;
  if (op.getGroupBy() == GroupRank::Max) {
    rank = greatest();
  } else {
    Best best = bestOf(bestOfLane(own));
    for (auto [i, choice] : llvm::enumerate(own)) {
      choice = select(isOf(static_cast<int64_t>(i), best.expert),
                      k.number(kNever), choice);
    }
    rank = arith::AddFOp::create(b, best.choice, greatest());
  }
  return arith::MaxNumFOp::create(b, rank, k.number(kLeast));
}

/// Puts the experts of groups that are not used out of the question. All lanes
/// have the ranks of all groups.
void WarpChoice::leaveGroups() {
  auto groups = static_cast<int64_t>(op.getGroups());
  Value never = arith::ConstantOp::create(b, b.getBoolAttr(false));
  SmallVector<Value> ranks, isUsed(static_cast<size_t>(groups), never);
  for (int64_t group = 0; group < groups; ++group) {
    ranks.push_back(rankGroup(group));
  }
  for (uint64_t turn = 0; turn < op.getGroupsUsed(); ++turn) {
    Value best = ranks[0], number = word(0);
    for (int64_t group = 1; group < groups; ++group) {
      Value isBetter = isGreater(ranks[group], best);
      best = select(isBetter, ranks[group], best);
      number = select(isBetter, word(group), number);
    }
    for (int64_t group = 0; group < groups; ++group) {
      Value isBest = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number,
                                           word(group));
      isUsed[group] = arith::OrIOp::create(b, isUsed[group], isBest);
      ranks[group] = select(isBest, k.number(kNever), ranks[group]);
    }
  }
  Value size = word(experts / groups);
  for (auto [i, choice] : llvm::enumerate(choices)) {
    Value own =
        arith::DivUIOp::create(b, expert(static_cast<int64_t>(i)), size);
    Value isOfUsed = never;
    for (int64_t group = 0; group < groups; ++group) {
      Value isIn =
          arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own, word(group));
      isOfUsed = select(isIn, isUsed[group], isOfUsed);
    }
    choice = select(isOfUsed, choice, k.number(kNever));
  }
}

/// Lane j keeps choice j.
void WarpChoice::chooseAll() {
  ownExpert = word(0);
  ownWeight = k.number(0);
  for (int64_t turn = 0; turn < perToken; ++turn) {
    Value best = bestOf(bestOfLane(choices)).expert;
    chosen.push_back(best);
    Value isOwn =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, word(turn));
    ownExpert = select(isOwn, best, ownExpert);
    ownWeight = select(isOwn, scoreOf(best), ownWeight);
    for (auto [i, choice] : llvm::enumerate(choices)) {
      choice =
          select(isOf(static_cast<int64_t>(i), best), k.number(kNever), choice);
    }
  }
  isChosen = isLess(lane, word(perToken));
}

Value WarpChoice::normalize(Value weight) {
  if (op.getRenormalize() == Renormalize::Softmax) {
    Value highest = warp.maximum(select(isChosen, weight, k.number(kNever)));
    weight = raise(isChosen, weight, highest);
    weight = arith::DivFOp::create(b, weight, warp.sum(weight));
  }
  if (op.getRenormalize() == Renormalize::Sum) {
    Value divisor = warp.sum(weight);
    if (!op.getPlus().isZero()) {
      divisor = arith::AddFOp::create(b, divisor,
                                      k.number(op.getPlus().convertToDouble()));
    }
    if (!op.getFloor().isZero()) {
      divisor = arith::MaximumFOp::create(
          b, divisor, k.number(op.getFloor().convertToDouble()));
    }
    weight = arith::DivFOp::create(b, weight, divisor);
  }
  double factor = op.getFactor().convertToDouble();
  return factor == 1
             ? weight
             : arith::MulFOp::create(b, weight, k.number(factor)).getResult();
}

/// In ascending order: an expert stands behind as many as have lower numbers.
void WarpChoice::storeOwn(Value row) {
  Value place = word(0);
  for (Value other : chosen) {
    Value isBefore = isLess(other, ownExpert);
    place = add(place, select(isBefore, word(1), word(0)));
  }
  bool isLate = op.getScore() == RouterScore::LateSigmoid;
  // Lanes without a choice have no weight, not that of logit 0.
  Value own =
      isLate ? select(isChosen, sigmoid(ownWeight), k.number(0)) : ownWeight;
  Value weight = normalize(own);
  k.when(isChosen, [&] {
    Value at[] = {row, arith::IndexCastOp::create(b, b.getIndexType(), place)};
    memref::StoreOp::create(b, ownExpert, op.getIds(), at);
    memref::StoreOp::create(b, weight, op.getWeights(), at);
  });
}

void WarpChoice::emit() {
  Value zero = k.constant(0), one = k.constant(1);
  Value rows = memref::DimOp::create(b, op.getLogits(), 0);
  auto loop = scf::ParallelOp::create(
      b, ValueRange{zero, zero},
      ValueRange{rows, k.constant(WarpBuilder::kLanes)}, ValueRange{one, one});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVars()[0];
  warp.lane = loop.getInductionVars()[1];
  lane = arith::IndexCastOp::create(b, b.getI32Type(), warp.lane);
  loadScores(row);
  beginChoices();
  if (op.getGroups() > 1) {
    leaveGroups();
  }
  chooseAll();
  storeOwn(row);
}

bool tfc::fitsWarp(transformer::ChooseExpertsOp op) {
  return op.getScore() != RouterScore::Sparsemixer &&
         transformer::widthOf(op.getLogits()) <=
             kMaxExperts * WarpBuilder::kLanes &&
         static_cast<int64_t>(op.getPerToken()) <= WarpBuilder::kLanes;
}

void tfc::expandWarpChoice(transformer::ChooseExpertsOp op,
                           RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  WarpChoice(op, rewriter).emit();
  rewriter.eraseOp(op);
}
