// Widths, lengths and the checks that ops of several groups share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_SHAPEUTILS_H
#define TFC_DIALECT_SHAPEUTILS_H

#include "dialect/TransformerDialect.h"

namespace tfc::transformer {

/// The last axis of rows, of a matrix (its columns) or of a vector.
inline int64_t widthOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape().back();
}

/// The type of an element that is kept so, and the reverse of it.
mlir::Type elementOf(mlir::MLIRContext *context, Storage storage);
Storage storageOf(mlir::Type element);

/// The rows of a matrix.
inline int64_t rowsOf(mlir::Value value) {
  return llvm::cast<mlir::ShapedType>(value.getType()).getShape().front();
}

/// Rows of f32, which is what ops compute, by the types of their operands: as
/// many as `like` has, and as wide or `width` wide; with a column for each row
/// of `weight`; with a row of `table` for each of `ids`. What an op is not
/// given as it should be is its verifier's to say: of other types it is `like`,
/// `input` or `ids`.
mlir::Type rowsAs(mlir::Type like);
mlir::Type rowsOfWidth(mlir::Type like, int64_t width);
mlir::Type rowsOfProduct(mlir::Type input, mlir::Type weight);
mlir::Type rowsOfTable(mlir::Type ids, mlir::Type table);

/// What a row of an unfold has: `taps` frames from frame `first` of its own row
/// on, a row being `frames` of `width` columns in `inputs` inputs.
struct FrameWindow {
  int64_t taps, first, frames, inputs, width;

  /// Where a tap is: so many rows further on, in an input, behind columns of
  /// it.
  struct Place {
    int64_t rows, input, column;
  };
  Place placeOf(int64_t tap) const;
};
FrameWindow windowOf(UnfoldOp op);
FrameWindow windowOf(RaggedUnfoldOp op);

/// The constraints of unfold: its numbers are in their ranges, and inputs have
/// whole frames.
mlir::LogicalResult expectFrames(UnfoldOp op);
mlir::LogicalResult expectFrames(RaggedUnfoldOp op);

/// "expected <what> <expected> (<why>), got <got>"; success when they agree.
mlir::LogicalResult expectSize(mlir::Operation *op, llvm::StringRef what,
                               int64_t got, int64_t expected,
                               llvm::StringRef why);

/// The cache is none of latents.
mlir::LogicalResult expectValues(mlir::Operation *op, CacheType cache);

/// `heads` is a positive multiple of the cache's kv_heads, and so few that a
/// width counts their columns; the cache is none of latents.
mlir::LogicalResult expectHeads(mlir::Operation *op, int64_t heads,
                                CacheType cache);

/// `layer`, where it is a constant, is one of `layers`, which are those of
/// `whose`.
mlir::LogicalResult expectLayer(mlir::Operation *op, mlir::Value layer,
                                int64_t layers, llvm::StringRef whose);

/// `bias`, where there is one, has a row for each of `heads` heads and a column
/// for each distance in [-M, M].
mlir::LogicalResult expectDistances(mlir::Operation *op, mlir::Value bias,
                                    int64_t heads);

/// Attention that sees to the right up to `right` is bidirectional.
mlir::LogicalResult expectWindow(mlir::Operation *op, mlir::Value right,
                                 Mask mask);

/// A cap of scores is above 0 and finite.
mlir::LogicalResult expectCap(mlir::Operation *op,
                              std::optional<llvm::APFloat> cap);

/// A pool leaves out from 0 to 2^20 rows.
mlir::LogicalResult expectSkip(mlir::Operation *op,
                               std::optional<uint64_t> skip);

/// What a growing scale is relative to is more than 1 and finite.
mlir::LogicalResult expectLogBase(mlir::Operation *op,
                                  std::optional<llvm::APFloat> base);

/// A table of distances is num_heads * head_dim wide, or head_dim, being that
/// of all heads. `what` is its name.
mlir::LogicalResult expectTableWidth(mlir::Operation *op, llvm::StringRef what,
                                     mlir::Value table, int64_t heads,
                                     CacheType cache);

/// What is added to queries, and the rows of segments: what attention and
/// paged_attention have of them is in order. Any may be null.
struct QueryTerms {
  mlir::Value queryBias, relativeBias, relativeKeys;
  mlir::Value segments, segmentBias, types;
};
mlir::LogicalResult expectQueryTerms(mlir::Operation *op,
                                     const QueryTerms &terms, int64_t heads,
                                     CacheType cache, Mask mask);

/// Rows that are unseen are the step's own, and all see all others.
mlir::LogicalResult expectUnseen(mlir::Operation *op, mlir::Value unseen,
                                 CacheType cache, Mask mask, bool isPlain);

/// Sinks of tokens are beside a table of keys.
mlir::LogicalResult expectSinks(mlir::Operation *op, mlir::Value sinks,
                                mlir::Value relativeKeys);

/// What attention multiplies is bf16, if anything but f32: then no terms of
/// distances are multiplied, and no integers.
mlir::LogicalResult expectFactors(mlir::Operation *op,
                                  std::optional<mlir::Type> factors,
                                  bool hasRelative, CacheType cache);

/// What block-sparse attention says of its blocks.
struct SparseBlocks {
  std::optional<uint64_t> block, random, before, after;
};

/// Block-sparse attention has the numbers of one kind, in their ranges, and is
/// plain: without window and cap.
mlir::LogicalResult expectSparse(mlir::Operation *op,
                                 const SparseBlocks &blocks, Mask mask,
                                 bool isPlain);

} // namespace tfc::transformer

#endif // TFC_DIALECT_SHAPEUTILS_H
