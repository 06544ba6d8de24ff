// Which values die where: what an op may write over.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_LASTUSES_H
#define TFC_COMPILER_LOWERING_LASTUSES_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace tfc {

/// The operands whose value nobody needs afterwards, found before lowering: an
/// op may take such an operand as its destination.
class LastUses {
public:
  explicit LastUses(mlir::Operation *root);
  bool contains(mlir::OpOperand &operand) const {
    return operands.contains({operand.getOwner(), operand.getOperandNumber()});
  }

  /// A value of the result's type that is dead when `op` runs and whose place
  /// the result may take: the loop's carried value, for the op whose result is
  /// carried on, and what a function of layers gets, for the one whose result
  /// it returns. Null if there is none.
  mlir::Value findDeadPlace(mlir::Operation *op) const {
    return places.lookup(op);
  }

private:
  void findPlaces(mlir::ValueRange carried, mlir::ValueRange yielded);

  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> operands;
  llvm::DenseMap<mlir::Operation *, mlir::Value> places;
};

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_LASTUSES_H
