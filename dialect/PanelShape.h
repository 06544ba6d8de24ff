// How the panels of a packed matrix are read off their type.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_PANELSHAPE_H
#define TFC_DIALECT_PANELSHAPE_H

#include "mlir/IR/BuiltinTypes.h"

namespace tfc::transformer {

/// The axes of what #transformer.packed makes of a matrix, on tensors and in
/// memory; with an axis of experts in front where it is that of experts.
struct PanelShape {
  explicit PanelShape(mlir::ShapedType type, bool ofExperts = false)
      : experts(ofExperts ? type.getDimSize(0) : 1),
        panels(type.getDimSize(ofExperts)),
        words(type.getDimSize(ofExperts + 1)),
        width(type.getDimSize(ofExperts + 2)),
        columns(type.getRank() == ofExperts + 4 ? type.getDimSize(ofExperts + 3)
                                                : 1) {}

  int64_t experts;
  int64_t panels;
  int64_t words;   // of columns, in a row of the matrix
  int64_t width;   // rows of the matrix in a panel
  int64_t columns; // in a word
};

} // namespace tfc::transformer

#endif // TFC_DIALECT_PANELSHAPE_H
