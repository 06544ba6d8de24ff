// Passes from tensors to the LLVM dialect on a CPU.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_CPU_PASSES
#define TFC_COMPILER_CPU_PASSES

include "mlir/Pass/PassBase.td"

def ExpandCpuKernelsPass : Pass<"tfc-expand-cpu-kernels", "::mlir::ModuleOp"> {
  let summary = "structured ops on buffers become loops over vectors";
  let description = [{
    What `tfc-expand-scalar-kernels` does, in vectors of `lanes` floats: tiles of
    1, 2, 4 or 8 queries of a head, whose sums stay in registers, against keys
    that lie by groups of 16 positions. The bits of a query's result depend on
    the query and what it sees alone, and are the same for 16 lanes and for 8.
    With `by-lane` a turn loads four numbers of each row at once, and multiplies
    by their lanes, for CPUs whose multiply-adds take one.

    A `product` becomes a loop over panels and rows, after its
    `#transformer.product_tile`. Its inner loops are functions that all products
    of the module share, one for each number of rows and what it asks for ahead
    of time:

    ```mlir
    func.func private @product.8x48_next6(row, bytes of a row, last row, panel,
                                          steps, sums, is first, next panel)
    ```

    A tile of fewer rows repeats the last one. The tiles of an item read the same
    panel one after the other, in blocks of steps if it has more than
    `block_bytes`; an item that has all its rows asks for the next panel
    meanwhile, a part a tile, one of fewer rows `ahead` steps ahead in its own
    as well. Of a panel of 16 bits the first of more than two tiles leaves f32 in
    the worker's memory (`_keep`), which the others read. The sums begin at zero and go through k in order. Behind the last
    block the product's body follows, a row at a time, as narrow as the last
    panel is.

    Option `dots=amx` computes the tiles of products of the kind `dot`, those of
    four bits aside, in registers of AMX: an item's tiles are one call, whose
    tiles of 32 rows, and of 16 or fewer behind them, begin at zero and take 16
    words of k a turn. The words behind the last whole turn, and products of
    bytes with at most 8 rows, are tiles of vectors as with `dots=vector`.

    ```mlir
    func.func private @product.32x48_amx_bf16_next(first row, bytes of a row,
                                                   rows, panel, turns, sums)
    ```
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16",
                        "floats in a vector register: 16 or 8">,
                 Option<"byLane", "by-lane", "bool", "false",
                        "attention's factors are lanes of four">,
                 Option<"dots", "dots", "std::string", "\"vector\"",
                        "what has the sums of dots: vector or amx">];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let statistics = [
    Statistic<"numExpanded", "num-expanded", "structured ops expanded">];
}

def SplitTilesPass
    : Pass<"tfc-split-tiles", "::mlir::func::FuncOp"> {
  let summary = "tiles become vectors of one row by lanes";
  let description = [{
    Runs after bufferization. A vector of any shape becomes as many vectors of
    `lanes` as it takes, row by row, and a shorter one at the end of each row:
    `vector<8x48xf32>` 24 of 16 floats, `vector<2x20xf32>` 2 of 16 and 2 of 4.
    Ops that work element by element are repeated, loops carry all parts.
    Transfers become loads and stores at plain addresses, through views of
    views; what a tile repeats is loaded once, and a float that a row repeats is
    a scalar load. Chains that end in a store are put before it, depth first.
    The reduction of a tile adds parts, then halves of what is left, each an op
    of its own: the order is the IR's, whatever the back end would like.

    An op on a tile that does none of this is an error.
  }];
  let options = [Option<"lanes", "lanes", "int64_t", "16",
                        "floats of a vector register">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TFC_COMPILER_CPU_PASSES
