// Registration, types and attributes of the transformer dialect.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/TransformerDialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace tfc::transformer;

#include "dialect/TransformerDialect.cpp.inc"
#include "dialect/TransformerEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/TransformerTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/TransformerAttrs.cpp.inc"
#include "dialect/TransformerInterfaces.cpp.inc"

void TransformerDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/TransformerTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/TransformerAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/TransformerOps.cpp.inc"
      >();
}

LogicalResult ShareAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t parts, int64_t rows, int64_t cols,
                                bool isFirst) {
  // share_c1
  if (parts < 1 || rows < 0 || cols < 0) {
    return emitError() << "expected at least 1 part, and rows and cols of at "
                          "least 0, got "
                       << parts << ", " << rows << " and " << cols;
  }
  // share_c2
  if ((rows != 0) + (cols != 0) + isFirst != 1) {
    return emitError() << "expected a share by rows, by cols or of the first "
                          "rank, got "
                       << (rows != 0) + (cols != 0) + isFirst << " of them";
  }
  return success();
}

LogicalResult SourceAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<StringAttr> patterns,
                                 int64_t firstLayer, int64_t layerStep, int64_t,
                                 int64_t storedRows, int64_t rowStep,
                                 int64_t storedCols, bool, bool, bool,
                                 StringAttr, ShareAttr) {
  // source_c1
  if (patterns.empty() || llvm::any_of(patterns, [](StringAttr pattern) {
        return pattern.getValue().empty();
      })) {
    return emitError() << "expected patterns of tensor names, got "
                       << (patterns.empty() ? "none" : "an empty one");
  }
  // source_c2
  if (firstLayer < 0 || firstLayer > std::numeric_limits<int32_t>::max()) {
    return emitError() << "expected first_layer in [0, 2^31), got "
                       << firstLayer;
  }
  if (layerStep < 1 || layerStep > std::numeric_limits<int32_t>::max()) {
    return emitError() << "expected layer_step in [1, 2^31), got " << layerStep;
  }
  if (storedRows < 1) {
    return emitError() << "expected stored_rows of at least 1, got "
                       << storedRows;
  }
  if (rowStep < 1 || storedCols < 0) {
    return emitError() << "expected row_step of at least 1 and stored_cols of "
                          "at least 0, got "
                       << rowStep << " and " << storedCols;
  }
  return success();
}

LogicalResult PackedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 int64_t panel, int64_t word) {
  // packed_c1
  for (auto [name, value] :
       {std::pair("panel", panel), std::pair("word", word)}) {
    if (value < 1) {
      return emitError() << "expected " << name << " of at least 1, got "
                         << value;
    }
  }
  return success();
}

LogicalResult StrategyAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> parallel,
                                   ArrayRef<int64_t> rows,
                                   ArrayRef<int64_t> reduction) {
  // strategy_c1
  for (auto [level, sizes] :
       {std::pair("parallel", parallel), std::pair("rows", rows),
        std::pair("reduction", reduction)}) {
    for (int64_t size : sizes) {
      if (size < 0) {
        return emitError() << "expected sizes of at least 0 in " << level
                           << " (0 leaves a dimension whole), got " << size;
      }
    }
  }
  return success();
}

SmallVector<CacheType::Shape> CacheType::listShapes() const {
  if (!hasParts()) {
    return {{getLayers(), getKvHeads(), getHeadDim()}};
  }
  SmallVector<Shape> shapes;
  for (ArrayRef<int64_t> rest = getShapes(); rest.size() >= 3;
       rest = rest.drop_front(3)) {
    shapes.push_back({rest[0], rest[1], rest[2]});
  }
  return shapes;
}

int64_t CacheType::countLayersBefore() const {
  int64_t layers = 0;
  for (const Shape &shape : ArrayRef(listShapes()).take_front(getPart())) {
    layers += shape.layers;
  }
  return layers;
}

CacheType CacheType::withElements(Type elementType) const {
  return get(getContext(), getLayers(), getKvHeads(), getHeadDim(), getValues(),
             getKind(), getWindow(), elementType, getPart(), getShapes());
}

