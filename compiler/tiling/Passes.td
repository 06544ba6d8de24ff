// Passes from structured ops to loops over tiles. They name no op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TILING_PASSES
#define TFC_COMPILER_TILING_PASSES

include "mlir/Pass/PassBase.td"

def SelectStrategyPass : Pass<"tfc-select-strategy", "::mlir::ModuleOp"> {
  let summary = "write tile sizes on the roots of tiling";
  let description = [{
    Chooses, from shape and target alone, a `#transformer.strategy` for every
    linalg op over rows: its parallel items and, for a map or a sum of static
    width, tiles of one row and, of that, as many columns at a time as a few
    registers hold: the width itself or a divisor of it; one that has no such
    divisor stays a plain loop. Ops that are expanded as a whole
    (`KernelOpInterface`) get a `#transformer.product_tile` instead. The sizes
    come from the strategy table (compiler/tiling/Strategy.h); later passes read
    the attributes only.
  }];
  let options = [Option<"target", "target", "std::string", "\"x86-64-v4\"",
                        "name of the program">,
                 Option<"microarchitecture", "microarchitecture",
                        "std::string", "",
                        "LLVM's name of the CPU that is to be fast">];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numRoots", "num-roots", "ops over rows with sizes of tiles">,
    Statistic<"numKernels", "num-kernels", "ops expanded as a whole with theirs">];
}

def TileAndFusePass : Pass<"tfc-tile-and-fuse", "::mlir::func::FuncOp"> {
  let summary = "cut the roots into tiles, one level of their strategy";
  let description = [{
    Tiles every op whose `#transformer.strategy` has sizes for `level`, through
    TilingInterface, and fuses into its tiles the producers that are no roots of
    parallel items themselves (a sum into its map, a fill into whoever takes
    it). Level `parallel` makes `scf.forall`; `rows` makes `scf.for`;
    `reduction` makes `scf.for` around the op
    alone, over the steps of a reduction, marked for `tfc-vectorize`, or over
    the columns of a map.

    ```mlir
    // reduction = [0, 64] on a sum over 768 columns
    %sums = scf.for %k = %c0 to %c768 step %c64 iter_args(%s = %zeros) -> tensor<1x64xf32> { %s + columns %k to %k + 64 }
    %sum = linalg.reduce of %sums over its columns
    ```

    Afterwards the strategy has that level no more, and is gone after the last.
    Sums are added in the old order where the step of their reduction is 1. With
    a longer one each place of the step has a partial sum, and these are added
    up at the end, so rounding differs from that of the op; it depends on the
    width and the step alone.
  }];
  let options = [Option<"level", "level", "std::string", "\"parallel\"",
                        "parallel, rows or reduction">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def FuseRowsPass : Pass<"tfc-fuse-rows", "::mlir::func::FuncOp"> {
  let summary = "what sums along rows and maps them becomes one loop over rows";
  let description = [{
    A map over rows, with all that is computed for it alone of the same rows,
    becomes an `scf.forall` over them, whose body has one row: of a norm its
    sums and what makes unit rows of them, and the additions before, where
    nobody else reads these. A map without a sum stays as it is, and so do
    gathers, rows of more than `width` columns, which registers would not hold,
    and what sums more than along a row.

    ```mlir
    %y = scf.forall (%t) in (%tokens) shared_outs(%out = %init) -> (tensor<?x104xf32>) {
      %row = tensor.extract_slice %x[%t, 0] [1, 104] [1, 1]
      %sum = linalg.generic ... ins(%row : tensor<1x104xf32>) outs(%zero : tensor<1xf32>)
      %unit = linalg.generic ... ins(%row, %sum)
      ...
    }
    ```

    Rounding does not change.
  }];
  let options = [Option<"width", "width", "int64_t", "8192",
                        "columns of the longest row that is taken">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def VectorizePass : Pass<"tfc-vectorize", "::mlir::func::FuncOp"> {
  let summary = "static tiles become vectors of the same shape";
  let description = [{
    Every linalg op of static shape becomes vector code on whole tiles:

    ```mlir
    %sums = scf.for %k = %c0 to %c768 step %c64 iter_args(%acc = %zero)
        -> (vector<1x64xf32>) {
      %x = vector.transfer_read %rows[%i, %k] ... : vector<1x64xf32>
      %next = arith.addf %acc, %x : vector<1x64xf32>
      ...
    ```

    The accumulators of loops that `tfc-tile-and-fuse` marked as reductions
    leave the loop's memory for its iter_args, multiplications and additions
    become one fma in every case alike, and the loop's body is repeated `unroll`
    times. What the registers of a machine hold is for
    `tfc-split-tiles` to say, after bufferization: until then a tile is
    one op.

    Ops of dynamic shape are left alone.
  }];
  let options = [
    Option<"unroll", "unroll", "int64_t", "4",
           "repetitions of a reduction's body, at most">];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::ub::UBDialect",
                           "::mlir::vector::VectorDialect"];
}

#endif // TFC_COMPILER_TILING_PASSES
