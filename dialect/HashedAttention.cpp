// Attention by hashes: inference, verifiers, effects.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include <cmath>

using namespace mlir;
using namespace tfc::transformer;

LogicalResult
HashedAttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                    Adaptor adaptor,
                                    SmallVectorImpl<Type> &types) {
  types.push_back(rowsAs(adaptor.getQuery().getType()));
  return success();
}

/// The sum of the factors of buckets; nothing where they are none.
static std::optional<int64_t> sumBuckets(ArrayRef<int64_t> buckets) {
  int64_t sum = 0, product = 1;
  for (int64_t factor : buckets) {
    if (factor < 2 || factor % 2 != 0 || factor >= int64_t(1) << 31) {
      return std::nullopt;
    }
    product *= factor;
    sum += factor;
    if (product >= int64_t(1) << 31) {
      return std::nullopt;
    }
  }
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

static bool isWithin(uint64_t number, int64_t least, int64_t end) {
  auto value = static_cast<int64_t>(number);
  return value >= least && value < end;
}

template <typename Op> static LogicalResult verifyHashed(Op op) {
  int64_t width = widthOf(op.getQuery());
  auto heads = static_cast<int64_t>(op.getNumHeads());
  // hashed_attention_c1
  if (heads < 1 || width % heads != 0) {
    return op.emitOpError() << "expected num_heads to divide " << width
                            << " (the width of the query), got " << heads;
  }
  // hashed_attention_c2
  for (auto [what, rows] : {std::pair{"key of width", op.getKey()},
                            std::pair{"value of width", op.getValue()}}) {
    if (failed(expectSize(op, what, widthOf(rows), width,
                          "the width of the query"))) {
      return failure();
    }
  }
  // hashed_attention_c3
  auto block = static_cast<int64_t>(op.getBlock());
  auto multiple = static_cast<int64_t>(op.getMultiple());
  if (!isWithin(op.getBlock(), 1, 1 << 20) || !isWithin(op.getBefore(), 0, 2) ||
      !isWithin(op.getAfter(), 0, 2) || !isWithin(op.getHashes(), 1, 1 << 16) ||
      !isWithin(op.getMultiple(), 1, int64_t(1) << 31) ||
      multiple % block != 0) {
    return op.emitOpError()
           << "expected block in [1, 2^20), before and after of 0 or 1, hashes "
              "in [1, 2^16) and a multiple of block below 2^31, got "
           << block << ", " << static_cast<int64_t>(op.getBefore()) << ", "
           << static_cast<int64_t>(op.getAfter()) << ", "
           << static_cast<int64_t>(op.getHashes()) << " and " << multiple;
  }
  // hashed_attention_c4
  std::optional<int64_t> buckets = sumBuckets(op.getBuckets());
  if (!buckets) {
    return op.emitOpError() << "expected buckets of even factors whose product "
                               "is below 2^31, got "
                            << op.getBuckets();
  }
  // hashed_attention_c5
  if (failed(expectSize(op, "rotations with rows", rowsOf(op.getRotations()),
                        width, "the width of the query")) ||
      failed(expectSize(op, "rotations of width", widthOf(op.getRotations()),
                        static_cast<int64_t>(op.getHashes()) * *buckets / 2,
                        "hashes times half the sum of buckets"))) {
    return failure();
  }
  // hashed_attention_c6
  if (!op.getScale().isFinite()) {
    return op.emitOpError() << "expected a finite scale, got "
                            << op.getScale().convertToDouble();
  }
  return success();
}

LogicalResult HashedAttentionOp::verify() { return verifyHashed(*this); }

LogicalResult RaggedHashedOp::verify() {
  if (failed(verifyHashed(*this))) {
    return failure();
  }
  // ragged_hashed_c1
  return expectSize(*this, "init of width", widthOf(getInit()),
                    widthOf(getQuery()), "the width of the query");
}

void RaggedHashedOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}
