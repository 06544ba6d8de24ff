// !transformer.batch, !transformer.cache and !transformer.state.
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
    With a `window`, no layer looks further back than so many positions, a
    token's own included, and the host may take back what lies behind. Keys and
    values are kept in `f32`, or in `f16` or `bf16`, to which they are rounded
    when they are written, or in `i8`: then the key of a head and position, and
    its value, are integers with an f32 scale each, as `transformer.quantize_rows`
    makes them of a row, and stand for their products with it. In a cache of
    latents, with `values`, a position has no values of its own: they are the
    last so many columns of its key.

    Where layers differ in heads a cache has several parts, and a handle is of
    one: `part` says which, of parts that are listed by layers, kv_heads and
    head_dim. A block has them all, one behind the other.

    ```mlir
    !transformer.cache<layers = 12, kv_heads = 12, head_dim = 64>
    !transformer.cache<layers = 12, kv_heads = 4, head_dim = 64, window = 4096>
    !transformer.cache<layers = 12, kv_heads = 12, head_dim = 64, f16>
    !transformer.cache<layers = 12, kv_heads = 12, head_dim = 64, i8>
    !transformer.cache<scratch, layers = 6, kv_heads = 12, head_dim = 26>
    !transformer.cache<cross, layers = 6, kv_heads = 12, head_dim = 26>
    !transformer.cache<layers = 27, kv_heads = 1, head_dim = 576, values = 512>
    !transformer.cache<layers = 5, kv_heads = 2, head_dim = 512,
                       part = 1 of [25, 4, 256, 5, 2, 512]>
    ```

    Constraints:
    * C1. layers, kv_heads and head_dim are at least 1.
    * C2. their product is less than 2^48, so that sizes in bytes are numbers.
    * C3. a window is at least 1, and of a cache that is neither scratch nor
      cross.
    * C4. elements are f32, f16, bf16 or i8.
    * C5. values are at most head_dim, of a cache with one head that is neither
      scratch nor cross.
    * C6. elements of a cache of latents are no i8.
    * C7. parts are two or more, each of numbers that C1 and C2 allow, of a cache
      that is neither scratch nor cross nor of latents; part is one of them, and
      it is as layers, kv_heads and head_dim say.
  }];
  let parameters = (ins "int64_t":$layers, "int64_t":$kvHeads,
                        "int64_t":$headDim, "int64_t":$values,
                        "CacheKind":$kind,
                        "int64_t":$window, "Type":$elementType,
                        "int64_t":$part,
                        ArrayRefParameter<"int64_t">:$shapes);
  let builders = [
    TypeBuilder<(ins "int64_t":$layers, "int64_t":$kvHeads,
                     "int64_t":$headDim, "int64_t":$values, "CacheKind":$kind,
                     "int64_t":$window, "Type":$elementType), [{
      return $_get($_ctxt, layers, kvHeads, headDim, values, kind, window,
                   elementType, 0, ::llvm::ArrayRef<int64_t>());
    }]>
  ];
  let extraClassDeclaration = [{
    /// What a part is: layers, heads and the columns of one.
    struct Shape {
      int64_t layers, kvHeads, headDim;
    };
    /// Those of all parts, or of the cache itself where it has none.
    ::llvm::SmallVector<Shape> listShapes() const;
    bool hasParts() const { return !getShapes().empty(); }
    /// How many layers the parts before this one have.
    int64_t countLayersBefore() const;
    /// The same of other elements.
    CacheType withElements(::mlir::Type elementType) const;
    /// The same with one of equal parts of the heads.
    CacheType shareHeads(int64_t parts) const;
    /// Whether tokens see no further back than `window`; else that is 0.
    bool hasWindow() const { return getWindow() != 0; }
    /// Whether values are columns of the keys.
    bool isLatent() const { return getValues() != 0; }
    bool isScratch() const { return getKind() == CacheKind::Scratch; }
    bool isCross() const { return getKind() == CacheKind::Cross; }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Transformer_StateType : Transformer_Type<"State", "state"> {
  let summary = "what stands for all tokens before, of a fixed size";
  let description = [{
    A handle, as `!transformer.cache` is one: what recurrent and convolutional
    layers keep of a sequence. It holds `layers` layers of `width` numbers, f32
    always: what is added to a state again and again is not rounded to less. The
    state of a sequence that has no tokens yet is zeros.

    ```mlir
    !transformer.state<layers = 10, width = 4096>
    ```

    Constraints:
    * C1. layers and width are at least 1.
    * C2. their product is less than 2^48, so that sizes in bytes are numbers.
  }];
  let parameters = (ins "int64_t":$layers, "int64_t":$width);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // TFC_DIALECT_TRANSFORMERTYPES
