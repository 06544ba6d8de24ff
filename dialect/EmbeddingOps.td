// Table look-ups, and what positions are made into.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_EMBEDDINGOPS
#define TFC_DIALECT_EMBEDDINGOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerInterfaces.td"

def Transformer_EmbeddingOp : Transformer_ValueOp<"embedding", [Transformer_WidensMatrices]> {
  let summary = "the table's row of each id";
  let description = [{
    `y[t,:] = table[ids[t] + offset, :]`; with `optional`, a negative id gives
    a row of zeros. Ids are in range: the host has checked them against the
    port's limit. Tokens, positions and segments are all this op.

    With `first`, the table has the rows of the ids from there on, as many as it
    has: `y[t,:] = table[ids[t] - first, :]`, and zeros for all other ids. That
    is how a cluster of a vocabulary has a table of its own (Baevski and Auli
    2018, arXiv:1809.10853).

    With `given`, a negative id gives the token's own row of that:
    `y[t,:] = ids[t] < 0 ? given[t,:] : table[ids[t], :]`. That is how a class
    token of a table stands beside patches of an image (Dosovitskiy et al. 2020,
    arXiv:2010.11929). With `first` so do all ids that the table has no row of:
    that is how a learned row stands in the place of some tokens'.

    With `beyond`, ids may be greater than those of the table, and have its row
    of that number: of a table that has no rows of their own for the last
    tokens.

    With `every` E, E ids in turn have a row, and behind the last row comes the
    first one again: `y[t,:] = table[(ids[t] / E) mod rows, :]`. That is how an
    axis of positions has a table of its own (Kitaev et al. 2020,
    arXiv:2001.04451).

    ```mlir
    %y = transformer.embedding %ids, %table
           : tensor<?xi32>, tensor<97x104xf32>
    ```

    Shapes: ids `[T]`, table `[rows, W]` (f32, f16 or bf16), given and result
    `[T, W]`.

    Constraints:
    * C1. offset is at least 0 and less than the rows of the table.
    * C2. first, which has neither offset nor optional beside it, is at least 0,
      and the last row's id below 2^31.
    * C3. given, which has neither offset nor optional beside it, is as wide as
      the table.
    * C4. beyond, which has nothing of this beside it, is a row of the table.
    * C5. every, which has nothing of this beside it, is in [1, 2^31); and so is
      every times the rows.
  }];
  let arguments = (ins Transformer_Ids:$ids, Transformer_StoredMatrix:$table,
                       Optional<Transformer_Rows>:$given,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       UnitAttr:$optional, OptionalAttr<I64Attr>:$first,
                       OptionalAttr<I64Attr>:$beyond,
                       OptionalAttr<I64Attr>:$every);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $ids `,` $table (`given` $given^ `of` type($given))? (`optional` $optional^)?
    (`from` $first^)? (`beyond` $beyond^)? (`every` $every^)? attr-dict `:` type($ids) `,` type($table)
    `` custom<RowsOfTable>(type($result), ref(type($ids)), ref(type($table)))
  }];
}

def Transformer_GivenRowsOp : Transformer_ValueOp<"given_rows"> {
  let summary = "the row that the caller gives a token";
  let description = [{
    `y[t,:] = input[-1 - ids[t], :]` where the id is negative, a row of zeros
    elsewhere. The input is an entry's, with as many rows as there are tokens
    with one, and at least one: the host has checked the ids.

    ```mlir
    %y = transformer.given_rows %ids, %patches : tensor<?xi32>, tensor<?x27xf32>
    ```

    Shapes: ids `[T]`, input `[R, W]`, result `[T, W]`.

    Constraints:
    * C1. the input is of f32, as the caller gives it.
  }];
  let arguments = (ins Transformer_Ids:$ids, Transformer_Rows:$input);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $ids `,` $input attr-dict `:` type($ids) `,` type($input)
    `` custom<RowsOfTable>(type($result), ref(type($ids)), ref(type($input)))
  }];
}

def Transformer_SinusoidOp : Transformer_ValueOp<"sinusoid"> {
  let summary = "sine and cosine of each position's angles, as an embedding";
  let description = [{
    For the n `frequencies` f, in radians a position, with p = positions[t] +
    offset: sine and cosine of `p * f_i` are the columns `i` and `n + i` of
    y[t], or with `interleaved` the columns `2 i` and `2 i + 1`. A row whose p
    is `zero_row` is zero. (Vaswani et al. 2017, arXiv:1706.03762.) Frequencies
    and angles are rounded to f32.

    ```mlir
    %y = transformer.sinusoid half %positions times [1.0, 0.01] {offset = 2}
           : tensor<?xi32>
    ```

    Shapes: positions `[T]`, result `[T, 2 n]`.

    Constraints:
    * C1. there is a frequency, and all are finite.
    * C2. offset is in [0, 2^31).
  }];
  let arguments = (ins Transformer_RotaryStyle:$layout,
                       Transformer_Ids:$positions,
                       DenseF64ArrayAttr:$frequencies,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       OptionalAttr<I64Attr>:$zero_row);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $layout $positions `times` custom<Numbers>($frequencies) attr-dict
    `:` type($positions)
    `` custom<RowsOfAngles>(type($result), ref(type($positions)),
                            ref($frequencies))
  }];
}

