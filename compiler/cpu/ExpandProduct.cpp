// Products with packed weights: parallel items of tiles, then the epilogue.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/ExpandProduct.h"

#include "compiler/cpu/AmxTiles.h"
#include "compiler/cpu/AskedColumns.h"
#include "compiler/cpu/ExpertItems.h"
#include "compiler/cpu/GroupTiles.h"
#include "compiler/cpu/ItemTiles.h"
#include "compiler/cpu/RowPairs.h"
#include "compiler/cpu/VectorCache.h"
#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/StepFields.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc;

static constexpr int64_t kFloatBytes = sizeof(float);

namespace {

/// Emits one product. An item is up to `item` rows of one panel, of experts of
/// one expert. Its tiles read
/// the same panel one after the other, in blocks of steps if it is large, and
/// leave their sums in the worker's scratch memory, where the epilogue finds
/// them.
class ProductKernel {
public:
  ProductKernel(transformer::ProductOp op, Value step, Value workers,
                bool onTiles, OpBuilder &builder);
  void emit();

private:
  /// Where an item is.
  struct Item {
    Value panel, firstRow, rows;
    Value expert;     // null where there are none
    Value x, weights; // addresses: first row, panel
    Value sums, kept; // addresses in the worker's memory
  };

  Value addressOf(Value buffer);
  void emitItem(Item item);
  void emitTiles(Item item);
  Value load(Value buffer, ValueRange place, int64_t width);
  void emitBlock(const Item &item, Value firstWord);
  void emitGroups(const Item &item);
  void emitAmx(const Item &item);
  void emitEpilogue(const Item &item, Value row, Value rows, Value sums);
  void emitRows(const Item &item, Value first, Value rows, Value sums);
  void emitAsked(const Item &item, Value first, Value rows, Value sums);
  void emitRow(const Item &item, Value token, Value sums, int64_t width);
  Value emitColumns(const Item &item, Value token, Value column, Value sums,
                    Value scale, int64_t width);
  Value emitBody(ValueRange elements, int64_t width);
  void askForRows(const Item &item, Value token);

  transformer::ProductOp op;
  transformer::ProductTileAttr tile;
  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  PanelLayout layout;
  int64_t width, columns; // W, N
  int64_t inputBytes;     // of an element
  /// One of them: of integers of four bits the second, of dots on AMX the last.
  std::optional<ItemTiles> tiles;
  std::optional<GroupTiles> groupTiles;
  std::optional<AmxTiles> amxTiles;
  int64_t scratchRows; // whose sums a worker keeps
  Value tokens, input, inputRowBytes, weights, scratch, kept;
  Value offsets, scales, zeros; // of groups, addresses
  std::optional<RowPairs> rowPairs;
  Value pairs;                       // address
  std::optional<AskedColumns> asked; // of a head
};

} // namespace

