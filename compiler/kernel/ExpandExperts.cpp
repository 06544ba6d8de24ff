// Which experts rows take, and rows sorted by expert, as loops over numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernel/ExpandExperts.h"

#include "compiler/kernel/KernelBuilder.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <limits>

using namespace mlir;
using namespace tfc;

using Values = KernelBuilder::Values;
using transformer::GroupRank;
using transformer::Renormalize;
using transformer::RouterScore;

namespace {

/// Emits the choice of one row after the other. What experts are chosen by is
/// kept in a row of memory; one that is out of the question has -infinity
/// there, one that is chosen a NaN, which is greater than nothing.
class ChoiceEmitter {
public:
  ChoiceEmitter(transformer::ChooseExpertsOp op, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, Value()), b(k.builder()),
        experts(transformer::widthOf(op.getLogits())),
        perToken(op.getPerToken()) {}

  void emit();

private:
  void emitScores(Value row);
  void emitSoftmax(Value row, Value buffer, int64_t width);
  void emitChoices(Value row);
  void emitGroups(Value row);
  Value rankGroup(Value row, Value group);
  void emitMixed(Value row);
  void emitChosen(Value row);
  void emitWeights(Value row);
  Value sigmoid(Value x) {
    Value raised = exponential(arith::NegFOp::create(b, x));
    return arith::DivFOp::create(b, k.number(1),
                                 addFloats(raised, k.number(1)));
  }
  /// The number of the greatest of `width` numbers, and the number itself.
  Value findGreatest(Value row, Value buffer, int64_t width);

  Value load(Value buffer, Value row, Value column) {
    Value place[] = {row, column};
    return memref::LoadOp::create(b, buffer, place);
  }
  void store(Value value, Value buffer, Value row, Value column) {
    Value place[] = {row, column};
    memref::StoreOp::create(b, value, buffer, place);
  }
  Value allocate(int64_t width) {
    Value rows = memref::DimOp::create(b, op.getLogits(), 0);
    return memref::AllocOp::create(
        b, MemRefType::get({ShapedType::kDynamic, width}, b.getF32Type()),
        rows);
  }
  Value isGreater(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, y);
  }
  Value addFloats(Value x, Value y) { return arith::AddFOp::create(b, x, y); }
  Value exponential(Value x) { return math::ExpOp::create(b, x); }
  /// f(column, value) for `width` columns from `value` on.
  Value fold(int64_t width, Value value, function_ref<Value(Value, Value)> f) {
    return k.reduce(k.constant(width), value, f);
  }

  transformer::ChooseExpertsOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  int64_t experts, perToken;
  Value scores, choices, ranks;
  /// Of sparsemixer: what the weights of the chosen are.
  Value mixed;
};

} // namespace

static constexpr double kLeast = -std::numeric_limits<float>::max();
static constexpr double kNever = -std::numeric_limits<double>::infinity();

