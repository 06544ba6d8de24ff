// How the panels of a packed matrix are read off their type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_PANELSHAPE_H
#define TFC_DIALECT_PANELSHAPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace tfc::transformer {

/// The axes of what #transformer.packed makes of a matrix, on tensors and in
/// memory.
struct PanelShape {
  explicit PanelShape(mlir::ShapedType panels)
      : panels(panels.getDimSize(0)), words(panels.getDimSize(1)),
        width(panels.getDimSize(2)),
        columns(panels.getRank() == 4 ? panels.getDimSize(3) : 1) {}

  int64_t panels;
  int64_t words;   // of columns, in a row of the matrix
  int64_t width;   // rows of the matrix in a panel
  int64_t columns; // in a word
};

} // namespace tfc::transformer

#endif // TFC_DIALECT_PANELSHAPE_H
