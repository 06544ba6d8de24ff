// What products must have in common to share a kernel, and what such a kernel
// gets.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_PRODUCTFORM_H
#define TFC_COMPILER_GPU_PRODUCT_PRODUCTFORM_H

#include "dialect/TransformerDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tfc {

/// A product on buffers with plain rows of weights: y[t,n] = body(sum_k x[t,k]
/// w[n,k], columns[n]..., rows[t,n]...). Its sizes are arguments of a kernel,
/// what is said here is the kernel's own. With a gate, another product of the
/// same x and size whose result is the only row operand, both are done at once:
/// y[t,n] = body(sum_k x[t,k] w[n,k], columns[n]..., gate[t,n]).
struct ProductForm {
  /// Rows of x and w are whole times so many elements long: what is read at
  /// once of 16 bits.
  static constexpr int64_t kMultiple = 8;

  /// Of a product that tensor cores can do: rows of 16 bits, of x and of w,
  /// begin at multiples of 16 bytes and are whole numbers of them long. An
  /// error of the op where that is not so.
  static mlir::FailureOr<ProductForm> get(transformer::ProductOp op);
  /// The product before `op` that can be its gate, whose result nobody else
  /// reads; null where there is none.
  static transformer::ProductOp findGate(transformer::ProductOp op);
  /// Adds what `findGate` found.
  llvm::LogicalResult addGate(transformer::ProductOp found);

  /// Equal for forms that share their kernels.
  std::string key() const;

  transformer::ProductOp op; // its body is the kernel's
  mlir::Type element;        // of x and w
  mlir::Type result;
  llvm::SmallVector<mlir::Type> columns, rows; // their elements
  transformer::ProductOp gate;                 // null where there is none
  mlir::Type gateResult;                       // what the gate is rounded to
  llvm::SmallVector<mlir::Type> gateColumns;
  /// Whether two columns from an even one on can be read and written at once.
  bool isPaired;
};

/// The values of a kernel's parameters. Buffers are addresses of their first
/// element in device memory; numbers are i32, strides in elements from row to
/// row.
struct ProductOperands {
  mlir::Value input, weights, result;
  llvm::SmallVector<mlir::Value> columns, rows;
  mlir::Value gateWeights; // null where there is no gate
  llvm::SmallVector<mlir::Value> gateColumns;
  mlir::Value tokens, width, depth; // T, N, K
  mlir::Value inputStride, resultStride;
  llvm::SmallVector<mlir::Value> rowStrides;

  /// All of them, in the order of a kernel's parameters.
  llvm::SmallVector<mlir::Value> list() const;
  /// Those of a form, taken from `values` in that order.
  static ProductOperands take(const ProductForm &form, mlir::ValueRange values);
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_PRODUCTFORM_H