ProductKernel::ProductKernel(transformer::ProductOp op, Value step,
                             Value workers, bool onTiles, OpBuilder &builder)
    : op(op), tile(*op.getTile()), k(op.getLoc(), builder, step),
      b(k.builder()), layout(cast<MemRefType>(op.getPanels().getType()),
                             static_cast<bool>(op.getExperts())),
      width(layout.width), columns(transformer::widthOf(op.getInit())),
      inputBytes(
          cast<MemRefType>(op.getInput().getType()).getElementTypeBitWidth() /
          CHAR_BIT) {
  auto module = op->getParentOfType<ModuleOp>();
  tokens = memref::DimOp::create(b, op.getInit(), 0);
  input = addressOf(op.getInput());
  auto [strides, offset] =
      cast<MemRefType>(op.getInput().getType()).getStridesAndOffset();
  inputRowBytes = k.constant(strides[0] * inputBytes);
  weights = addressOf(op.getPanels());
  scratchRows = tile.getRows();
  if (op.getGroups()) {
    auto groups = cast<MemRefType>(op.getGroups().getType());
    groupTiles.emplace(
        k, module, tile, layout, transformer::widthOf(op.getInput()),
        groups.getShape().drop_back().back(), groups.getElementType(),
        op.getZeros() ? getElementTypeOrSelf(op.getZeros().getType()) : Type(),
        inputRowBytes);
    scales = addressOf(op.getGroups());
    zeros = op.getZeros() ? addressOf(op.getZeros()) : Value();
  } else if (onTiles && tile.getKind() == transformer::ProductKind::Dot) {
    amxTiles.emplace(k, module, tile, layout,
                     getElementTypeOrSelf(op.getInput().getType()),
                     transformer::widthOf(op.getInput()), inputRowBytes);
    scratchRows = tile.getItem();
  } else {
    tiles.emplace(k, module, tile, layout,
                  getElementTypeOrSelf(op.getInput().getType()),
                  transformer::widthOf(op.getInput()));
    scratchRows = tiles->blocks() == 1 ? tile.getRows() : tile.getItem();
  }
  auto scratchOf = [&](int64_t rows) {
    auto type =
        MemRefType::get({ShapedType::kDynamic, rows, width}, b.getF32Type());
    return addressOf(memref::AllocOp::create(b, type, workers));
  };
  scratch = scratchOf(scratchRows);
  if (WordProduct::isPaired(tile)) {
    rowPairs.emplace(k, transformer::widthOf(op.getInput()));
  }
  if (tiles && tiles->keeps()) {
    kept = scratchOf(tiles->steps());
  }
  if (op.getHeadRows()) {
    asked.emplace(k, step, width);
  }
}

