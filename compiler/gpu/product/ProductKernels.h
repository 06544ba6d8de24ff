// The kernels that do products: which there are, and which one does how many
// rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_GPU_PRODUCT_PRODUCTKERNELS_H
#define TFC_COMPILER_GPU_PRODUCT_PRODUCTKERNELS_H

#include "compiler/gpu/product/ProductForm.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <map>

namespace tfc {

struct SkinnyProduct;

/// A kernel for products of one form, of up to `tokens` rows (0: of any number
/// of them), in blocks of so many threads for a tile of the result each.
struct ProductKernel {
  mlir::gpu::GPUFuncOp function;
  int64_t tokens, tileRows, tileColumns, threads;
  /// Whether it is for products of which the next kernel's blocks would be too
  /// few for a device, instead of for `tokens`. Their bits are the same.
  bool isForFewBlocks = false;
  /// The most steps of k of the products that it is for; 0: any number. Their
  /// bits are the next kernel's.
  int64_t mostDepth = 0;
};

/// Makes kernels for the forms of a module, each once.
class ProductKernels {
public:
  struct Options {
    bool hasOneOrder;   // a result's bits are those for any number of rows
    bool hasWarpgroups; // the device multiplies by four warps together
    bool doOverlap;     // a kernel waits for the one in front of it
  };

  ProductKernels(mlir::gpu::GPUModuleOp kernels, const Options &options)
      : kernels(kernels), options(options) {}

  /// From that for the fewest rows to that for any number of them.
  llvm::ArrayRef<ProductKernel> find(const ProductForm &form);

private:
  llvm::SmallVector<ProductKernel> build(const ProductForm &form);
  ProductKernel buildSkinny(const ProductForm &form, const SkinnyProduct &tile);
  template <typename Tile>
  void buildTiles(const ProductForm &form, llvm::ArrayRef<Tile> tiles,
                  llvm::SmallVectorImpl<ProductKernel> &built);
  /// product_<rows>x<columns>_<element>_<number of the form>, of integers with
  /// these before the number, of experts with their name there, for short sums
  /// with that behind it.
  std::string nameOf(const ProductForm &form, int64_t rows,
                     int64_t columns) const;

  mlir::gpu::GPUModuleOp kernels;
  Options options;
  std::map<std::string, llvm::SmallVector<ProductKernel>> known; // by key
};

} // namespace tfc

#endif // TFC_COMPILER_GPU_PRODUCT_PRODUCTKERNELS_H
