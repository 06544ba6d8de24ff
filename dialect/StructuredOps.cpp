// Structured ops: verifiers and effects, on tensors and on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/EffectUtils.h"
#include "dialect/PanelShape.h"
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::transformer;

//===-- cache_write -------------------------------------------------------===//

LogicalResult CacheWriteOp::verify() {
  // cache_write_c1
  CacheType cache = getCache().getType();
  for (auto [what, value] : {std::pair{"key of width", getKey()},
                             std::pair{"value of width", getValue()}}) {
    if (failed(expectSize(*this, what, widthOf(value),
                          cache.getKvHeads() * cache.getHeadDim(),
                          "kv_heads times head_dim of the cache"))) {
      return failure();
    }
  }
  if (failed(expectValues(*this, cache))) {
    return failure();
  }
  // cache_write_c2
  return expectLayer(*this, getLayer(), cache.getLayers(), "cache");
}

void CacheWriteOp::getEffects(Effects &effects) {
  addRead(getKeyMutable(), effects);
  addRead(getValueMutable(), effects);
  effects.emplace_back(MemoryEffects::Write::get(), &getCacheMutable(),
                       CacheResource::get());
}

//===-- paged_attention ---------------------------------------------------===//

LogicalResult PagedAttentionOp::verify() {
  CacheType cache = getCache().getType();
  int64_t heads = getNumHeads();
  // paged_attention_c1
  if (failed(expectHeads(*this, heads, cache))) {
    return failure();
  }
  // paged_attention_c2
  for (auto [what, value] : {std::pair{"query of width", getQuery()},
                             std::pair{"init of width", getInit()}}) {
    if (failed(expectSize(*this, what, widthOf(value),
                          heads * cache.getHeadDim(),
                          "num_heads times head_dim"))) {
      return failure();
    }
  }
  // paged_attention_c3
  if (failed(expectDistances(*this, getBias(), heads))) {
    return failure();
  }
  // paged_attention_c4
  if (failed(expectWindow(*this, getRight(), getMask()))) {
    return failure();
  }
  // paged_attention_c5
  bool hasWindow = getLeft() || getRight();
  if (cache.isCross() &&
      (getMask() != Mask::Bidirectional || getBias() || hasWindow)) {
    return emitOpError() << "expected bidirectional attention without bias and "
                            "window over a cross cache, got "
                         << stringifyMask(getMask())
                         << (getBias() ? " with bias" : "")
                         << (hasWindow ? " with a window" : "");
  }
  // paged_attention_c6
  if (failed(expectLayer(*this, getLayer(), cache.getLayers(), "cache"))) {
    return failure();
  }
  // paged_attention_c7
  if (failed(expectCap(*this, getCap()))) {
    return failure();
  }
  // paged_attention_c8
  for (auto [what, value] : {std::pair{"slopes of length", getSlopes()},
                             std::pair{"sinks of length", getSinks()}}) {
    if (value &&
        failed(expectSize(*this, what, widthOf(value), heads, "num_heads"))) {
      return failure();
    }
  }
  if (failed(expectSinks(*this, getSinks(), getRelativeKeys()))) {
    return failure();
  }
  // paged_attention_c9
  if (failed(expectLogBase(*this, getLogBase()))) {
    return failure();
  }
  // paged_attention_c10
  bool hasRelative =
      getRelativeKeys() || getRelativeQueries() || getRelativeValues();
  int64_t distances = getDistanceRows() ? widthOf(getDistanceRows()) : 0;
  if (hasRelative != bool(getDistanceRows()) ||
      (hasRelative && (distances < 33 || distances % 2 != 1))) {
    return emitOpError()
           << "expected distance_rows, of odd number and at least "
              "33, exactly if there are relative_keys, "
              "relative_queries or relative_values";
  }
  for (auto [what, value] :
       {std::pair{"relative_keys", getRelativeKeys()},
        std::pair{"relative_queries", getRelativeQueries()},
        std::pair{"relative_values", getRelativeValues()}}) {
    if (value && failed(expectTableWidth(*this, what, value, heads, cache))) {
      return failure();
    }
  }
  // paged_attention_c11
  bool isPlain = !hasWindow && !getCap();
  if (failed(expectSparse(*this,
                          {getSparseBlock(), getRandomBlocks(),
                           getBlocksBefore(), getBlocksAfter()},
                          getMask(), isPlain))) {
    return failure();
  }
  // paged_attention_c12, paged_attention_c13
  if (failed(expectQueryTerms(*this,
                              {getQueryBias(), getRelativeBias(),
                               getRelativeKeys(), getSegments(),
                               getSegmentBias(), getTypes()},
                              heads, cache, getMask()))) {
    return failure();
  }
  // paged_attention_c15
  if (failed(expectUnseen(*this, getUnseen(), cache, getMask(),
                          isPlain && !getLogBase() && !getSparseBlock()))) {
    return failure();
  }
  // paged_attention_c14
  if (failed(expectFactors(*this, getFactors(), hasRelative, cache))) {
    return failure();
  }
  return hasRelative ? expectSize(*this, "a cache with a number of kv_heads",
                                  cache.getKvHeads(), heads,
                                  "num_heads, with relative terms")
                     : success();
}

