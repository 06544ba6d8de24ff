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
/// what is said here is the kernel's own. Weights may be integers, which lie as
/// fragments have them (`#transformer.packed`) and are widened to the element
/// of x, exactly; of four bits the sum is that of a group's sums times its
/// scales, in order. Of experts, rows are sorted by theirs, matrices and
/// columns of all of them lie one behind the other, and a block has rows of
/// one. With a gate, another product of the same x and size whose result is the
/// only row operand, both are done at once: y[t,n] = body(sum_k x[t,k] w[n,k],
/// columns[n]..., gate[t,n]).
struct ProductForm {
  /// Rows of x and w are whole times so many elements of 16 bits long, and half
  /// as many of f32: what is read at once.
  static constexpr int64_t kMultiple = 8;
  /// Rows of w whose scales of a group lie together.
  static constexpr int64_t kScaleRows = 8;

  /// Of a product that kernels can do: rows of f32 or of 16 bits, of x and of
  /// w, begin at multiples of 16 bytes and are whole numbers of them long, or w
  /// is of integers in fragments and x of 16 bits. An error of the op where
  /// that is not so.
  static mlir::FailureOr<ProductForm> get(transformer::ProductOp op);
  /// The product before `op` that can be its gate, whose result nobody else
  /// reads; null where there is none.
  static transformer::ProductOp findGate(transformer::ProductOp op);
  /// Adds what `findGate` found.
  llvm::LogicalResult addGate(transformer::ProductOp found);

  /// Equal for forms that share their kernels.
  std::string key() const;

  transformer::ProductOp op; // its body is the kernel's
  mlir::Type element;        // of x, and of w where that is no integers
  unsigned weightBits = 16;  // of an element of w: 32, 16, 8 or 4
  int64_t group = 0;         // columns that have a scale; 0: there are none
  mlir::Type scale;          // of groups, where there are any
  bool hasZeros = false;     // whether groups have zero points
  bool ofExperts = false;    // whether each row has its own matrix
  mlir::Type result;
  llvm::SmallVector<mlir::Type> columns, rows; // their elements
  transformer::ProductOp gate;                 // null where there is none
  mlir::Type gateResult;                       // what the gate is rounded to
  llvm::SmallVector<mlir::Type> gateColumns;
  /// Whether two columns from an even one on can be read and written at once.
  bool isPaired;

  /// Takes groups from `op`.
  llvm::LogicalResult addGroups();
  bool isWidened() const { return weightBits < 16; }
  bool isFloat() const { return element.isF32(); }
  /// Bytes of `count` elements of w.
  int32_t weightBytes(int32_t count) const {
    return count * static_cast<int32_t>(weightBits) / 8;
  }
};

/// The values of a kernel's parameters. Buffers are addresses of their first
/// element in device memory; numbers are i32, strides in elements from row to
/// row.
struct ProductOperands {
  /// Of a matrix whose columns have groups: their scales and zero points, null
  /// where there are none.
  struct Groups {
    mlir::Value scales, zeros;
  };
  mlir::Value input, weights, result;
  llvm::SmallVector<mlir::Value> columns, rows;
  Groups groups;
  mlir::Value gateWeights; // null where there is no gate
  Groups gateGroups;
  llvm::SmallVector<mlir::Value> gateColumns;
  /// Of rows of experts, null otherwise: an i32 a row, and how many there are.
  mlir::Value experts, numExperts;
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
