// Normalisations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_NORMOPS
#define TFC_DIALECT_NORMOPS

include "dialect/TransformerBase.td"
include "dialect/TransformerInterfaces.td"

// One for all parts of a row, or a row for each of them.
def Transformer_NormWeight
    : AnyTypeOf<[Transformer_Vector, Transformer_Matrix]>;

def Transformer_LayerNormOp
    : Transformer_ValueOp<"layer_norm", [
        AttrSizedOperandSegments, Transformer_RoundsRows,
        Transformer_RowWise,
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface,
          ["shareOperands", "takeShare"]>]> {
  let summary = "layer normalisation of each row";
  let description = [{
    `y[t,:] = (x[t,:] - mean) / sqrt(var + eps) * (offset + weight) + bias`, with
    mean and biased variance (1/width) over the row (Ba et al. 2016,
    arXiv:1607.06450; `torch.nn.LayerNorm`). Without a weight nothing is
    multiplied. The `offset` is 0, or 1 where weights are stored as what they
    differ from 1 by.

    With `unbiased_std` it is `(x[t,:] - mean) / (std + eps)` instead, the
    deviation being that of a sample: the root of the squares' sum divided by
    width - 1 (Rush 2018, The Annotated Transformer).

    With `parts` n a row is n rows of W / n columns, each normalised by itself:
    the heads of queries or keys. All have the same weight, or each one a row of
    a weight `[n, W / n]`.

    ```mlir
    %y = transformer.layer_norm %x, %weight bias %bias
           {eps = 1.0e-12 : f64}
           : tensor<?x104xf32>, tensor<104xf32>, tensor<104xf32>
    %q = transformer.layer_norm %x, %weight parts 4 {eps = 1.0e-6 : f64}
           : tensor<?x104xf32>, tensor<26xf32>
    ```

    Shapes: input `[T, W]`, weight `[W / parts]` or `[parts, W / parts]`, bias
    `[W / parts]`, result `[T, W]`.

    Constraints:
    * C1. weight has the length W / parts; a matrix has `parts` rows, and there
      is no bias.
    * C2. bias has the length W / parts.
    * C3. eps is positive and finite.
    * C4. parts is at least 1 and divides W.
    * C5. offset is finite, and 0 without a weight.
    * C6. With `unbiased_std` W / parts is at least 2.
  }];
  let arguments = (ins Transformer_Rows:$input,
                       Optional<Transformer_NormWeight>:$weight,
                       Optional<Transformer_Vector>:$bias, F64Attr:$eps,
                       DefaultValuedAttr<I64Attr, "1">:$parts,
                       DefaultValuedAttr<F64Attr,
                         "::llvm::APFloat(0.0)">:$offset,
                       UnitAttr:$unbiased_std);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input (`,` $weight^)? (`bias` $bias^)? (`parts` $parts^)? attr-dict
    `:` custom<LayerNormTypes>(type($input), ref($weight), type($weight),
                              ref($bias), type($bias), type($result))
  }];
}

def Transformer_RmsNormOp
    : Transformer_ValueOp<"rms_norm", [
        Transformer_RoundsRows, Transformer_RowWise,
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface,
          ["shareOperands", "takeShare"]>]> {
  let summary = "each row divided by its root mean square";
  let description = [{
    `y[t,:] = x[t,:] / sqrt(mean(x[t,:]^2) + eps) * (offset + weight)` (Zhang and
    Sennrich 2019, arXiv:1910.07467); weight, `offset` and `parts` as in
    `transformer.layer_norm`. Of a weight `[W]` each part has its own.

    ```mlir
    %y = transformer.rms_norm %x, %weight {eps = 1.0e-6 : f64}
           : tensor<?x104xf32>, tensor<104xf32>
    ```

    Shapes: input `[T, W]`, weight `[W / parts]`, `[parts, W / parts]` or `[W]`,
    result `[T, W]`.

    Constraints:
    * C1. weight is as wide as a part, and a matrix has `parts` rows; or it is a
      vector as long as a row.
    * C2. eps is positive and finite.
    * C3. parts is at least 1 and divides W.
    * C4. offset is finite, and 0 without a weight.
  }];
  let arguments = (ins Transformer_Rows:$input,
                       Optional<Transformer_NormWeight>:$weight, F64Attr:$eps,
                       DefaultValuedAttr<I64Attr, "1">:$parts,
                       DefaultValuedAttr<F64Attr,
                         "::llvm::APFloat(0.0)">:$offset);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input (`,` $weight^)? (`parts` $parts^)? attr-dict `:` type($input)
    (`,` type($weight)^)? `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_L2NormalizeOp
    : Transformer_ValueOp<"l2_normalize", [Transformer_RowWise]> {
  let summary = "each row divided by its length";
  let description = [{
    `y[t,:] = x[t,:] / max(sqrt(sum(x[t,:]^2)), eps)`: of vectors that are
    compared by their angle (`torch.nn.functional.normalize`).

    ```mlir
    %y = transformer.l2_normalize %x {eps = 1.0e-12 : f64} : tensor<?x104xf32>
    ```

    Shapes: `[T, W]` to `[T, W]`.

    Constraints:
    * C1. eps is positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$input, F64Attr:$eps);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input attr-dict `:` type($input)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_CutRowsOp
    : Transformer_ValueOp<"cut_rows", [
        Transformer_RoundsRows, Transformer_RowWise]> {
  let summary = "how far the great numbers of a row are above the others";
  let description = [{
    `y[t,:] = max(x[t,:] - (mean + deviations * std), 0)`, with the mean of the
    row and its deviation, the root of the biased variance (1/width). Of numbers
    that are normally distributed all but a part of them become zeros, the part
    that `deviations` leaves above it; which they are costs two sums and no
    order (Gemma 3n). NaN where x is.

    ```mlir
    %y = transformer.cut_rows %x {deviations = 1.6448} : tensor<?x104xf32>
    ```

    Shapes: `[T, W]` to `[T, W]`.

    Constraints:
    * C1. deviations is finite.
  }];
  let arguments = (ins Transformer_Rows:$input, F64Attr:$deviations);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input attr-dict `:` type($input)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

#endif // TFC_DIALECT_NORMOPS