def Transformer_RotaryAnglesOp : Transformer_ValueOp<"rotary_angles"> {
  let summary = "cosine and sine of each position's angles";
  let description = [{
    `y[t,i] = a_i * cos(positions[t] * f_i)` and
    `y[t,n + i] = a_i * sin(positions[t] * f_i)` for the n `frequencies` f_i,
    in radians a position, and their `factors` a_i, one for all or one for each.
    Several kinds of rotation are one table: the frequencies of the first kind,
    then those of the second. Frequencies and angles are rounded to f32, as
    Hugging Face has them: far from the beginning that moves an angle by more
    than cosine and sine themselves are off. Computed once a step; all layers
    read it.

    ```mlir
    %angles = transformer.rotary_angles %positions times [1.0, 0.01]
                factors [1.0] : tensor<?xi32>
    ```

    Shapes: positions `[T]`, result `[T, 2 n]`.

    Constraints:
    * C1. there is a frequency, and all are finite.
    * C2. there is a factor, or one for each frequency; all are finite.
  }];
  let arguments = (ins Transformer_Ids:$positions,
                       DenseF64ArrayAttr:$frequencies,
                       DenseF64ArrayAttr:$factors);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $positions `times` custom<Numbers>($frequencies)
    `factors` custom<Numbers>($factors) attr-dict `:` type($positions)
    `` custom<RowsOfAngles>(type($result), ref(type($positions)),
                            ref($frequencies))
  }];
}

def Transformer_RotaryOp
    : Transformer_ValueOp<"rotary", [
        Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface,
          ["shareOperands", "takeShare"]>]> {
  let summary = "pairs of columns turned by the token's angles";
  let description = [{
    In each of `num_heads` heads of x[t], for i in [0, n), with c and s the
    columns `kind * n + i` and `(kinds + kind) * n + i` of angles[t], which has
    `kinds` kinds of angles (one, number 0, unless it says more):

    `y[a] = x[a] * c - x[b] * s`, `y[b] = x[b] * c + x[a] * s`

    where (a, b) is (i, i + n) in style `half` and (2 i, 2 i + 1) in style
    `interleaved`. Columns of a head from 2 n on stay as they are. (Su et al.
    2021, arXiv:2104.09864.)

    ```mlir
    %y = transformer.rotary half %x, %angles heads 4
           : tensor<?x104xf32>, tensor<?x26xf32>
    ```

    Shapes: input `[T, num_heads * head_dim]`, angles `[T, 2 kinds n]`, result
    as the input.

    Constraints:
    * C1. num_heads is at least 1 and divides the width of the input.
    * C2. kinds is at least 1; there is `kind` when it is more.
    * C3. the width of angles is 2 kinds times n, and 2 n at most head_dim.
  }];
  let arguments = (ins Transformer_RotaryStyle:$style, Transformer_Rows:$input,
                       Transformer_Rows:$angles, Optional<Index>:$kind,
                       DefaultValuedAttr<I64Attr, "1">:$kinds,
                       I64Attr:$num_heads);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $style $input `,` $angles (`kind` $kind^ `of` $kinds)? `heads` $num_heads
    attr-dict `:` type($input) `,` type($angles)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_DistanceBiasOp : Transformer_ValueOp<"distance_bias"> {
  let summary = "a bias for each head and distance, from buckets";
  let description = [{
    `y[h, M + d] = table[bucket(d), h]` for the distances
    d = position of the key - position of the query in `[-M, M]`, M being
    `max_distance`. The buckets are those of T5 (Raffel et al. 2019,
    arXiv:1910.10683): with `causal`, N is the number of buckets and
    m = max(-d, 0); with `bidirectional`, N is half of it, m = |d|, and keys
    after the query use the second half. The first E = N / 2 distances have a
    bucket each, longer ones bucket
    `min(E + floor(ln(m / E) / ln(M / E) * (N - E)), N - 1)`, computed in f32.
    Beyond M nothing changes: attention takes the bias of M there. Computed
    once a step; all layers read it.

    ```mlir
    %bias = transformer.distance_bias %table bidirectional max_distance 128
              : tensor<32x8xf32>
    ```

    Shapes: table `[buckets, num_heads]`, result `[num_heads, 2 M + 1]`.

    Constraints:
    * C1. N is at least 2.
    * C2. max_distance is more than E.
    * C3. max_distance is in [0, 2^31): positions are 32 bits wide.
  }];
  let arguments = (ins Transformer_Matrix:$table, Transformer_Mask:$mask,
                       I64Attr:$max_distance);
  let results = (outs Transformer_Matrix:$result);
  let assemblyFormat = [{
    $table $mask `max_distance` $max_distance attr-dict `:` type(operands)
  }];
}

#endif // TFC_DIALECT_EMBEDDINGOPS