/// Of the first element.
Value ProductKernel::addressOf(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = type.getElementTypeBitWidth() / CHAR_BIT;
  auto [strides, offset] = type.getStridesAndOffset();
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  if (!ShapedType::isDynamic(offset)) {
    return k.add(base, offset * bytes);
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  return k.add(base, k.scale(metadata.getOffset(), bytes));
}

void ProductKernel::emit() {
  Value zero = k.constant(0);
  if (groupTiles) {
    offsets = addressOf(groupTiles->emitOffsets(input, tokens));
  }
  if (rowPairs) {
    pairs = rowPairs->emit(input, inputRowBytes, tokens);
  }
  if (op.getExperts()) {
    ExpertItems experts(k, op.getExperts(), layout.experts, tile.getItem());
    experts.forEach(layout.panels, [&](const ExpertItem &own) {
      Item item;
      item.panel = own.panel;
      item.firstRow = own.firstRow;
      item.rows = own.rows;
      item.expert = own.expert;
      emitItem(item);
    });
    return;
  }
  auto items = scf::ParallelOp::create(
      b, ValueRange{zero, zero}, ValueRange{k.constant(layout.panels), tokens},
      ValueRange{k.constant(1), k.constant(tile.getItem())});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(items.getBody());
  Item item;
  item.panel = items.getInductionVars()[0];
  item.firstRow = items.getInductionVars()[1];
  item.rows =
      k.min(k.subtract(tokens, item.firstRow), k.constant(tile.getItem()));
  emitItem(item);
}

/// Panels without a column that is asked for are not read.
void ProductKernel::emitItem(Item item) {
  if (!asked) {
    emitTiles(item);
    return;
  }
  k.when(asked->isRead(item.panel), [&] { emitTiles(item); });
}

void ProductKernel::emitTiles(Item item) {
  Value zero = k.constant(0);
  item.x = k.add(input, arith::MulIOp::create(b, item.firstRow, inputRowBytes));
  int64_t panelBytes = layout.words * layout.rowBytes();
  item.weights = k.add(weights, k.scale(item.panel, panelBytes));
  if (item.expert) {
    item.weights =
        k.add(item.weights, k.scale(item.expert, layout.panels * panelBytes));
  }
  Value worker = transformer::WorkerOp::create(b, b.getIndexType());
  item.sums =
      k.add(scratch, k.scale(worker, scratchRows * width * kFloatBytes));
  if (groupTiles) {
    emitGroups(item);
    return;
  }
  if (amxTiles) {
    emitAmx(item);
    return;
  }
  if (tiles->keeps()) {
    item.kept =
        k.add(kept, k.scale(worker, tiles->steps() * width * kFloatBytes));
  }
  if (tiles->blocks() == 1) {
    emitBlock(item, zero);
    return;
  }
  k.loop(zero, k.constant(tiles->blocks() * tiles->words()), tiles->words(),
         [&](Value firstWord) { emitBlock(item, firstWord); });
}

/// All tiles of an item, for a block of words from `firstWord` on.
void ProductKernel::emitBlock(const Item &item, Value firstWord) {
  int64_t lastBlock = (tiles->blocks() - 1) * tiles->words();
  ItemTile at;
  at.itemRows = item.rows;
  at.panel = k.add(item.weights, k.scale(firstWord, layout.rowBytes()));
  at.kept = item.kept;
  at.xRowBytes = inputRowBytes;
  at.isFirst = k.isEqual(firstWord, k.constant(0));
  Value isLast = k.isEqual(firstWord, k.constant(lastBlock));
  k.loop(k.constant(0), item.rows, tile.getRows(), [&](Value row) {
    at.row = row;
    at.rows = k.min(k.subtract(item.rows, row), k.constant(tile.getRows()));
    at.sums = tiles->blocks() == 1
                  ? item.sums
                  : k.add(item.sums, k.scale(row, width * kFloatBytes));
    Value x = k.add(item.x, k.scale(firstWord, layout.columns * inputBytes));
    at.x = k.add(x, arith::MulIOp::create(b, row, inputRowBytes));
    if (rowPairs) {
      int64_t bytes = rowPairs->rowBytes();
      Value own = k.add(pairs, k.scale(k.add(item.firstRow, row), bytes));
      at.pairs = k.add(own, k.scale(firstWord, 2 * RowPairs::kWordBytes));
      at.pairBytes = 2 * bytes;
    }
    tiles->call(at);
    k.when(isLast, [&] { emitEpilogue(item, row, at.rows, at.sums); });
  });
}

/// All tiles of an item whose sums are of groups.
void ProductKernel::emitGroups(const Item &item) {
  int64_t groups = groupTiles->offsetBytes() / kFloatBytes;
  GroupTile at;
  at.panel = item.weights;
  // Of all experts' panels.
  Value panel = item.panel;
  if (item.expert) {
    panel = k.add(panel, k.scale(item.expert, layout.panels));
  }
  auto find = [&](Value address, Value buffer) {
    int64_t bytes =
        getElementTypeOrSelf(buffer.getType()).getIntOrFloatBitWidth() /
        CHAR_BIT;
    return k.add(address, k.scale(panel, groups * width * bytes));
  };
  at.scales = find(scales, op.getGroups());
  at.zeros = zeros ? find(zeros, op.getZeros()) : Value();
  at.sums = item.sums;
  k.loop(k.constant(0), item.rows, tile.getRows(), [&](Value row) {
    at.rows = k.min(k.subtract(item.rows, row), k.constant(tile.getRows()));
    at.x = k.add(item.x, arith::MulIOp::create(b, row, inputRowBytes));
    at.offsets = k.add(
        offsets, k.scale(k.add(item.firstRow, row), groupTiles->offsetBytes()));
    groupTiles->call(at);
    emitEpilogue(item, row, at.rows, at.sums);
  });
}

/// All tiles of an item are one call.
void ProductKernel::emitAmx(const Item &item) {
  AmxItem at;
  at.rows = item.rows;
  at.x = item.x;
  at.panel = item.weights;
  at.sums = item.sums;
  amxTiles->call(at);
  emitEpilogue(item, k.constant(0), item.rows, item.sums);
}

void ProductKernel::emitEpilogue(const Item &item, Value row, Value rows,
                                 Value sums) {
  Value first = k.add(item.firstRow, row);
  if (!asked) {
    emitRows(item, first, rows, sums);
    return;
  }
  k.when(
      asked->isAll(), [&] { emitRows(item, first, rows, sums); },
      [&] { emitAsked(item, first, rows, sums); });
}

/// The columns that are asked for lie side by side, in the step's order.
void ProductKernel::emitAsked(const Item &item, Value first, Value rows,
                              Value sums) {
  Value output = addressOf(op.getInit());
  asked->forEach(item.panel, [&](Value number, Value lane) {
    Value column = k.add(lane, k.scale(item.panel, width));
    k.loop(rows, [&](Value row) {
      Value token = k.add(first, row), scale;
      if (op.getScales()) {
        scale = memref::LoadOp::create(b, op.getScales(), token);
      }
      Value place = k.add(k.scale(row, width), lane);
      Value from = k.pointer(k.add(sums, k.scale(place, kFloatBytes)));
      Value y = emitColumns(item, token, column, from, scale, 1);
      Value at =
          k.add(arith::MulIOp::create(b, token, asked->number()), number);
      LLVM::StoreOp::create(b, y,
                            k.pointer(k.add(output, k.scale(at, kFloatBytes))),
                            /*alignment=*/kFloatBytes);
    });
  });
}

/// A row at a time: the next tile's rows are asked for between other work.
void ProductKernel::emitRows(const Item &item, Value first, Value rows,
                             Value sums) {
  k.loop(rows, [&](Value number) {
    Value token = k.add(first, number);
    Value place = k.pointer(k.add(sums, k.scale(number, width * kFloatBytes)));
    askForRows(item, k.add(token, tile.getRows()));
    if (columns % width == 0) {
      emitRow(item, token, place, width);
      return;
    }
    Value isFull = k.isLess(item.panel, k.constant(layout.panels - 1));
    k.when(
        isFull, [&] { emitRow(item, token, place, width); },
        [&] { emitRow(item, token, place, columns % width); });
  });
}

void ProductKernel::askForRows(const Item &item, Value token) {
  constexpr int64_t line = 64 / kFloatBytes;
  if (op.getRows().empty()) {
    return;
  }
  Value row = k.min(token, k.subtract(tokens, k.constant(1)));
  Value column = k.scale(item.panel, width);
  for (Value rows : op.getRows()) {
    for (int64_t offset = 0; offset < width; offset += line) {
      memref::PrefetchOp::create(b, rows,
                                 ValueRange{row, k.add(column, offset)},
                                 /*isWrite=*/false, /*localityHint=*/2,
                                 /*isDataCache=*/true);
    }
  }
}

Value ProductKernel::load(Value buffer, ValueRange place, int64_t width) {
  Type element = getElementTypeOrSelf(buffer.getType());
  return vector::LoadOp::create(b, VectorType::get(width, element), buffer,
                                place);
}

/// The first `count` columns of the panel, of one row.
void ProductKernel::emitRow(const Item &item, Value token, Value sums,
                            int64_t count) {
  Value first = k.scale(item.panel, width), scale;
  if (op.getScales()) {
    scale = memref::LoadOp::create(b, op.getScales(), token);
  }
  for (const ColumnPiece &piece : cutColumns(count, tile.getLanes())) {
    Value column = k.add(first, piece.offset);
    Value y = emitColumns(item, token, column,
                          buildAddress(b, sums, piece.offset * kFloatBytes),
                          scale, piece.width);
    Type kept = cast<MemRefType>(op.getInit().getType()).getElementType();
    vector::StoreOp::create(b, kept.isF32() ? y : narrowFloat(b, y, kept),
                            op.getInit(), ValueRange{token, column});
  }
}

/// What the body makes of the sums at `sums`, `count` columns of a row from
/// `column` on.
Value ProductKernel::emitColumns(const Item &item, Value token, Value column,
                                 Value sums, Value scale, int64_t count) {
  SmallVector<Value> elements = {
      LLVM::LoadOp::create(b, VectorType::get(count, op.getSumType()), sums,
                           /*alignment=*/kFloatBytes)};
  SmallVector<Value> ofColumns = {column};
  if (item.expert) {
    ofColumns.insert(ofColumns.begin(), item.expert);
  }
  for (Value buffer : op.getColumns()) {
    elements.push_back(load(buffer, ofColumns, count));
  }
  for (Value buffer : op.getRows()) {
    elements.push_back(load(buffer, {token, column}, count));
  }
  if (scale) {
    elements.push_back(
        vector::BroadcastOp::create(b, f32Vector(k, count), scale));
  }
  return emitBody(elements, count);
}

/// The body on vectors: its ops work element by element.
Value ProductKernel::emitBody(ValueRange elements, int64_t count) {
  auto vectorOf = [&](Type type) { return VectorType::get(count, type); };
  Block &body = op.getBody().front();
  IRMapping vectors;
  vectors.map(body.getArguments(), elements);
  auto find = [&](Value value) -> Value {
    if (Value known = vectors.lookupOrNull(value)) {
      return known;
    }
    Operation *constant = value.getDefiningOp();
    if (constant && constant->getBlock() == &body) {
      value = b.clone(*constant)->getResult(0);
    }
    return vector::BroadcastOp::create(b, vectorOf(value.getType()), value);
  };
  for (Operation &each : body.without_terminator()) {
    if (each.hasTrait<OpTrait::ConstantLike>()) {
      continue;
    }
    SmallVector<Value> operands = llvm::map_to_vector(each.getOperands(), find);
    OperationState state(b.getLoc(), each.getName(), operands,
                         vectorOf(each.getResult(0).getType()),
                         each.getAttrs());
    vectors.map(each.getResult(0), b.create(state)->getResult(0));
  }
  return find(body.getTerminator()->getOperand(0));
}

/// Whether what the product writes is the memory of an output itself: nothing
/// is between, and nothing copies rows of another width.
static bool isOutput(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto entry = argument
                   ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                   : func::FuncOp();
  return entry && entry.getArgAttr(argument.getArgNumber(),
                                   transformer::kOutputAttrName);
}

static LogicalResult expand(transformer::ProductOp op, Value step,
                            Value workers, bool onTiles,
                            RewriterBase &rewriter) {
  auto panels = cast<MemRefType>(op.getPanels().getType());
  bool isDot = WordProduct::isOf(*op.getTile());
  auto input = cast<MemRefType>(op.getInput().getType());
  PanelLayout layout(panels, static_cast<bool>(op.getExperts()));
  if (op.getGroups() && !GroupTiles::isKnown(*op.getTile(), layout)) {
    return op.emitOpError()
           << "expected panels of four bytes a word, a multiple of the lanes "
              "wide, and 8 or 16 lanes, got "
           << panels;
  }
  if (!op.getGroups() &&
      !layout.isRead(*op.getTile(), input.getElementType())) {
    return op.emitOpError()
           << (isDot
                   ? "expected panels, a multiple of the lanes wide, and rows "
                     "whose words there is an instruction for: two bf16 "
                     "each with 16 lanes, four i8 each, or, of an even "
                     "number of rows and 8 lanes, eight, or two i8 and two "
                     "i16; got "
                   : "expected panels of f32 or f16, a column a word, "
                     "or of bf16 with two, and rows of f32, got ")
           << panels << " and " << input;
  }
  if (onTiles && isDot && !op.getGroups() &&
      !AmxTiles::isRead(layout, input.getElementType())) {
    return op.emitOpError()
           << "expected panels 16, 32 or 48 wide, and rows of "
              "bf16 or bytes, for tiles of AMX (dots=amx), got "
           << panels << " and " << input;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(input.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(strides[0]) || strides[1] != 1) {
    return op.emitOpError() << "expected rows of an input at a constant "
                               "distance, their elements side by side, got "
                            << input;
  }
  if (op.getHeadRows() && !isOutput(op.getInit())) {
    return op.emitOpError() << "expected the memory of an output (with "
                               "head_rows), got "
                            << op.getInit();
  }
  rewriter.setInsertionPoint(op);
  ProductKernel(op, step, workers, onTiles, rewriter).emit();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult tfc::expandProduct(transformer::ProductOp op, Value step,
                                 Value workers, bool onTiles,
                                 RewriterBase &rewriter) {
  if (!op.getTile()) {
    return op.emitOpError() << "expected a tile (chosen by "
                               "tfc-select-strategy), got none";
  }
  return expand(op, step, workers, onTiles, rewriter);
}
