// The pattern groups of tfc-lower-to-linalg, and what they share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_PATTERNS_H
#define TFC_COMPILER_LOWERING_PATTERNS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
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

private:
  llvm::DenseSet<std::pair<mlir::Operation *, unsigned>> operands;
};

/// What an element-wise op over rows reads besides the rows themselves: full
/// rows, one value a row, or one value a column.
enum class Broadcast { None, AlongRow, AlongColumn };
struct RowInput {
  mlir::Value value;
  Broadcast broadcast;
};
using RowBody = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                               mlir::ValueRange)>;

/// y[t,w] = body(x[t,w], inputs...); overwrites x if `inPlace`.
mlir::Value mapRows(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    llvm::ArrayRef<RowInput> inputs, bool inPlace,
                    RowBody body);

/// s[t] = sum_w body(x[t,w], inputs...), starting from 0.
mlir::Value sumRows(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    llvm::ArrayRef<RowInput> inputs, RowBody body);

/// tensor.empty with the rows of `like`, `width` wide.
mlir::Value emptyRows(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                      int64_t width);

mlir::Value f32Constant(mlir::ImplicitLocOpBuilder &b, double value);

void populateNormPatterns(mlir::RewritePatternSet &patterns,
                          const LastUses &lastUses);
void populateEmbeddingPatterns(mlir::RewritePatternSet &patterns);
void populateProjectionPatterns(mlir::RewritePatternSet &patterns,
                                const LastUses &lastUses);
void populateAttentionPatterns(mlir::RewritePatternSet &patterns);

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_PATTERNS_H
