// The inner loops of products: one function for each number of rows, which all
// products of a program call.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ProductTiles.h"

#include "compiler/cpu/MovingPointer.h"
#include "compiler/cpu/RowPairs.h"
#include "compiler/cpu/VectorCache.h"
#include "compiler/cpu/WordProduct.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kFloatBytes = sizeof(float);
static constexpr int64_t kLineBytes = 64;
/// Steps of a row, or words, that are loaded at once for multiply-adds by lane.
static constexpr int64_t kQuad = 4;

namespace {

/// Builds the body of one function.
class TileBody {
public:
  using Values = KernelBuilder::Values;

  TileBody(func::FuncOp function, OpBuilder &builder, int64_t rows,
           const PanelLayout &layout, TileRequests requests,
           transformer::ProductTileAttr tile, Type rowElement)
      : k(function.getLoc(), builder, Value()), b(k.builder()), rows(rows),
        layout(layout), requests(requests), tile(tile),
        dots(tile, rowElement, layout.element),
        pieces(cutColumns(layout.width, tile.getLanes())) {
    ValueRange arguments = function.getArguments();
    Value *const given[] = {&call.x,       &call.rowBytes, &call.last,
                            &call.panel,   &call.words,    &call.sums,
                            &call.isFirst, &call.next,     &call.kept};
    for (auto [place, argument] : llvm::zip(given, arguments)) {
      *place = argument;
    }
    places[kPanel].pointer = call.panel;
    places[kKept].pointer = call.kept;
    places[kNext].pointer = requests.next != 0 ? call.next : Value();
  }

  /// Turns of `turn` words, then single words, then a part of one if there is.
  void emit(int64_t turn);

private:
  using SumPairs = std::pair<Value, Value>(ImplicitLocOpBuilder &, Value,
                                           Value);

  void findRows();
  Values loadSums();
  Values emitTurns(Value from, Value to, int64_t words, ValueRange sums);
  Values emitWords(Value word, int64_t words, int64_t columns, Values sums);
  Values emitWord(Value panel, Value kept, ArrayRef<Value> rowPlaces,
                  int64_t word, int64_t columns, Values sums);
  Values emitDots(Value panel, ArrayRef<Value> rowPlaces, int64_t word,
                  int64_t columns, Values sums);
  Values emitMatrices(Value panel, ArrayRef<Value> rowPlaces, int64_t word,
                      int64_t columns, Values sums);
  void arrangeSums(MutableArrayRef<Value> sums, SumPairs arrange);
  Value loadWeights(Value place, int64_t column, int64_t width);
  bool hasQuads(int64_t words, int64_t columns) const;
  Value loadOfQuad(ArrayRef<Value> rowPlaces, int64_t row, int64_t number,
                   Type element, int64_t alignment);
  void emitRequests(int64_t words);
  void storeSums(Values sums);
  void ask(Value base, int64_t offset) {
    LLVM::Prefetch::create(b, buildAddress(b, base, offset), /*rw=*/0,
                           /*hint=*/2, /*cache=*/1);
  }
  /// Of a piece of a row of sums, or of a step of a panel of f32.
  int64_t placeOf(int64_t row, const ColumnPiece &piece) const {
    return (row * layout.width + piece.offset) * kFloatBytes;
  }
  bool isDot() const { return WordProduct::isOf(tile); }
  /// Whether sums are of two rows each, and whether rows are read so: a single
  /// one is not.
  bool isPaired() const { return WordProduct::isPaired(tile); }
  bool arePairs() const { return isPaired() && rows > 1; }
  /// What is read of x as one.
  int64_t numRows() const { return arePairs() ? rows / 2 : rows; }
  /// Where it has sums.
  int64_t sumRows() const { return isPaired() ? 2 * numRows() : rows; }
  /// Of a row of x.
  int64_t wordBytes() const {
    return isDot() ? dots.wordBytes(arePairs()) : layout.columns * kFloatBytes;
  }
  Type sumElement() { return isDot() ? dots.sumElement() : b.getF32Type(); }

  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  int64_t rows;
  const PanelLayout &layout;
  TileRequests requests;
  transformer::ProductTileAttr tile;
  WordProduct dots;
  SmallVector<ColumnPiece> pieces;
  TileCall call;
  SmallVector<Value> x; // pointers to the rows, or pairs
  /// Of each row the four steps, or words, that the running one is of; empty:
  /// they are loaded one by one.
  SmallVector<Value> quads;
  /// Where the running turn reads, keeps and asks.
  enum { kPanel, kKept, kNext, kNumPlaces };
  MovingPointer places[kNumPlaces];
};

} // namespace

