// Widths, lengths and the checks that ops of several groups share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"

#include "mlir/IR/Matchers.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;

Type tfc::transformer::elementOf(MLIRContext *context, Storage storage) {
  switch (storage) {
  case Storage::F32:
    return Float32Type::get(context);
  case Storage::F16:
    return Float16Type::get(context);
  case Storage::BF16:
    return BFloat16Type::get(context);
  case Storage::Int8:
    return IntegerType::get(context, 8);
  case Storage::Int4:
    return IntegerType::get(context, 4);
  }
  llvm_unreachable("all storages are listed");
}

tfc::transformer::Storage tfc::transformer::storageOf(Type element) {
  return element.isF32()        ? Storage::F32
         : element.isF16()      ? Storage::F16
         : element.isBF16()     ? Storage::BF16
         : element.isInteger(4) ? Storage::Int4
                                : Storage::Int8;
}

/// A tensor of `rank` axes, or null.
static RankedTensorType tensorOf(Type type, int64_t rank) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == rank ? tensor : RankedTensorType();
}

static Type wideRows(int64_t rows, int64_t width, MLIRContext *context) {
  return RankedTensorType::get({rows, width}, Float32Type::get(context));
}

Type tfc::transformer::rowsAs(Type like) {
  auto rows = tensorOf(like, 2);
  return rows ? rowsOfWidth(like, rows.getDimSize(1)) : like;
}

Type tfc::transformer::rowsOfWidth(Type like, int64_t width) {
  auto type = dyn_cast<RankedTensorType>(like);
  return type && type.getRank() > 0
             ? wideRows(type.getDimSize(0), width, like.getContext())
             : like;
}

Type tfc::transformer::rowsOfProduct(Type input, Type weight) {
  auto matrix = tensorOf(weight, 2);
  return matrix ? rowsOfWidth(input, matrix.getDimSize(0)) : input;
}

Type tfc::transformer::rowsOfTable(Type ids, Type table) {
  auto matrix = tensorOf(table, 2);
  return matrix ? rowsOfWidth(ids, matrix.getDimSize(1)) : ids;
}

bool tfc::transformer::haveEqualShapes(TypeRange a, TypeRange b) {
  return llvm::equal(a, b, [](Type x, Type y) {
    auto one = dyn_cast<RankedTensorType>(x);
    auto other = dyn_cast<RankedTensorType>(y);
    return one && other && one.clone(other.getElementType()) == other;
  });
}

LogicalResult tfc::transformer::expectSize(Operation *op, StringRef what,
                                           int64_t got, int64_t expected,
                                           StringRef why) {
  if (got == expected) {
    return success();
  }
  return op->emitOpError() << "expected " << what << ' ' << expected << " ("
                           << why << "), got " << got;
}

LogicalResult tfc::transformer::expectValues(Operation *op, CacheType cache) {
  if (cache.isLatent()) {
    return op->emitOpError() << "expected a cache with values of their own "
                                "(latents are those of latent_attention), got "
                             << cache;
  }
  return success();
}

LogicalResult tfc::transformer::expectHeads(Operation *op, int64_t heads,
                                            CacheType cache) {
  if (heads < 1 || heads % cache.getKvHeads() != 0) {
    return op->emitOpError()
           << "expected a positive multiple of " << cache.getKvHeads()
           << " heads (kv_heads of the cache), got " << heads;
  }
  if (!llvm::checkedMul(heads, cache.getHeadDim())) {
    return op->emitOpError()
           << "expected num_heads times head_dim of less than 2^63, got "
           << heads << " times " << cache.getHeadDim();
  }
  return expectValues(op, cache);
}

LogicalResult tfc::transformer::expectLayer(Operation *op, Value layer,
                                            int64_t layers, StringRef whose) {
  APInt index;
  if (!matchPattern(layer, m_ConstantInt(&index)) ||
      (index.isNonNegative() && index.getSExtValue() < layers)) {
    return success();
  }
  return op->emitOpError() << "expected a layer in [0, " << layers
                           << ") (layers of the " << whose << "), got "
                           << index.getSExtValue();
}

LogicalResult tfc::transformer::expectDistances(Operation *op, Value bias,
                                                int64_t heads) {
  if (!bias) {
    return success();
  }
  if (failed(
          expectSize(op, "bias with rows", rowsOf(bias), heads, "num_heads"))) {
    return failure();
  }
  if (widthOf(bias) % 2 == 0) {
    return op->emitOpError() << "expected bias of an odd width (distances from "
                                "-M to M), got "
                             << widthOf(bias);
  }
  return success();
}

LogicalResult tfc::transformer::expectCap(Operation *op,
                                          std::optional<APFloat> cap) {
  if (!cap || (cap->isFinite() && !cap->isNegative() && !cap->isZero())) {
    return success();
  }
  return op->emitOpError() << "expected cap to be positive and finite, got "
                           << cap->convertToDouble();
}

LogicalResult tfc::transformer::expectSkip(Operation *op,
                                           std::optional<uint64_t> skip) {
  if (!skip || *skip <= (1 << 20)) {
    return success();
  }
  return op->emitOpError() << "expected skip from 0 to 2^20, got "
                           << static_cast<int64_t>(*skip);
}

LogicalResult tfc::transformer::expectLogBase(Operation *op,
                                              std::optional<APFloat> base) {
  if (!base || (base->isFinite() && base->convertToDouble() > 1)) {
    return success();
  }
  return op->emitOpError() << "expected log_base to be more than 1 and "
                              "finite, got "
                           << base->convertToDouble();
}

