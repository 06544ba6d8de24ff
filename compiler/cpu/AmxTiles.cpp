// The inner loops of products in registers of AMX's tiles: one function that
// all items of a program call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/AmxTiles.h"

#include "compiler/cpu/AmxRegisters.h"
#include "compiler/cpu/MovingPointer.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tfc;

/// Of a register: rows, their bytes, and words or sums of four bytes in one.
static constexpr int64_t kRows = AmxRegisters::kRows;
static constexpr int64_t kRowBytes = AmxRegisters::kRowBytes;
static constexpr int64_t kWords = 16;
static constexpr int64_t kWordBytes = 4;

/// Registers by what they hold: sums, then one of x and one of the panel.
static constexpr int64_t kX = 6;
static constexpr int64_t kPanel = 7;
/// Columns of registers that there are sums for, of two rows of them.
static constexpr int64_t kMostColumns = 3;

static constexpr int64_t kLineBytes = 64;
/// Turns from asking for weights of the own panel to using them.
static constexpr int64_t kAheadTurns = 16;
/// Below that a row of bytes a time is no slower than tiles, which take as long
/// for one row as for 16.
static constexpr int64_t kFewRows = 8;

namespace {

/// Builds the body of the function.
class AmxBody {
public:
  AmxBody(func::FuncOp function, OpBuilder &builder, const PanelLayout &layout,
          Type rowElement, int64_t itemRows, bool asksNext)
      : k(function.getLoc(), builder, Value()), b(k.builder()), registers(b),
        layout(layout), rowElement(rowElement),
        mostTiles(std::max<int64_t>(itemRows / (2 * kRows), 1)),
        asksNext(asksNext) {
    ValueRange arguments = function.getArguments();
    Value *const places[] = {&x, &rowBytes, &rows, &panel, &turns, &sums};
    for (auto [place, argument] : llvm::zip_equal(places, arguments)) {
      *place = argument;
    }
  }

  void emit();

private:
  /// Where the running turn reads x, two rows of registers, and the panel, and
  /// where it asks.
  enum { kFirst, kSecond, kWeights, kAsked, kNumPlaces };

  int64_t columns() const { return layout.width / kWords; }
  int64_t turnBytes() const { return kWords * layout.rowBytes(); }
  void emitWhole(Value whole, int64_t tiles);
  void emitTile(Value row, int64_t height, int64_t tiles);
  void emitTurn(int64_t height);
  void multiply(int64_t row, int64_t column);
  Value findAsked(Value row, int64_t height, int64_t tiles);

  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  AmxRegisters registers;
  const PanelLayout &layout;
  Type rowElement;
  int64_t mostTiles; // of two rows of registers, in a whole item
  bool asksNext;
  Value x, rowBytes, rows, panel, turns, sums;
  Value xStride, panelStride, sumStride; // i64
  MovingPointer places[kNumPlaces];
};

} // namespace

void AmxBody::multiply(int64_t row, int64_t column) {
  int64_t sums = row * columns() + column;
  if (rowElement.isBF16()) {
    registers.multiplyBf16(sums, kX, kPanel);
  } else {
    registers.multiplyBytes(sums, kX, kPanel);
  }
}

/// The second row of registers goes through the columns backwards: the
/// register of the panel has the last one already.
void AmxBody::emitTurn(int64_t height) {
  auto loadPanel = [&](int64_t column) {
    registers.load(
        kPanel, buildAddress(b, places[kWeights].pointer, column * kRowBytes),
        panelStride);
  };
  registers.load(kX, places[kFirst].pointer, xStride);
  for (int64_t column = 0; column < columns(); ++column) {
    loadPanel(column);
    multiply(0, column);
  }
  if (height == 1) {
    return;
  }
  registers.load(kX, places[kSecond].pointer, xStride);
  for (int64_t column = columns() - 1; column >= 0; --column) {
    if (column != columns() - 1) {
      loadPanel(column);
    }
    multiply(1, column);
  }
}

