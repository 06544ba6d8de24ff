// What heads make of rows beyond products: a query and its candidates, log
// probabilities of clusters.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_HEADOPS
#define TFC_DIALECT_HEADOPS

include "dialect/StructuredOps.td"

def Transformer_PairRowsOp : Transformer_ValueOp<"pair_rows"> {
  let summary = "each row beside the row of its sequence that asks";
  let description = [{
    `y[t,:] = [q, x[t], q - x[t], q * x[t]]`, q being the first or the last row
    of the visible new tokens of the token's sequence (the first `keys - past` of
    them; of spectators alone it is the first of all). What the activation unit
    of a Deep Interest Network reads (Zhou et al. 2018, arXiv:1706.06978).

    ```mlir
    %y = transformer.pair_rows last %x, %batch
           : (tensor<?x26xf32>, !transformer.batch) -> tensor<?x104xf32>
    ```

    Shapes: input `[T, W]`, result `[T, 4 W]`.
  }];
  let arguments = (ins Transformer_QueryPlace:$query, Transformer_Rows:$input,
                       Transformer_BatchType:$batch);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query $input `,` $batch attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 0;
}

def Transformer_WeighRowsOp : Transformer_ValueOp<"weigh_rows"> {
  let summary = "rows of a sequence by their weights, and the row that asks";
  let description = [{
    `y[r,:] = [sum_t w[t] x[t], q]` of the sequence that has row `rows[r]`, t
    being its visible new tokens but the one that asks, and q the row of that one
    (`transformer.pair_rows`). Weights are what they are: there is no softmax
    over them (Zhou et al. 2018, arXiv:1706.06978, section 4.3). A token that is
    not visible has no weight.

    ```mlir
    %y = transformer.weigh_rows last %x by %w, %rows, %batch
           : (tensor<?x26xf32>, tensor<?x1xf32>, tensor<?xi32>,
              !transformer.batch) -> tensor<?x52xf32>
    ```

    Shapes: input `[T, W]`, weights `[T, 1]`, rows `[R]`, result `[R, 2 W]`.

    Constraints:
    * C1. weights are one wide.
  }];
  let arguments = (ins Transformer_QueryPlace:$query, Transformer_Rows:$input,
                       Transformer_Rows:$weights, Transformer_Ids:$rows,
                       Transformer_BatchType:$batch);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query $input `by` $weights `,` $rows `,` $batch attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_LogSoftmaxOp
    : Transformer_ValueOp<"log_softmax", [AttrSizedOperandSegments]> {
  let summary = "log probabilities, of clusters too";
  let description = [{
    With L = ln(sum_v exp(x[t,v])), `y[t,v] = x[t,v] - L`. With n `clusters` z_i,
    of V_i columns each, L is of the columns of x and of `gates` g together, and
    behind the columns of x follow, cluster after cluster,
    `g[t,i] - L + z_i[t,j] - ln(sum_j exp(z_i[t,j]))`: a rare word's probability
    is its cluster's times its own in it (Grave et al. 2016, arXiv:1609.04309).

    ```mlir
    %y = transformer.log_softmax %x
           : (tensor<?x97xf32>) -> tensor<?x97xf32>
    %z = transformer.log_softmax %x gates %g clusters %a, %b
           : (tensor<?x20xf32>, tensor<?x2xf32>, tensor<?x30xf32>,
              tensor<?x47xf32>) -> tensor<?x97xf32>
    ```

    Shapes: input `[T, V]`, gates `[T, n]`, clusters `[T, V_i]`, result
    `[T, V + V_1 + ... + V_n]`.

    Constraints:
    * C1. gates are as wide as there are clusters, and absent without.
  }];
  let arguments = (ins Transformer_Rows:$input,
                       Optional<Transformer_Rows>:$gates,
                       Variadic<Transformer_Rows>:$clusters);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input (`gates` $gates^)? (`clusters` $clusters^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_MemorySinksOp
    : Transformer_ValueOp<"memory_sinks", [Transformer_AcceptsStridedRows]> {
  let summary = "what a memory of zeros adds to each softmax";
  let description = [{
    A token at position p of its sequence sees those from p - `left` on. Where
    this is before the beginning, keys and values there are zeros, and a score is
    its relative term alone:

    `y[t,h] = ln(sum_d exp(scale * (q[t,h] + v[h]) . A[r,h]))`

    over d from p + 1 to `left`. The last row of `relative_keys` A is that of
    keys span - 1 before the query, and r is the row for d, or the last one where
    that is farther, as in `transformer.attention` with `odd_span`; v is
    `relative_bias`. It is a sink of that attention. Where
    there is no such d it is -1e30, beside which every score is all. (Dai et al. 2019,
    arXiv:1901.02860, with the memory that Hugging Face begins with.)

    ```mlir
    %s = transformer.memory_sinks %q, %a, %batch left %left heads 4 span 9
           bias %v {scale = 0.5 : f64}
           : (tensor<?x24xf32>, tensor<17x24xf32>, !transformer.batch, index,
              tensor<24xf32>) -> tensor<?x4xf32>
    ```

    Shapes: query `[T, num_heads * head_dim]`, relative_keys
    `[R, num_heads * head_dim]` (R at least span), relative_bias
    `[num_heads * head_dim]`, result `[T, num_heads]`.

    Constraints:
    * C1. num_heads is at least 1 and divides the width of the query.
    * C2. relative_keys are as wide as the query; span is in [1, 2^30), and where
      their number is known there are at least as many rows.
    * C3. relative_bias is as long as the query is wide.
    * C4. scale is finite.
  }];
  let arguments = (ins Transformer_Rows:$query,
                       Transformer_Rows:$relative_keys,
                       Transformer_BatchType:$batch, Index:$left,
                       Optional<Transformer_Vector>:$relative_bias,
                       I64Attr:$num_heads, I64Attr:$span, F64Attr:$scale);
  let results = (outs Transformer_WideRows:$result);
  let assemblyFormat = [{
    $query `,` $relative_keys `,` $batch `left` $left `heads` $num_heads
    `span` $span (`bias` $relative_bias^)? attr-dict `:`
    functional-type(operands, results)
  }];
}

// What of them linalg cannot say: results are written to `init`.
class Transformer_RaggedOp<string mnemonic, list<Trait> traits = []>
    : Transformer_StructuredOp<mnemonic,
        !listconcat([DestinationStyleOpInterface], traits)> {
  let results = (outs Optional<Transformer_Rows>:$result);
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_RaggedPairsOp : Transformer_RaggedOp<"ragged_pairs"> {
  let summary = "rows beside one of their sequence, over what the step says";
  let description = [{
    The result of `transformer.pair_rows`, written to `init`.

    Constraints:
    * C1. init is four times as wide as the input.
  }];
  let arguments = (ins Transformer_QueryPlace:$query,
                       Transformer_RowsOrBuffer:$input,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init);
  let assemblyFormat = [{
    $query $input `,` $batch `outs` `(` $init `:` type($init) `)` attr-dict `:`
    type($input) (`->` type($result)^)?
  }];
}

def Transformer_RaggedWeightsOp : Transformer_RaggedOp<"ragged_weights"> {
  let summary = "rows of sequences by their weights, over what the step says";
  let description = [{
    The result of `transformer.weigh_rows`, written to `init`; sums are f32: from
    zero, tokens ascending, a multiply-add a token.

    Constraints:
    * C1. weights are one wide.
    * C2. init is twice as wide as the input.
  }];
  let arguments = (ins Transformer_QueryPlace:$query,
                       Transformer_RowsOrBuffer:$input,
                       Transformer_RowsOrBuffer:$weights,
                       Transformer_IdsOrBuffer:$rows,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init);
  let assemblyFormat = [{
    $query $input `by` $weights `,` $rows `,` $batch
    `outs` `(` $init `:` type($init) `)` attr-dict `:`
    type($input) `,` type($weights) `,` type($rows) (`->` type($result)^)?
  }];
}

def Transformer_ClusteredLogSoftmaxOp
    : Transformer_RaggedOp<"clustered_log_softmax",
                           [AttrSizedOperandSegments]> {
  let summary = "log probabilities, of clusters too, a row at a time";
  let description = [{
    The result of `transformer.log_softmax`, written to `init`. A sum is of 16
    columns at a time, ascending, then folded, then of the columns that are left.

    Constraints:
    * C1. gates are as wide as there are clusters, and absent without.
    * C2. init is as wide as the input and the clusters together.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$input,
                       Optional<Transformer_RowsOrBuffer>:$gates,
                       Variadic<Transformer_RowsOrBuffer>:$clusters,
                       Transformer_RowsOrBuffer:$init);
  let assemblyFormat = [{
    $input (`gates` $gates^)? (`clusters` $clusters^)?
    `outs` `(` $init `:` type($init) `)` attr-dict `:`
    type($input) (`gates` type($gates)^)? (`clusters` type($clusters)^)?
    (`->` type($result)^)?
  }];
}

def Transformer_RaggedSinksOp
    : Transformer_RaggedOp<"ragged_sinks", [Transformer_AcceptsStridedRows]> {
  let summary = "what memories of zeros add, over what the step says of places";
  let description = [{
    The result of `transformer.memory_sinks`, written to `init`. A score is a sum
    of a multiply-add a column, 16 at a time, ascending, then folded, then of the
    columns that are left. Distances ascend: with a greater score than m what was
    before is times exp(old m - new m).

    Constraints:
    * C1. num_heads is at least 1 and divides the width of the query.
    * C2. relative_keys are as wide as the query; span is in [1, 2^30), and where
      their number is known there are at least as many rows.
    * C3. relative_bias is as long as the query is wide.
    * C4. init is num_heads wide.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$query,
                       Transformer_RowsOrBuffer:$relative_keys,
                       Transformer_BatchType:$batch, Index:$left,
                       Optional<Transformer_VectorOrBuffer>:$relative_bias,
                       Transformer_RowsOrBuffer:$init,
                       I64Attr:$num_heads, I64Attr:$span, F64Attr:$scale);
  let assemblyFormat = [{
    $query `,` $relative_keys `,` $batch `left` $left `heads` $num_heads
    `span` $span (`bias` $relative_bias^)?
    `outs` `(` $init `:` type($init) `)` attr-dict `:`
    type($query) `,` type($relative_keys) (`bias` type($relative_bias)^)?
    (`->` type($result)^)?
  }];
}

#endif // TFC_DIALECT_HEADOPS
