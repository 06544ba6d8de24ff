// What the layers of a loop differ in besides their weights: inference and
// verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/TransformerDialect.h"

#include <cmath>

using namespace mlir;
using namespace tfc::transformer;

LogicalResult PerLayerOp::inferReturnTypes(MLIRContext *context,
                                           std::optional<Location>,
                                           Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  if (isa<DenseI64ArrayAttr>(adaptor.getValues())) {
    types.push_back(IndexType::get(context));
  } else {
    types.push_back(Float32Type::get(context));
  }
  return success();
}

LogicalResult PerLayerOp::verify() {
  // per_layer_c1
  auto numbers = dyn_cast<DenseF64ArrayAttr>(getValues());
  size_t count =
      numbers ? numbers.size() : cast<DenseI64ArrayAttr>(getValues()).size();
  if (count == 0) {
    return emitOpError() << "expected at least one value, got none";
  }
  for (double number : numbers ? numbers.asArrayRef() : ArrayRef<double>()) {
    if (!std::isfinite(number)) {
      return emitOpError() << "expected finite numbers, got " << number;
    }
  }
  return success();
}
