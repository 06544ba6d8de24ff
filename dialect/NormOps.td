// Normalisations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_NORMOPS
#define TFC_DIALECT_NORMOPS

include "dialect/TransformerBase.td"

def Transformer_LayerNormOp : Transformer_ValueOp<"layer_norm", [Transformer_RowWise]> {
  let summary = "layer normalisation of each row";
  let description = [{
    `y[t,:] = (x[t,:] - mean) / sqrt(var + eps) * weight + bias`, with mean and
    biased variance (1/width) over the row (Ba et al. 2016, arXiv:1607.06450;
    `torch.nn.LayerNorm`).

    ```mlir
    %y = transformer.layer_norm %x, %weight bias %bias {eps = 1.0e-12 : f64}
           : tensor<?x104xf32>, tensor<104xf32>, tensor<104xf32>
    ```

    Shapes: input `[T, W]`, weight and bias `[W]`, result `[T, W]`.

    Constraints:
    * C1. weight has the length W.
    * C2. bias has the length W.
    * C3. eps is positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Vector:$weight,
                       Optional<Transformer_Vector>:$bias, F64Attr:$eps);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? attr-dict `:` type(operands)
  }];
}

def Transformer_RmsNormOp : Transformer_ValueOp<"rms_norm", [Transformer_RowWise]> {
  let summary = "each row divided by its root mean square";
  let description = [{
    `y[t,:] = x[t,:] / sqrt(mean(x[t,:]^2) + eps) * weight` (Zhang and Sennrich
    2019, arXiv:1910.07467).

    ```mlir
    %y = transformer.rms_norm %x, %weight {eps = 1.0e-6 : f64}
           : tensor<?x104xf32>, tensor<104xf32>
    ```

    Shapes: input `[T, W]`, weight `[W]`, result `[T, W]`.

    Constraints:
    * C1. weight has the length W.
    * C2. eps is positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Vector:$weight,
                       F64Attr:$eps);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = "$input `,` $weight attr-dict `:` type(operands)";
}

#endif // TFC_DIALECT_NORMOPS