LogicalResult tfc::transformer::expectTableWidth(Operation *op, StringRef what,
                                                 Value table, int64_t heads,
                                                 CacheType cache) {
  if (widthOf(table) == cache.getHeadDim()) {
    return success();
  }
  return expectSize(op, (what + " of width").str(), widthOf(table),
                    heads * cache.getHeadDim(), "num_heads times head_dim");
}

LogicalResult tfc::transformer::expectQueryTerms(Operation *op,
                                                 const QueryTerms &terms,
                                                 int64_t heads, CacheType cache,
                                                 Mask mask) {
  int64_t width = heads * cache.getHeadDim();
  for (auto [what, value] :
       {std::pair{"query_bias of length", terms.queryBias},
        std::pair{"relative_bias of length", terms.relativeBias},
        std::pair{"segment_bias of length", terms.segmentBias},
        std::pair{"segments of width", terms.segments}}) {
    if (value && failed(expectSize(op, what, widthOf(value), width,
                                   "num_heads times head_dim"))) {
      return failure();
    }
  }
  if (terms.relativeBias && !terms.relativeKeys) {
    return op->emitOpError()
           << "expected relative_keys with relative_bias, got none";
  }
  if (terms.segmentBias && !terms.segments) {
    return op->emitOpError() << "expected segments with segment_bias, got none";
  }
  if (bool(terms.segments) != bool(terms.types)) {
    return op->emitOpError()
           << "expected types exactly if there are segments, got "
           << (terms.types ? "types alone" : "segments alone");
  }
  if (!terms.segments) {
    return success();
  }
  if (failed(expectSize(op, "segments with rows", rowsOf(terms.segments), 2,
                        "the same one, another one"))) {
    return failure();
  }
  if (!cache.isScratch() || mask != Mask::Bidirectional) {
    return op->emitOpError()
           << "expected a scratch cache and a bidirectional mask with segments "
              "(types are of this step's rows), got others";
  }
  return expectSize(op, "a cache with a number of kv_heads", cache.getKvHeads(),
                    heads, "num_heads, with segments");
}

LogicalResult tfc::transformer::expectUnseen(Operation *op, Value unseen,
                                             CacheType cache, Mask mask,
                                             bool isPlain) {
  if (!unseen ||
      (cache.isScratch() && mask == Mask::Bidirectional && isPlain)) {
    return success();
  }
  return op->emitOpError()
         << "expected a scratch cache, a bidirectional mask and neither "
            "window, cap, log_base nor sparse_block with unseen (it is of this "
            "step's rows), got others";
}

LogicalResult tfc::transformer::expectSinks(Operation *op, Value sinks,
                                            Value relativeKeys) {
  bool areOfTokens = sinks && cast<ShapedType>(sinks.getType()).getRank() == 2;
  return !areOfTokens || relativeKeys
             ? success()
             : op->emitOpError()
                   << "expected relative_keys beside sinks of tokens, got none";
}

LogicalResult tfc::transformer::expectFactors(Operation *op,
                                              std::optional<Type> factors,
                                              bool hasRelative,
                                              CacheType cache) {
  if (!factors) {
    return success();
  }
  if (!factors->isBF16()) {
    return op->emitOpError() << "expected factors of bf16, got " << *factors;
  }
  if (hasRelative || !isa<FloatType>(cache.getElementType())) {
    return op->emitOpError()
           << "expected a cache of floats and no relative terms with factors, "
              "got "
           << (hasRelative ? "relative terms" : "a cache of integers");
  }
  return success();
}

LogicalResult tfc::transformer::expectSparse(Operation *op,
                                             const SparseBlocks &blocks,
                                             Mask mask, bool isPlain) {
  constexpr uint64_t kMost = 1 << 20;
  bool isLocal = blocks.before && blocks.after;
  bool isWhole = blocks.random ? !blocks.before && !blocks.after
                               : bool(blocks.before) == bool(blocks.after);
  if (!isWhole || bool(blocks.block) != (blocks.random || isLocal)) {
    return op->emitOpError() << "expected a sparse_block and random_blocks, or "
                                "blocks_before and blocks_after, or none of "
                                "them, got others";
  }
  if (!blocks.block) {
    return success();
  }
  uint64_t random = blocks.random.value_or(0);
  if (*blocks.block < 1 || *blocks.block >= kMost || random >= kMost) {
    return op->emitOpError() << "expected a sparse_block from 1 on and "
                                "random_blocks, both below 2^20, got "
                             << *blocks.block << " and " << random;
  }
  if (isLocal && (*blocks.before > 1 || *blocks.after > 1)) {
    return op->emitOpError() << "expected blocks_before and blocks_after of 0 "
                                "or 1, got "
                             << *blocks.before << " and " << *blocks.after;
  }
  bool seesBack = mask == Mask::Causal;
  if (!isPlain || (seesBack && (!isLocal || *blocks.after > 0))) {
    return op->emitOpError()
           << "expected attention without window and cap with a sparse_block, "
              "bidirectional with random_blocks or blocks_after, got another";
  }
  return success();
}

LogicalResult tfc::transformer::expectWindow(Operation *op, Value right,
                                             Mask mask) {
  if (!right || mask == Mask::Bidirectional) {
    return success();
  }
  return op->emitOpError() << "expected no right end of the window (causal "
                              "attention does not look to the right), got one";
}
