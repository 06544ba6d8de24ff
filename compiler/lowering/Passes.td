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

    What an entry `keep`s is written likewise, to the place that its parameter
    has among the packed weights, which is a `weight` of a memref type.

    Afterwards only `parameter`, `weight`, `cache_write`, `paged_attention` and
    `tap` are left of the dialect. An op that is the last user of its input
    takes it as its destination, so that bufferization works in place. A slice
    of columns whose users read rows wherever they lie becomes a view, any other
    one a copy. Rounding is that of f32 arithmetic in the order of the formulas;
    rows of 16 bits are widened where they are read, element by element, and
    rounded where they are written, so that neither is a loop of its own.

    Where there are kernels for products, a product with a weight is
    `transformer.product`, its epilogue the body, and the parameter says how its
    rows and columns lie for them: in panels of `panel` rows, for kernels of
    CPUs, or, with `kernel-rows`, as they are, one row a panel, for those of
    devices; integers then in the order of fragments (`#transformer.packed`).
    Look-ups in a matrix that a product reads find its rows there.

    ```mlir
    transformer.parameter @w : tensor<96x8xf32> from <...> packed<panel = 48>
    %w = transformer.weight @w : tensor<2x8x48xf32>
    %y = transformer.product %x, %w columns(%bias) outs(%init) ... {
    ^bb0(%sum: f32, %b: f32):
      %biased = arith.addf %sum, %b : f32
      transformer.yield %biased : f32
    }
    ```

    Rows become integers by three maps: the greatest element of a row by size, as
    bits, in any order the same; the scale; the rounded quotients. What they are
    for kernels of panels, `int8-rows` says: `excess` for those that multiply
    bytes without a sign, where a product's body takes `excess` from the sum,
    a companion of the weight; `signed` for those whose bytes have one; `wide`
    for those that multiply 16 bits. The body begins with the scales.
  }];
  let options = [
    Option<"int8Rows", "int8-rows", "::tfc::IntegerRows",
           "::tfc::IntegerRows::Wide",
           "what rows of integers are for kernels of panels: wide, excess, "
           "signed or matrices",
           [{::llvm::cl::values(
             clEnumValN(::tfc::IntegerRows::Wide, "wide", "of 16 bits"),
             clEnumValN(::tfc::IntegerRows::Excess, "excess",
                        "of 8 bits, 128 more"),
             clEnumValN(::tfc::IntegerRows::Signed, "signed", "of 8 bits"),
             clEnumValN(::tfc::IntegerRows::Matrices, "matrices",
                        "of 8 bits, eight a word"))}]>,
    Option<"panel", "panel", "int64_t", "0",
           "rows of a panel of packed weights; 0: no kernel reads panels">,
    Option<"bf16Word", "bf16-word", "int64_t", "1",
           "columns of bf16 in a word of a panel; one of bytes has four, two for "
           "rows of 16 bits or eight for matrices, others one">,
    Option<"kernelRows", "kernel-rows", "int64_t", "0",
           "kernels do products of rows of f32 or of 16 bits, whole times so many "
           "elements of the latter long, and matrices of the same, which they "
           "take as they are, or of integers beside 16 bits; 0: no kernel does">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect", "::tfc::transformer::TransformerDialect"];
  let statistics = [
    Statistic<"numLowered", "num-lowered", "ops of the model replaced">,
    Statistic<"numOutputs", "num-outputs", "outputs that became arguments">];
}

#endif // TFC_COMPILER_LOWERING_PASSES
