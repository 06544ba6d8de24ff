// Layers that keep a state in place of keys and values: convolutions over the
// last tokens, and recurrences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_RECURRENTOPS
#define TFC_DIALECT_RECURRENTOPS

include "dialect/StructuredOps.td"

def Transformer_CausalConvOp
    : Transformer_RowsOp<"causal_conv", [
        Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "each column with what it was in the tokens before";
  let description = [{
    `y[t,c] = bias[c] + sum_i w[c,i] x[t - K + 1 + i,c]`, i from 0 to K - 1: the
    oldest token first. `x` of the sequence's earlier tokens is in
    `state[layer]`, at `first`: K - 1 rows of C numbers, the oldest first, zeros
    before the sequence's beginning. Those of its last tokens stand there
    afterwards.

    ```mlir
    %y = transformer.causal_conv %x, %w, %state[%layer] at 0, %batch
           : tensor<?x104xf32>, tensor<104x3xf32>,
             !transformer.state<layers = 2, width = 208>
    ```

    Shapes: input and result `[T, C]`, weight `[C, K]`, bias `[C]`.

    The sum begins with the bias, or 0, and is a multiply-add a term.

    Constraints:
    * C1. the weight has a row for each column of the input, and K is at least
      2.
    * C2. bias is C long.
    * C3. the K - 1 rows of C numbers from `first` on are within the state.
    * C4. a constant layer is one of the state's.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Matrix:$weight,
                       Optional<Transformer_Vector>:$bias,
                       Transformer_StateType:$state, Index:$layer,
                       Transformer_BatchType:$batch, I64Attr:$first);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $state `[` $layer `]` `at` $first `,` $batch
    (`bias` $bias^)? attr-dict `:` type($input) `,` type($weight) `,`
    type($state) (`,` type($bias)^)?
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_RecurrenceOp
    : Transformer_RowsOp<"recurrence", [
        AttrSizedOperandSegments, Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a matrix of keys to values, by head, that tokens change";
  let description = [{
    Each of `heads` heads has a matrix S of N keys by P values, zeros at the
    sequence's beginning, in `state[layer]` from `first` on, head after head. For
    each token in turn, with q and k of head `h / (heads / key_heads)`:

        S = decay S
        S = S + k (beta (v - k^T S))     rule delta
        S = S + k (beta v)               rule add
        y = q^T S (+ skip v)

    Delta is the gated delta rule (Yang et al. 2024, arXiv:2412.06464), add that
    of Mamba-2 (Dao and Gu 2024, arXiv:2405.21060), whose C, B and x are q, k
    and v.

    A decay with a column for each key of each head is that of Kimi's delta
    attention (Kimi Team 2025, arXiv:2510.26692): row i of S is times number i
    of the head's.

    With `log_rate` every number of the matrices has a decay of its own, which
    is the selective state space of Mamba (Gu and Dao 2023, arXiv:2312.00752).
    Decay, beta and skip then have a column for each value, and in column c

        S[i,c] = exp(-exp(log_rate[i,c]) decay[c]) S[i,c]

    ```mlir
    %y = transformer.recurrence %q, %k, %v, %decay, %beta, %state[%layer] at 0,
           %batch heads 6 key_heads 2
           : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
             tensor<?x6xf32>, tensor<?x6xf32>,
             !transformer.state<layers = 2, width = 210>
    %z = transformer.recurrence %c, %b, %x, %dt, %dt, %state[%layer] at 0,
           %batch heads 1 key_heads 1 rule add log_rate %a
           : tensor<?x7xf32>, tensor<?x7xf32>, tensor<?x30xf32>,
             tensor<?x30xf32>, tensor<?x30xf32>,
             !transformer.state<layers = 2, width = 210>
             log_rate tensor<7x30xf32>
    ```

    Shapes: query and key `[T, key_heads * N]`, value and result
    `[T, heads * P]`, log_rate `[N, heads * P]`; decay and beta `[T, heads]`,
    skip `[heads]`, or, with log_rate, `[T, heads * P]` and `[heads * P]`. A
    decay of keys is `[T, heads * N]`.

    `k^T (decay S)` is computed as `decay (k^T S)`, or, with a decay of keys, as
    `(decay k)^T S`, that product being rounded first. Sums go through the keys in
    order, from 0, a multiply-add a term, and `skip v` is added last, by one; so
    is `decay S + k d`, the product `decay S` being rounded first, and `d` being
    the rounded product of beta and v where tokens add.

    Constraints:
    * C1. heads is a positive multiple of key_heads.
    * C2. query and key are equally wide, a multiple of key_heads; value's width
      is one of heads.
    * C3. decay and beta have a column for each head (decay may have one for
      each key of one), or, with log_rate, for each value.
    * C4. the heads' matrices from `first` on are within the state.
    * C5. a constant layer is one of the state's.
    * C6. skip has an element for each head, or, with log_rate, for each value.
    * C7. log_rate has a row for each key of a head and a column for each value.
    * C8. with log_rate the rule is add.
  }];
  let arguments = (ins Transformer_Rows:$query, Transformer_Rows:$key,
                       Transformer_Rows:$value, Transformer_Rows:$decay,
                       Transformer_Rows:$beta,
                       Optional<Transformer_Vector>:$skip,
                       Optional<Transformer_Matrix>:$log_rate,
                       Transformer_StateType:$state, Index:$layer,
                       Transformer_BatchType:$batch, I64Attr:$first,
                       I64Attr:$heads, I64Attr:$key_heads,
                       DefaultValuedAttr<Transformer_RecurrenceRule,
                         "RecurrenceRule::Delta">:$rule);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $decay `,` $beta `,` $state `[` $layer `]`
    `at` $first `,` $batch `heads` $heads `key_heads` $key_heads
    (`rule` $rule^)? (`skip` $skip^)? (`log_rate` $log_rate^)? attr-dict `:` type($query) `,` type($key)
    `,` type($value) `,` type($decay) `,` type($beta) `,` type($state)
    (`,` type($skip)^)? (`log_rate` type($log_rate)^)?
    `` custom<RowsAs>(type($result), ref(type($value)))
  }];
}