void PagedAttentionOp::getEffects(Effects &effects) {
  addRead(getQueryMutable(), effects);
  for (MutableOperandRange range :
       {getBiasMutable(), getSlopesMutable(), getSinksMutable(),
        getRelativeKeysMutable(), getRelativeQueriesMutable(),
        getRelativeValuesMutable(), getDistanceRowsMutable(),
        getQueryBiasMutable(), getRelativeBiasMutable(), getSegmentsMutable(),
        getSegmentBiasMutable(), getTypesMutable(), getUnseenMutable()}) {
    for (OpOperand &operand : range) {
      addRead(operand, effects);
    }
  }
  effects.emplace_back(MemoryEffects::Read::get(), &getCacheMutable(),
                       CacheResource::get());
  if (isa<MemRefType>(getInit().getType())) {
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
  }
}

//===-- ragged_pool -------------------------------------------------------===//

LogicalResult RaggedPoolOp::verify() {
  // ragged_pool_c1
  if (failed(expectSize(*this, "init of width", widthOf(getInit()),
                        widthOf(getInput()), "the width of the input"))) {
    return failure();
  }
  // ragged_pool_c2
  return expectSkip(*this, getSkip());
}

void ReduceInPlaceOp::getEffects(Effects &effects) {
  if (isa<MemRefType>(getInit().getType())) {
    effects.emplace_back(MemoryEffects::Read::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
  }
}

void RaggedPoolOp::getEffects(Effects &effects) {
  addRead(getInputMutable(), effects);
  addRead(getRowsMutable(), effects);
  if (isa<MemRefType>(getInit().getType())) {
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
  }
}

//===-- ragged_unfold -----------------------------------------------------===//

LogicalResult RaggedUnfoldOp::verify() {
  if (failed(expectFrames(*this))) {
    return failure();
  }
  // ragged_unfold_c1
  FrameWindow window = windowOf(*this);
  return expectSize(*this, "init of width", widthOf(getInit()),
                    window.width * window.taps,
                    "taps times the width of a frame");
}

void RaggedUnfoldOp::getEffects(Effects &effects) {
  addDestinationEffects(*this, effects);
}

//===-- product -----------------------------------------------------------===//

LogicalResult ProductOp::verify() {
  auto panelsType = cast<ShapedType>(getPanels().getType());
  // product_c7
  bool ofExperts = static_cast<bool>(getExperts());
  int64_t axes = panelsType.getRank() - ofExperts;
  if (axes < 3 || axes > 4 ||
      (ofExperts && !isa<FloatType>(panelsType.getElementType()) &&
       !getGroups())) {
    return emitOpError() << "expected "
                         << (ofExperts ? "panels of floats of experts, or with "
                                         "groups"
                                       : "panels of no experts")
                         << ", got " << panelsType;
  }
  PanelShape panels(panelsType, ofExperts);
  for (Value columns : getColumns()) {
    auto type = cast<ShapedType>(columns.getType());
    if (type.getRank() != 1 + ofExperts ||
        (ofExperts && type.getDimSize(0) != panels.experts)) {
      return emitOpError() << "expected columns "
                           << (ofExperts ? "of each expert" : "of one axis")
                           << ", got " << type;
    }
  }
  // product_c1
  // Of groups a byte is one column, or two.
  bool isFour =
      getGroups() && panels.words * panels.columns < widthOf(getInput());
  int64_t wordColumns = isFour ? 2 * panels.columns : panels.columns;
  int64_t inputWords = llvm::divideCeil(widthOf(getInput()), wordColumns);
  if (failed(expectSize(*this, "an input of width", inputWords, panels.words,
                        panels.columns == 1
                            ? "the panels' columns"
                            : "the panels' words of columns"))) {
    return failure();
  }
  // product_c2
  int64_t width = widthOf(getInit());
  if (failed(expectSize(*this, "a number of panels", panels.panels,
                        llvm::divideCeil(width, panels.width),
                        "the width of init"))) {
    return failure();
  }
  // product_c3
  for (Value columns : getColumns()) {
    if (failed(expectSize(*this, "columns of length", widthOf(columns), width,
                          "the width of init"))) {
      return failure();
    }
  }
  // product_c4
  for (Value rows : getRows()) {
    if (failed(expectSize(*this, "rows of width", widthOf(rows), width,
                          "the width of init"))) {
      return failure();
    }
  }
  // product_c6
  bool areInteger = getElementTypeOrSelf(getInput().getType()).isInteger();
  bool isWidened = getElementTypeOrSelf(getPanels().getType()).isInteger();
  if (areInteger && !isWidened) {
    return emitOpError() << "expected panels of i8 (what the input is of), got "
                         << getPanels().getType();
  }
  // product_c8
  if (getHeadRows() &&
      (ofExperts || !getElementTypeOrSelf(getInit()).isF32())) {
    return emitOpError() << "expected an init of f32 and no experts (with "
                            "head_rows), got "
                         << getInit().getType()
                         << (ofExperts ? " and experts" : "");
  }
  if (getZeros() && (!getGroups() ||
                     cast<ShapedType>(getZeros().getType()).getShape() !=
                         cast<ShapedType>(getGroups().getType()).getShape())) {
    return emitOpError() << "expected zeros of groups, of their shape, got "
                         << getZeros().getType();
  }
  if (!getGroups()) {
    return success();
  }
  auto whole = cast<ShapedType>(getGroups().getType());
  if (whole.getRank() != 3 + ofExperts ||
      (ofExperts && (whole.getDimSize(0) != panels.experts || !areInteger))) {
    return emitOpError() << "expected groups of "
                         << (ofExperts ? "as many experts, beside rows of i8"
                                       : "no experts")
                         << ", got " << whole;
  }
  auto groups = whole.clone(whole.getShape().take_back(3));
  int64_t count = groups.getDimSize(1), wide = groups.getDimSize(2);
  bool isWhole = count > 0 && widthOf(getInput()) % count == 0;
  if (!areInteger) {
    // Kernels that widen integers read scales in panels of their own.
    int64_t last = llvm::divideCeil(width, std::max<int64_t>(wide, 1));
    if (!isWidened || groups.getDimSize(0) != last || !isWhole) {
      return emitOpError()
             << "expected panels of i8, and scales of panels that "
                "end with "
             << width << " rows for groups that divide " << widthOf(getInput())
             << " columns, got " << getPanels().getType() << " and " << groups;
    }
    return success();
  }
  isWhole = isWhole && widthOf(getInput()) / count % wordColumns == 0;
  if (!getElementTypeOrSelf(getInput().getType()).isInteger(8) ||
      groups.getDimSize(0) != panels.panels ||
      groups.getDimSize(2) != panels.width || !isWhole) {
    return emitOpError() << "expected rows of i8, and scales of "
                         << panels.panels << " panels " << panels.width
                         << " wide for groups of whole words of " << wordColumns
                         << " columns, got " << getInput().getType() << " and "
                         << groups;
  }
  return success();
}

Type ProductOp::getSumType() {
  return hasIntegerFactors() && !getGroups()
             ? Type(IntegerType::get(getContext(), 32))
             : Float32Type::get(getContext());
}

LogicalResult ProductOp::verifyRegions() {
  // product_c5
  Block &block = getBody().front();
  auto isF32 = [](Type type) { return type.isF32(); };
  SmallVector<Type> elements = {getSumType()};
  for (Value columns : getColumns()) {
    elements.push_back(getElementTypeOrSelf(columns));
  }
  elements.append(getRows().size() + (getScales() ? 1 : 0),
                  Float32Type::get(getContext()));
  if (TypeRange(block.getArgumentTypes()) != TypeRange(elements)) {
    return emitOpError() << "expected a body of " << elements.size()
                         << " arguments (the sum, then an element of each of "
                            "columns, rows and scales), of the types "
                         << elements << ", got " << block.getArgumentTypes();
  }
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || !isF32(yield.getValue().getType())) {
    return emitOpError() << "expected the body to end with transformer.yield "
                            "of an f32";
  }
  for (Operation &op : block.without_terminator()) {
    if (!OpTrait::hasElementwiseMappableTraits(&op) &&
        !op.hasTrait<OpTrait::ConstantLike>()) {
      return op.emitOpError() << "is not allowed in the body of a product: "
                                 "expected ops that work element by element";
    }
  }
  return success();
}

int64_t ProductOp::getWeightBits() {
  return getGroups()
             ? 4
             : cast<ShapedType>(getPanels().getType()).getElementTypeBitWidth();
}

bool ProductOp::hasNarrowFactors() {
  auto isBf16 = [](Value value) {
    return cast<ShapedType>(value.getType()).getElementType().isBF16();
  };
  return isBf16(getInput()) && isBf16(getPanels());
}

bool ProductOp::hasIntegerFactors() {
  return getElementTypeOrSelf(getInput().getType()).isInteger();
}

bool ProductOp::hasKernelTile() { return getTile().has_value(); }

void ProductOp::setKernelTile(ProductTileAttr tile) { setTileAttr(tile); }

void ProductOp::getEffects(Effects &effects) {
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (&operand != &getInitMutable()) {
      addRead(operand, effects);
    }
  }
  if (isa<MemRefType>(getInit().getType())) {
    effects.emplace_back(MemoryEffects::Write::get(), &getInitMutable(),
                         SideEffects::DefaultResource::get());
  }
}