CacheType CacheType::shareHeads(int64_t parts) const {
  return get(getContext(), getLayers(), getKvHeads() / parts, getHeadDim(),
             getValues(), getKind(), getWindow(), getElementType(), getPart(),
             getShapes());
}

/// part = 1 of [25, 4, 256, 5, 2, 512]
static ParseResult parseParts(AsmParser &parser, int64_t &part,
                              SmallVectorImpl<int64_t> &shapes) {
  return failure(
      parser.parseEqual() || parser.parseInteger(part) ||
      parser.parseKeyword("of") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(shapes.emplace_back());
      }));
}

Type CacheType::parse(AsmParser &parser) {
  int64_t layers = 0, kvHeads = 0, headDim = 0, values = 0, window = 0,
          part = 0;
  SmallVector<int64_t> shapes;
  if (parser.parseLess()) {
    return {};
  }
  CacheKind kind = CacheKind::Self;
  for (CacheKind other : {CacheKind::Scratch, CacheKind::Cross}) {
    if (succeeded(parser.parseOptionalKeyword(stringifyCacheKind(other)))) {
      kind = other;
      break;
    }
  }
  if ((kind != CacheKind::Self && parser.parseComma()) ||
      parser.parseKeyword("layers") || parser.parseEqual() ||
      parser.parseInteger(layers) || parser.parseComma() ||
      parser.parseKeyword("kv_heads") || parser.parseEqual() ||
      parser.parseInteger(kvHeads) || parser.parseComma() ||
      parser.parseKeyword("head_dim") || parser.parseEqual() ||
      parser.parseInteger(headDim)) {
    return {};
  }
  Type element = Float32Type::get(parser.getContext());
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("window"))) {
      if (parser.parseEqual() || parser.parseInteger(window)) {
        return {};
      }
    } else if (succeeded(parser.parseOptionalKeyword("values"))) {
      if (parser.parseEqual() || parser.parseInteger(values)) {
        return {};
      }
    } else if (succeeded(parser.parseOptionalKeyword("part"))) {
      if (parseParts(parser, part, shapes)) {
        return {};
      }
    } else if (parser.parseType(element)) {
      return {};
    }
  }
  if (parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<CacheType>(parser.getContext(), layers, kvHeads,
                                      headDim, values, kind, window, element,
                                      part, shapes);
}

void CacheType::print(AsmPrinter &printer) const {
  printer << '<';
  if (getKind() != CacheKind::Self) {
    printer << stringifyCacheKind(getKind()) << ", ";
  }
  printer << "layers = " << getLayers() << ", kv_heads = " << getKvHeads()
          << ", head_dim = " << getHeadDim();
  if (isLatent()) {
    printer << ", values = " << getValues();
  }
  if (hasWindow()) {
    printer << ", window = " << getWindow();
  }
  if (hasParts()) {
    printer << ", part = " << getPart() << " of [";
    llvm::interleaveComma(getShapes(), printer);
    printer << ']';
  }
  if (!getElementType().isF32()) {
    printer << ", " << getElementType();
  }
  printer << '>';
}

static LogicalResult expectShape(function_ref<InFlightDiagnostic()> emitError,
                                 const CacheType::Shape &shape) {
  for (auto [name, value] :
       {std::pair{"layers", shape.layers}, std::pair{"kv_heads", shape.kvHeads},
        std::pair{"head_dim", shape.headDim}}) {
    if (value < 1) {
      // cache_c1
      return emitError() << "expected " << name << " of at least 1, got "
                         << value;
    }
  }
  // cache_c2
  std::optional<int64_t> numbers =
      llvm::checkedMul(shape.kvHeads, shape.headDim);
  numbers = numbers ? llvm::checkedMul(*numbers, shape.layers) : std::nullopt;
  if (!numbers || *numbers >= int64_t(1) << 48) {
    return emitError() << "expected layers times kv_heads times head_dim of "
                          "less than 2^48, got "
                       << shape.layers << " times " << shape.kvHeads
                       << " times " << shape.headDim;
  }
  return success();
}

