// Ops on tiles become ops on pieces that a register holds.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/TilePieces.h"

#include "compiler/cpu/FoldLanes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <map>

using namespace mlir;
using namespace tfc;

/// The parts of a tile, row by row: vectors of `lanes`, and what is left.
SmallVector<Piece> tfc::piecesOf(VectorType tile, int64_t lanes) {
  ArrayRef<int64_t> shape = tile.getShape();
  if (shape.empty()) {
    return {{{}, 1}};
  }
  SmallVector<Piece> pieces;
  SmallVector<int64_t> offsets(shape.size(), 0);
  int64_t rows = tile.getNumElements() / shape.back();
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row;
    for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d) {
      offsets[d] = rest % shape[d];
      rest /= shape[d];
    }
    for (int64_t column = 0; column < shape.back(); column += lanes) {
      offsets.back() = column;
      pieces.push_back({offsets, std::min(lanes, shape.back() - column)});
    }
  }
  return pieces;
}

PieceTypes::PieceTypes(int64_t lanes) : lanes(lanes) {
  addConversion([](Type type) { return type; });
  addConversion(
      [this](VectorType type,
             SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        if (!isTile(type)) {
          return std::nullopt;
        }
        for (const Piece &piece : piecesOf(type, this->lanes)) {
          types.push_back(typeOf(piece, type));
        }
        return success();
      });
}

bool PieceTypes::isTile(Type type) const {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() > 0 && !vector.isScalable() &&
         (vector.getRank() > 1 || vector.getNumElements() > lanes);
}

VectorType PieceTypes::typeOf(const Piece &piece, VectorType tile) {
  return tile.getRank() == 0
             ? tile
             : VectorType::get({piece.width}, tile.getElementType());
}

namespace {

/// What patterns of one tile op share.
template <typename OpTy> struct PiecePattern : OpConversionPattern<OpTy> {
  PiecePattern(const PieceTypes &types, MLIRContext *context)
      : OpConversionPattern<OpTy>(types, context), types(types) {}

  SmallVector<Piece> pieces(Type tile) const {
    return piecesOf(cast<VectorType>(tile), types.lanes);
  }

  /// Puts one value, made once for each type of piece, for all pieces of `op`.
  void repeat(OpTy op, ConversionPatternRewriter &rewriter,
              llvm::function_ref<Value(VectorType)> make) const {
    auto tile = cast<VectorType>(op.getType());
    llvm::DenseMap<Type, Value> made;
    SmallVector<Value> values;
    for (const Piece &piece : pieces(tile)) {
      VectorType type = PieceTypes::typeOf(piece, tile);
      Value &value = made[type];
      if (!value) {
        value = make(type);
      }
      values.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, {values});
  }

  /// The indices of `piece`: those of the transfer, moved along the dimensions
  /// of the buffer that the tile's are.
  SmallVector<Value> indicesOf(VectorTransferOpInterface op, const Piece &piece,
                               OpBuilder &builder) const {
    SmallVector<Value> indices = op.getIndices();
    for (auto [expr, offset] :
         llvm::zip(op.getPermutationMap().getResults(), piece.offsets)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim || offset == 0) {
        continue;
      }
      Value &index = indices[dim.getPosition()];
      Value distance =
          arith::ConstantIndexOp::create(builder, op.getLoc(), offset);
      index = arith::AddIOp::create(builder, op.getLoc(), index, distance);
    }
    return indices;
  }

  LogicalResult check(VectorTransferOpInterface op) const {
    return success(!op.getMask() && !op.hasOutOfBoundsDim() &&
                   isa<MemRefType>(op.getShapedType()));
  }

  /// Whether neighbours in a row of the tile are neighbours in the buffer.
  static bool isContiguous(VectorTransferOpInterface op) {
    AffineMap map = op.getPermutationMap();
    return map.getNumResults() != 0 &&
           map.getResults().back() ==
               getAffineDimExpr(map.getNumDims() - 1, map.getContext());
  }

  /// The element of `piece` in `lane`, as a piece.
  static Piece laneOf(Piece piece, int64_t lane) {
    if (lane != 0) {
      piece.offsets.back() += lane;
    }
    return piece;
  }

  const PieceTypes &types;
};

/// Reads of equal addresses, that is of a broadcast tile, are one read. A row
/// of one float repeated is a scalar load. A row of the tile that is a column
/// of the buffer (rows of one column) is gathered.
struct ReadPieces : PiecePattern<vector::TransferReadOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(vector::TransferReadOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(check(op))) {
      return rewriter.notifyMatchFailure(op,
                                         "expected a tile within the buffer");
    }
    AffineMap map = op.getPermutationMap();
    std::map<SmallVector<int64_t>, Value> reads;
    SmallVector<Value> values;
    for (const Piece &piece : pieces(op.getType())) {
      SmallVector<int64_t> key{piece.width};
      for (auto [expr, offset] : llvm::zip(map.getResults(), piece.offsets)) {
        key.push_back(isa<AffineDimExpr>(expr) ? offset : 0);
      }
      Value &value = reads[key];
      if (!value) {
        value = read(op, piece, rewriter);
      }
      values.push_back(value);
    }
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }

