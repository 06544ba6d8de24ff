// The tiles of an item of a product, one after the other: which function each
// of them is, what it reads and what it asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ItemTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kFloatBytes = sizeof(float);

ItemTiles::ItemTiles(KernelBuilder &builder, ModuleOp module,
                     transformer::ProductTileAttr tile,
                     const PanelLayout &layout, Type rowElement, int64_t steps)
    : k(builder), tile(tile), layout(layout), allWords(steps / layout.columns),
      rest(steps % layout.columns), tiles(module, tile, layout, rowElement),
      wideTiles(module, tile, layout.widened(), rowElement),
      block(findBlock()) {
  chooseRequests();
}

/// As few equal blocks of whole turns as have at most `block_bytes` each, as
/// they are read again, or up to twice as many; all words where there is no
/// such number, or a part of a word behind them.
int64_t ItemTiles::findBlock() const {
  int64_t turn = tiles.turn(tile.getRows());
  int64_t wordBytes =
      keeps() ? layout.columns * layout.width * kFloatBytes : layout.rowBytes();
  int64_t most = std::max<int64_t>(tile.getBlockBytes() / wordBytes, 1);
  int64_t fewest = llvm::divideCeil(allWords, most);
  for (int64_t blocks = fewest; blocks <= 2 * fewest && rest == 0; ++blocks) {
    if (allWords % (turn * blocks) == 0) {
      return allWords / blocks;
    }
  }
  return allWords;
}

int64_t ItemTiles::steps() const { return block * layout.columns + rest; }

/// An item that has all its rows goes through its panel often enough to bring
/// the next one meanwhile, each tile a part of it. One of fewer rows may not
/// have got all of its own: its tiles ask for that too, and from the second one
/// on for larger parts of the next.
void ItemTiles::chooseRequests() {
  bool asksAhead = tile.getRows() >= tile.getAheadRows();
  int64_t parts = tile.getItem() / tile.getRows();
  few.narrow.ahead = asksAhead;
  whole.narrow.rest = few.narrow.rest = rest;
  if (block * layout.rowBytes() > tile.getNextBytes()) {
    whole.narrow.ahead = asksAhead;
    return;
  }
  auto share = [&](Requests &requests, int64_t tiles) {
    // Whole words of four bytes.
    int64_t ofAWord = llvm::divideCeil(layout.rowBytes() / 4, tiles) * 4;
    requests.narrow.next = ofAWord;
    requests.wide.next = llvm::divideCeil(ofAWord, layout.columns * 4) * 4;
  };
  share(whole, parts);
  share(few, llvm::divideCeil(parts, 2));
}

void ItemTiles::call(const ItemTile &at) {
  TileCall call;
  call.x = k.pointer(at.x);
  call.rowBytes = at.xRowBytes;
  if (at.pairs) {
    call.pairs = k.pointer(at.pairs);
    call.pairBytes = at.pairBytes;
  }
  call.last = k.subtract(at.rows, k.constant(1));
  call.panel = k.pointer(at.panel);
  call.words = k.constant(block);
  call.sums = k.pointer(at.sums);
  call.isFirst = at.isFirst;
  Value number = k.divide(at.row, tile.getRows());
  k.when(
      k.isEqual(at.itemRows, k.constant(tile.getItem())),
      [&] {
        ItemTile known = at;
        known.itemRows = k.constant(tile.getItem());
        callWidest(known, number, whole, call);
      },
      [&] {
        SmallVector<int64_t> narrow;
        for (int64_t count = 1; count < tile.getRows(); count *= 2) {
          narrow.push_back(count);
        }
        callNarrowest(narrow, at, call);
      });
}

void ItemTiles::callTile(ProductTiles &of, int64_t rows,
                         const TileRequests &requests, const TileCall &call) {
  of.call(k.builder(), k.builder().getLoc(), rows, requests, call);
}

/// Of those of `widths` rows, or the widest, the narrowest that has all rows.
void ItemTiles::callNarrowest(ArrayRef<int64_t> widths, const ItemTile &at,
                              const TileCall &call) {
  if (widths.empty()) {
    Value number = k.divide(at.row, tile.getRows());
    callWidest(at, k.subtract(number, k.constant(1)), few, call);
    return;
  }
  TileRequests requests;
  requests.ahead = widths.front() >= tile.getAheadRows();
  requests.rest = rest;
  k.when(
      k.isAtMost(at.rows, k.constant(widths.front())),
      [&] {
        TileCall narrow = call;
        narrow.next = call.panel;
        callTile(tiles, widths.front(), requests, narrow);
      },
      [&] { callNarrowest(widths.drop_front(), at, call); });
}

/// `part` is the number of what it asks for of the next block, which lies
/// behind this one, as panels do.
void ItemTiles::callWidest(const ItemTile &at, Value part,
                           const Requests &requests, TileCall call) {
  Value next = k.add(at.panel, block * layout.rowBytes());
  auto partOf = [&](int64_t bytes) {
    return k.pointer(k.add(next, k.scale(part, bytes)));
  };
  auto callNarrow = [&](bool keep) {
    TileRequests narrow = requests.narrow;
    narrow.keep = keep;
    call.next = partOf(block * narrow.next);
    callTile(tiles, tile.getRows(), narrow, call);
  };
  if (!keeps()) {
    callNarrow(/*keep=*/false);
    return;
  }
  call.kept = k.pointer(at.kept);
  auto callWide = [&] {
    TileCall wide = call;
    wide.panel = call.kept;
    wide.words = k.constant(steps());
    wide.next = partOf(steps() * requests.wide.next);
    callTile(wideTiles, tile.getRows(), requests.wide, wide);
  };
  // Two tiles widen it in less time than one writes it.
  k.when(
      k.isAtMost(at.itemRows, k.constant(2 * tile.getRows())),
      [&] { callNarrow(/*keep=*/false); },
      [&] {
        k.when(
            k.isEqual(at.row, k.constant(0)),
            [&] { callNarrow(/*keep=*/true); }, callWide);
      });
}
