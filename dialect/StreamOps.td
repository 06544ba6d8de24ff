// Several streams of rows that layers read and write together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_STREAMOPS
#define TFC_DIALECT_STREAMOPS

include "dialect/TransformerBase.td"

def Transformer_MixRowsOp
    : Transformer_ValueOp<"mix_rows", [
        Transformer_RoundsRows, Transformer_RowWise]> {
  let summary = "rows plus others, each times a number of the row's own";
  let description = [{
    `y[t,:] = x[t,:] + sum_j (offset + weights[t, first + j]) terms_j[t,:]`, the
    terms added in their order: what streams of rows are before a layer, of what
    they were, and what they become of a layer's result (Baykal et al. 2023,
    arXiv:2301.13310). In columns, the weights have those of several results
    side by side.

    ```mlir
    %y = transformer.mix_rows %x plus %x, %z by %w[2] {offset = 1.0}
           : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x26xf32>,
              tensor<?x4xf32>) -> tensor<?x26xf32>
    ```

    Shapes: input, terms and result `[T, W]`, weights `[T, K]`.

    Constraints:
    * C1. there is a term, and each is as wide as the input.
    * C2. `[first, first + n)`, n being the number of terms, lies inside
      `[0, K)`.
    * C3. offset is finite.
  }];
  let arguments = (ins Transformer_Rows:$input,
                       Variadic<Transformer_Rows>:$terms,
                       Transformer_Rows:$weights, I64Attr:$first,
                       DefaultValuedAttr<F64Attr,
                         "::llvm::APFloat(0.0)">:$offset);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `plus` $terms `by` $weights `[` $first `]` attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_MatchMagnitudeOp
    : Transformer_ValueOp<"match_magnitude", [
        Transformer_RoundsRows, Transformer_RowWise]> {
  let summary = "each row as long as another one";
  let description = [{
    `y[t,:] = x[t,:] sqrt(mean(like[t,:]^2)) / sqrt(max(mean(x[t,:]^2), floor))`:
    a stream that is made of another begins, and ends, with its length. A row
    whose mean of squares is below `floor` is divided by the root of that.

    ```mlir
    %y = transformer.match_magnitude %x to %like {floor = 1.0e-05}
           : tensor<?x26xf32>, tensor<?x26xf32>
    ```

    Shapes: `[T, W]` each.

    Constraints:
    * C1. the widths are equal.
    * C2. floor is positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Rows:$like,
                       F64Attr:$floor);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `to` $like attr-dict `:` type($input) `,` type($like)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_JoinColumnsOp
    : Transformer_ValueOp<"join_columns", [Transformer_RoundsRows]> {
  let summary = "rows side by side";
  let description = [{
    `y[t,:] = [x_0[t,:], x_1[t,:], ...]`: what streams of rows are behind the last
    layer, or what tables of several axes have for a position (Kitaev et al. 2020,
    arXiv:2001.04451).

    ```mlir
    %y = transformer.join_columns %a, %b
           : (tensor<?x26xf32>, tensor<?x10xf32>) -> tensor<?x36xf32>
    ```

    Shapes: inputs `[T, W_i]`, result `[T, W_0 + W_1 + ...]`.

    Constraints:
    * C1. there are at least two inputs.
  }];
  let arguments = (ins Variadic<Transformer_Rows>:$inputs);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $inputs attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TFC_DIALECT_STREAMOPS
