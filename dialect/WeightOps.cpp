// The weight table and its uses: verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::transformer;

/// Rows inside what is stored, and a tie to a parameter that is none itself.
static LogicalResult verifySource(ParameterOp op, SourceAttr source) {
  // parameter_c2
  int64_t rows = op.getTensorType().getDimSize(0);
  int64_t step = source.getRowStep(), last = source.getStoredRows() - 1;
  if (source.getFirstRow() < 0 || source.getFirstRow() > last ||
      rows - 1 > (last - source.getFirstRow()) / step) {
    return op.emitOpError()
           << "expected rows inside [0, " << source.getStoredRows()
           << ") (stored_rows), got [" << source.getFirstRow() << ", "
           << source.getFirstRow() + rows << ')'
           << (step > 1 ? " with others between" : "");
  }
  ShareAttr share = source.getShare();
  int64_t others = share ? share.getParts() - 1 : 0;
  int64_t end = source.getFirstRow() + (rows - 1) * step;
  if (share && share.getRows() != 0 &&
      others > (last - end) / share.getRows()) {
    return op.emitOpError() << "expected the rows of all " << share.getParts()
                            << " parts inside [0, " << source.getStoredRows()
                            << ") (stored_rows), got them beyond";
  }
  int64_t columns =
      op.getTensorType().getRank() == 2 ? op.getTensorType().getDimSize(1) : 1;
  int64_t needed = columns;
  if (share && share.getCols() != 0) {
    needed += others * share.getCols();
  }
  if (needed > columns
          ? source.getStoredCols() < needed
          : source.getStoredCols() != 0 && source.getStoredCols() < columns) {
    return op.emitOpError()
           << "expected stored_cols of at least " << needed << " (the columns"
           << (needed > columns ? " of all parts" : "") << "), got "
           << source.getStoredCols();
  }
  // parameter_c3
  if (StringAttr tied = source.getTiedTo()) {
    auto other = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(op, tied);
    if (!other || other.getType() != op.getType() || other.isTied()) {
      return op.emitOpError()
             << "expected tied_to to name a parameter of type " << op.getType()
             << " with a value of its own, got \"" << tied.getValue() << '"';
    }
    if (other.getLayers() != op.getLayers()) {
      return op.emitOpError()
             << "expected tied_to to name a parameter with as many layers ("
             << op.getLayers().value_or(0) << "), got "
             << other.getLayers().value_or(0) << " of \"" << tied.getValue()
             << '"';
    }
  }
  return success();
}

/// Whether `part` is among the parts of a parameter once.
static LogicalResult verifyOnce(ParameterOp op, FlatSymbolRefAttr part) {
  // parameter_c9
  int64_t times = 0;
  for (auto whole : op->getBlock()->getOps<ParameterOp>()) {
    if (ArrayAttr parts = whole.getPartsAttr()) {
      times += llvm::count(parts, part);
    }
  }
  if (times != 1) {
    return op.emitOpError() << "expected " << part << " to be a part once, got "
                            << times << " times";
  }
  return success();
}

static LogicalResult verifyParts(ParameterOp op) {
  RankedTensorType type = op.getTensorType();
  int64_t rows = 0;
  for (auto name : op.getPartsAttr().getAsRange<FlatSymbolRefAttr>()) {
    auto part = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(op, name);
    // parameter_c6
    if (!part || !part.getSource() || part.isTied()) {
      return op.emitOpError() << "expected parts to name parameters with a "
                                 "source and a value of their own, got "
                              << name;
    }
    // parameter_c7
    auto partType = dyn_cast<RankedTensorType>(part.getType());
    if (!partType || part.getLayers() != op.getLayers() ||
        partType.getElementType() != type.getElementType() ||
        partType.getShape().drop_front() != type.getShape().drop_front()) {
      return op.emitOpError()
             << "expected part " << name
             << " to have its columns, element type and layers, got "
             << part.getType() << " layers " << part.getLayers().value_or(0);
    }
    if (failed(verifyOnce(op, name))) {
      return failure();
    }
    rows += partType.getDimSize(0);
  }
  // parameter_c8
  return expectSize(op, "parts with rows", rows, type.getDimSize(0),
                    "the rows of the parameter");
}