void TileBody::findRows() {
  x.push_back(call.x);
  Value last = arePairs() ? k.divide(call.last, 2) : call.last;
  for (int64_t row = 1; row < numRows(); ++row) {
    Value number = k.min(k.constant(row), last);
    Value distance = arith::MulIOp::create(b, number, call.rowBytes);
    x.push_back(buildAddress(b, call.x, distance, 1));
  }
}

/// Sums of two rows as instructions leave them, or back, in place.
void TileBody::arrangeSums(MutableArrayRef<Value> sums, SumPairs arrange) {
  size_t count = pieces.size();
  for (size_t row = 0; row < sums.size() / count; row += 2) {
    for (size_t j = 0; j < count; ++j) {
      Value &first = sums[row * count + j],
            &second = sums[(row + 1) * count + j];
      std::tie(first, second) = arrange(b, first, second);
    }
  }
}

KernelBuilder::Values TileBody::loadSums() {
  SmallVector<Type> types;
  for (int64_t row = 0; row < sumRows(); ++row) {
    for (const ColumnPiece &piece : pieces) {
      types.push_back(VectorType::get(piece.width, sumElement()));
    }
  }
  auto init = scf::IfOp::create(b, types, call.isFirst, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(init.thenBlock());
  Values zeros, loaded;
  for (Type type : types) {
    zeros.push_back(arith::ConstantOp::create(b, b.getZeroAttr(type)));
  }
  scf::YieldOp::create(b, zeros);
  b.setInsertionPointToStart(init.elseBlock());
  for (int64_t row = 0; row < sumRows(); ++row) {
    for (const ColumnPiece &piece : pieces) {
      Value place =
          buildAddress(b, call.sums, placeOf(std::min(row, rows - 1), piece));
      loaded.push_back(LLVM::LoadOp::create(b, types[loaded.size()], place,
                                            /*alignment=*/kFloatBytes));
    }
  }
  if (isPaired()) {
    arrangeSums(loaded, RowPairs::pairSums);
  }
  scf::YieldOp::create(b, loaded);
  return Values(init.getResults());
}

/// For the `words` words of a turn. Its part of the next block is asked for at
/// once.
void TileBody::emitRequests(int64_t words) {
  int64_t rowBytes = layout.rowBytes();
  if (requests.ahead) {
    for (int64_t offset = 0; offset < words * rowBytes; offset += kLineBytes) {
      ask(places[kPanel].pointer,
          tile.getAhead() * layout.width * kFloatBytes + offset);
    }
  }
  for (int64_t offset = 0; offset < words * requests.next;
       offset += kLineBytes) {
    ask(places[kNext].pointer, offset);
  }
}

/// Column `column` of each of the `width` words at `place`, as f32.
Value TileBody::loadWeights(Value place, int64_t column, int64_t width) {
  if (layout.columns == 1) {
    Value weights = LLVM::LoadOp::create(
        b, VectorType::get(width, layout.element), place,
        /*alignment=*/layout.element.getIntOrFloatBitWidth() / 8);
    return layout.element.isF32()
               ? weights
               : arith::ExtFOp::create(b, f32Vector(k, width), weights);
  }
  // Two bf16: the upper half of an f32 each, the first column in the lower one.
  auto words = VectorType::get(width, b.getI32Type());
  // Volatile, or it would be loaded once for both columns and be spilled.
  Value both = LLVM::LoadOp::create(b, words, place, /*alignment=*/4,
                                    /*isVolatile=*/true);
  auto constant = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(words, llvm::APInt(32, value)));
  };
  Value bits =
      column == 0 ? Value(arith::ShLIOp::create(b, both, constant(16)))
                  : Value(arith::AndIOp::create(b, both, constant(0xffff0000)));
  return arith::BitcastOp::create(b, f32Vector(k, width), bits);
}

