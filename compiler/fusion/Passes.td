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

def FuseEpiloguesPass : Pass<"tfc-fuse-epilogues"> {
  let summary = "activations and residuals join the product before them";
  let description = [{
    An activation or an addition that is the only user of a product becomes part
    of it, to be done while the product's tile is in registers:

    ```mlir
    %p = transformer.linear %x, %w bias %b : ...
    %y = transformer.add %r, %p : ...
    // becomes
    %y = transformer.linear %x, %w bias %b residual %r : ...
    ```

    `transformer.linear` takes one activation and then one residual,
    `transformer.ffn` one residual. Afterwards the product has the location of
    the op that it absorbed. Rounding does not change.
  }];
  let dependentDialects = ["::tfc::transformer::TransformerDialect"];
}

#endif // TFC_COMPILER_FUSION_PASSES
