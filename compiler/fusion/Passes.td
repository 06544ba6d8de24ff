// Passes from transformer to transformer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_FUSION_PASSES
#define TFC_COMPILER_FUSION_PASSES

include "mlir/Pass/PassBase.td"

def InsertTapsPass : Pass<"tfc-insert-taps", "::mlir::ModuleOp"> {
  let summary = "report the rows that each op computes to the host";
  let description = [{
    Adds a `transformer.tap` behind every op of the dialect whose result is
    rows. Its id is the op's location, which is a path of the spec, and the op's
    name; inside the layer loop it carries the layer.

    ```mlir
    %y = transformer.layer_norm %x, %w {eps = 1.0e-5 : f64} : ...
    // becomes, at loc("decoder.layers.attn.pre_norm") and in the loop over %i
    %y = transformer.layer_norm %x, %w {eps = 1.0e-5 : f64} : ...
    transformer.tap "decoder.layers.attn.pre_norm:layer_norm" layer %i %y : ...
    ```

    Afterwards every such value exists as a value of its own: what follows may
    not fuse it away. Rounding does not change.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
  let statistics = [Statistic<"numTaps", "num-taps", "taps added">];
}

#endif // TFC_COMPILER_FUSION_PASSES