/// Whether instructions take a factor by its lane, and these are whole quads.
bool TileBody::hasQuads(int64_t words, int64_t columns) const {
  if (tile.getKind() == transformer::ProductKind::SignedDot) {
    return columns == layout.columns && words % kQuad == 0;
  }
  return tile.getKind() == transformer::ProductKind::LaneFma &&
         words * columns % kQuad == 0;
}

/// Number `number` of a row's factors, out of a quad; they are asked for in
/// order.
Value TileBody::loadOfQuad(ArrayRef<Value> rowPlaces, int64_t row,
                           int64_t number, Type element, int64_t alignment) {
  if (number % kQuad == 0) {
    int64_t bytes = element.getIntOrFloatBitWidth() / 8;
    quads[row] = LLVM::LoadOp::create(
        b, VectorType::get(kQuad, element),
        buildAddress(b, rowPlaces[row], number * bytes), alignment);
  }
  return vector::ExtractOp::create(b, quads[row], number % kQuad);
}

/// The multiply-adds of the first `columns` columns of a word.
KernelBuilder::Values TileBody::emitWord(Value panel, Value kept,
                                         ArrayRef<Value> rowPlaces,
                                         int64_t word, int64_t columns,
                                         Values sums) {
  for (int64_t column = 0; column < columns; ++column) {
    SmallVector<Value> weights;
    for (const ColumnPiece &piece : pieces) {
      int64_t offset = word * layout.rowBytes() +
                       piece.offset * (layout.rowBytes() / layout.width);
      weights.push_back(
          loadWeights(buildAddress(b, panel, offset), column, piece.width));
      if (kept) {
        int64_t step = word * layout.columns + column;
        storeVector(k, weights.back(),
                    buildAddress(b, kept, placeOf(step, piece)));
      }
    }
    for (int64_t row = 0; row < rows; ++row) {
      int64_t step = word * layout.columns + column;
      Value element =
          quads.empty()
              ? Value(LLVM::LoadOp::create(
                    b, b.getF32Type(),
                    buildAddress(b, rowPlaces[row], step * kFloatBytes)))
              : loadOfQuad(rowPlaces, row, step, b.getF32Type(),
                           /*alignment=*/kFloatBytes);
      for (size_t j = 0; j < pieces.size(); ++j) {
        Value factor = vector::BroadcastOp::create(
            b, f32Vector(k, pieces[j].width), element);
        Value &sum = sums[row * pieces.size() + j];
        sum = math::FmaOp::create(b, factor, weights[j], sum);
      }
    }
  }
  return sums;
}

/// One dot for each sum: of a row's word with those of the weights.
KernelBuilder::Values TileBody::emitDots(Value panel, ArrayRef<Value> rowPlaces,
                                         int64_t word, int64_t columns,
                                         Values sums) {
  SmallVector<Value> weights;
  for (const ColumnPiece &piece : pieces) {
    int64_t offset = word * layout.rowBytes() +
                     piece.offset * (layout.rowBytes() / layout.width);
    weights.push_back(dots.loadWeights(b, buildAddress(b, panel, offset),
                                       piece.width, columns));
  }
  for (int64_t row = 0; row < rows; ++row) {
    Value elements =
        quads.empty()
            ? dots.loadRow(b,
                           buildAddress(b, rowPlaces[row], word * wordBytes()),
                           columns)
            : loadOfQuad(rowPlaces, row, word, b.getI32Type(),
                         /*alignment=*/1);
    for (size_t j = 0; j < pieces.size(); ++j) {
      Value &sum = sums[row * pieces.size() + j];
      sum = dots.multiply(b, sum, elements, weights[j]);
    }
  }
  return sums;
}

