// Table look-ups: inference and verifiers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"
#include "dialect/TransformerDialect.h"

using namespace mlir;
using namespace tfc::transformer;

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto ids = cast<RankedTensorType>(adaptor.getIds().getType());
  auto table = cast<RankedTensorType>(adaptor.getTable().getType());
  types.push_back(RankedTensorType::get(
      {ids.getDimSize(0), table.getDimSize(1)}, table.getElementType()));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  // embedding_c1
  int64_t offset = getOffset(), rows = rowsOf(getTable());
  if (offset < 0 || offset >= rows) {
    return emitOpError() << "expected offset in [0, " << rows
                         << ") (the rows of the table), got " << offset;
  }
  return success();
}
