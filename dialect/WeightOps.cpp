// The weight table and its uses: verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tfc::transformer;

LogicalResult ParameterOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape() || !type.getElementType().isF32() ||
      type.getRank() < 1 || type.getRank() > 2) {
    return emitOpError() << "expected a static f32 vector or matrix, got "
                         << getType();
  }
  // parameter_c1
  if (getLayers() && *getLayers() < 1) {
    return emitOpError() << "expected at least 1 layer, got " << *getLayers();
  }
  // parameter_c2
  SourceAttr source = getSource();
  int64_t rows = type.getDimSize(0);
  if (source.getFirstRow() < 0 ||
      source.getFirstRow() > source.getStoredRows() - rows) {
    return emitOpError() << "expected rows inside [0, "
                         << source.getStoredRows() << ") (stored_rows), got ["
                         << source.getFirstRow() << ", "
                         << source.getFirstRow() + rows << ')';
  }
  // parameter_c3
  if (StringAttr tied = source.getTiedTo()) {
    auto other = SymbolTable::lookupNearestSymbolFrom<ParameterOp>(*this, tied);
    if (!other || other.getType() != getType() ||
        other.getSource().getTiedTo()) {
      return emitOpError() << "expected tied_to to name a parameter of type "
                           << getType() << " with a value of its own, got \""
                           << tied.getValue() << '"';
    }
  }
  // parameter_c4
  if (getPanel() && (*getPanel() < 1 || type.getRank() != 2)) {
    return emitOpError() << "expected a panel of at least 1 row of a matrix, "
                            "got "
                         << *getPanel() << " of " << type;
  }
  return success();
}

RankedTensorType ParameterOp::getPackedType() {
  RankedTensorType type = getTensorType();
  if (!getPanel()) {
    return type;
  }
  auto panel = static_cast<int64_t>(*getPanel());
  return RankedTensorType::get(
      {static_cast<int64_t>(llvm::divideCeil(type.getDimSize(0), panel)),
       type.getDimSize(1), panel},
      type.getElementType());
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto parameter =
      tables.lookupNearestSymbolFrom<ParameterOp>(*this, getNameAttr());
  // weight_c1
  if (!parameter || parameter.getSource().getTiedTo()) {
    return emitOpError() << "expected the name of a transformer.parameter "
                            "with a value of its own, got "
                         << getNameAttr();
  }
  // weight_c2
  if (parameter.getLayers().has_value() != static_cast<bool>(getLayer())) {
    return emitOpError() << "expected " << (parameter.getLayers() ? "a" : "no")
                         << " layer index (parameter " << getNameAttr()
                         << (parameter.getLayers() ? " has layers)"
                                                   : " has no layers)");
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