/// The same of two rows at a time. Half of a piece's columns are as many sums
/// of both as it is of one.
KernelBuilder::Values TileBody::emitMatrices(Value panel,
                                             ArrayRef<Value> rowPlaces,
                                             int64_t word, int64_t columns,
                                             Values sums) {
  SmallVector<Value> words;
  for (Value row : rowPlaces) {
    Value place = buildAddress(b, row, word * wordBytes());
    words.push_back(arePairs() ? dots.loadPair(b, place)
                               : dots.loadRow(b, place, columns));
  }
  for (auto [j, piece] : llvm::enumerate(pieces)) {
    for (size_t half : {0, 1}) {
      int64_t width = piece.width / 2;
      int64_t column = piece.offset + static_cast<int64_t>(half) * width;
      Value weights = dots.loadWeights(
          b,
          buildAddress(b, panel,
                       word * layout.rowBytes() +
                           column * (layout.rowBytes() / layout.width)),
          width, columns);
      for (auto [i, own] : llvm::enumerate(words)) {
        Value &sum = sums[(2 * i + half) * pieces.size() + j];
        sum = dots.multiply(b, sum, own, weights);
      }
    }
  }
  return sums;
}

/// The same of `words` words from `word` on.
KernelBuilder::Values TileBody::emitWords(Value word, int64_t words,
                                          int64_t columns, Values sums) {
  SmallVector<Value> rowPlaces;
  for (Value row : x) {
    rowPlaces.push_back(buildAddress(b, row, word, wordBytes()));
  }
  quads.assign(hasQuads(words, columns) ? rows : 0, Value());
  for (int64_t i = 0; i < words; ++i) {
    Value panel = places[kPanel].pointer;
    sums = isPaired()
               ? emitMatrices(panel, rowPlaces, i, columns, std::move(sums))
           : isDot() ? emitDots(panel, rowPlaces, i, columns, std::move(sums))
                     : emitWord(panel, places[kKept].pointer, rowPlaces, i,
                                columns, std::move(sums));
  }
  return sums;
}

/// Turns of `words` words over those in [from, to).
KernelBuilder::Values TileBody::emitTurns(Value from, Value to, int64_t words,
                                          ValueRange sums) {
  places[kPanel].bytes = words * layout.rowBytes();
  places[kKept].bytes = words * layout.columns * layout.width * kFloatBytes;
  places[kNext].bytes = words * requests.next;
  return loopMoving(
      k, from, to, words, places, sums, [&](Value word, ValueRange carried) {
        emitRequests(words);
        return emitWords(word, words, layout.columns, Values(carried));
      });
}

void TileBody::storeSums(Values sums) {
  if (isPaired()) {
    arrangeSums(sums, RowPairs::splitSums);
  }
  size_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (const ColumnPiece &piece : pieces) {
      storeVector(k, sums[next++],
                  buildAddress(b, call.sums, placeOf(row, piece)));
    }
  }
}

void TileBody::emit(int64_t turn) {
  findRows();
  Values sums = loadSums();
  Value whole = k.scale(k.divide(call.words, turn), turn);
  sums = emitTurns(k.constant(0), whole, turn, sums);
  if (turn > 1) {
    sums = emitTurns(whole, call.words, 1, sums);
  }
  if (requests.rest != 0) {
    // A row of x ends with its first columns.
    sums = emitWords(call.words, 1, requests.rest, std::move(sums));
  }
  storeSums(std::move(sums));
  func::ReturnOp::create(b);
}

