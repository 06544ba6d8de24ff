// !transformer.batch and !transformer.cache.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_TRANSFORMERTYPES
#define TFC_DIALECT_TRANSFORMERTYPES

include "dialect/TransformerBase.td"
include "mlir/IR/AttrTypeBase.td"

class Transformer_Type<string name, string typeMnemonic>
    : TypeDef<Transformer_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Transformer_BatchType : Transformer_Type<"Batch", "batch"> {
  let summary = "the table of the step's sequences";
  let description = [{
    Per sequence: its first row, its new tokens, how many tokens it had before,
    how many of its positions are visible, and its cache blocks. The work items
    of attention belong to it. `tfc_sequence_v0` and `tfc_item_v0` in
    runtime/include/tfc/abi.h are its layout at run time.
  }];
}

def Transformer_CacheType : Transformer_Type<"Cache", "cache"> {
  let summary = "keys and values, in blocks";
  let description = [{
    A handle: ops that read or write it say so as memory effects. It holds
    `layers` layers of `kv_heads` heads, `head_dim` wide. A `scratch` cache
    holds one layer, which all layers use in turn: an encoder needs keys and
    values only while it is in the layer. A `cross` cache holds what an encoder
    left for the layers of a decoder: `encode` writes it once, `step` reads it.

    ```mlir
    !transformer.cache<layers = 12, kv_heads = 12, head_dim = 64>
    !transformer.cache<scratch, layers = 6, kv_heads = 12, head_dim = 26>
    !transformer.cache<cross, layers = 6, kv_heads = 12, head_dim = 26>
    ```

    Constraints:
    * C1. layers, kv_heads and head_dim are at least 1.
    * C2. their product is less than 2^48, so that sizes in bytes are numbers.
  }];
  let parameters = (ins "int64_t":$layers, "int64_t":$kvHeads,
                        "int64_t":$headDim, "CacheKind":$kind);
  let extraClassDeclaration = [{
    bool isScratch() const { return getKind() == CacheKind::Scratch; }
    bool isCross() const { return getKind() == CacheKind::Cross; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // TFC_DIALECT_TRANSFORMERTYPES
