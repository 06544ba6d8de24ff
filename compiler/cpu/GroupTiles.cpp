// The inner loops of products with integers that have groups of columns, whose
// sums are integers within a group and floats from group to group.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cpu/GroupTiles.h"

#include "compiler/cpu/VectorCache.h"
#include "compiler/cpu/WordProduct.h"
#include "compiler/kernel/NarrowFloat.h"
#include "compiler/kernel/Quantize.h"
#include "compiler/kernel/StepFields.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <climits>

using namespace mlir;
using namespace tfc;

static constexpr int64_t kFloatBytes = sizeof(float);
static constexpr int64_t kWordBytes = 4;
static constexpr int64_t kLineBytes = 64;

/// Columns that are read without a loop. Of so many, products of pairs add up
/// in 16 bits: 8 times 2 times 15 times 127 is less than 2^15.
static constexpr int64_t kBlockColumns = 32;

/// Words of a row that are loaded at once where one is taken by its lane.
static constexpr int64_t kQuad = 4;

/// What the upper four bits of a byte count.
static constexpr int64_t kUpperBits = 16;

/// Rows whose offsets are not worth a second thread.
static constexpr int64_t kOffsetRows = 64;
/// Of a group, added up at once.
static constexpr int64_t kOffsetBytes = 16;

static int64_t sizeOf(Type element) {
  return element.getIntOrFloatBitWidth() / CHAR_BIT;
}

namespace {

/// Builds the body of one function.
class GroupBody {
public:
  using Values = KernelBuilder::Values;

  GroupBody(func::FuncOp function, OpBuilder &builder, int64_t rows,
            const PanelLayout &layout, transformer::ProductTileAttr tile,
            bool isByte, int64_t group, Type scaleElement, Type zeroElement)
      : k(function.getLoc(), builder, Value()), b(k.builder()), rows(rows),
        layout(layout), tile(tile), isByte(isByte), group(group),
        scaleElement(scaleElement), zeroElement(zeroElement),
        pieces(cutColumns(layout.width, tile.getLanes())) {
    Value *const places[] = {&x,     &rowBytes, &last,  &offsets, &offsetBytes,
                             &panel, &scales,   &zeros, &groups,  &sums};
    for (auto [place, argument] :
         llvm::zip_equal(places, function.getArguments())) {
      *place = argument;
    }
  }

  void emit();

private:
  /// Four columns of a word in which weights have no sign, of each piece: what
  /// word of a row they are multiplied with, and which of the sums of pairs
  /// they add to.
  struct WordPart {
    int64_t factor, sum;
    SmallVector<Value> weights;
  };

  bool isPairs() const {
    return tile.getKind() == transformer::ProductKind::Pairs;
  }
  bool isSigned() const {
    return tile.getKind() == transformer::ProductKind::SignedDot;
  }
  int64_t blockWords() const {
    return kBlockColumns / (isByte ? kWordBytes : 2 * kWordBytes);
  }
  /// From one group to the next, in a panel.
  int64_t groupBytes() const {
    return group / kBlockColumns * blockWords() * layout.rowBytes();
  }
  Value findRow(Value first, Value bytes, int64_t row);
  void emitColumns();
  Values emitGroup(Value number, ValueRange floats);
  Values emitBlock(Value block, ArrayRef<Value> places, Values integers);
  SmallVector<WordPart> loadWord(Value block, int64_t word);
  Value shiftBytes(Value bytes);
  SmallVector<Value> loadFactors(ArrayRef<Value> places, int64_t word);
  void askAhead(Value base);
  Value call(StringRef intrinsic, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(intrinsic),
                                         operands)
        .getResult(0);
  }
  Value bytesOf(Value words, int64_t width) {
    return LLVM::BitcastOp::create(
        b, VectorType::get(width * kWordBytes, b.getI8Type()), words);
  }
  Value splat(int64_t width, uint32_t value) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(VectorType::get(width, b.getI32Type()),
                                  llvm::APInt(32, value)));
  }
  Value addPair(Value sum, Value weights, Value factor, int64_t width);
  Value addUp(Value sum, Value pairs, int64_t times, int64_t width);
  Value multiplyPairs(Value x, Value y, int64_t width);
  Value beginGroup(Value ownZeros, Value offset, const ColumnPiece &piece);
  bool areFloat() const { return isa_and_nonnull<FloatType>(zeroElement); }
  Value loadFloats(Value place, Type element, const ColumnPiece &piece);
  void takeOff(Value ownZeros, ArrayRef<Value> rowSums, Values &floats);

  KernelBuilder k;
  ImplicitLocOpBuilder &b;
  int64_t rows;
  const PanelLayout &layout;
  transformer::ProductTileAttr tile;
  bool isByte;
  int64_t group;
  Type scaleElement;
  Type zeroElement; // null where there are no zeros
  SmallVector<ColumnPiece> pieces;
  Value x, rowBytes, last, offsets, offsetBytes, panel, scales, zeros, groups,
      sums;
  SmallVector<Value> rowPlaces, offsetPlaces;
  SmallVector<Value> quads; // of each row, that the running word is of
};

} // namespace

