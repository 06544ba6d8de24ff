// Latent attention: heads that share what the cache keeps of a position.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_LATENTOPS
#define TFC_DIALECT_LATENTOPS

include "dialect/StructuredOps.td"

def Transformer_HeadLinearOp
    : Transformer_ValueOp<"head_linear", [Transformer_WidensMatrices]> {
  let summary = "a product of each head with a matrix of its own";
  let description = [{
    With x[t,h] the columns of head h, I of them, the first K are multiplied and
    the others stand as they are before the products:
    `y[t,h] = [x[t,h,K:], W_h x[t,h,:K]]`.

    ```mlir
    %y = transformer.head_linear %x, %w heads 3
           : (tensor<?x30xf32>, tensor<3x12x6xf32>) -> tensor<?x48xf32>
    ```

    Shapes: input `[T, num_heads * I]`, weight `[num_heads, N, K]`, result
    `[T, num_heads * (I - K + N)]`. A weight of f16 or bf16 is widened to f32,
    exactly.

    Constraints:
    * C1. the weight has a matrix for each head.
    * C2. the input is a multiple of num_heads wide, and K is at most I.
  }];
  let arguments = (ins Transformer_Rows:$input,
                       Transformer_ExpertMatrices:$weight, I64Attr:$num_heads);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weight `heads` $num_heads attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_LatentAttentionOp
    : Transformer_RowsOp<"latent_attention", [
        Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "causal attention of all heads to one row a position";
  let description = [{
    Appends `[rope_key, latent]` to each sequence's positions in `cache[layer]`,
    then, for every head h and every new token t, with K[j] what is there and
    C[j] its last columns, the latent, and j over the positions up to the
    token's own (the first `keys` of them):

    `y[t,h] = sum_j softmax_j(scale * q[t,h] . K[j]) C[j]`

    It is the attention of DeepSeek-V2 (DeepSeek-AI 2024, arXiv:2405.04434) with
    the matrices that make keys and values of latents left to
    `transformer.head_linear`: before it in the queries, behind it in the sums.

    ```mlir
    %y = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch
           heads 3 {scale = 0.3 : f64}
           : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>,
             !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16,
                                values = 12>, tensor<?x36xf32>
    ```

    Shapes: query `[T, num_heads * head_dim]`, rope_key
    `[T, head_dim - values]`, latent `[T, values]`, result
    `[T, num_heads * values]`.

    Constraints:
    * C1. the cache is one of latents.
    * C2. there is a head, and num_heads times head_dim is less than 2^31.
    * C3. query is num_heads * head_dim wide, rope_key and latent together are
      head_dim wide, latent alone `values`.
    * C4. scale is finite.
    * C5. a constant layer is one of the cache's.
  }];
  let arguments = (ins Transformer_Rows:$query, Transformer_Rows:$rope_key,
                       Transformer_Rows:$latent, Transformer_CacheType:$cache,
                       Index:$layer, Transformer_BatchType:$batch,
                       I64Attr:$num_heads, F64Attr:$scale);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query `,` $rope_key `,` $latent `,` $cache `[` $layer `]` `,` $batch
    `heads` $num_heads attr-dict `:` type($query) `,` type($rope_key) `,`
    type($latent) `,` qualified(type($cache)) `,` type($result)
  }];
}

def Transformer_PagedLatentOp
    : Transformer_StructuredOp<"paged_latent", [
        DestinationStyleOpInterface, Transformer_AcceptsStridedRows]> {
  let summary = "latents appended to the cache, and attention over it";
  let description = [{
    What `transformer.latent_attention` does, its sums written to `init`. First
    all rows are appended, rounded to what the cache keeps; then scores, their
    softmax and the sums are f32. A score's products are added through the
    columns of the key in order; scores of 64 positions, which begin at
    multiples of 64, are compared with the greatest one before them; weighted
    latents are added by position. So a row's bits are its own.

    Constraints:
    * C1. the shapes are those of `transformer.latent_attention`, init being its
      result; C1, C2, C3 and C5 of it hold.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$query,
                       Transformer_RowsOrBuffer:$rope_key,
                       Transformer_RowsOrBuffer:$latent,
                       Transformer_CacheType:$cache, Index:$layer,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init, I64Attr:$num_heads,
                       F64Attr:$scale);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $query `,` $rope_key `,` $latent `,` $cache `[` $layer `]` `,` $batch
    `heads` $num_heads `outs` `(` $init `:` type($init) `)` attr-dict `:`
    type($query) `,` type($rope_key) `,` type($latent) `,`
    qualified(type($cache)) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECT_LATENTOPS
