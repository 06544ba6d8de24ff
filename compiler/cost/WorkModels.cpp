// What the structured ops do in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cost/OpWork.h"
#include "compiler/cost/WorkOpInterface.h"
#include "dialect/TransformerDialect.h"
#include "mlir/IR/DialectRegistry.h"

#include <algorithm>

using namespace mlir;
using namespace tfc::cost;
using namespace tfc::transformer;

#include "compiler/cost/WorkOpInterface.cpp.inc"

/// How wide the elements of a cache are: as the type says, or where that is
/// f32, as values are; with their shares of a scale where there are scales.
static double cacheBytes(CacheType cache, const StepSizes &sizes) {
  double scale = cache.getElementType().isInteger() ? sizeof(float) : 0;
  return sizes.elementBytes(cache.getElementType()) +
         scale / static_cast<double>(cache.getHeadDim());
}

/// An index operand that may be missing; at most `limit`.
static std::optional<int64_t> windowOf(Value side, int64_t limit,
                                       const StepSizes &sizes) {
  if (!side) {
    return limit;
  }
  std::optional<int64_t> known = sizes.evaluate(side);
  return known ? std::optional<int64_t>(std::min(*known, limit)) : std::nullopt;
}

namespace {

struct ProductModel : WorkOpInterface::ExternalModel<ProductModel, ProductOp> {
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto product = cast<ProductOp>(op);
    auto inner = cast<ShapedType>(product.getInput().getType()).getDimSize(1);
    std::optional<double> elements = sizes.elements(product.getInit());
    if (!elements) {
      return std::nullopt;
    }
    Work work;
    work.products = 2 * *elements * static_cast<double>(inner);
    work.others = *elements * countArithmetic(product.getBody());
    return work;
  }

  /// Panels are whole; a weight's rows are not always. Of experts, as many as
  /// there are rows at most, with what their groups have.
  std::optional<double> getOperandBytes(Operation *op, OpOperand &operand,
                                        const StepSizes &sizes) const {
    auto product = cast<ProductOp>(op);
    std::optional<double> share = shareOfExperts(product, sizes);
    if (!share) {
      return std::nullopt;
    }
    if (operand.get() == product.getGroups() ||
        operand.get() == product.getZeros()) {
      // Scales are no values between ops, which a device keeps narrower.
      auto scales = cast<ShapedType>(operand.get().getType());
      return *share * static_cast<double>(scales.getNumElements()) *
             scales.getElementTypeBitWidth() / 8;
    }
    if (operand.get() != product.getPanels()) {
      return sizes.bytes(operand.get());
    }
    auto inner = cast<ShapedType>(product.getInput().getType()).getDimSize(1);
    auto width = cast<ShapedType>(product.getInit().getType()).getDimSize(1);
    auto panels = cast<ShapedType>(product.getPanels().getType());
    double experts =
        product.getExperts() ? static_cast<double>(panels.getDimSize(0)) : 1;
    // A row's words are whole; those of four bits have two steps a byte.
    int64_t first = product.getExperts() ? 2 : 1;
    int64_t stored = panels.getDimSize(first);
    if (panels.getRank() > first + 2) {
      stored *= panels.getShape().back();
    }
    return *share * experts * static_cast<double>(std::min(inner, stored)) *
           static_cast<double>(width) *
           sizes.elementBytes(panels.getElementType());
  }

private:
  /// Of the experts' matrices, those that are read at most.
  static std::optional<double> shareOfExperts(ProductOp product,
                                              const StepSizes &sizes) {
    if (!product.getExperts()) {
      return 1;
    }
    std::optional<double> rows = sizes.elements(product.getExperts());
    if (!rows) {
      return std::nullopt;
    }
    auto panels = cast<ShapedType>(product.getPanels().getType());
    return std::min(1.0, *rows / static_cast<double>(panels.getDimSize(0)));
  }
};