/// A number for each row of a matrix of bytes, or for each of its groups.
static LogicalResult verifyCompanion(ParameterOp op, CompanionAttr companion) {
  // parameter_c13
  auto matrix = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(
      op, companion.getMatrix());
  auto type = matrix ? dyn_cast<RankedTensorType>(matrix.getType())
                     : RankedTensorType();
  CompanionKind kind = companion.getKind();
  bool isFour = type && type.getElementType().isInteger(4);
  bool isByte = type && type.getElementType().isInteger(8);
  RankedTensorType own = op.getTensorType();
  // Bytes have scales of rows, or of groups.
  bool hasGroups =
      isFour || (isByte && kind == CompanionKind::Scales && own.getRank() == 2);
  bool isKnown = kind == CompanionKind::Zeros    ? isFour
                 : kind == CompanionKind::Excess ? isByte
                                                 : isFour || isByte;
  if (!type || type.getRank() != 2 || !isKnown ||
      matrix.getLayers() != op.getLayers() ||
      matrix.getExperts() != op.getExperts()) {
    return op.emitOpError() << "expected a companion of a matrix of i8 with "
                            << op.getLayers().value_or(0) << " layers, got "
                            << companion.getMatrix();
  }
  Type element = kind == CompanionKind::Scales
                     ? Type(Float32Type::get(op.getContext()))
                     : IntegerType::get(op.getContext(),
                                        kind == CompanionKind::Zeros ? 8 : 32);
  // Of groups of four bits floats may be of 16, those of a group alike.
  if (isFour && isa<FloatType>(own.getElementType())) {
    ParameterOp scales = kind == CompanionKind::Zeros
                             ? matrix.findCompanion(CompanionKind::Scales)
                             : ParameterOp();
    element = (scales ? scales : op).getTensorType().getElementType();
  }
  SmallVector<int64_t> shape = {type.getDimSize(0)};
  if (hasGroups) {
    bool divides = own.getRank() == 2 && own.getDimSize(1) > 0 &&
                   type.getDimSize(1) % own.getDimSize(1) == 0;
    shape.push_back(divides ? own.getDimSize(1) : 1);
  }
  Type expected = RankedTensorType::get(shape, element);
  if (op.getType() != expected) {
    return op.emitOpError() << "expected type " << expected << " (the "
                            << stringifyCompanionKind(companion.getKind())
                            << " of " << type << "), got " << op.getType();
  }
  return success();
}

/// Where it lies in the packed weights, once that is known.
static LogicalResult verifyPlace(ParameterOp op) {
  // parameter_c11
  std::optional<int64_t> bytes = op.getPackedBytes();
  if (!bytes) {
    return op.emitOpError()
           << "expected less than 2^63 bytes when packed, got "
           << op.getLayers().value_or(1) << " of " << op.getType()
           << " in panels of "
           << (op.getPacked() ? op.getPacked()->getPanel() : 1) << " rows";
  }
  // parameter_c12
  auto signedOf = [](std::optional<uint64_t> value) {
    return static_cast<int64_t>(value.value_or(0));
  };
  if (signedOf(op.getOffset()) < 0) {
    return op.emitOpError() << "expected an offset of at least 0, got "
                            << signedOf(op.getOffset());
  }
  bool hasStride = op.getOffset() && op.getLayers();
  if (op.getStride().has_value() != hasStride ||
      (hasStride && signedOf(op.getStride()) < *bytes)) {
    InFlightDiagnostic diagnostic = op.emitOpError() << "expected ";
    hasStride ? diagnostic << "a stride of at least " << *bytes
                           << " (the bytes of a layer)"
              : diagnostic << "no stride (it is one of layers with an offset)";
    return op.getStride() ? diagnostic << ", got " << signedOf(op.getStride())
                          : diagnostic << ", got none";
  }
  return success();
}