void ChoiceEmitter::emit() {
  scores = allocate(experts);
  choices = allocate(experts);
  if (op.getGroups() > 1) {
    ranks = allocate(op.getGroups());
  }
  bool isMixed = op.getScore() == RouterScore::Sparsemixer;
  if (isMixed) {
    mixed = allocate(experts);
  }
  Value rows = memref::DimOp::create(b, op.getLogits(), 0);
  auto loop = scf::ParallelOp::create(b, ValueRange{k.constant(0)}, rows,
                                      ValueRange{k.constant(1)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value row = loop.getInductionVars()[0];
  emitScores(row);
  emitChoices(row);
  if (op.getGroups() > 1) {
    emitGroups(row);
  }
  if (isMixed) {
    emitMixed(row);
  }
  emitChosen(row);
  emitWeights(row);
}

/// buffer[row, :width] = softmax of it
void ChoiceEmitter::emitSoftmax(Value row, Value buffer, int64_t width) {
  Value greatest =
      fold(width, k.number(kNever), [&](Value column, Value best) -> Value {
        return arith::MaximumFOp::create(b, best, load(buffer, row, column));
      });
  Value sum = fold(width, k.number(0), [&](Value column, Value sum) -> Value {
    Value shifted =
        arith::SubFOp::create(b, load(buffer, row, column), greatest);
    Value raised = exponential(shifted);
    store(raised, buffer, row, column);
    return addFloats(sum, raised);
  });
  k.loop(k.constant(width), [&](Value column) {
    Value share = arith::DivFOp::create(b, load(buffer, row, column), sum);
    store(share, buffer, row, column);
  });
}

void ChoiceEmitter::emitScores(Value row) {
  k.loop(k.constant(experts), [&](Value expert) {
    Value place[] = {row, expert};
    Value z = k.loadFloat(op.getLogits(), place);
    if (op.getScore() == RouterScore::Sigmoid) {
      z = sigmoid(z);
    }
    store(z, scores, row, expert);
  });
  if (op.getScore() == RouterScore::Softmax) {
    emitSoftmax(row, scores, experts);
  }
}

/// A score that is no number is the least there is.
void ChoiceEmitter::emitChoices(Value row) {
  k.loop(k.constant(experts), [&](Value expert) {
    Value choice = load(scores, row, expert);
    if (op.getChoiceBias()) {
      Value bias = memref::LoadOp::create(b, op.getChoiceBias(), expert);
      choice = addFloats(choice, bias);
    }
    choice = arith::MaxNumFOp::create(b, choice, k.number(kLeast));
    store(choice, choices, row, expert);
  });
}

Value ChoiceEmitter::findGreatest(Value row, Value buffer, int64_t width) {
  Values found = k.loop(
      k.constant(0), k.constant(width), 1, {k.constant(0), k.number(kNever)},
      [&](Value column, ValueRange best) -> Values {
        Value value = load(buffer, row, column);
        Value isBetter = isGreater(value, best[1]);
        return {arith::SelectOp::create(b, isBetter, column, best[0]),
                arith::SelectOp::create(b, isBetter, value, best[1])};
      });
  return found[0];
}

Value ChoiceEmitter::rankGroup(Value row, Value group) {
  int64_t size = experts / static_cast<int64_t>(op.getGroups());
  Value first = k.scale(group, size), none = k.number(kNever);
  Values best =
      k.loop(k.constant(0), k.constant(size), 1, {none, none},
             [&](Value number, ValueRange best) -> Values {
               Value value = load(choices, row, k.add(first, number));
               Value isFirst = isGreater(value, best[0]);
               Value isSecond = isGreater(value, best[1]);
               Value second =
                   arith::SelectOp::create(b, isSecond, value, best[1]);
               return {arith::SelectOp::create(b, isFirst, value, best[0]),
                       arith::SelectOp::create(b, isFirst, best[0], second)};
             });
  Value rank =
      op.getGroupBy() == GroupRank::Max ? best[0] : addFloats(best[0], best[1]);
  return arith::MaxNumFOp::create(b, rank, k.number(kLeast));
}

/// Puts the experts of groups that are not used out of the question.
void ChoiceEmitter::emitGroups(Value row) {
  auto groups = static_cast<int64_t>(op.getGroups());
  int64_t size = experts / groups;
  Value notANumber = k.number(std::numeric_limits<double>::quiet_NaN());
  k.loop(k.constant(groups),
         [&](Value group) { store(rankGroup(row, group), ranks, row, group); });
  k.loop(k.constant(op.getGroupsUsed()), [&](Value) {
    store(notANumber, ranks, row, findGreatest(row, ranks, groups));
  });
  k.loop(k.constant(experts), [&](Value expert) {
    Value rank = load(ranks, row, k.divide(expert, size));
    Value isUsed =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, rank, rank);
    Value choice = load(choices, row, expert);
    store(arith::SelectOp::create(b, isUsed, choice, k.number(kNever)), choices,
          row, expert);
  });
}

/// Chooses the greatest logit m that is left, again and again, and gives it its
/// share of those left that are near to it.
void ChoiceEmitter::emitMixed(Value row) {
  Value notANumber = k.number(std::numeric_limits<double>::quiet_NaN());
  Value tolerance = k.number(op.getTolerance().convertToDouble());
  k.loop(k.constant(perToken), [&](Value) {
    Value best = findGreatest(row, choices, experts);
    Value m = load(choices, row, best);
    Value sum =
        fold(experts, k.number(0), [&](Value expert, Value sum) -> Value {
          Value z = load(scores, row, expert),
                left = load(choices, row, expert);
          Value size =
              arith::MaximumFOp::create(b, math::AbsFOp::create(b, z), m);
          Value distance =
              arith::DivFOp::create(b, arith::SubFOp::create(b, m, z), size);
          Value isLeft =
              arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, left, left);
          Value isNear = arith::CmpFOp::create(b, arith::CmpFPredicate::ULE,
                                               distance, tolerance);
          Value counts = arith::AndIOp::create(b, isLeft, isNear);
          // What does not count may have overflowed.
          Value raised = exponential(arith::SubFOp::create(
              b, arith::SelectOp::create(b, counts, left, m), m));
          return addFloats(
              sum, arith::SelectOp::create(b, counts, raised, k.number(0)));
        });
    store(arith::DivFOp::create(b, k.number(1), sum), mixed, row, best);
    store(notANumber, choices, row, best);
  });
}

