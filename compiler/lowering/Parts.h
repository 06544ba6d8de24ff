// Rows that patterns write part by part.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_PARTS_H
#define TFC_COMPILER_LOWERING_PARTS_H

#include "compiler/lowering/Patterns.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tfc {

/// Writes a tensor of as many rows as another, part by part.
class Parts {
public:
  /// `shape` without the rows, which are those of `like`.
  Parts(mlir::ImplicitLocOpBuilder &b, mlir::Value like,
        llvm::ArrayRef<int64_t> shape, mlir::FloatType element)
      : b(b), element(element), rows(countRows(b, like)) {
    llvm::SmallVector<int64_t> sizes = {mlir::ShapedType::kDynamic};
    sizes.append(shape.begin(), shape.end());
    // Not tensor.empty: cse would make one of two, and as parts write it one
    // after the other, bufferization would copy between them.
    whole = mlir::bufferization::AllocTensorOp::create(
        b, mlir::RankedTensorType::get(sizes, element), mlir::ValueRange{rows});
  }

  /// Of the last axis of `value`, every `stride`-th from `first` on.
  mlir::Value cut(mlir::Value value, mlir::OpFoldResult first, int64_t count,
                  int64_t stride) {
    Range range(*this, value, first, count, stride);
    return mlir::tensor::ExtractSliceOp::create(b, value, range.offsets,
                                                range.sizes, range.strides);
  }
  /// The same of the tensor: body(inputs..., its old value) is its new value,
  /// to which floats are f32, those of inputs and its own.
  void write(int64_t first, int64_t count, int64_t stride,
             llvm::ArrayRef<std::pair<mlir::Value, mlir::AffineMap>> inputs,
             llvm::function_ref<mlir::Value(mlir::ImplicitLocOpBuilder &,
                                            mlir::ValueRange)>
                 body) {
    mlir::Value init = cut(whole, b.getIndexAttr(first), count, stride);
    llvm::SmallVector<mlir::Value> operands;
    llvm::SmallVector<mlir::AffineMap> maps;
    for (auto [value, map] : inputs) {
      operands.push_back(value);
      maps.push_back(map);
    }
    int64_t rank = llvm::cast<mlir::RankedTensorType>(init.getType()).getRank();
    maps.push_back(b.getMultiDimIdentityMap(rank));
    llvm::SmallVector<mlir::utils::IteratorType> iterators(
        rank, mlir::utils::IteratorType::parallel);
    mlir::Value part = mlir::linalg::GenericOp::create(
                           b, init.getType(), operands, init, maps, iterators,
                           [&](mlir::OpBuilder &builder, mlir::Location loc,
                               mlir::ValueRange v) {
                             mlir::ImplicitLocOpBuilder inner(loc, builder);
                             mlir::Value y = body(inner, widenInputs(inner, v));
                             mlir::linalg::YieldOp::create(
                                 inner, convertFloat(inner, y, element));
                           })
                           .getResult(0);
    Range range(*this, whole, b.getIndexAttr(first), count, stride);
    whole = mlir::tensor::InsertSliceOp::create(b, part, whole, range.offsets,
                                                range.sizes, range.strides);
  }
  mlir::Value get() { return whole; }

private:
  static llvm::SmallVector<mlir::Value>
  widenInputs(mlir::ImplicitLocOpBuilder &b, mlir::ValueRange v) {
    llvm::SmallVector<mlir::Value> wide(v);
    for (mlir::Value &value : llvm::MutableArrayRef(wide).drop_back()) {
      if (llvm::isa<mlir::FloatType>(value.getType())) {
        value = convertFloat(b, value, b.getF32Type());
      }
    }
    return wide;
  }

  struct Range {
    Range(Parts &parts, mlir::Value value, mlir::OpFoldResult first,
          int64_t count, int64_t stride) {
      mlir::OpBuilder &b = parts.b;
      auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
      for (int64_t size : type.getShape()) {
        offsets.push_back(b.getIndexAttr(0));
        sizes.push_back(b.getIndexAttr(size));
        strides.push_back(b.getIndexAttr(1));
      }
      sizes.front() = parts.rows;
      offsets.back() = first;
      sizes.back() = b.getIndexAttr(count);
      strides.back() = b.getIndexAttr(stride);
    }
    llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  };

  mlir::ImplicitLocOpBuilder &b;
  mlir::FloatType element;
  mlir::Value rows, whole;
};

} // namespace tfc

#endif // TFC_COMPILER_LOWERING_PARTS_H
