// The matrices of a model's layers, what they multiply, and where a factor of a
// column can be taken from what computes it instead.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_QUANTIZE_FINDPRODUCTS_H
#define TFC_COMPILER_QUANTIZE_FINDPRODUCTS_H

#include "compiler/verify/VerifyWeights.h"
#include "llvm/ADT/StringSet.h"

namespace tfc::quantize {

/// A matrix of a layer as a tensor stores it, [rows, columns]. Where products
/// of several parameters have a tensor together it is one matrix.
struct Matrix {
  std::string tensor;
  /// Its first parameter, without the number of a run of layers:
  /// "decoder.layers.attn.q".
  std::string kind;
  /// What is kept in one precision, since it multiplies the same rows: the kind
  /// of the first of them.
  std::string group;
  int64_t layer = 0;
  int64_t rows = 0, columns = 0;
};

/// Elements of a vector, or rows of a matrix, that `readers`' columns depend on
/// linearly.
struct Writer {
  std::string tensor;
  int64_t firstRow = 0;
};

/// A place where numbers move: each column of the readers times s and the row
/// of the writers that it is made of divided by s give the same model.
struct Fold {
  std::string site; // the path of what computes the columns
  int64_t layer = 0;
  std::vector<size_t> readers; // indices of matrices
  std::vector<Writer> writers;
  std::vector<int64_t> rowOf; // by column
  int64_t numRows = 0;
};

struct Products {
  std::vector<Matrix> matrices;
  std::vector<Fold> folds;
  /// By parameter, of each layer its matrix.
  llvm::StringMap<std::vector<size_t>> matricesOf;
  /// Tensors that are looked up in.
  llvm::StringSet<> tables;
};

/// Those of `module`, a stage `model` whose feed-forward blocks are decomposed,
/// with its weights in `weights`. Errors: Unsupported, a line for each
/// parameter that cannot be one of a folder of compressed-tensors.
rt::Result<Products> findProducts(mlir::ModuleOp module,
                                  const VerifyWeights &weights);

/// Adds a tap, called as the parameter, for what each matrix of `products`
/// multiplies.
void tapProducts(mlir::ModuleOp module, const Products &products);

} // namespace tfc::quantize

#endif // TFC_COMPILER_QUANTIZE_FINDPRODUCTS_H