struct AttentionModel
    : WorkOpInterface::ExternalModel<AttentionModel, PagedAttentionOp> {
  /// A score is a product of `head_dim` terms, and so is its share of the sum;
  /// between them it is scaled, held against the largest, shifted, raised and
  /// summed: five operations. Keys and values are read once.
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto attention = cast<PagedAttentionOp>(op);
    CacheType cache = attention.getCache().getType();
    const Step &step = sizes.step;
    int64_t keys = cache.isCross() ? step.source : step.keys;
    std::optional<int64_t> left = windowOf(attention.getLeft(), keys, sizes);
    std::optional<int64_t> right = windowOf(attention.getRight(), keys, sizes);
    if (!left || !right) {
      return std::nullopt;
    }
    if (attention.getMask() == Mask::Causal) {
      right = 0;
    }
    int64_t past = cache.isCross() ? 0 : step.keys - step.newTokens;
    int64_t pairs = 0, first = keys, end = 0;
    for (int64_t token = 0; token < step.newTokens; ++token) {
      int64_t place = past + token;
      int64_t low = std::max<int64_t>(0, place - *left);
      int64_t high = std::min(keys, place + *right + 1);
      if (attention.getBlocksBefore()) {
        // A circle's seam joins as many.
        auto size = static_cast<int64_t>(*attention.getSparseBlock());
        auto before = static_cast<int64_t>(*attention.getBlocksBefore());
        auto after = static_cast<int64_t>(*attention.getBlocksAfter());
        low = std::max<int64_t>(0, (place / size - before) * size);
        high = std::min(high, (place / size + after + 1) * size);
      }
      if (cache.isCross()) {
        low = 0;
        high = keys;
      }
      pairs += std::max<int64_t>(0, high - low);
      first = std::min(first, low);
      end = std::max(end, high);
    }
    auto scores = static_cast<double>(pairs * step.sequences) *
                  static_cast<double>(attention.getNumHeads());
    auto width = static_cast<double>(cache.getHeadDim());
    Work work;
    // A term of distances is a product as a score is.
    int terms = (attention.getRelativeKeys() ? 1 : 0) +
                (attention.getRelativeQueries() ? 1 : 0) +
                (attention.getRelativeValues() ? 1 : 0);
    work.products = (4 + 2 * terms) * scores * width;
    work.others = 5 * scores;
    work.bytes = 2 * static_cast<double>(std::max<int64_t>(0, end - first)) *
                 static_cast<double>(step.sequences) *
                 static_cast<double>(cache.getKvHeads()) * width *
                 cacheBytes(cache, sizes);
    return work;
  }
};

/// Of latents a score is a product of a key's columns, and its share of the sum
/// one of the latent's; the row is read once for both, and for all heads.
struct LatentModel
    : WorkOpInterface::ExternalModel<LatentModel, PagedLatentOp> {
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto attention = cast<PagedLatentOp>(op);
    CacheType cache = attention.getCache().getType();
    const Step &step = sizes.step;
    int64_t past = step.keys - step.newTokens, pairs = 0;
    for (int64_t token = 0; token < step.newTokens; ++token) {
      pairs += std::min(step.keys, past + token + 1);
    }
    auto scores = static_cast<double>(pairs * step.sequences) *
                  static_cast<double>(attention.getNumHeads());
    auto width = static_cast<double>(cache.getHeadDim());
    Work work;
    work.products =
        2 * scores * (width + static_cast<double>(cache.getValues()));
    work.others = 5 * scores;
    // Old rows are read, new ones written and read.
    work.bytes = static_cast<double>(step.keys + step.newTokens) *
                 static_cast<double>(step.sequences) * width *
                 cacheBytes(cache, sizes);
    return work;
  }
};

