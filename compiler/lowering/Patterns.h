// The pattern groups of tfc-lower-to-linalg, and what they share.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_PATTERNS_H
#define TFC_COMPILER_LOWERING_PATTERNS_H

#include "compiler/lowering/LastUses.h"
#include "compiler/lowering/Passes.h"
#include "dialect/TransformerDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace tfc {

/// What an element-wise op over rows reads besides the rows themselves: full
/// rows, one value a row, one value a column, or one value.
enum class Broadcast { None, AlongRow, AlongColumn, Everywhere };
mlir::AffineMap mapOf(mlir::MLIRContext *context, Broadcast broadcast);
struct RowInput {
  mlir::Value value;
  Broadcast broadcast;
};
using RowBody = llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                               mlir::ValueRange)>;

/// What becomes of a result: the type of its elements, whether it may overwrite
/// the rows that it is made of, where these have elements of that type, and
/// what it overwrites else; null for a place of its own.
struct Destination {
  mlir::FloatType element;
  bool inPlace = false;
  mlir::Value place = {};
};

/// What rows are kept in.
inline mlir::FloatType elementOf(mlir::Value rows) {
  auto type = llvm::cast<mlir::RankedTensorType>(rows.getType());
  return llvm::cast<mlir::FloatType>(type.getElementType());
}

/// A float as one of type `element`: widened, rounded to the nearest, or as it
/// is.
mlir::Value convertFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                         mlir::Type element);

/// y[t,w] = body(x[t,w], inputs...), where the body sees f32.
mlir::Value mapRows(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    llvm::ArrayRef<RowInput> inputs, Destination to,
                    RowBody body);

/// s[t] = sum_w body(x[t,w], inputs...), starting from 0, in f32.
mlir::Value sumRows(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    llvm::ArrayRef<RowInput> inputs, RowBody body);

/// The number of rows of `value`; of what it is a reshape of, if it is one:
/// upstream has no fold for that.
mlir::Value countRows(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

/// [T, W] with each row cut into `parts` rows of W / parts, [T * parts, W /
/// parts], of which no element moves; and the other way round, `like` being [T,
/// W].
mlir::Value cutRows(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    int64_t parts);
mlir::Value joinRows(mlir::ImplicitLocOpBuilder &b, mlir::Value y,
                     mlir::Value like);

/// A tensor to be written, with the rows of `like`, `width` wide; or with a
/// number for each of them.
mlir::Value emptyRows(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                      int64_t width, mlir::Type element);
mlir::Value emptyNumbers(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
                         mlir::Type element);

mlir::Value f32Constant(mlir::ImplicitLocOpBuilder &b, double value);

/// The numbers as f32, [n].
mlir::Value f32Table(mlir::ImplicitLocOpBuilder &b,
                     llvm::ArrayRef<double> numbers);

/// What is done to a product's result p, element by element, while it is in
/// registers: y = act(p + bias) * factor + residual. Null values are left out.
struct Epilogue {
  /// Of a product of integers, a number for each row and for each column, by
  /// which it is multiplied first; null for one of floats, and for a row's
  /// where the matrix alone is of integers.
  mlir::Value rowScales = {}, columnScales = {};
  /// Of one with integers of four bits, instead of those of columns: a number
  /// for each column and group, [N, G], which the sum has in it; and as many
  /// zero points, or null.
  mlir::Value groupScales = {}, groupZeros = {};
  mlir::Value bias = {};
  transformer::Activation act = transformer::Activation::Identity;
  mlir::Value factor = {};
  mlir::Value residual = {};
  /// What the result overwrites; null for a place of its own. Never the
  /// residual: bufferization does not see that each of its elements is read
  /// before it is written, once writes are vectors.
  mlir::Value destination = {};
  /// What the result is rounded to; null for f32.
  mlir::FloatType element = {};

  bool isEmpty() const {
    return !rowScales && !bias && !factor && !residual &&
           act == transformer::Activation::Identity;
  }
};

/// act(x) of an f32.
mlir::Value buildActivation(mlir::ImplicitLocOpBuilder &b,
                            transformer::Activation act, mlir::Value x);

/// act(p + bias) * factor + residual on scalars; values are null or given.
mlir::Value buildEpilogue(mlir::ImplicitLocOpBuilder &b,
                          const Epilogue &epilogue, mlir::Value product,
                          mlir::Value bias, mlir::Value factor,
                          mlir::Value residual);

/// The product with a weight packed in panels: y[t,n] of shape [T, N], written
/// once. Of experts, `experts` says whose panels a row is multiplied with.
mlir::Value buildPanelProduct(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                              transformer::WeightOp weight,
                              const Epilogue &epilogue,
                              mlir::Value experts = {});

/// The product of rows with the matrices of their experts, with its epilogue.
mlir::Value buildExpertProduct(mlir::ImplicitLocOpBuilder &b,
                               transformer::ExpertLinearOp op);

/// The weight behind `matrix` as it is packed in panels, or null when its
/// parameter is not.
transformer::WeightOp findPanels(mlir::ImplicitLocOpBuilder &b,
                                 mlir::Value matrix);

/// The sum of a product with integers in f32: it times the row's scale, that
/// times the column's, of those that there are. `excess`, where there is one,
/// comes off first. One of groups is of f32 and has no column's.
mlir::Value buildScaled(mlir::ImplicitLocOpBuilder &b, mlir::Value sum,
                        mlir::Value excess, mlir::Value rowScale,
                        mlir::Value columnScale);

void populateNormPatterns(mlir::RewritePatternSet &patterns,
                          const LastUses &lastUses);
void populateEmbeddingPatterns(mlir::RewritePatternSet &patterns);
void populateExpertPatterns(mlir::RewritePatternSet &patterns,
                            const LastUses &lastUses);
void populateLatentPatterns(mlir::RewritePatternSet &patterns);
void populateLayerPatterns(mlir::RewritePatternSet &patterns);
void populatePositionPatterns(mlir::RewritePatternSet &patterns);
void populateProjectionPatterns(mlir::RewritePatternSet &patterns,
                                const LastUses &lastUses);
void populateRecurrentPatterns(mlir::RewritePatternSet &patterns,
                               const LastUses &lastUses);
void populateStreamPatterns(mlir::RewritePatternSet &patterns,
                            const LastUses &lastUses);
/// `kernels`: what those of products read; none where there are none.
void populateQuantizePatterns(mlir::RewritePatternSet &patterns,
                              std::optional<IntegerRows> kernels);
void populateAttentionPatterns(mlir::RewritePatternSet &patterns);

/// Whether a step may ask for some columns of an output alone: it is a product
/// with packed weights whose columns are the entry's vocabulary, and nothing
/// else reads that. The product is marked then (`head_rows`), and has what is
/// done to its elements, one by one, in its body. Once all else is lowered.
bool offerHeadRows(transformer::OutputOp op);

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_PATTERNS_H
