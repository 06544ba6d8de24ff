// What the layers of a loop differ in besides their weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_LAYEROPS
#define TFC_DIALECT_LAYEROPS

include "dialect/TransformerBase.td"

def Transformer_PerLayerOp
    : Transformer_Op<"per_layer", [Pure, InferTypeOpAdaptor]> {
  let summary = "a number of a layer, from a table of all layers";
  let description = [{
    `values[layer]`: an index, or a number that code has as f32. Layers that
    differ in such numbers alone (how far they see, which angles turn their
    queries) are one loop, whose body loads them.

    ```mlir
    %left = transformer.per_layer index [8, 2147483647][%layer]
    %factor = transformer.per_layer f32 [0.25, 0.5][%layer]
    ```

    Constraints:
    * C1. there is a value, and numbers are finite.
  }];
  let arguments = (ins
      AnyAttrOf<[DenseI64ArrayAttr, DenseF64ArrayAttr]>:$values, Index:$layer);
  let results = (outs AnyTypeOf<[Index, F32]>:$result);
  let assemblyFormat =
      "custom<LayerValues>($values) `[` $layer `]` attr-dict";
  let hasVerifier = 1;
}

#endif // TFC_DIALECT_LAYEROPS