/// Marks the chosen, and writes their numbers and scores in ascending order.
void ChoiceEmitter::emitChosen(Value row) {
  Value notANumber = k.number(std::numeric_limits<double>::quiet_NaN());
  if (!mixed) {
    k.loop(k.constant(perToken), [&](Value) {
      store(notANumber, choices, row, findGreatest(row, choices, experts));
    });
  }
  k.loop(k.constant(0), k.constant(experts), 1, {k.constant(0)},
         [&](Value expert, ValueRange place) -> Values {
           Value choice = load(choices, row, expert);
           Value isChosen = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO,
                                                  choice, choice);
           k.when(isChosen, [&] {
             store(arith::IndexCastOp::create(b, b.getI32Type(), expert),
                   op.getIds(), row, place[0]);
             Value weight = load(mixed ? mixed : scores, row, expert);
             if (op.getScore() == RouterScore::LateSigmoid) {
               weight = sigmoid(weight);
             }
             store(weight, op.getWeights(), row, place[0]);
           });
           Value next = k.add(place[0], 1);
           return {arith::SelectOp::create(b, isChosen, next, place[0])};
         });
}

void ChoiceEmitter::emitWeights(Value row) {
  if (op.getRenormalize() == Renormalize::Softmax) {
    emitSoftmax(row, op.getWeights(), perToken);
  }
  double factor = op.getFactor().convertToDouble();
  Value divisor;
  if (op.getRenormalize() == Renormalize::Sum) {
    divisor = fold(perToken, k.number(0), [&](Value column, Value sum) {
      return addFloats(sum, load(op.getWeights(), row, column));
    });
    if (!op.getPlus().isZero()) {
      divisor = addFloats(divisor, k.number(op.getPlus().convertToDouble()));
    }
    if (!op.getFloor().isZero()) {
      Value least = k.number(op.getFloor().convertToDouble());
      divisor = arith::MaximumFOp::create(b, divisor, least);
    }
  }
  if (!divisor && factor == 1) {
    return;
  }
  k.loop(k.constant(perToken), [&](Value column) {
    Value weight = load(op.getWeights(), row, column);
    if (divisor) {
      weight = arith::DivFOp::create(b, weight, divisor);
    }
    if (factor != 1) {
      weight = arith::MulFOp::create(b, weight, k.number(factor));
    }
    store(weight, op.getWeights(), row, column);
  });
}

void tfc::expandChooseExperts(transformer::ChooseExpertsOp op,
                              RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  ChoiceEmitter(op, rewriter).emit();
  rewriter.eraseOp(op);
}