/// Sets what a tile asks for a turn and returns where it begins: of the next
/// panel, which lies behind this one, its share where the item has `tiles` such
/// tiles, so that few lines are asked for at a time; or of its own, where the
/// cache does not hold both and nobody reads it again. Null for nothing.
Value AmxBody::findAsked(Value row, int64_t height, int64_t tiles) {
  if (!asksNext) {
    places[kAsked].bytes = height == 1 ? turnBytes() : 0;
    return height == 1 ? buildAddress(b, panel, kAheadTurns * turnBytes())
                       : Value();
  }
  int64_t share =
      height == 1
          ? turnBytes()
          : llvm::divideCeil(turnBytes() / kLineBytes, tiles) * kLineBytes;
  places[kAsked].bytes = share;
  Value next = buildAddress(b, panel, turns, turnBytes());
  if (height == 1) {
    return next;
  }
  Value part = k.divide(row, 2 * kRows);
  return buildAddress(b, next, arith::MulIOp::create(b, part, turns), share);
}

/// The sums of `registers` times 16 rows from `row` on, or of as many of them
/// as are configured.
void AmxBody::emitTile(Value row, int64_t height, int64_t tiles) {
  for (int64_t i = 0; i < height * columns(); ++i) {
    registers.zero(i);
  }
  Value first = buildAddress(b, x, arith::MulIOp::create(b, row, rowBytes), 1);
  places[kFirst] = {first, kRowBytes};
  places[kSecond] = {height == 1 ? Value()
                                 : buildAddress(b, first, rowBytes, kRows),
                     kRowBytes};
  places[kWeights] = {panel, turnBytes()};
  places[kAsked].pointer = findAsked(row, height, tiles);
  loopMoving(k, k.constant(0), turns, 1, places, {}, [&](Value, ValueRange) {
    for (int64_t at = 0; places[kAsked].pointer && at < places[kAsked].bytes;
         at += kLineBytes) {
      LLVM::Prefetch::create(b, buildAddress(b, places[kAsked].pointer, at),
                             /*rw=*/0, /*hint=*/2, /*cache=*/1);
    }
    emitTurn(height);
    return KernelBuilder::Values();
  });
  Value to = buildAddress(b, sums, row, layout.width * kWordBytes);
  for (int64_t i = 0; i < height; ++i) {
    for (int64_t j = 0; j < columns(); ++j) {
      int64_t place = i * kRows * layout.width * kWordBytes + j * kRowBytes;
      registers.store(i * columns() + j, buildAddress(b, to, place), sumStride);
    }
  }
}

/// The first `whole` rows of an item, in tiles of two rows of registers of
/// which there are at least `tiles`, or one.
void AmxBody::emitWhole(Value whole, int64_t tiles) {
  auto emit = [&](int64_t tiles) {
    k.loop(k.constant(0), whole, 2 * kRows,
           [&](Value row) { emitTile(row, 2, tiles); });
  };
  if (tiles == 1 || !asksNext) {
    emit(1);
    return;
  }
  Value isMany = k.isAtMost(k.constant(tiles * 2 * kRows), whole);
  k.when(isMany, [&] { emit(tiles); }, [&] { emitWhole(whole, tiles / 2); });
}

void AmxBody::emit() {
  registers.begin(
      LLVM::AllocaOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                             b.getI8Type(), registers.stride(kLineBytes),
                             /*alignment=*/kLineBytes),
      kPanel);
  xStride = arith::IndexCastOp::create(b, b.getI64Type(), rowBytes);
  panelStride = registers.stride(layout.rowBytes());
  sumStride = registers.stride(layout.width * kWordBytes);

  Value zero = k.constant(0);
  Value whole = k.scale(k.divide(rows, 2 * kRows), 2 * kRows);
  k.when(k.isLess(zero, whole), [&] {
    registers.configure(k.constant(kRows));
    emitWhole(whole, mostTiles);
  });
  k.loop(whole, rows, kRows, [&](Value row) {
    registers.configure(k.min(k.subtract(rows, row), k.constant(kRows)));
    emitTile(row, 1, 1);
  });
  registers.release();
  func::ReturnOp::create(b);
}

/// A tile of vectors that reads all of its panel at once.
static transformer::ProductTileAttr
withoutBlocks(transformer::ProductTileAttr tile) {
  return transformer::ProductTileAttr::get(
      tile.getContext(), tile.getKind(), tile.getRows(), tile.getLanes(),
      tile.getItem(), tile.getUnroll(), tile.getTurnRows(), tile.getAhead(),
      tile.getAheadRows(), std::numeric_limits<int64_t>::max(),
      tile.getNextBytes());
}