/// `own` is what the handle is of.
static LogicalResult expectParts(function_ref<InFlightDiagnostic()> emitError,
                                 const CacheType::Shape &own, int64_t part,
                                 ArrayRef<int64_t> shapes, bool mayHaveParts) {
  auto count = static_cast<int64_t>(shapes.size() / 3);
  bool areThrees = shapes.size() % 3 == 0;
  bool isOne = areThrees && part >= 0 && part < count;
  if (shapes.empty() ? part != 0 : (!mayHaveParts || count < 2 || !isOne)) {
    return emitError() << "expected a part of two or more, each of three "
                          "numbers, of a cache that is neither scratch nor "
                          "cross nor of latents, got part "
                       << part << " of " << shapes.size() << " numbers";
  }
  for (int64_t i = 0; i < count; ++i) {
    ArrayRef<int64_t> shape = shapes.slice(3 * i, 3);
    if (failed(expectShape(emitError, {shape[0], shape[1], shape[2]}))) {
      return failure();
    }
  }
  if (!shapes.empty() &&
      shapes.slice(3 * part, 3) !=
          ArrayRef<int64_t>({own.layers, own.kvHeads, own.headDim})) {
    return emitError() << "expected the numbers of part " << part << ", got "
                       << own.layers << ", " << own.kvHeads << ", "
                       << own.headDim;
  }
  return success();
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t layers, int64_t kvHeads,
                                int64_t headDim, int64_t values, CacheKind kind,
                                int64_t window, Type elementType, int64_t part,
                                ArrayRef<int64_t> shapes) {
  Shape own = {layers, kvHeads, headDim};
  // cache_c1, cache_c2, cache_c7
  if (failed(expectShape(emitError, own)) ||
      failed(expectParts(emitError, own, part, shapes,
                         kind == CacheKind::Self && values == 0))) {
    return failure();
  }
  // cache_c3
  if (window < 0 || (window > 0 && kind != CacheKind::Self)) {
    return emitError() << "expected a window of at least 1, of a cache that is "
                          "neither scratch nor cross, got "
                       << window;
  }
  // cache_c4
  if (!elementType.isF32() && !elementType.isF16() && !elementType.isBF16() &&
      !elementType.isSignlessInteger(8)) {
    return emitError() << "expected elements of f32, f16, bf16 or i8, got "
                       << elementType;
  }
  // cache_c5
  if (values < 0 || values > headDim ||
      (values > 0 && (kvHeads != 1 || kind != CacheKind::Self))) {
    return emitError() << "expected values of at most " << headDim
                       << " (head_dim), in a cache of one head that is neither "
                          "scratch nor cross, got "
                       << values;
  }
  // cache_c6
  if (values > 0 && elementType.isInteger()) {
    return emitError() << "expected latents of f32, f16 or bf16 (one scale "
                          "does not suit both parts of a key), got "
                       << elementType;
  }
  return success();
}

LogicalResult StateType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t layers, int64_t width) {
  // state_c1
  for (auto [name, value] :
       {std::pair{"layers", layers}, std::pair{"width", width}}) {
    if (value < 1) {
      return emitError() << "expected " << name << " of at least 1, got "
                         << value;
    }
  }
  // state_c2
  std::optional<int64_t> numbers = llvm::checkedMul(layers, width);
  if (!numbers || *numbers >= int64_t(1) << 48) {
    return emitError() << "expected layers times width of less than 2^48, got "
                       << layers << " times " << width;
  }
  return success();
}

LogicalResult ProductTileAttr::verify(
    function_ref<InFlightDiagnostic()> emitError, ProductKind, int64_t rows,
    int64_t lanes, int64_t item, int64_t unroll, int64_t turnRows,
    int64_t ahead, int64_t aheadRows, int64_t blockBytes, int64_t nextBytes) {
  for (auto [name, value] :
       {std::pair{"rows", rows}, std::pair{"lanes", lanes},
        std::pair{"item", item}, std::pair{"unroll", unroll},
        std::pair{"turn_rows", turnRows}, std::pair{"ahead", ahead},
        std::pair{"ahead_rows", aheadRows},
        std::pair{"block_bytes", blockBytes},
        std::pair{"next_bytes", nextBytes}}) {
    if (value < 1) {
      return emitError() << "expected " << name << " of at least 1, got "
                         << value;
    }
  }
  if (item % rows != 0) {
    return emitError() << "expected an item of whole tiles (a multiple of "
                       << rows << " rows), got " << item;
  }
  return success();
}