namespace {

/// Emits the order of pairs of a row and an expert.
class OrderEmitter {
public:
  OrderEmitter(transformer::SortByExpertOp op, OpBuilder &builder)
      : op(op), k(op.getLoc(), builder, Value()), b(k.builder()),
        experts(static_cast<int64_t>(op.getExperts())),
        perToken(transformer::widthOf(op.getIds())),
        rows(memref::DimOp::create(b, op.getIds(), 0)) {}

  void emitInTurns();
  void emitByExpert();

private:
  /// By row and then by slot.
  void forEachPair(function_ref<void(Value, Value)> body) {
    k.loop(rows, [&](Value row) {
      k.loop(k.constant(perToken), [&](Value slot) { body(row, slot); });
    });
  }
  /// x = init; for each pair: x = body(row, slot, x)
  Value forEachPair(Value init, function_ref<Value(Value, Value, Value)> body) {
    return k.reduce(rows, init, [&](Value row, Value outer) {
      return k.reduce(
          k.constant(perToken), outer,
          [&](Value slot, Value inner) { return body(row, slot, inner); });
    });
  }
  Value load(Value buffer, ValueRange place) {
    Value number = memref::LoadOp::create(b, buffer, place);
    return arith::IndexCastOp::create(b, b.getIndexType(), number);
  }
  void store(Value index, Value buffer, ValueRange place) {
    Value number = arith::IndexCastOp::create(b, b.getI32Type(), index);
    memref::StoreOp::create(b, number, buffer, place);
  }
  Value addIf(Value condition, Value count) {
    return arith::SelectOp::create(b, condition, k.add(count, 1), count);
  }
  /// Pair (row, slot), of `expert`, is the one at `place`.
  void storePair(Value row, Value slot, Value expert, Value place) {
    store(row, op.getRows(), place);
    store(expert, op.getSorted(), place);
    store(place, op.getPlaces(), {row, slot});
  }

  transformer::SortByExpertOp op;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  int64_t experts, perToken;
  Value rows;
};

} // namespace

/// Counts, then places, with a counter for each expert.
void OrderEmitter::emitInTurns() {
  Value none = k.constant(0);
  // Where the next row of each expert goes: behind those of the ones before.
  Value next =
      memref::AllocOp::create(b, MemRefType::get({experts}, b.getI32Type()));
  k.loop(k.constant(experts), [&](Value expert) { store(none, next, expert); });
  forEachPair([&](Value row, Value slot) {
    Value expert = load(op.getIds(), {row, slot});
    store(k.add(load(next, expert), 1), next, expert);
  });
  k.reduce(k.constant(experts), none, [&](Value expert, Value first) {
    Value count = load(next, expert);
    store(first, next, expert);
    return k.add(first, count);
  });
  forEachPair([&](Value row, Value slot) {
    Value expert = load(op.getIds(), {row, slot});
    Value place = load(next, expert);
    store(k.add(place, 1), next, expert);
    storePair(row, slot, expert, place);
  });
}

/// An expert's pairs begin behind all that are of the ones before.
void OrderEmitter::emitByExpert() {
  Value none = k.constant(0);
  auto loop =
      scf::ParallelOp::create(b, none, k.constant(experts), k.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value own = loop.getInductionVars()[0];
  Value first =
      forEachPair(none, [&](Value row, Value slot, Value count) -> Value {
        return addIf(k.isLess(load(op.getIds(), {row, slot}), own), count);
      });
  forEachPair(first, [&](Value row, Value slot, Value place) -> Value {
    Value isOwn = k.isEqual(load(op.getIds(), {row, slot}), own);
    k.when(isOwn, [&] { storePair(row, slot, own, place); });
    return addIf(isOwn, place);
  });
}

void tfc::expandSortByExpert(transformer::SortByExpertOp op, bool inTurns,
                             RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  OrderEmitter order(op, rewriter);
  inTurns ? order.emitInTurns() : order.emitByExpert();
  rewriter.eraseOp(op);
}