Value GroupBody::findRow(Value first, Value bytes, int64_t row) {
  if (row == 0) {
    return first;
  }
  // Spare rows repeat the last one.
  Value number = k.min(k.constant(row), last);
  return buildAddress(b, first, arith::MulIOp::create(b, number, bytes), 1);
}

/// sum + weights * factor, in 16 bits; without a sum, the products.
Value GroupBody::addPair(Value sum, Value weights, Value factor,
                         int64_t width) {
  Type pairs = VectorType::get(2 * width, b.getI16Type());
  Value product = call(width == 16 ? "llvm.x86.avx512.pmaddubs.w.512"
                                   : "llvm.x86.avx2.pmadd.ub.sw",
                       pairs, {weights, factor});
  // Not arith's, which is cut into rows of lanes.
  return sum ? LLVM::AddOp::create(b, sum, product).getResult() : product;
}

/// sum + the two of each word of pairs, times `times`
Value GroupBody::addUp(Value sum, Value pairs, int64_t times, int64_t width) {
  auto type = cast<VectorType>(pairs.getType());
  // Nor is this.
  Value factors = LLVM::ConstantOp::create(
      b, type, DenseElementsAttr::get(type, llvm::APInt(16, times)));
  return arith::AddIOp::create(b, sum, multiplyPairs(pairs, factors, width));
}

/// Of two integers of 16 bits each, the sum of both products.
Value GroupBody::multiplyPairs(Value x, Value y, int64_t width) {
  return call(width == 16 ? "llvm.x86.avx512.pmaddw.d.512"
                          : "llvm.x86.avx2.pmadd.wd",
              VectorType::get(width, b.getI32Type()), {x, y});
}

/// What a group's integers begin with: what comes off for the zero points, the
/// row's `offset` times `ownZeros` where there are any. Both are held by 16
/// bits, and the upper ones of a zero point are 0.
Value GroupBody::beginGroup(Value ownZeros, Value offset,
                            const ColumnPiece &piece) {
  auto words = VectorType::get(piece.width, b.getI32Type());
  if (areFloat()) {
    return splat(piece.width, 0);
  }
  Value all = vector::BroadcastOp::create(b, words, offset);
  if (!ownZeros) {
    return all;
  }
  Value bytes = LLVM::LoadOp::create(
      b, VectorType::get(piece.width, b.getI8Type()),
      buildAddress(b, ownZeros, piece.offset), /*alignment=*/1);
  Value wide = LLVM::ZExtOp::create(b, words, bytes);
  if (isSigned()) {
    // Those of bytes are for numbers without a sign, which are kExcess more.
    Value own =
        isByte ? arith::SubIOp::create(b, wide, splat(piece.width, kExcess))
                     .getResult()
               : wide;
    return arith::MulIOp::create(b, own, all);
  }
  auto asPairs = [&](Value value) -> Value {
    return LLVM::BitcastOp::create(
        b, VectorType::get(2 * piece.width, b.getI16Type()), value);
  };
  return multiplyPairs(asPairs(wide), asPairs(all), piece.width);
}

