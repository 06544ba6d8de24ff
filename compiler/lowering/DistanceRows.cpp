// Which rows of its tables of distances an attention reads, and how many of a
// table that is kept are computed.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/lowering/DistanceRows.h"

#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace tfc;

/// Distances that a vector has at once: so many at each end have one row.
static constexpr int64_t kMargin = 16;

/// Whether rows of keys behind the query are cut away: no query sees such, and
/// with a row for each distance those are the first half.
static bool isHalved(transformer::AttentionOp op) {
  return op.getOddSpan() && op.getMask() == transformer::Mask::Causal &&
         !op.getCache().getType().isScratch();
}

/// Of those that are left.
static int64_t rowsOfTable(transformer::AttentionOp op) {
  if (isHalved(op)) {
    return static_cast<int64_t>(*op.getSpan());
  }
  return 2 * static_cast<int64_t>(*op.getSpan()) - (op.getOddSpan() ? 1 : 0);
}

/// The row of the tables where the key is `distance` before the query. In f32,
/// as models were trained.
static int32_t rowOf(transformer::AttentionOp op, int64_t distance) {
  auto span = static_cast<int64_t>(*op.getSpan());
  int64_t back = -distance, far = std::abs(back), half = span / 2;
  if (op.getMaxDistance() && far > half) {
    auto farthest = static_cast<double>(*op.getMaxDistance() - 1);
    float steps = std::log(float(far) / float(half)) /
                  std::log(float(farthest / double(half))) * float(half - 1);
    far = half + static_cast<int64_t>(std::ceil(steps));
    back = back < 0 ? -far : far;
  }
  int64_t middle = isHalved(op) ? 0 : op.getOddSpan() ? span - 1 : span;
  return static_cast<int32_t>(
      std::clamp<int64_t>(back + middle, 0, rowsOfTable(op) - 1));
}

/// The first distance from which on nothing changes, on either side.
static int64_t farthestOf(transformer::AttentionOp op) {
  auto span = static_cast<int64_t>(*op.getSpan());
  auto farthest = static_cast<int64_t>(op.getMaxDistance().value_or(span));
  while (rowOf(op, farthest) != 0 ||
         rowOf(op, -farthest) != rowsOfTable(op) - 1) {
    ++farthest;
  }
  return farthest;
}

Value tfc::buildDistanceRows(ImplicitLocOpBuilder &b,
                             transformer::AttentionOp op) {
  if (!op.getSpan()) {
    return {};
  }
  SmallVector<int32_t> rows;
  int64_t farthest = farthestOf(op) + kMargin;
  for (int64_t distance = -farthest; distance <= farthest; ++distance) {
    rows.push_back(rowOf(op, distance));
  }
  auto type = RankedTensorType::get({int64_t(rows.size())}, b.getI32Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<int32_t>(rows)));
}

/// At most so many rows from the middle on lie between those of neighbours:
/// where few distances share many rows, more than one.
static int64_t rowsPerDistance(transformer::AttentionOp op) {
  int64_t middle = rowsOfTable(op) / 2, most = 1;
  for (int64_t distance = 1; distance <= farthestOf(op); ++distance) {
    int64_t rows = std::max<int64_t>(middle - rowOf(op, distance),
                                     rowOf(op, -distance) - middle);
    most = std::max<int64_t>(most, llvm::divideCeil(rows, distance));
  }
  return most;
}

namespace {

using Replaced = llvm::SmallSetVector<Operation *, 8>;

/// Computes again what tables are made of, in front of an op, of `count` rows
/// from `first` on.
class RowCutter {
public:
  RowCutter(Operation *user, Replaced &replaced)
      : b(user->getLoc(), user), replaced(replaced) {}

  Value cut(Value rows) {
    Value &known = made[rows];
    if (known) {
      return known;
    }
    Operation *source = rows.getDefiningOp();
    auto type = cast<RankedTensorType>(rows.getType());
    if (!source || isa<transformer::WeightOp, arith::ConstantOp>(source)) {
      OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
      Value part = tensor::ExtractSliceOp::create(
          b, rows, ArrayRef<OpFoldResult>{first, zero},
          ArrayRef<OpFoldResult>{count, b.getIndexAttr(type.getDimSize(1))},
          ArrayRef<OpFoldResult>{one, one});
      return made[rows] = part;
    }
    // Products, norms and parts of products: their rows are the first operand.
    Value input = cut(source->getOperand(0));
    Operation *again = b.clone(*source);
    again->setOperand(0, input);
    again->getResult(0).setType(
        type.clone({ShapedType::kDynamic, type.getDimSize(1)}));
    replaced.insert(source);
    return made[rows] = again->getResult(0);
  }

