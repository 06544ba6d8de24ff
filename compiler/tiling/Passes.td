// Passes from structured ops to loops over tiles. They name no op.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TILING_PASSES
#define TFC_COMPILER_TILING_PASSES

include "mlir/Pass/PassBase.td"

def SelectStrategyPass : Pass<"tfc-select-strategy", "::mlir::ModuleOp"> {
  let summary = "write tile sizes on the roots of tiling";
  let description = [{
    Chooses, from shape and target alone, a `#transformer.strategy` for every
    linalg op: a contraction gets the steps of its reduction, the op that takes
    its result the tiles of parallel items and of rows, any other op over rows
    its parallel items. A map or a sum over rows of static width also gets tiles
    of one row and, of that, as many columns at a time as a few registers hold:
    the width itself or a divisor of it; one that has no such divisor stays a
    plain loop. The sizes come from the strategy table
    (compiler/tiling/Strategy.h); later passes read the attribute only.
  }];
  let options = [Option<"target", "target", "std::string", "\"x86-64-v4\"",
                        "name of the program">,
                 Option<"microarchitecture", "microarchitecture",
                        "std::string", "",
                        "LLVM's name of the CPU that is to be fast">];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
}

def TileAndFusePass : Pass<"tfc-tile-and-fuse", "::mlir::func::FuncOp"> {
  let summary = "cut the roots into tiles, one level of their strategy";
  let description = [{
    Tiles every op whose `#transformer.strategy` has sizes for `level`, through
    TilingInterface, and fuses into its tiles the producers that are no roots of
    parallel items themselves (a product into its epilogue, a fill into whoever
    takes it). Level `parallel` makes `scf.forall`; `rows` makes `scf.for`, marked
    for `tfc-specialize-remainder`; `reduction` makes `scf.for` around the op
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

def SpecializeRemainderPass
    : Pass<"tfc-specialize-remainder", "::mlir::func::FuncOp"> {
  let summary = "row loops: full tiles, then a switch over what is left";
  let description = [{
    Peels the loops that `tfc-tile-and-fuse{level=rows}` made: the main loop has
    full tiles only; the rest, fewer rows than a tile, becomes an
    `scf.index_switch` whose case r is the body for exactly r rows.

    ```mlir
    scf.for %i = %c0 to %rows step %c8 { tile of min(8, %rows - %i) rows }
    // becomes
    scf.for %i = %c0 to %full step %c8 { tile of 8 rows }
    scf.index_switch %left case 1 { tile of 1 row } ... case 7 { of 7 rows }
    ```

    Afterwards the sizes of all tiles are static, once canonicalized. Every case
    computes a row in the same way, so its bits do not depend on the case.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // TFC_COMPILER_TILING_PASSES