LogicalResult ParameterOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  Type element = type ? type.getElementType() : Type();
  bool isStored =
      type && type.hasStaticShape() &&
      (element.isF32() || (element.isInteger(32) && getCompanion()) ||
       (type.getRank() == 2 && (element.isF16() || element.isBF16() ||
                                element.isInteger(8) || element.isInteger(4))));
  if (!isStored || type.getRank() < 1 || type.getRank() > 2) {
    return emitOpError() << "expected a static f32 vector, or matrix of f32, "
                            "f16, bf16, i8 or i4, got "
                         << getType();
  }
  // parameter_c10
  if (llvm::is_contained(type.getShape(), 0)) {
    return emitOpError() << "expected no empty axis, got " << type;
  }
  // parameter_c1
  if (getLayers() && *getLayers() < 1) {
    return emitOpError() << "expected at least 1 layer, got " << *getLayers();
  }
  // parameter_c14
  bool hasGroups = getCompanion() && type.getRank() == 2;
  if (getExperts() && (static_cast<int64_t>(*getExperts()) < 1 ||
                       (!getSource() && !hasGroups) || isTied())) {
    return emitOpError() << "expected at least one expert, with a source and a "
                            "value of its own or what groups have, got "
                         << static_cast<int64_t>(*getExperts()) << " of "
                         << type;
  }
  if (getSource() && getSource()->getStacked() && !getExperts()) {
    return emitOpError() << "expected experts (the source is stacked)";
  }
  // parameter_c4
  if (getPacked() && type.getRank() != 2) {
    return emitOpError() << "expected a matrix (it is packed in panels), got "
                         << type;
  }
  // parameter_c15
  if (getPacked() && element.isInteger(4) && getPacked()->getWord() % 2 != 0) {
    return emitOpError() << "expected an even word of a matrix of i4 (two "
                            "columns are a byte), got "
                         << getPacked()->getWord();
  }
  // parameter_c5
  int origins = getSource().has_value() + getParts().has_value() +
                getCompanion().has_value() + getPrepared();
  if (origins != 1) {
    return emitOpError() << "expected a source, parts or a companion, or to be "
                            "prepared, got "
                         << origins << " of them";
  }
  // parameter_c16
  if (getPrepared() &&
      (type.getRank() != 2 || !element.isF32() || getPacked())) {
    return emitOpError() << "expected a matrix of f32 that is not packed (it "
                            "is prepared), got "
                         << type;
  }
  if (failed(getParts()       ? verifyParts(*this)
             : getSource()    ? verifySource(*this, *getSource())
             : getCompanion() ? verifyCompanion(*this, *getCompanion())
                              : success())) {
    return failure();
  }
  return verifyPlace(*this);
}

std::optional<int64_t> ParameterOp::getPackedBytes() {
  constexpr int64_t line = 64;
  RankedTensorType type = getTensorType();
  PackedAttr packed = getPackedAttr();
  int64_t panel = packed ? packed.getPanel() : 1;
  // Of the last panel, all rows.
  int64_t panels = llvm::divideCeil(type.getDimSize(0), panel);
  bool isHalf = type.getElementType().isInteger(4);
  int64_t word = packed ? packed.getWord() : isHalf ? 2 : 1;
  int64_t words =
      llvm::divideCeil(type.getRank() == 2 ? type.getDimSize(1) : 1, word);
  std::optional<int64_t> bytes = llvm::checkedMul(panels, panel);
  auto experts = static_cast<int64_t>(getExperts().value_or(1));
  int64_t wordBytes =
      isHalf ? word / 2
             : word * static_cast<int64_t>(type.getElementTypeBitWidth() / 8);
  for (int64_t factor : {words, wordBytes, experts}) {
    bytes = bytes ? llvm::checkedMul(*bytes, factor) : std::nullopt;
  }
  if (!bytes || !llvm::checkedAdd(*bytes, line)) {
    return std::nullopt;
  }
  int64_t layers = getLayers().value_or(1);
  int64_t stride = llvm::alignTo(*bytes, line);
  return llvm::checkedMul(stride, layers) ? bytes : std::nullopt;
}

ParameterOp ParameterOp::findCompanion(CompanionKind kind) {
  auto own = FlatSymbolRefAttr::get(getSymNameAttr());
  for (auto other : (*this)->getBlock()->getOps<ParameterOp>()) {
    std::optional<CompanionAttr> companion = other.getCompanion();
    if (companion && companion->getMatrix() == own &&
        companion->getKind() == kind) {
      return other;
    }
  }
  return {};
}

