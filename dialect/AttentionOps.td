// Attention, as mathematics.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_ATTENTIONOPS
#define TFC_DIALECT_ATTENTIONOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerInterfaces.td"
include "dialect/TransformerTypes.td"

def Transformer_AttentionOp
    : Transformer_RowsOp<"attention", [AttrSizedOperandSegments,
        Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface,
          ["shareOperands", "takeShare"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "masked scaled dot-product attention over a ragged batch";
  let description = [{
    Appends `key` and `value` to each sequence's positions in `cache[layer]`,
    then, for every head h and every new token t, with g the key-value head of
    h (`h / (num_heads / kv_heads)`) and j over the visible positions:

    `y[t,h] = sum_j softmax_j(scale * q[t,h] . K[j,g] + b(h, j - i)) V[j,g]`

    (Vaswani et al. 2017, arXiv:1706.03762.) Visible are, of a sequence that
    had `past` positions before its `count` new tokens and shows `keys` of them:
    with `bidirectional` the first `keys`; with `causal`, for its token number
    i, the first `min(keys, past + i + 1)`. A window is given by how far a
    token sees: with `left`, of these those from position `past + i - left` on;
    with `right`, those up to position `past + i + right`. Both are values, so
    that layers of a loop may differ in them; `kUnlimited`, 2^31 - 1, is further
    than any position. A token that sees none has no result: its row is not a
    number.

    The scale is times `factor`, where there is one; with
    `scale_by_inverse_layer` it is divided by `layer + 1`.

    `b` is the operand `bias` at the distance of key and query, `bias[h, M + d]`
    with d the difference of their positions, at least -M and at most M; without
    that operand it is 0. `transformer.distance_bias` makes one.

    With `cap` c the softmax is of `c * tanh(s / c)`, s being what it is of
    without: scores are between -c and c (Gemma Team 2024, arXiv:2408.00118).

    ```mlir
    %y = transformer.attention %q, %k, %v, %cache[%layer], %batch causal
           heads 4 {scale = 0.196 : f64}
           : tensor<?x104xf32>, tensor<?x104xf32>, tensor<?x104xf32>,
             !transformer.cache<layers = 2, kv_heads = 4, head_dim = 26>
    ```

    Without `key` and `value` nothing is appended: `cache[layer]` is what another
    attention of the step, before it, has written for these tokens
    (`%q shared, %cache[%layer]`).

    With `slopes` m, one for each head, `m[h] (j - i)` is added to the scores,
    j - i being the distance of key and query (Press et al. 2021,
    arXiv:2108.12409). With `rounded_slopes` it is `r(r(m[h]) r(j))`, r being the
    rounding to bf16 and j the key's position, and it is added before the scale.

    With `log_base` B the scores of a query that sees n positions (those that a
    window hides count) are also times `ln(n) / ln(B)`: attention over many
    positions stays as sharp as over B of them.

    With `relative_keys` A and `relative_queries` B, of which one may be missing,
    `scale * (q[t,h] . A[r,h] + K[j,g] . B[r,h])` is added to the scores: what
    keys and queries have at the distance d = i - j of query and key
    (He et al. 2020, arXiv:2006.03654). Its row r is `d + span`, or with
    `max_distance` M `bucket(d) + span`, from 0 to `2 span - 1`. With
    m = `span` / 2 `bucket(d)` is d where |d| is at most m, else
    `sign(d) (ceil(ln(|d| / m) / ln((M - 1) / m) (m - 1)) + m)`, computed in
    f32. With `odd_span` the tables have 2 span - 1 rows, and the row is one
    less. Tables that are head_dim wide are those of all heads.

    With `relative_values` C the values have a term, too: the result is
    `sum_j softmax_j(...) (V[j,g] + C[r,h])` (Shaw et al. 2018,
    arXiv:1803.02155).

    With `query_bias` u products with keys are of `q + u`, and with
    `relative_bias` v those with rows of A are of `q + v` (Dai et al. 2019,
    arXiv:1901.02860). With `segments` E and `types`, a number for each row,
    `scale * (q[t,h] + w[h]) . E[s,h]` is added to the scores, s being 0 where
    the key's row has the number of the query's row and else 1; w is
    `segment_bias` (Yang et al. 2019, arXiv:1906.08237). The key at position p of
    a sequence whose rows begin at r and which had `past` positions is row
    `r - past + p`: it is of this step, and so is the row of a spectator, which
    follows the sequence's own.

    With `unseen`, a number for each row, no query sees keys of rows whose number
    is not 0, their own included: what such a row holds is known to nobody, and
    it may ask what is to be there (the query stream of Yang et al. 2019,
    arXiv:1906.08237). A key's row is found as for its type.

    With `sparse_block` S and `random_blocks` R a sequence with more than
    (5 + 2 R) S keys is seen in part (Zaheer et al. 2020, arXiv:2007.14062, as it
    is evaluated). Blocks are S positions, the last block has the last key.
    Queries of the first and of the last block see all; those of another block b
    see blocks 0, b - 1, b, b + 1 and the last one, and ln(1 + R) is added to the
    scores of block 0, in whose place all random blocks are.

    With `sparse_block` S, `blocks_before` B and `blocks_after` A those of block b
    see blocks b - B to b + A (Kitaev et al. 2020, arXiv:2001.04451). Where they
    are causal, these are the ones before position i + 1. Otherwise blocks are a
    circle: block -1 is the last one, and the first one is behind the last. Of two
    blocks the other one is then on both sides, if B and A are 1, and ln(2) is
    added to its scores. A token behind the last key is of its block.

    With `sinks` s a softmax has one more score, `s[h]`, whose value is zero: it
    takes its part of the weights and gives nothing. With relative_keys they may
    be `s[t,h]`, of each token, as `transformer.memory_sinks` makes them.

    With `factors` both products multiply elements of that type: q, K, V and the
    weights `exp(s - m)`, m being the largest score, are rounded to it. Scores,
    sums and the total of weights, which are added as they were, are f32.

    Shapes: query and result `[T, num_heads * head_dim]`, key and value
    `[T, kv_heads * head_dim]`, bias `[num_heads, 2 M + 1]`, sinks
    `[num_heads]` or `[T, num_heads]`, relative_keys, relative_queries and relative_values
    `[2 span, num_heads * head_dim]` or `[2 span, head_dim]`, with `odd_span`
    one row less; query_bias, relative_bias and segment_bias
    `[num_heads * head_dim]`, segments `[2, num_heads * head_dim]`, types and
    unseen `[T]`.

    Constraints:
    * C1. num_heads is a positive multiple of the kv_heads of the cache, which
      is none of latents; times head_dim it is less than 2^63.
    * C2. query is num_heads * head_dim wide.
    * C3. key and value are kv_heads * head_dim wide.
    * C4. scale is finite.
    * C5. bias has num_heads rows and an odd width.
    * C6. causal attention has no `right`.
    * C7. the cache is not a cross cache.
    * C8. a constant layer is one of the cache's.
    * C9. cap is positive and finite.
    * C10. slopes are num_heads finite numbers.
    * C11. sinks are num_heads long; those of tokens have relative_keys beside
      them.
    * C12. log_base is more than 1 and finite.
    * C13. there is a span exactly if there are relative_keys,
      relative_queries or relative_values; they have 2 span rows, or with
      odd_span one less, num_heads * head_dim or head_dim wide.
    * C14. with relative_keys, relative_queries or relative_values the cache has
      num_heads kv_heads.
    * C15. span is in [1, 2^30); with max_distance it is even and at least 4,
      and max_distance, below 2^30, is more than span / 2 + 1.
    * C16. odd_span is there with a span and without max_distance only;
      rounded_slopes with slopes.
    * C17. there are random_blocks, or blocks_before and blocks_after, exactly if
      there is a sparse_block, which is in [1, 2^20); random_blocks are below
      2^20, the others 0 or 1. Then there is no window and no cap, and with
      random_blocks the mask is bidirectional, with causal no block is after.
    * C18. query_bias, relative_bias and segment_bias are num_heads * head_dim
      long; there is a relative_bias with relative_keys only, and a segment_bias
      with segments only.
    * C19. there are types exactly if there are segments, of 2 rows that are
      num_heads * head_dim wide; then the cache is scratch and has num_heads
      kv_heads, and the mask is bidirectional.
    * C20. factors are bf16; then there are no relative_keys, relative_queries
      and relative_values, and the cache is of floats.
    * C21. there are key and value, or neither, of a cache that is not scratch.
    * C22. with unseen the cache is scratch and the mask is bidirectional, without
      window, cap, log_base and sparse_block.
  }];
  let arguments = (ins Transformer_Rows:$query,
                       Optional<Transformer_Rows>:$key,
                       Optional<Transformer_Rows>:$value,
                       Transformer_CacheType:$cache,
                       Index:$layer, Transformer_BatchType:$batch,
                       Optional<Transformer_Matrix>:$bias,
                       Optional<Index>:$left, Optional<Index>:$right,
                       Optional<F32>:$factor,
                       Optional<Transformer_Sinks>:$sinks,
                       Optional<Transformer_Rows>:$relative_keys,
                       Optional<Transformer_Rows>:$relative_queries,
                       Optional<Transformer_Rows>:$relative_values,
                       Optional<Transformer_Vector>:$query_bias,
                       Optional<Transformer_Vector>:$relative_bias,
                       Optional<Transformer_Matrix>:$segments,
                       Optional<Transformer_Vector>:$segment_bias,
                       Optional<Transformer_Ids>:$types,
                       Optional<Transformer_Ids>:$unseen,
                       Transformer_Mask:$mask, I64Attr:$num_heads,
                       F64Attr:$scale, UnitAttr:$scale_by_inverse_layer,
                       OptionalAttr<F64Attr>:$cap,
                       OptionalAttr<DenseF64ArrayAttr>:$slopes,
                       OptionalAttr<F64Attr>:$log_base,
                       OptionalAttr<I64Attr>:$span,
                       OptionalAttr<I64Attr>:$max_distance,
                       UnitAttr:$odd_span, UnitAttr:$rounded_slopes,
                       OptionalAttr<I64Attr>:$sparse_block,
                       OptionalAttr<I64Attr>:$random_blocks,
                       OptionalAttr<I64Attr>:$blocks_before,
                       OptionalAttr<I64Attr>:$blocks_after,
                       OptionalAttr<TypeAttr>:$factors);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query `` custom<KeyAndValue>($key, $value) `,` $cache `[` $layer `]` `,`
    $batch (`bias` $bias^)? $mask (`left` $left^)? (`right` $right^)?
    `heads` $num_heads (`factor` $factor^)?
    (`scale_by_inverse_layer` $scale_by_inverse_layer^)?
    (`sinks` $sinks^)? (`relative_keys` $relative_keys^)?
    (`relative_queries` $relative_queries^)?
    (`relative_values` $relative_values^)? (`query_bias` $query_bias^)?
    (`relative_bias` $relative_bias^)? (`segments` $segments^)?
    (`segment_bias` $segment_bias^)? (`types` $types^)? (`unseen` $unseen^)?
    (`span` $span^)? (`max_distance` $max_distance^)?
    attr-dict `:` type($query)
    `` custom<KeyAndValueTypes>(ref($key), type($key), type($value)) `,`
    type($cache)
    (`,` type($bias)^)? (`sinks` type($sinks)^)?
    (`relative_keys` type($relative_keys)^)?
    (`relative_queries` type($relative_queries)^)?
    (`relative_values` type($relative_values)^)?
    (`query_bias` type($query_bias)^)? (`relative_bias` type($relative_bias)^)?
    (`segments` type($segments)^)? (`segment_bias` type($segment_bias)^)?
    (`types` type($types)^)? (`unseen` type($unseen)^)?
    `` custom<RowsAs>(type($result), ref(type($query)))
  }];
}