def Transformer_DecayOp : Transformer_ValueOp<"decay", [Transformer_RowWise]> {
  let summary = "how much of a state a token leaves";
  let description = [{
    `y[t,c] = exp(-exp(log_rate[c / N]) softplus(x[t,c]))`, with
    `softplus(x) = max(x, 0) + log(1 + exp(-|x|))`.

    ```mlir
    %e = transformer.decay %x, %log_rate : tensor<?x6xf32>, tensor<6xf32>
    ```

    Shapes: input and result `[T, H * N]`, log_rate `[H]`.

    Constraints:
    * C1. the width of the input is a multiple of the length of log_rate.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Vector:$log_rate);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $log_rate attr-dict `:` type($input) `,` type($log_rate)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_RaggedConvOp
    : Transformer_StructuredOp<"ragged_conv", [
        DestinationStyleOpInterface, Transformer_AcceptsStridedRows]> {
  let summary = "a convolution over what the step says of sequences";
  let description = [{
    The result of `transformer.causal_conv`, written to `init`. Rows of 16 bits
    are widened; the state is f32, sums are, and they are rounded to the
    elements of `init`.

    Constraints: those of `transformer.causal_conv`, and
    * C1. init is as wide as the input.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$input,
                       Transformer_MatrixOrBuffer:$weight,
                       Optional<Transformer_VectorOrBuffer>:$bias,
                       Transformer_StateType:$state, Index:$layer,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init, I64Attr:$first);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $input `,` $weight `,` $state `[` $layer `]` `at` $first `,` $batch
    (`bias` $bias^)? `outs` `(` $init `:` type($init) `)` attr-dict `:`
    type($input) `,` type($weight) `,` type($state) (`,` type($bias)^)?
    (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_RaggedRecurrenceOp
    : Transformer_StructuredOp<"ragged_recurrence", [
        AttrSizedOperandSegments, DestinationStyleOpInterface, Transformer_AcceptsStridedRows]> {
  let summary = "a recurrence over what the step says of sequences";
  let description = [{
    The result of `transformer.recurrence`, written to `init`. Rows of 16 bits
    are widened; the state is f32, sums are, and they are rounded to the
    elements of `init`.

    Constraints: those of `transformer.recurrence`, and
    * C1. init is as wide as the value.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$query,
                       Transformer_RowsOrBuffer:$key,
                       Transformer_RowsOrBuffer:$value,
                       Transformer_RowsOrBuffer:$decay,
                       Transformer_RowsOrBuffer:$beta,
                       Optional<Transformer_VectorOrBuffer>:$skip,
                       Optional<Transformer_MatrixOrBuffer>:$log_rate,
                       Transformer_StateType:$state, Index:$layer,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init, I64Attr:$first,
                       I64Attr:$heads, I64Attr:$key_heads,
                       DefaultValuedAttr<Transformer_RecurrenceRule,
                         "RecurrenceRule::Delta">:$rule);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $decay `,` $beta `,` $state `[` $layer `]`
    `at` $first `,` $batch `heads` $heads `key_heads` $key_heads
    (`rule` $rule^)? (`skip` $skip^)? (`log_rate` $log_rate^)? `outs` `(` $init
    `:` type($init) `)` attr-dict `:` type($query) `,` type($key) `,`
    type($value) `,` type($decay) `,` type($beta) `,` type($state)
    (`,` type($skip)^)? (`log_rate` type($log_rate)^)? (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    /// Whether each key of a head has a decay of its own.
    bool hasKeyDecays();
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECT_RECURRENTOPS