AmxTiles::AmxTiles(KernelBuilder &builder, ModuleOp module,
                   transformer::ProductTileAttr tile, const PanelLayout &layout,
                   Type rowElement, int64_t steps, Value rowBytes)
    : k(builder), module(module), tile(tile), layout(layout),
      rowElement(rowElement), turns(steps / (kWords * layout.columns)),
      rowBytes(rowBytes) {
  auto tilesOf = [&](std::optional<ItemTiles> &tiles, int64_t steps) {
    tiles.emplace(k, module, withoutBlocks(tile), layout, rowElement, steps);
  };
  if (turns == 0 || !rowElement.isBF16()) {
    tilesOf(few, steps);
  }
  if (int64_t behind = steps - turns * kWords * layout.columns; behind != 0) {
    tilesOf(rest, behind);
  }
}

bool AmxTiles::isRead(const PanelLayout &layout, Type rowElement) {
  bool isWhole =
      layout.width % kWords == 0 && layout.width <= kMostColumns * kWords;
  bool isBf16 = rowElement.isBF16() && layout.element.isBF16();
  bool isBytes = rowElement.isInteger(8) && layout.element.isInteger(8);
  return isWhole && (isBf16 || isBytes) &&
         layout.rowBytes() == layout.width * kWordBytes;
}

func::FuncOp AmxTiles::find() {
  std::string name = "product." + std::to_string(2 * kRows) + "x" +
                     std::to_string(layout.width) + "_amx_" +
                     (rowElement.isBF16() ? "bf16" : "i8") +
                     (asksNext() ? "_next" : "_ahead");
  if (auto found = module.lookupSymbol<func::FuncOp>(name)) {
    return found;
  }
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type index = builder.getIndexType();
  func::FuncOp function = addTileFunction(
      module, name, {pointer, index, index, pointer, index, pointer});
  builder.setInsertionPointToStart(function.addEntryBlock());
  AmxBody(function, builder, layout, rowElement, tile.getItem(), asksNext())
      .emit();
  return function;
}

void AmxTiles::callTiles(const AmxItem &at) {
  SmallVector<Value> arguments = {k.pointer(at.x),   rowBytes,
                                  at.rows,           k.pointer(at.panel),
                                  k.constant(turns), k.pointer(at.sums)};
  func::CallOp::create(k.builder(), k.builder().getLoc(), find(), arguments);
  if (rest) {
    callRest(at);
  }
}

/// Tiles of vectors, of `tiles`, from the `firstTurn`-th turn on.
static void callVectors(KernelBuilder &k, ItemTiles &tiles, const AmxItem &at,
                        const PanelLayout &layout, int64_t tileRows,
                        int64_t firstTurn, Value rowBytes) {
  ItemTile own;
  own.itemRows = at.rows;
  own.xRowBytes = rowBytes;
  own.panel = k.add(at.panel, firstTurn * kWords * layout.rowBytes());
  own.isFirst = arith::ConstantIntOp::create(k.builder(), firstTurn == 0, 1);
  k.loop(k.constant(0), at.rows, tileRows, [&](Value row) {
    own.row = row;
    own.rows = k.min(k.subtract(at.rows, row), k.constant(tileRows));
    Value place = arith::MulIOp::create(k.builder(), row, rowBytes);
    own.x = k.add(k.add(at.x, firstTurn * kRowBytes), place);
    own.sums = k.add(at.sums, k.scale(row, layout.width * kWordBytes));
    tiles.call(own);
  });
}

void AmxTiles::callRest(const AmxItem &at) {
  callVectors(k, *rest, at, layout, tile.getRows(), turns, rowBytes);
}

void AmxTiles::call(const AmxItem &at) {
  auto callFew = [&] {
    callVectors(k, *few, at, layout, tile.getRows(), 0, rowBytes);
  };
  if (turns == 0) {
    callFew();
  } else if (few) {
    k.when(k.isAtMost(at.rows, k.constant(kFewRows)), callFew,
           [&] { callTiles(at); });
  } else {
    callTiles(at);
  }
}