def Transformer_CrossAttentionOp
    : Transformer_RowsOp<"cross_attention", [
        Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface,
          ["shareOperands", "takeShare"]>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "attention over what the encoder left in the cross cache";
  let description = [{
    `y[t,h] = sum_j softmax_j(scale * q[t,h] . K[j,g]) V[j,g]`, with g as in
    `transformer.attention` and j over all positions that `cache[layer]` holds
    of the token's sequence: a `transformer.cache_write` of the entry `encode`
    put them there. There is no mask. With `scale_by_inverse_layer` the scale is
    divided by `layer + 1`; `cap` and `factors` are those of
    `transformer.attention`.

    ```mlir
    %y = transformer.cross_attention %q, %cross[%layer], %batch heads 4
           {scale = 0.196 : f64}
           : tensor<?x104xf32>,
             !transformer.cache<cross, layers = 2, kv_heads = 4, head_dim = 26>
    ```

    Shapes: query and result `[T, num_heads * head_dim]`.

    Constraints:
    * C1. num_heads is a positive multiple of the kv_heads of the cache, which
      is none of latents; times head_dim it is less than 2^63.
    * C2. query is num_heads * head_dim wide.
    * C3. scale is finite.
    * C4. the cache is a cross cache.
    * C5. a constant layer is one of the cache's.
    * C6. factors are bf16; then the cache is of floats.
    * C7. cap is positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$query, Transformer_CacheType:$cache,
                       Index:$layer, Transformer_BatchType:$batch,
                       I64Attr:$num_heads, F64Attr:$scale,
                       UnitAttr:$scale_by_inverse_layer,
                       OptionalAttr<F64Attr>:$cap,
                       OptionalAttr<TypeAttr>:$factors);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query `,` $cache `[` $layer `]` `,` $batch `heads` $num_heads
    (`scale_by_inverse_layer` $scale_by_inverse_layer^)? attr-dict `:`
    type($query) `,` type($cache)
    `` custom<RowsAs>(type($result), ref(type($query)))
  }];
}

