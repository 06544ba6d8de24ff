// The kernels that do products on tensor cores: which there are, and which one
// does how many rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCTKERNELS_H
#define TFC_COMPILER_GPU_PRODUCTKERNELS_H

#include "compiler/gpu/ProductForm.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <map>

namespace tfc {

/// A kernel for products of one form, of up to `tokens` rows (0: of any number
/// of them), in blocks of so many threads for a tile of the result each.
struct ProductKernel {
  mlir::gpu::GPUFuncOp function;
  int64_t tokens, tileRows, tileColumns, threads;
};

/// Makes kernels for the forms of a module, each once.
class ProductKernels {
public:
  explicit ProductKernels(mlir::gpu::GPUModuleOp kernels) : kernels(kernels) {}

  /// From that for the fewest rows to that for any number of them.
  llvm::ArrayRef<ProductKernel> find(const ProductForm &form);

private:
  llvm::SmallVector<ProductKernel> build(const ProductForm &form);

  mlir::gpu::GPUModuleOp kernels;
  std::map<std::string, llvm::SmallVector<ProductKernel>> known; // by key
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCTKERNELS_H