SmallVector<ParameterOp> tfc::transformer::listParts(ParameterOp whole) {
  SmallVector<ParameterOp> parts;
  if (ArrayAttr names = whole.getPartsAttr()) {
    for (auto name : names.getAsRange<FlatSymbolRefAttr>()) {
      parts.push_back(
          SymbolTable::lookupNearestSymbolFrom<ParameterOp>(whole, name));
    }
  }
  return parts;
}

RankedTensorType PackedAttr::pack(RankedTensorType matrix) const {
  auto ceil = [](int64_t x, int64_t y) {
    return static_cast<int64_t>(llvm::divideCeil(x, y));
  };
  SmallVector<int64_t> shape = {ceil(matrix.getDimSize(0), getPanel()),
                                ceil(matrix.getDimSize(1), getWord()),
                                getPanel()};
  Type element = matrix.getElementType();
  int64_t inWord = getWord();
  if (element.isInteger(4)) {
    inWord /= 2;
    element = IntegerType::get(getContext(), 8);
  }
  if (inWord > 1) {
    shape.push_back(inWord);
  }
  return RankedTensorType::get(shape, element);
}

/// With an axis of experts in front, where there are any.
static RankedTensorType addExperts(ParameterOp op, RankedTensorType type) {
  if (!op.getExperts()) {
    return type;
  }
  SmallVector<int64_t> shape = {static_cast<int64_t>(*op.getExperts())};
  llvm::append_range(shape, type.getShape());
  return type.clone(shape);
}

RankedTensorType ParameterOp::getLayerType() {
  return addExperts(*this, getTensorType());
}

RankedTensorType ParameterOp::getPackedType() {
  return addExperts(*this, getPacked() ? getPacked()->pack(getTensorType())
                                       : getTensorType());
}

SmallVector<ParameterOp> tfc::transformer::listStored(Operation *module) {
  SmallVector<ParameterOp> stored;
  for (auto op : module->getRegion(0).getOps<ParameterOp>()) {
    if (op.getSource()) {
      stored.push_back(op);
    }
  }
  return stored;
}

/// An index of a layer, constant or not, exactly where there are layers.
static LogicalResult verifyIndex(Operation *op, ParameterOp parameter,
                                 Value layer) {
  // weight_c2, keep_c2
  if (parameter.getLayers().has_value() != static_cast<bool>(layer)) {
    return op->emitOpError()
           << "expected " << (parameter.getLayers() ? "a" : "no")
           << " layer index (parameter @" << parameter.getSymName()
           << (parameter.getLayers() ? " has layers)" : " has no layers)");
  }
  // weight_c4, keep_c4
  return layer ? expectLayer(op, layer, *parameter.getLayers(), "parameter")
               : success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto parameter =
      tables.lookupNearestSymbolFrom<ParameterOp>(*this, getNameAttr());
  // weight_c1
  if (!parameter || parameter.isTied()) {
    return emitOpError() << "expected the name of a transformer.parameter "
                            "with a value of its own, got "
                         << getNameAttr();
  }
  if (failed(verifyIndex(*this, parameter, getLayer()))) {
    return failure();
  }
  // weight_c3
  auto type = cast<ShapedType>(getType());
  RankedTensorType declared = parameter.getPackedType();
  if (type.getShape() != declared.getShape() ||
      type.getElementType() != declared.getElementType()) {
    return emitOpError() << "expected the shape of " << declared
                         << " (parameter " << getNameAttr() << "), got "
                         << type;
  }
  return success();
}

LogicalResult KeepOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto parameter =
      tables.lookupNearestSymbolFrom<ParameterOp>(*this, getNameAttr());
  // keep_c1
  if (!parameter || !parameter.getPrepared()) {
    return emitOpError() << "expected the name of a transformer.parameter "
                            "that is prepared, got "
                         << getNameAttr();
  }
  if (failed(verifyIndex(*this, parameter, getLayer()))) {
    return failure();
  }
  // keep_c3
  if (getValue().getType() != parameter.getType()) {
    return emitOpError() << "expected a value of the type "
                         << parameter.getType() << " (parameter "
                         << getNameAttr() << "), got " << getValue().getType();
  }
  return success();
}