// What attention by hashes has, of values and over buffers.
class Transformer_Hashes {
  dag attributes = (ins I64Attr:$num_heads, I64Attr:$block, I64Attr:$before,
                        I64Attr:$after, I64Attr:$hashes,
                        DenseI64ArrayAttr:$buckets, I64Attr:$multiple,
                        F64Attr:$scale);
}

def Transformer_HashedAttentionOp
    : Transformer_ValueOp<"hashed_attention",
                          [Transformer_AcceptsStridedRows]> {
  let summary = "attention to rows that hashes of queries put nearby";
  let description = [{
    Of a sequence with n visible rows, for each head and each of R = `hashes`
    rounds r: a row t has the bucket `b_0 + f_0 (b_1 + f_1 (...))` for `buckets`
    f. With z the f_i / 2 products of its query and columns of
    `rotations` that are round r's for f_i, `b_i` is the number of the greatest
    of [z, -z], the first of equal ones. Rows in the order of their buckets, and
    of equal buckets in their own, are cut into chunks of `block`; a round has
    as many chunks as the next multiple of `multiple` has room for. The chunks of
    all rounds are one circle, round after round: behind the last one is the
    first (Kitaev et al. 2020, arXiv:2001.04451). A row sees, in each round, the
    rows of its chunk, of the one before with a `before` of 1, and of the one
    behind with an `after` of 1. It is one softmax over what it sees in all
    rounds, in which a row that is seen twice counts twice:

    `y[t,h] = sum_j softmax_j(s(t, j)) v[j,h]`

    with `s(t, j) = scale * q[t,h] . k[j,h]`, but -100000 of a row and itself,
    which is something only where nothing else is seen. That is the sum of what
    the rounds give by themselves, weighted by what they have in all.

    Where n is at most `block`, a row sees all once. A row behind the visible
    ones sees what the last of a round's order sees. A sequence without visible
    rows has no result: its rows are not numbers.

    ```mlir
    %y = transformer.hashed_attention %q, %k, %v, %rotations, %batch heads 2
           {after = 0 : i64, before = 1 : i64, block = 8 : i64,
            buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 8 : i64,
            scale = 0.5 : f64}
           : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>,
              tensor<8x9xf32>, !transformer.batch) -> tensor<?x8xf32>
    ```

    Shapes: query, key, value and result `[T, num_heads * head_dim]`, rotations
    `[num_heads * head_dim, hashes * sum(buckets) / 2]`: a row for each column
    of a query, in it round after round, and in a round factor after factor.

    Constraints:
    * C1. num_heads is at least 1 and divides the width of the query.
    * C2. key and value are as wide as the query.
    * C3. block is in [1, 2^20), before and after are 0 or 1, hashes in
      [1, 2^16), and multiple is one of block, below 2^31.
    * C4. buckets are one or more even numbers of at least 2, and their product
      is below 2^31.
    * C5. rotations have a row for each column of the query, and
      hashes * sum(buckets) / 2 columns.
    * C6. scale is finite.
  }];
  let arguments = !con((ins Transformer_Rows:$query, Transformer_Rows:$key,
                            Transformer_Rows:$value,
                            Transformer_Matrix:$rotations,
                            Transformer_BatchType:$batch),
                       Transformer_Hashes<>.attributes);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $rotations `,` $batch `heads` $num_heads
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TFC_DIALECT_ATTENTIONOPS