/// Of eight integers of four bits, the first and the last four. Of bytes all of
/// them where an instruction takes them, or what their lower and upper bits
/// count, whose sums of pairs are held by 16 bits.
SmallVector<GroupBody::WordPart> GroupBody::loadWord(Value block,
                                                     int64_t word) {
  SmallVector<WordPart> parts;
  for (int64_t half = 0; half < (isByte && !isPairs() ? 1 : 2); ++half) {
    parts.push_back({isByte ? word : 2 * word + half, isByte ? half : 0, {}});
  }
  for (const ColumnPiece &piece : pieces) {
    int64_t at = word * layout.rowBytes() + piece.offset * kWordBytes;
    Value both = LLVM::LoadOp::create(
        b, VectorType::get(piece.width, b.getI32Type()),
        buildAddress(b, block, at), /*alignment=*/kWordBytes);
    if (isByte && !isSigned()) {
      both = arith::XOrIOp::create(b, both, splat(piece.width, 0x80808080));
    }
    if (parts.size() == 1) {
      parts.front().weights.push_back(bytesOf(both, piece.width));
      continue;
    }
    Value mask = splat(piece.width, 0x0f0f0f0f);
    if (isSigned()) {
      Value lower = arith::AndIOp::create(b, both, mask);
      parts[0].weights.push_back(bytesOf(lower, piece.width));
      parts[1].weights.push_back(shiftBytes(bytesOf(both, piece.width)));
      continue;
    }
    Value upper =
        arith::ShRUIOp::create(b, both, splat(piece.width, kFourBits));
    Value halves[] = {both, upper};
    for (auto [part, bits] : llvm::zip_equal(parts, halves)) {
      part.weights.push_back(
          bytesOf(arith::AndIOp::create(b, bits, mask), piece.width));
    }
  }
  return parts;
}

/// A word, four columns, of each row. Where instructions take a word by its
/// lane, four of a row are loaded when the first of them is wanted.
SmallVector<Value> GroupBody::loadFactors(ArrayRef<Value> places,
                                          int64_t word) {
  SmallVector<Value> factors;
  quads.resize(places.size());
  for (size_t row = 0; row < places.size(); ++row) {
    Value place = buildAddress(b, places[row], word * kWordBytes);
    if (!isSigned()) {
      factors.push_back(LLVM::LoadOp::create(b, b.getI32Type(), place,
                                             /*alignment=*/1));
      continue;
    }
    if (word % kQuad == 0) {
      quads[row] = LLVM::LoadOp::create(
          b, VectorType::get(kQuad, b.getI32Type()), place, /*alignment=*/1);
    }
    factors.push_back(vector::ExtractOp::create(b, quads[row], word % kQuad));
  }
  return factors;
}

/// The upper four bits of each byte, for which NEON has one instruction.
Value GroupBody::shiftBytes(Value bytes) {
  // As in addPair, not arith's.
  auto type = cast<VectorType>(bytes.getType());
  Value four = LLVM::ConstantOp::create(
      b, type, DenseElementsAttr::get(type, llvm::APInt(8, kFourBits)));
  return LLVM::LShrOp::create(b, bytes, four);
}

void GroupBody::askAhead(Value base) {
  int64_t ahead = tile.getAhead() * layout.width * kFloatBytes;
  int64_t bytes = blockWords() * layout.rowBytes();
  for (int64_t offset = 0; offset < bytes; offset += kLineBytes) {
    LLVM::Prefetch::create(b, buildAddress(b, base, ahead + offset), /*rw=*/0,
                           /*hint=*/2, /*cache=*/1);
  }
}

