// Which rows of a layer ranks may have some columns of each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FUSION_COLUMNSHARES_H
#define TFC_COMPILER_FUSION_COLUMNSHARES_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace tfc {

/// Into how many equal parts of their columns the rows of layers are cut: the
/// greatest numbers with which nobody reads what its rank has not. Between a
/// product by rows of a matrix and one by columns, whose results are parts of a
/// sum, everything is shared; what is carried from layer to layer is whole.
class ColumnShares {
public:
  ColumnShares(mlir::ModuleOp module, int64_t ranks);

  int64_t getRanks() const { return ranks; }
  /// 1: whole.
  int64_t of(mlir::Operation *op) const;
  int64_t ofRows(mlir::Value rows) const;
  /// Whether its result is a part of a sum, over columns that the rank has.
  bool sumsRanks(transformer::LinearOp op) const {
    return ofRows(op.getInput()) > 1;
  }
  /// Products and ops that may be shared, in the order of the program.
  llvm::SmallVector<mlir::Operation *> getOps() const;
  /// Reports the first matrix of a layer that every rank would have to have
  /// whole, and why.
  mlir::LogicalResult check() const;

private:
  struct Share {
    int64_t parts;
    std::string why; // it is whole
  };

  void collect();
  bool lower(mlir::Operation *op, int64_t parts, std::string why);
  bool lowerRows(mlir::Value rows, int64_t parts, const std::string &why);
  bool restrict(mlir::Operation *op);
  bool restrictByUsers(mlir::Operation *op);
  bool restrictLinear(transformer::LinearOp op);
  bool restrictOp(transformer::SharedColumnsOpInterface op);
  bool fit(mlir::Operation *op, mlir::Value operand, int64_t parts,
           const std::string &why);
  bool isOfSeveral(mlir::Operation *op) const;
  mlir::LogicalResult checkMatrix(transformer::WeightOp weight) const;

  mlir::ModuleOp module;
  int64_t ranks;
  llvm::MapVector<mlir::Operation *, Share> shares;
};

} // namespace tfc

#endif // TFC_COMPILER_FUSION_COLUMNSHARES_H