int64_t PanelLayout::rowBytes() const {
  return width * columns * (element.getIntOrFloatBitWidth() / 8);
}

bool PanelLayout::isRead(transformer::ProductTileAttr tile,
                         Type rowElement) const {
  if (WordProduct::isOf(tile)) {
    WordProduct dots(tile, rowElement, element);
    return dots.isKnown() && columns == dots.columns() &&
           width % tile.getLanes() == 0;
  }
  return rowElement.isF32() && !element.isInteger() &&
         (element.isBF16() ? columns == 2 : columns == 1);
}

PanelLayout PanelLayout::widened() const {
  PanelLayout wide = *this;
  wide.element = Float32Type::get(element.getContext());
  wide.words = words * columns;
  wide.columns = 1;
  return wide;
}

int64_t ProductTiles::turn(int64_t rows) const {
  int64_t steps = std::min(tile.getUnroll(), tile.getTurnRows() / rows);
  if (!WordProduct::isOf(tile)) {
    return std::max<int64_t>(steps / layout.columns, 1);
  }
  // Two rows leave registers for products.
  bool isShort =
      rows > 2 && !WordProduct(tile, rowElement, layout.element).addsUp();
  return isShort ? 1 : std::max<int64_t>(steps, 1);
}

func::FuncOp tfc::addTileFunction(ModuleOp module, StringRef name,
                                  TypeRange arguments) {
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  auto function = func::FuncOp::create(builder, module.getLoc(), name,
                                       builder.getFunctionType(arguments, {}));
  function.setPrivate();
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(builder.getContext(), LLVM::Linkage::Internal));
  // One copy is what it is for.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  return function;
}

func::FuncOp ProductTiles::find(int64_t rows, TileRequests requests) {
  std::string name =
      "product." + std::to_string(rows) + "x" + std::to_string(layout.width) +
      (WordProduct::isOf(tile)
           ? (WordProduct::isPaired(tile) ? "_matrix" : "_dot") +
                 (rowElement.isBF16() ? std::string()
                                      : "_" + debugString(rowElement))
       : layout.element.isF32() ? ""
                                : "_" + mlir::debugString(layout.element)) +
      (requests.rest ? "_rest" + std::to_string(requests.rest) : "") +
      (requests.keep ? "_keep" : "") + (requests.ahead ? "_ahead" : "") +
      (requests.next ? "_next" + std::to_string(requests.next) : "");
  if (auto found = module.lookupSymbol<func::FuncOp>(name)) {
    return found;
  }
  OpBuilder builder(module.getContext());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type index = builder.getIndexType();
  SmallVector<Type> arguments = {
      pointer, index, index, pointer, index, pointer, builder.getI1Type(),
      pointer};
  if (requests.keep) {
    arguments.push_back(pointer);
  }
  func::FuncOp function = addTileFunction(module, name, arguments);
  builder.setInsertionPointToStart(function.addEntryBlock());
  TileBody(function, builder, rows, layout, requests, tile, rowElement)
      .emit(turn(rows));
  return function;
}

void ProductTiles::call(OpBuilder &builder, Location loc, int64_t rows,
                        TileRequests requests, const TileCall &call) {
  bool arePairs = WordProduct::isPaired(tile) && rows > 1;
  Value rowBytes =
      arePairs ? arith::ConstantIndexOp::create(builder, loc, call.pairBytes)
                     .getResult()
               : call.rowBytes;
  SmallVector<Value> arguments = {arePairs ? call.pairs : call.x,
                                  rowBytes,
                                  call.last,
                                  call.panel,
                                  call.words,
                                  call.sums,
                                  call.isFirst,
                                  call.next};
  if (requests.keep) {
    arguments.push_back(call.kept);
  }
  func::CallOp::create(builder, loc, find(rows, requests), arguments);
}