/// The integers of 32 columns: `block` is where the panel has them, `places`
/// where rows do.
KernelBuilder::Values GroupBody::emitBlock(Value block, ArrayRef<Value> places,
                                           Values integers) {
  if (rows >= tile.getAheadRows() && pieces.front().offset == 0) {
    askAhead(block);
  }
  Values pairs[2] = {Values(integers.size()), Values(integers.size())};
  for (int64_t word = 0; word < blockWords(); ++word) {
    for (const WordPart &part : loadWord(block, word)) {
      SmallVector<Value> factors = loadFactors(places, part.factor);
      for (size_t i = 0; i < integers.size(); ++i) {
        size_t j = i % pieces.size();
        int64_t width = pieces[j].width;
        Value all = vector::BroadcastOp::create(
            b, VectorType::get(width, b.getI32Type()),
            factors[i / pieces.size()]);
        Value factor = bytesOf(all, width);
        if (isPairs()) {
          Value &sum = pairs[part.sum][i];
          sum = addPair(sum, part.weights[j], factor, width);
        } else {
          integers[i] = WordProduct::multiplyBytes(
              b, tile.getKind(), integers[i], part.weights[j], factor);
        }
      }
    }
  }
  for (size_t i = 0; isPairs() && i < integers.size(); ++i) {
    int64_t width = pieces[i % pieces.size()].width;
    integers[i] = addUp(integers[i], pairs[0][i], 1, width);
    if (isByte) {
      integers[i] = addUp(integers[i], pairs[1][i], kUpperBits, width);
    }
  }
  return integers;
}

/// Of group `number` the integers, which the floats get, times their scales.
KernelBuilder::Values GroupBody::emitGroup(Value number, ValueRange floats) {
  Value weights = buildAddress(b, panel, number, groupBytes());
  Value ownScales =
      buildAddress(b, scales, number, layout.width * sizeOf(scaleElement));
  Value ownZeros =
      zeroElement
          ? buildAddress(b, zeros, number, layout.width * sizeOf(zeroElement))
          : Value();
  SmallVector<Value> places, rowSums;
  Values integers;
  for (int64_t row = 0; row < rows; ++row) {
    places.push_back(buildAddress(b, rowPlaces[row], number, group));
    Value offset = LLVM::LoadOp::create(
        b, b.getI32Type(),
        buildAddress(b, offsetPlaces[row], number, kWordBytes),
        /*alignment=*/kWordBytes);
    rowSums.push_back(offset);
    for (const ColumnPiece &piece : pieces) {
      integers.push_back(beginGroup(ownZeros, offset, piece));
    }
  }
  int64_t blocks = group / kBlockColumns;
  if (blocks == 1) {
    integers = emitBlock(weights, places, integers);
  } else {
    integers = k.loop(
        k.constant(0), k.constant(blocks), 1, integers,
        [&](Value block, ValueRange carried) {
          SmallVector<Value> own;
          for (Value place : places) {
            own.push_back(buildAddress(b, place, block, kBlockColumns));
          }
          return emitBlock(
              buildAddress(b, weights, block, blockWords() * layout.rowBytes()),
              own, Values(carried));
        });
  }
  Values next;
  for (auto [i, integer] : llvm::enumerate(integers)) {
    const ColumnPiece &piece = pieces[i % pieces.size()];
    Value scale = loadFloats(ownScales, scaleElement, piece);
    Value wide = arith::SIToFPOp::create(b, scale.getType(), integer);
    next.push_back(math::FmaOp::create(b, wide, scale, floats[i]));
  }
  if (areFloat()) {
    takeOff(ownZeros, rowSums, next);
  }
  return next;
}

