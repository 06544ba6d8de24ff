// What linalg cannot say: paged attention and the cache. These ops exist on
// tensors and, after bufferization, on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_STRUCTUREDOPS
#define TFC_DIALECT_STRUCTUREDOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

class Transformer_StructuredOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Transformer_CacheWriteOp
    : Transformer_StructuredOp<"cache_write", [Transformer_AcceptsStridedRows]> {
  let summary = "appends keys and values to the cache";
  let description = [{
    Writes row i of sequence s of `key` and `value` to position `past + i` of
    the sequence's blocks in `cache[layer]`; of its cross blocks, when it is a
    cross cache. The entry `encode` of an encoder-decoder fills the cross cache
    with it, a layer of the decoder at a time.

    Constraints:
    * C1. key and value are kv_heads * head_dim wide.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$key,
                       Transformer_RowsOrBuffer:$value,
                       Transformer_CacheType:$cache, Index:$layer,
                       Transformer_BatchType:$batch);
  let assemblyFormat = [{
    $key `,` $value `into` $cache `[` $layer `]` `,` $batch attr-dict `:`
    type($key) `,` type($value) `,` type($cache)
  }];
  let hasVerifier = 1;
}

def Transformer_PagedAttentionOp
    : Transformer_StructuredOp<"paged_attention", [
        DestinationStyleOpInterface, Transformer_AcceptsStridedRows]> {
  let summary = "attention over the positions in the cache";
  let description = [{
    The sum of `transformer.attention`, over what `cache[layer]` holds, written
    to `init`; of `transformer.cross_attention`, when it is a cross cache.
    `scale` is a value because it may depend on the layer.

    Constraints:
    * C1. num_heads is a positive multiple of the cache's kv_heads.
    * C2. query and init are num_heads * head_dim wide.
    * C3. bias has num_heads rows and an odd width.
    * C4. a window is at least 0, and of causal attention.
    * C5. over a cross cache attention is bidirectional, without bias.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$query, F32:$scale,
                       Transformer_CacheType:$cache, Index:$layer,
                       Transformer_BatchType:$batch,
                       Optional<Transformer_MatrixOrBuffer>:$bias,
                       Transformer_RowsOrBuffer:$init,
                       Transformer_Mask:$mask, I64Attr:$num_heads,
                       OptionalAttr<I64Attr>:$window);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $query `,` $scale `,` $cache `[` $layer `]` `,` $batch (`bias` $bias^)?
    $mask `heads` $num_heads (`window` $window^)?
    `outs` `(` $init `:` type($init) `)` attr-dict `:` type($query)
    `,` type($cache) (`,` type($bias)^)? (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECT_STRUCTUREDOPS