/// Of hashes a token has a product for each pair of buckets, and scores as
/// those of attention, of blocks as if all were full.
struct HashedModel
    : WorkOpInterface::ExternalModel<HashedModel, RaggedHashedOp> {
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto hashed = cast<RaggedHashedOp>(op);
    const Step &step = sizes.step;
    auto block = static_cast<int64_t>(hashed.getBlock());
    auto blocks =
        static_cast<int64_t>(hashed.getBefore() + 1 + hashed.getAfter());
    bool isWhole = step.newTokens <= block;
    int64_t seen =
        isWhole ? step.newTokens
                : static_cast<int64_t>(hashed.getHashes()) * blocks * block;
    auto columns = [](Value rows) {
      return static_cast<double>(
          cast<ShapedType>(rows.getType()).getDimSize(1));
    };
    auto tokens = static_cast<double>(step.tokens());
    double scores = tokens * static_cast<double>(seen);
    double width = columns(hashed.getQuery());
    Work work;
    work.products = 4 * scores * width;
    work.products +=
        isWhole ? 0 : 2 * tokens * width * columns(hashed.getRotations());
    work.others = 5 * scores * static_cast<double>(hashed.getNumHeads());
    return work;
  }
};

struct CacheWriteModel
    : WorkOpInterface::ExternalModel<CacheWriteModel, CacheWriteOp> {
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto write = cast<CacheWriteOp>(op);
    std::optional<double> elements = sizes.elements(write.getKey());
    if (!elements) {
      return std::nullopt;
    }
    Work work;
    work.bytes = 2 * *elements * cacheBytes(write.getCache().getType(), sizes);
    return work;
  }
};

/// A state's numbers are read and written once a sequence, as f32.
double stateBytes(double numbers, const StepSizes &sizes) {
  return 2 * numbers * sizeof(float) *
         static_cast<double>(sizes.step.sequences);
}

struct ConvModel : WorkOpInterface::ExternalModel<ConvModel, RaggedConvOp> {
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto conv = cast<RaggedConvOp>(op);
    std::optional<double> elements = sizes.elements(conv.getInit());
    if (!elements) {
      return std::nullopt;
    }
    auto weight = cast<ShapedType>(conv.getWeight().getType());
    auto columns = static_cast<double>(weight.getDimSize(0));
    auto taps = static_cast<double>(weight.getDimSize(1));
    Work work;
    work.others = 2 * *elements * taps;
    work.bytes = stateBytes((taps - 1) * columns, sizes);
    return work;
  }
};

struct RecurrenceModel
    : WorkOpInterface::ExternalModel<RecurrenceModel, RaggedRecurrenceOp> {
  /// A number of a matrix is scaled, changed by a product, and a term of two
  /// sums, of which one is not wanted where tokens add: seven operations a
  /// token, or five, and an exponential of a product where each has a decay.
  std::optional<Work> getWork(Operation *op, const StepSizes &sizes) const {
    auto recurrence = cast<RaggedRecurrenceOp>(op);
    std::optional<double> values = sizes.elements(recurrence.getInit());
    if (!values) {
      return std::nullopt;
    }
    auto widthOf = [](Value rows) {
      return cast<ShapedType>(rows.getType()).getDimSize(1);
    };
    auto keys =
        static_cast<double>(widthOf(recurrence.getKey()) /
                            static_cast<int64_t>(recurrence.getKeyHeads()));
    Work work;
    bool adds = recurrence.getRule() == RecurrenceRule::Add;
    int64_t operations = recurrence.getLogRate() ? 7 : adds ? 5 : 7;
    work.others = static_cast<double>(operations) * *values * keys;
    work.bytes = stateBytes(
        keys * static_cast<double>(widthOf(recurrence.getValue())), sizes);
    return work;
  }
};

} // namespace

void tfc::cost::registerWorkModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TransformerDialect *) {
    ProductOp::attachInterface<ProductModel>(*context);
    PagedAttentionOp::attachInterface<AttentionModel>(*context);
    PagedLatentOp::attachInterface<LatentModel>(*context);
    RaggedHashedOp::attachInterface<HashedModel>(*context);
    CacheWriteOp::attachInterface<CacheWriteModel>(*context);
    RaggedConvOp::attachInterface<ConvModel>(*context);
    RaggedRecurrenceOp::attachInterface<RecurrenceModel>(*context);
  });
}