/// A piece of the floats that a group has at `place`, as f32.
Value GroupBody::loadFloats(Value place, Type element,
                            const ColumnPiece &piece) {
  int64_t bytes = sizeOf(element);
  Value kept = LLVM::LoadOp::create(
      b, VectorType::get(piece.width, element),
      buildAddress(b, place, piece.offset * bytes), /*alignment=*/bytes);
  return element.isF32() ? kept : widenFloat(b, kept);
}

/// Adds minus the sums of rows times their group's zeros.
void GroupBody::takeOff(Value ownZeros, ArrayRef<Value> rowSums,
                        Values &floats) {
  for (auto [j, piece] : llvm::enumerate(pieces)) {
    Value own = loadFloats(ownZeros, zeroElement, piece);
    for (auto [row, sum] : llvm::enumerate(rowSums)) {
      Value wide = arith::SIToFPOp::create(b, b.getF32Type(), sum);
      Value all = vector::BroadcastOp::create(b, own.getType(), wide);
      Value &place = floats[row * pieces.size() + j];
      place = math::FmaOp::create(b, all, own, place);
    }
  }
}

/// Where instructions take lanes, registers have both sums of many rows for
/// half of the columns: the halves go through the panel one after the other.
void GroupBody::emit() {
  for (int64_t row = 0; row < rows; ++row) {
    rowPlaces.push_back(findRow(x, rowBytes, row));
    offsetPlaces.push_back(findRow(offsets, offsetBytes, row));
  }
  SmallVector<ColumnPiece> all = std::move(pieces);
  size_t parts = isSigned() && rows > 2 && all.size() % 2 == 0 ? 2 : 1;
  for (size_t part = 0; part < parts; ++part) {
    size_t count = all.size() / parts;
    pieces = to_vector(ArrayRef(all).slice(part * count, count));
    emitColumns();
  }
  func::ReturnOp::create(b);
}

/// The sums of `pieces`.
void GroupBody::emitColumns() {
  Values floats;
  for (int64_t row = 0; row < rows; ++row) {
    for (const ColumnPiece &piece : pieces) {
      floats.push_back(arith::ConstantOp::create(
          b, b.getZeroAttr(f32Vector(k, piece.width))));
    }
  }
  floats = k.loop(k.constant(0), groups, 1, floats,
                  [&](Value number, ValueRange carried) {
                    return emitGroup(number, carried);
                  });
  for (auto [i, value] : llvm::enumerate(floats)) {
    auto row = static_cast<int64_t>(i / pieces.size());
    const ColumnPiece &piece = pieces[i % pieces.size()];
    storeVector(
        k, value,
        buildAddress(b, sums,
                     (row * layout.width + piece.offset) * kFloatBytes));
  }
}

bool GroupTiles::isKnown(transformer::ProductTileAttr tile,
                         const PanelLayout &layout) {
  return ((WordProduct::isOf(tile) && !WordProduct::isPaired(tile)) ||
          tile.getKind() == transformer::ProductKind::Pairs) &&
         (tile.getLanes() == 16 || tile.getLanes() == 8) &&
         layout.columns == kWordBytes && layout.width % tile.getLanes() == 0;
}

/// What a function's name says of scales that are no f32.
static StringRef nameOf(Type scales) {
  return scales.isF32() ? "" : scales.isF16() ? "_f16" : "_bf16";
}

