// Attention, as mathematics.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_ATTENTIONOPS
#define TFC_DIALECT_ATTENTIONOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerTypes.td"

def Transformer_AttentionOp
    : Transformer_Op<"attention", [InferTypeOpAdaptor,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "masked scaled dot-product attention over a ragged batch";
  let description = [{
    Appends `key` and `value` to each sequence's positions in `cache[layer]`,
    then, for every head h and every new token t, with g the key-value head of
    h (`h / (num_heads / kv_heads)`) and j over the visible positions:

    `y[t,h] = sum_j softmax_j(scale * q[t,h] . K[j,g]) V[j,g]`

    (Vaswani et al. 2017, arXiv:1706.03762.) Visible are, of a sequence that
    had `past` positions before its `count` new tokens and shows `keys` of them:
    with `bidirectional` the first `keys`; with `causal`, for its token number
    i, the first `min(keys, past + i + 1)`. With `scale_by_inverse_layer` the
    scale is divided by `layer + 1`.

    ```mlir
    %y = transformer.attention %q, %k, %v, %cache[%layer], %batch causal
           heads 4 {scale = 0.196 : f64}
           : tensor<?x104xf32>, tensor<?x104xf32>, tensor<?x104xf32>,
             !transformer.cache<layers = 2, kv_heads = 4, head_dim = 26>
    ```

    Shapes: query and result `[T, num_heads * head_dim]`, key and value
    `[T, kv_heads * head_dim]`.

    Constraints:
    * C1. num_heads is a positive multiple of the cache's kv_heads.
    * C2. query is num_heads * head_dim wide.
    * C3. key and value are kv_heads * head_dim wide.
    * C4. scale is finite.
  }];
  let arguments = (ins Transformer_Rows:$query, Transformer_Rows:$key,
                       Transformer_Rows:$value, Transformer_CacheType:$cache,
                       Index:$layer, Transformer_BatchType:$batch,
                       Transformer_Mask:$mask, I64Attr:$num_heads,
                       F64Attr:$scale, UnitAttr:$scale_by_inverse_layer);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $cache `[` $layer `]` `,` $batch $mask
    `heads` $num_heads (`scale_by_inverse_layer` $scale_by_inverse_layer^)?
    attr-dict `:` type($query) `,` type($key) `,` type($value) `,` type($cache)
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECT_ATTENTIONOPS
