// Products over tiles of many rows ask ahead of time for their weights, and for
// what is added to the tile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {
#define GEN_PASS_DEF_PREFETCHPANELSPASS
#include "compiler/cpu/Passes.h.inc"
} // namespace tfc

using namespace mlir;
using namespace tfc;

static constexpr int64_t kFloatBytes = sizeof(float);
/// Of a cache line.
static constexpr int64_t kLineFloats = 64 / kFloatBytes;
/// Steps for each row of what is added to a tile: requests in one burst would
/// fill the queue of misses, and be waited for. Memory takes about as long, so
/// the last row is there in time.
static constexpr int64_t kStepsPerRow = 16;

/// Whether `read` is one row of a buffer, repeated for at least `rows` rows of
/// the tile, and contiguous in memory.
static bool isRepeatedRow(vector::TransferReadOp read, int64_t rows) {
  AffineMap map = read.getPermutationMap();
  return read.getVectorType().getRank() == 2 &&
         read.getVectorType().getDimSize(0) >= rows &&
         isa<MemRefType>(read.getShapedType()) &&
         isa<AffineConstantExpr>(map.getResult(0)) &&
         map.getResult(1) ==
             getAffineDimExpr(map.getNumDims() - 1, map.getContext());
}

/// The dimension of the buffer along which the loop goes, if the read's index
/// there is the induction variable plus a constant.
static std::optional<unsigned> findSteppedDim(vector::TransferReadOp read,
                                              scf::ForOp loop) {
  for (auto [dim, index] : llvm::enumerate(read.getIndices())) {
    Operation *op = index.getDefiningOp();
    if (index == loop.getInductionVar() ||
        (op && op->getParentRegion() == &loop.getRegion() &&
         llvm::is_contained(op->getOperands(), loop.getInductionVar()))) {
      return dim;
    }
  }
  return std::nullopt;
}

/// Whether the value is known to be a multiple of `factor`: a constant, or the
/// induction variable of a loop over blocks.
static bool isMultiple(Value value, int64_t factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(value)) {
    return *constant % factor == 0;
  }
  scf::ForOp loop = scf::getForInductionVarOwner(value);
  return loop && isMultiple(loop.getLowerBound(), factor) &&
         isMultiple(loop.getStep(), factor);
}

/// The loop over full tiles of the read's rows, around the loop of a product.
static scf::ForOp findRowLoop(vector::TransferReadOp read, scf::ForOp loop) {
  auto rows = dyn_cast<scf::ForOp>(loop->getParentOp());
  bool isOverTiles = rows && getConstantIntValue(rows.getStep()) ==
                                 read.getVectorType().getDimSize(0);
  return isOverTiles ? rows : nullptr;
}

