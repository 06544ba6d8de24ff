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
    one a copy. Rounding is that of f32 arithmetic in the order of the formulas;
    rows of 16 bits are widened where they are read, element by element, and
    rounded where they are written, so that neither is a loop of its own.

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
           "rows of a panel of packed weights; 0 keeps them as rows">,
    Option<"multiple", "multiple", "int64_t", "0",
           "0: all products have panels; otherwise those alone of rows and a "
           "matrix of 16 bits, a multiple of so many elements long">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::tfc::transformer::TransformerDialect"];
}

#endif // TFC_COMPILER_LOWERING_PASSES
