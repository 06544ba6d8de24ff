// Widths, lengths and the checks that ops of several groups share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/ShapeUtils.h"

#include "mlir/IR/Diagnostics.h"

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