private:
  Value read(vector::TransferReadOp op, const Piece &piece,
             OpBuilder &builder) const {
    Location loc = op.getLoc();
    VectorType type = PieceTypes::typeOf(piece, op.getType());
    if (isContiguous(op)) {
      return vector::LoadOp::create(builder, loc, type, op.getBase(),
                                    indicesOf(op, piece, builder));
    }
    ArrayRef<AffineExpr> results = op.getPermutationMap().getResults();
    bool repeated = results.empty() || isa<AffineConstantExpr>(results.back());
    SmallVector<Value> scalars;
    for (int64_t lane = 0; lane < (repeated ? 1 : piece.width); ++lane) {
      scalars.push_back(
          memref::LoadOp::create(builder, loc, op.getBase(),
                                 indicesOf(op, laneOf(piece, lane), builder)));
    }
    if (repeated) {
      return vector::BroadcastOp::create(builder, loc, type, scalars[0]);
    }
    return vector::FromElementsOp::create(builder, loc, type, scalars);
  }
};

struct WritePieces : PiecePattern<vector::TransferWriteOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(vector::TransferWriteOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (failed(check(op))) {
      return rewriter.notifyMatchFailure(op,
                                         "expected a tile within the buffer");
    }
    for (auto [piece, value] : llvm::zip_equal(pieces(op.getVectorType()),
                                               adaptor.getValueToStore())) {
      write(op, piece, value, rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }

private:
  void write(vector::TransferWriteOp op, const Piece &piece, Value value,
             OpBuilder &builder) const {
    Location loc = op.getLoc();
    if (isContiguous(op)) {
      vector::StoreOp::create(builder, loc, value, op.getBase(),
                              indicesOf(op, piece, builder));
      return;
    }
    for (int64_t lane = 0; lane < piece.width; ++lane) {
      SmallVector<int64_t> position;
      if (op.getVectorType().getRank() != 0) {
        position.push_back(lane);
      }
      Value scalar = vector::ExtractOp::create(builder, loc, value, position);
      memref::StoreOp::create(builder, loc, scalar, op.getBase(),
                              indicesOf(op, laneOf(piece, lane), builder));
    }
  }
};

struct SplatPieces : PiecePattern<arith::ConstantOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OneToNOpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
    if (!splat) {
      return rewriter.notifyMatchFailure(op, "expected one repeated value");
    }
    repeat(op, rewriter, [&](VectorType type) -> Value {
      return arith::ConstantOp::create(
          rewriter, op.getLoc(), splat.resizeSplat(cast<ShapedType>(type)));
    });
    return success();
  }
};

/// One value for all of a tile.
struct BroadcastPieces : PiecePattern<vector::BroadcastOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(vector::BroadcastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto source = dyn_cast<VectorType>(op.getSourceType());
    if (source && source.getRank() != 0) {
      return rewriter.notifyMatchFailure(op, "expected a single value");
    }
    repeat(op, rewriter, [&](VectorType type) -> Value {
      return vector::BroadcastOp::create(rewriter, op.getLoc(), type,
                                         adaptor.getSource().front());
    });
    return success();
  }
};

/// The reduction of a whole tile: pieces are combined as a tree, then the lanes
/// of what is left. The order is said op by op, for all back ends: LLVM's own
/// reductions leave it to them (docs/rationale/0035).
struct ReducePieces : PiecePattern<vector::MultiDimReductionOp> {
  using PiecePattern::PiecePattern;

  LogicalResult
  matchAndRewrite(vector::MultiDimReductionOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<VectorType>(op.getType())) {
      return rewriter.notifyMatchFailure(op, "expected a single result");
    }
    // The first are full; the last, of another type, is the end of a row.
    SmallVector<Value> full, rest;
    for (Value piece : adaptor.getSource()) {
      bool isFull = piece.getType() == adaptor.getSource().front().getType();
      (isFull ? full : rest).push_back(piece);
    }
    auto combine = [&](Value x, Value y) {
      return vector::makeArithReduction(rewriter, op.getLoc(), op.getKind(), x,
                                        y);
    };
    for (size_t half = 1; half < full.size(); half *= 2) {
      for (size_t i = 0; i + half < full.size(); i += 2 * half) {
        full[i] = combine(full[i], full[i + half]);
      }
    }
    rest.insert(rest.begin(), full.front());
    Value result = adaptor.getAcc().front();
    for (Value piece : rest) {
      result =
          combine(result, foldLanes(rewriter, op.getLoc(), piece, combine));
    }
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// An op that works element by element works piece by piece.
struct ElementwisePieces : ConversionPattern {
  ElementwisePieces(const PieceTypes &types, MLIRContext *context)
      : ConversionPattern(types, MatchAnyOpTypeTag(), 1, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<ValueRange> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (!OpTrait::hasElementwiseMappableTraits(op) ||
        op->getNumResults() != 1) {
      return rewriter.notifyMatchFailure(op, "not element by element");
    }
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op->getResult(0).getType(),
                                               types))) {
      return failure();
    }
    SmallVector<Value> values;
    for (auto [i, type] : llvm::enumerate(types)) {
      SmallVector<Value> parts;
      for (ValueRange operand : operands) {
        parts.push_back(operand.size() == 1 ? operand[0] : operand[i]);
      }
      OperationState state(op->getLoc(), op->getName(), parts, type,
                           op->getAttrs());
      values.push_back(rewriter.create(state)->getResult(0));
    }
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

} // namespace

void tfc::populateTilePiecePatterns(const PieceTypes &types,
                                    RewritePatternSet &patterns) {
  patterns.add<ReadPieces, WritePieces, SplatPieces, BroadcastPieces,
               ReducePieces, ElementwisePieces>(types, patterns.getContext());
}