/// What it reads, as a view.
static Value buildView(ImplicitLocOpBuilder &b, vector::TransferReadOp read) {
  SmallVector<OpFoldResult> offsets(read.getIndices());
  SmallVector<OpFoldResult> sizes(offsets.size(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> strides = sizes;
  ArrayRef<int64_t> tile = read.getVectorType().getShape();
  llvm::copy(getAsIndexOpFoldResult(b.getContext(), tile),
             sizes.end() - tile.size());
  return memref::SubViewOp::create(b, read.getBase(), offsets, sizes, strides);
}

/// What is read once the loop has summed up: the tile's `rows` of a buffer.
static SmallVector<vector::TransferReadOp> findTileReads(scf::ForOp loop,
                                                         int64_t rows) {
  SmallVector<vector::TransferReadOp> reads;
  DominanceInfo dominance(loop->getParentOp());
  auto isAvailable = [&](Value value) {
    return dominance.properlyDominates(value, loop);
  };
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    op->walk([&](vector::TransferReadOp read) {
      if (isa<MemRefType>(read.getShapedType()) &&
          read.getVectorType().getRank() == 2 &&
          read.getVectorType().getDimSize(0) == rows &&
          read.getPermutationMap().isMinorIdentity() &&
          isAvailable(read.getBase()) &&
          llvm::all_of(read.getIndices(), isAvailable)) {
        reads.push_back(read);
      }
    });
  }
  return reads;
}

namespace {
/// The read of a panel's row by a step of a product.
struct PanelRead {
  vector::TransferReadOp read;
  scf::ForOp loop;
  unsigned dim; // of the buffer, along which the loop goes

  ArrayRef<int64_t> shape() {
    return cast<MemRefType>(read.getBase().getType()).getShape();
  }
  int64_t steps() { return shape()[dim]; }
  int64_t turn() { return *getConstantIntValue(loop.getStep()); }
  /// Those of the loop: a block of the panel's, or all.
  int64_t stepsOfLoop() {
    return loop.getStaticTripCount()->getSExtValue() * turn();
  }
  int64_t columns() { return shape().back(); }
  bool isFirstOfTurn() {
    return read.getIndices()[dim] == loop.getInductionVar();
  }
  /// The same in a copy of the loop.
  PanelRead in(scf::ForOp copy, const IRMapping &mapping) {
    Operation *own = mapping.lookup(read.getOperation());
    return {cast<vector::TransferReadOp>(own), copy, dim};
  }
};

/// Builds what a step asks for beside its read.
struct Request {
  explicit Request(PanelRead panel)
      : panel(panel), b(panel.read.getLoc(), panel.read),
        indices(panel.read.getIndices()) {}

  /// The row of `distance` steps later.
  void askAhead(int64_t distance) {
    indices[panel.dim] =
        arith::AddIOp::create(b, indices[panel.dim], constant(distance));
    ask(panel.read.getBase(), indices,
        panel.read.getVectorType().getDimSize(1));
  }

  /// A part of the next panel, which all steps of `parts` tiles together ask
  /// for: the tile of the row `first` for the first part.
  void askForNext(scf::ForOp rows, int64_t first, int64_t parts) {
    int64_t tile = *getConstantIntValue(rows.getStep());
    int64_t floats = llvm::divideCeil(panel.columns(), parts); // a step
    Value row =
        arith::SubIOp::create(b, rows.getInductionVar(), constant(first));
    Value number = arith::DivSIOp::create(b, row, constant(tile));
    Value begin = multiply(number, panel.stepsOfLoop() * floats);
    Value step = arith::SubIOp::create(b, panel.loop.getInductionVar(),
                                       panel.loop.getLowerBound());
    Value place = multiply(step, floats);
    // Blocks follow each other in memory, and panels too.
    indices[panel.dim] = panel.loop.getUpperBound();
    indices.back() = arith::AddIOp::create(b, begin, place);
    ask(panel.read.getBase(), indices, floats * panel.turn());
  }

  /// The tile's rows of a buffer, a view, one every few steps of the loop,
  /// which begins at the step `begin`.
  void askForTile(Value tile, int64_t begin) {
    Value step =
        arith::SubIOp::create(b, panel.loop.getInductionVar(), constant(begin));
    Value row = arith::DivUIOp::create(b, step, constant(kStepsPerRow));
    ArrayRef<int64_t> shape = cast<MemRefType>(tile.getType()).getShape();
    SmallVector<Value> place(shape.size(), constant(0));
    place[place.size() - 2] = row;
    ask(tile, place, shape.back());
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value multiply(Value x, int64_t y) {
    return arith::MulIOp::create(b, x, constant(y));
  }

  /// The lines of `floats` of the buffer from `place` on.
  void ask(Value buffer, SmallVector<Value> place, int64_t floats) {
    Value begin = place.back();
    for (int64_t column = 0; column < floats; column += kLineFloats) {
      place.back() = arith::AddIOp::create(b, begin, constant(column));
      memref::PrefetchOp::create(b, buffer, place, /*isWrite=*/false,
                                 /*localityHint=*/2, /*isDataCache=*/true);
    }
  }

  PanelRead panel;
  ImplicitLocOpBuilder b;
  SmallVector<Value> indices;
};

struct PrefetchPanelsPass
    : tfc::impl::PrefetchPanelsPassBase<PrefetchPanelsPass> {
  using Base::Base;

  bool asksForNext(PanelRead panel) {
    return findRowLoop(panel.read, panel.loop) &&
           panel.stepsOfLoop() * panel.columns() * kFloatBytes <= nextBytes;
  }

  /// The loop's last steps become a loop of their own, which asks for what
  /// `reads` add to the tile: the others have nothing more to do.
  void splitBySteps(PanelRead panel, ArrayRef<vector::TransferReadOp> reads) {
    int64_t rows = panel.read.getVectorType().getDimSize(0);
    int64_t begin = std::max<int64_t>(panel.steps() - rows * kStepsPerRow, 0);
    begin = begin / panel.turn() * panel.turn();
    scf::ForOp loop = panel.loop;
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    // The loop may be of a block that ends before.
    Value middle = arith::ConstantIndexOp::create(b, begin);
    middle = arith::MinSIOp::create(b, middle, loop.getUpperBound());
    middle = arith::MaxSIOp::create(b, middle, loop.getLowerBound());
    b.setInsertionPointAfter(loop);
    IRMapping mapping;
    auto last = cast<scf::ForOp>(b.clone(*loop, mapping));
    loop.replaceAllUsesWith(last);
    last.getInitArgsMutable().assign(loop.getResults());
    last.setLowerBound(middle);
    loop.setUpperBound(middle);
    b.setInsertionPoint(last);
    for (vector::TransferReadOp read : reads) {
      Request(panel.in(last, mapping)).askForTile(buildView(b, read), begin);
    }
  }

  /// Two loops for one: where an item has all its rows, its tiles bring the
  /// next panel and found their own in the cache; where it has fewer, its first
  /// tile waits for memory, and the others do what they can. Returns the second
  /// loop's copy of the first panel's read.
  PanelRead splitByRows(scf::ForOp loop, ArrayRef<PanelRead> panels) {
    scf::ForOp rows = findRowLoop(panels.front().read, loop);
    int64_t tile = *getConstantIntValue(rows.getStep());
    int64_t parts = block / tile;
    ImplicitLocOpBuilder b(loop.getLoc(), loop);
    Value isWhole = arith::CmpIOp::create(
        b, arith::CmpIPredicate::sge, rows.getUpperBound(),
        arith::ConstantIndexOp::create(b, parts * tile));
    auto both = scf::IfOp::create(b, loop.getResultTypes(), isWhole,
                                  /*withElseRegion=*/true);
    loop.replaceAllUsesWith(both);
    IRMapping mapping;
    b.setInsertionPointToStart(both.elseBlock());
    auto few = cast<scf::ForOp>(b.clone(*loop, mapping));
    scf::YieldOp::create(b, few.getResults());
    b.setInsertionPointToStart(both.thenBlock());
    scf::YieldOp::create(b, loop.getResults());
    loop->moveBefore(both.thenBlock(), both.thenBlock()->begin());
    for (PanelRead panel : panels) {
      PanelRead copy = panel.in(few, mapping);
      Request(copy).askAhead(distance);
      if (panel.isFirstOfTurn()) {
        Request(panel).askForNext(rows, 0, parts);
        Request(copy).askForNext(rows, tile, llvm::divideCeil(parts, 2));
      }
    }
    return PanelRead(panels.front()).in(few, mapping);
  }

  void runOnOperation() override {
    llvm::MapVector<scf::ForOp, SmallVector<PanelRead>> loops;
    getOperation().walk([&](vector::TransferReadOp read) {
      auto loop = dyn_cast<scf::ForOp>(read->getParentOp());
      if (!loop || !isRepeatedRow(read, rows)) {
        return;
      }
      std::optional<unsigned> dim = findSteppedDim(read, loop);
      if (dim && loop.getStaticTripCount() &&
          getConstantIntValue(loop.getStep())) {
        loops[loop].push_back({read, loop, *dim});
      }
    });
    for (auto &[loop, panels] : loops) {
      SmallVector<vector::TransferReadOp> reads = findTileReads(
          loop, panels.front().read.getVectorType().getDimSize(0));
      SmallVector<PanelRead> firsts = {panels.front()};
      if (asksForNext(panels.front())) {
        firsts.push_back(splitByRows(loop, panels));
      } else {
        for (PanelRead panel : panels) {
          Request(panel).askAhead(distance);
        }
      }
      if (!reads.empty() &&
          isMultiple(loop.getLowerBound(), firsts.front().turn())) {
        for (PanelRead first : firsts) {
          splitBySteps(first, reads);
        }
      }
    }
  }
};
} // namespace
