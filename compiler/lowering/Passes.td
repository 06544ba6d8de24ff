// Passes from transformer to linalg on tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_LOWERING_PASSES
#define TFC_COMPILER_LOWERING_PASSES

include "mlir/Pass/PassBase.td"

def LowerToLinalgPass : Pass<"tfc-lower-to-linalg", "::mlir::ModuleOp"> {
  let summary = "value ops become linalg, attention its structured ops";
  let description = [{
    Every value op becomes linalg on tensors; `attention` becomes a
    `cache_write` and a `paged_attention`; an `output` becomes a conditional
    region that writes to a new memref argument of the entry:

    ```mlir
    transformer.output "logits" wanted take all { ... transformer.yield %y }
    // becomes, with the argument %out : memref<?x97xf32>
    scf.if %out_is_given {
      ...
      bufferization.materialize_in_destination %y in restrict writable %out
    }
    ```

    Afterwards only `parameter`, `weight`, `cache_write`, `paged_attention` and
    `tap` are left of the dialect. An op that is the last user of its input
    takes it as its destination, so that bufferization works in place. A slice
    of columns whose users read rows wherever they lie becomes a view, any other
    one a copy. Rounding is that of f32 arithmetic in the order of the formulas.

    With `panel` the matrices of products are packed in panels of that many
    rows, and a product is three-dimensional, (panel, row, column in the panel),
    with its epilogue writing straight into rows:

    ```mlir
    %p = linalg.generic ... -> tensor<?x2x48xf32>    // from zero, over k
    %y = linalg.generic {... (n0, t, n1) -> (t, n0 * 48 + n1)} ins(%p, %bias)
         outs(%init : tensor<?x96xf32>) ...
    ```
  }];
  let options = [
    Option<"panel", "panel", "int64_t", "0",
           "rows of a panel of packed weights; 0 keeps them as rows">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::tfc::transformer::TransformerDialect"];
}

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

def PackWeightsPass : Pass<"tfc-pack-weights", "::mlir::ModuleOp"> {
  let summary = "place the weights and generate `pack`";
  let description = [{
    Gives every parameter with a value of its own an offset in the packed
    weights and, where it has layers, their constant distance; both are
    multiples of 64 bytes. Generates `@pack`, which copies one stored tensor of
    one layer to its place as f32, in rows or in the panels that the parameter
    asks for: it converts f16 and bf16, picks the rows of a fused tensor, and
    transposes a tensor stored `[in, out]`. The rows that a last panel has too
    many are left as the host gives them, zeros.

    A parameter with parts has a place like any other. Its parts have none: what
    is stored of them is copied to their rows of it.

    ```mlir
    func.func @pack(%weight: index, %layer: index, %dtype: index,
                    %source: memref<?xi8>, %packed: memref<?xi8>)
    ```

    The module attribute `transformer.packed_bytes` holds the size of all.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

#endif // TFC_COMPILER_LOWERING_PASSES