func::FuncOp GroupTiles::find(int64_t rows) {
  bool isPairs = tile.getKind() == transformer::ProductKind::Pairs;
  std::string name =
      "product." + std::to_string(rows) + "x" + std::to_string(layout.width) +
      (isByte ? "_i8_group" : "_i4_group") + std::to_string(group) +
      (isPairs ? "_pairs" : "_dot") + nameOf(scales).str() +
      (!zeros                  ? ""
       : isa<FloatType>(zeros) ? "_float_zeros"
                               : "_zeros");
  if (auto found = module.lookupSymbol<func::FuncOp>(name)) {
    return found;
  }
  OpBuilder builder(module.getContext());
  builder.setInsertionPointToStart(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type index = builder.getIndexType();
  func::FuncOp function =
      addTileFunction(module, name,
                      {pointer, index, index, pointer, index, pointer, pointer,
                       pointer, index, pointer});
  builder.setInsertionPointToStart(function.addEntryBlock());
  GroupBody(function, builder, rows, layout, tile, isByte, group, scales, zeros)
      .emit();
  return function;
}

/// Of tiles of `widths` rows the narrowest that has all of them.
void GroupTiles::callNarrowest(ArrayRef<int64_t> widths, const GroupTile &at) {
  auto callOf = [&](int64_t rows) {
    ImplicitLocOpBuilder &b = k.builder();
    SmallVector<Value> arguments = {k.pointer(at.x),
                                    rowBytes,
                                    k.subtract(at.rows, k.constant(1)),
                                    k.pointer(at.offsets),
                                    k.constant(offsetBytes()),
                                    k.pointer(at.panel),
                                    k.pointer(at.scales),
                                    k.pointer(zeros ? at.zeros : at.scales),
                                    k.constant(groups),
                                    k.pointer(at.sums)};
    func::CallOp::create(b, find(rows), arguments);
  };
  if (widths.size() == 1) {
    callOf(widths.front());
    return;
  }
  k.when(
      k.isAtMost(at.rows, k.constant(widths.front())),
      [&] { callOf(widths.front()); },
      [&] { callNarrowest(widths.drop_front(), at); });
}

void GroupTiles::call(const GroupTile &at) {
  SmallVector<int64_t> widths;
  for (int64_t count = 1; count < tile.getRows(); count *= 2) {
    widths.push_back(count);
  }
  widths.push_back(tile.getRows());
  callNarrowest(widths, at);
}

/// What a group's sums are multiplied with, where it has no zero point of its
/// own.
int64_t GroupTiles::impliedZero() const {
  bool isSigned = tile.getKind() == transformer::ProductKind::SignedDot;
  return zeros ? 1 : !isByte ? kFourZero : isSigned ? 0 : kExcess;
}

Value GroupTiles::emitOffsets(Value x, Value tokens) {
  ImplicitLocOpBuilder &b = k.builder();
  Value offsets = memref::AllocOp::create(
      b, MemRefType::get({ShapedType::kDynamic, groups}, b.getI32Type()),
      tokens);
  auto items =
      scf::ParallelOp::create(b, ValueRange{k.constant(0)}, ValueRange{tokens},
                              ValueRange{k.constant(kOffsetRows)});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(items.getBody());
  Value first = items.getInductionVars()[0];
  Value rows = k.min(k.subtract(tokens, first), k.constant(kOffsetRows));
  // A register's words, of which groups have whole numbers.
  Type bytes = VectorType::get(kOffsetBytes, b.getI8Type());
  Type words = VectorType::get(kOffsetBytes, b.getI32Type());
  k.loop(rows, [&](Value number) {
    Value row = k.add(first, number);
    Value place = k.pointer(k.add(x, arith::MulIOp::create(b, row, rowBytes)));
    k.loop(k.constant(groups), [&](Value g) {
      Value own = buildAddress(b, place, g, group), all;
      for (int64_t at = 0; at < group; at += kOffsetBytes) {
        Value narrow = LLVM::LoadOp::create(b, bytes, buildAddress(b, own, at),
                                            /*alignment=*/1);
        Value wide = LLVM::SExtOp::create(b, words, narrow);
        all = all ? LLVM::AddOp::create(b, all, wide).getResult() : wide;
      }
      Value sum = LLVM::vector_reduce_add::create(b, b.getI32Type(), all);
      Value zero = arith::ConstantIntOp::create(b, -impliedZero(), 32);
      memref::StoreOp::create(b, arith::MulIOp::create(b, sum, zero), offsets,
                              ValueRange{row, g});
    });
  });
  return offsets;
}
