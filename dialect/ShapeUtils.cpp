// Widths, lengths and the checks that ops of several groups share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"

using namespace mlir;

LogicalResult tfc::transformer::expectSize(Operation *op, StringRef what,
                                           int64_t got, int64_t expected,
                                           StringRef why) {
  if (got == expected) {
    return success();
  }
  return op->emitOpError() << "expected " << what << ' ' << expected << " ("
                           << why << "), got " << got;
}

LogicalResult tfc::transformer::expectHeads(Operation *op, int64_t heads,
                                            int64_t kvHeads) {
  if (heads >= 1 && heads % kvHeads == 0) {
    return success();
  }
  return op->emitOpError() << "expected a positive multiple of " << kvHeads
                           << " heads (kv_heads of the cache), got " << heads;
}

LogicalResult tfc::transformer::expectDistances(Operation *op, Value bias,
                                                int64_t heads) {
  if (!bias) {
    return success();
  }
  if (failed(
          expectSize(op, "bias with rows", rowsOf(bias), heads, "num_heads"))) {
    return failure();
  }
  if (widthOf(bias) % 2 == 0) {
    return op->emitOpError() << "expected bias of an odd width (distances from "
                                "-M to M), got "
                             << widthOf(bias);
  }
  return success();
}

LogicalResult tfc::transformer::expectWindow(Operation *op,
                                             std::optional<uint64_t> window,
                                             Mask mask) {
  if (!window || (static_cast<int64_t>(*window) >= 0 && mask == Mask::Causal)) {
    return success();
  }
  return op->emitOpError()
         << "expected a window of at least 0 and causal attention with it, got "
         << static_cast<int64_t>(*window) << " and " << stringifyMask(mask);
}