  ImplicitLocOpBuilder b;
  Value count;
  OpFoldResult first;

private:
  Replaced &replaced;
  llvm::DenseMap<Value, Value> made;
};

/// Cuts the tables of an attention.
class TableCutter {
public:
  TableCutter(transformer::AttentionOp op, Replaced &replaced)
      : op(op), sinks(sinksOf(op)), rows(sinks ? sinks : op, replaced),
        b(rows.b) {}

  void cut() {
    findRows();
    for (MutableOperandRange table :
         {op.getRelativeKeysMutable(), op.getRelativeQueriesMutable(),
          op.getRelativeValuesMutable()}) {
      if (!table.empty()) {
        table.assign(rows.cut(table[0].get()));
      }
    }
    if (sinks) {
      OpOperand &table = sinks.getRelativeKeysMutable();
      table.set(rows.cut(table.get()));
    }
  }

private:
  /// What of the same table comes before the attention, for it alone.
  static transformer::MemorySinksOp sinksOf(transformer::AttentionOp op) {
    auto sinks = op.getSinks()
                     ? op.getSinks().getDefiningOp<transformer::MemorySinksOp>()
                     : transformer::MemorySinksOp();
    return sinks && sinks.getRelativeKeys() == op.getRelativeKeys()
               ? sinks
               : transformer::MemorySinksOp();
  }

  /// The rows in the middle that the step's tokens can meet; of those whose
  /// keys may be of steps before all that are left, in no fewer loops than of
  /// others.
  void findRows() {
    int64_t all = rowsOfTable(op);
    Value tokens = tensor::DimOp::create(b, op.getQuery(), 0);
    Value most = arith::ConstantIndexOp::create(b, all), met;
    if (isHalved(op)) {
      met = arith::AddIOp::create(b, tokens, most);
    } else {
      met = arith::MulIOp::create(
          b, tokens,
          arith::ConstantIndexOp::create(b, 2 * rowsPerDistance(op)));
    }
    // The workspace has a place for `most`: it is the constant of a minimum.
    rows.count = arith::MinSIOp::create(b, met, most);
    if (isHalved(op)) {
      rows.first = b.getIndexAttr(all - 1);
      return;
    }
    Value others = arith::SubIOp::create(b, most, rows.count);
    rows.first = Value(arith::DivUIOp::create(
        b, others, arith::ConstantIndexOp::create(b, 2)));
  }

  transformer::AttentionOp op;
  transformer::MemorySinksOp sinks;
  RowCutter rows;
  ImplicitLocOpBuilder &b;
};

} // namespace

/// What is kept is computed of all rows, by the code that computes a part of
/// them in a step: as there, how many is known at run time. A step that
/// prepares wants no rows, so they are the most.
static void cutKept(ModuleOp module, Replaced &replaced) {
  llvm::MapVector<std::pair<Block *, int64_t>, SmallVector<transformer::KeepOp>>
      groups;
  module.walk([&](transformer::KeepOp op) {
    auto type = cast<RankedTensorType>(op.getValue().getType());
    groups[{op->getBlock(), type.getDimSize(0)}].push_back(op);
  });
  for (auto &[group, keeps] : groups) {
    auto entry = keeps.front()->getParentOfType<func::FuncOp>();
    Value wanted = transformer::findArgument(entry, transformer::kRowsAttrName);
    if (!wanted) {
      continue;
    }
    RowCutter rows(keeps.front(), replaced);
    Value most = arith::ConstantIndexOp::create(rows.b, group.second);
    Value more = arith::AddIOp::create(
        rows.b, tensor::DimOp::create(rows.b, wanted, 0), most);
    rows.count = arith::MinSIOp::create(rows.b, more, most);
    rows.first = rows.b.getIndexAttr(0);
    for (transformer::KeepOp keep : keeps) {
      rows.b.setInsertionPoint(keep);
      keep.getValueMutable().assign(rows.cut(keep.getValue()));
    }
  }
}

void tfc::cutTables(ModuleOp module) {
  Replaced replaced;
  module.walk([&](transformer::AttentionOp op) {
    if (op.getSpan() && (op.getCache().getType().isScratch() || isHalved(op))) {
      TableCutter(op, replaced).cut();
    }
  });
  cutKept(module, replaced);
  // Users are behind what they use, and in the list, too.
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (Operation *op : llvm::to_vector(replaced)) {
      if (op->use_empty()) {
        replaced.remove(op);
        op->erase();
        isChanged = true;
      }
    }
  }
}
