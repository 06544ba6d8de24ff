// Products with weights, and the row-wise ops around them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_PROJECTIONOPS
#define TFC_DIALECT_PROJECTIONOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerInterfaces.td"
include "dialect/TransformerTypes.td"

def Transformer_LinearOp
    : Transformer_ValueOp<"linear", [
        AttrSizedOperandSegments, Transformer_RoundsRows,
        Transformer_WidensMatrices]> {
  let summary = "a product with a weight, and what is done to its result";
  let description = [{
    `y[t,n] = act(sum_k x[t,k] weight[n,k] + bias[n]) * factor[t,n] +
    residual[t,n]`: weights are `[out, in]`, as `torch.nn.Linear` has them. The
    frontend makes products with a bias at most; `tfc-decompose-ffn` adds
    activation and factor, `tfc-fuse-epilogues` activation and residual.

    ```mlir
    %y = transformer.linear %x, %weight bias %bias
           : tensor<?x104xf32>, tensor<150x104xf32>, tensor<150xf32>
    %z = transformer.linear %y, %w residual %x act tanh
           : tensor<?x150xf32>, tensor<104x150xf32>, tensor<?x104xf32>
    ```

    Shapes: input `[T, K]`, weight `[N, K]`, bias `[N]`, factor, residual and
    result `[T, N]`. A weight of f16 or bf16 is widened to f32, exactly.

    Of rows and a weight of i8, whose scales are `input_scales` `[T]` and
    `weight_scales` `[N]`, the sums are integers (modulo 2^32), and what is done
    to them begins with `float(sum) * input_scales[t] * weight_scales[n]`.

    ```mlir
    %y = transformer.linear %q, %weight scales %s, %weight_scales bias %bias
           : tensor<?x104xi8>, tensor<150x104xi8>, tensor<?xf32>,
             tensor<150xf32>, tensor<150xf32>
    ```

    A weight of i4, or of i8 with such scales, has scales for groups of its columns,
    `weight_scales` `[N, G]`: group g is columns `[g K / G, (g + 1) K / G)`. A group's sum is an integer,
    and the product is `sum_g float(sum of group g) * weight_scales[n,g]`, in f32
    by a multiply-add a group, in their order, times `input_scales[t]`. With
    `weight_zeros`, as many, an element of a weight of i4 stands for itself minus
    its group's, in [-8, 7] as well. Those that are floats come off what the scale is
    multiplied with: an element w stands for (w + 8) times its group's scale,
    minus its group's zero, and behind each group's multiply-add is another, of
    minus the sum of the group's input and the zero. Scales of groups, and such
    zeros, may be of 16 bits, which are widened to f32, exactly.

    ```mlir
    %y = transformer.linear %q, %weight scales %s, %group_scales
           : tensor<?x128xi8>, tensor<150x128xi4>, tensor<?xf32>,
             tensor<150x4xbf16>
    ```

    Of rows of floats and a weight of integers there are no `input_scales`: an
    element of the weight stands for itself, minus its group's zero point, times
    `weight_scales`, and the sums are f32. Integers are widened exactly; a scale
    is multiplied with a sum, of all columns or of a group's, which are added up
    in order.

    ```mlir
    %y = transformer.linear %x, %weight scales %weight_scales
           : tensor<?x104xbf16>, tensor<150x104xi8>, tensor<150xf32>
             -> tensor<?x150xbf16>
    ```

    Constraints:
    * C1. input and weight agree in K.
    * C2. bias has the length N.
    * C3. residual has the width N.
    * C4. factor has the width N.
    * C5. exactly if there are weight_scales, weight is of i8 or i4; exactly if
      there are input_scales, input is of i8, and then there are weight_scales.
    * C6. weight_scales have the length N, of a weight of i8; or they are N rows
      of a number of groups that divides K, of one of i4 always.
    * C7. weight_zeros are of the shape of weight_scales, of a weight of i4, and
      of floats only if input is of i8.
  }];
  let arguments = (ins Transformer_Factors:$input,
                       Transformer_FactorMatrix:$weight,
                       Optional<Transformer_RowScales>:$input_scales,
                       Optional<Transformer_WeightScales>:$weight_scales,
                       Optional<Transformer_WeightZeros>:$weight_zeros,
                       Optional<Transformer_Vector>:$bias,
                       Optional<Transformer_Rows>:$factor,
                       Optional<Transformer_Rows>:$residual,
                       DefaultValuedAttr<Transformer_Activation,
                         "Activation::Identity">:$act);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weight custom<Scales>($input_scales, $weight_scales)
    (`zeros` $weight_zeros^)? (`bias` $bias^)? (`factor` $factor^)?
    (`residual` $residual^)? (`act` $act^)? attr-dict `:` custom<LinearTypes>(type($input), type($weight), ref($input_scales),
                           type($input_scales), ref($weight_scales),
                           type($weight_scales), ref($weight_zeros),
                           type($weight_zeros), ref($bias), type($bias),
                           ref($factor), type($factor), ref($residual),
                           type($residual), type($result))
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input,
                                 "::mlir::Value":$weight,
                                 "::mlir::Value":$bias), [{
    build($_builder, $_state, input, weight, bias, ::mlir::Value(),
          ::mlir::Value(), Activation::Identity);
  }]>, OpBuilder<(ins "::mlir::Value":$input, "::mlir::Value":$weight,
                      "::mlir::Value":$bias, "::mlir::Value":$factor,
                      "::mlir::Value":$residual, "Activation":$act), [{
    build($_builder, $_state, input, weight, ::mlir::Value(), ::mlir::Value(),
          ::mlir::Value(), bias, factor, residual, act);
  }]>];
}

def Transformer_QuantizeRowsOp : Transformer_ValueOp<"quantize_rows"> {
  let summary = "rows as multiples of a number each";
  let description = [{
    `scales[t] = max_w |x[t,w]| / 127`, and `q[t,w]` is the integer that is
    nearest (even) to `x[t,w] * (127 / max_w |x[t,w]|)`, which is in
    [-127, 127]. Of a row of zeros all is zero. A row that has a NaN or an
    infinity has a NaN as its scale, so that whatever is made of it is one; its
    integers are any.

    ```mlir
    %q, %scales = transformer.quantize_rows %x : tensor<?x104xf32>
    ```

    Shapes: input and q `[T, W]`, scales `[T]`.
  }];
  let arguments = (ins Transformer_Rows:$input);
  let results = (outs Transformer_ByteRows:$quantized,
                      Transformer_RowScales:$scales);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 0;
}

def Transformer_FfnOp : Transformer_ValueOp<"ffn", [AttrSizedOperandSegments]> {
  let summary = "the feed-forward block";
  let description = [{
    `down(act(up x))`, or gated `down(act(gate x) * up x)` (Shazeer 2020,
    arXiv:2002.05202), each of up, gate, down a product with its bias.
    `tfc-decompose-ffn` makes these products of it.

    ```mlir
    %y = transformer.ffn %x up %u down %d up_bias %ub down_bias %db act gelu
           : tensor<?x104xf32>, tensor<150x104xf32>, tensor<104x150xf32>,
             tensor<150xf32>, tensor<104xf32>
    ```

    Shapes: input `[T, W]`, up and gate `[F, W]`, down `[W, F]`, their biases
    `[F]`, `[F]`, `[W]`, result `[T, W]`.

    Constraints:
    * C1. up has W columns.
    * C2. down is `[W, F]`.
    * C3. gate has the shape of up.
    * C4. the biases have the lengths F, F, W.
    * C5. a gate bias needs a gate.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Matrix:$up,
                       Transformer_Matrix:$down,
                       Optional<Transformer_Matrix>:$gate,
                       Optional<Transformer_Vector>:$up_bias,
                       Optional<Transformer_Vector>:$gate_bias,
                       Optional<Transformer_Vector>:$down_bias,
                       Transformer_Activation:$act);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `up` $up `down` $down (`gate` $gate^)? (`up_bias` $up_bias^)?
    (`gate_bias` $gate_bias^)? (`down_bias` $down_bias^)? `act` $act
    attr-dict `:` custom<FfnTypes>(type($input), type($up), type($down), ref($gate),
                        type($gate), ref($up_bias), type($up_bias),
                        ref($gate_bias), type($gate_bias), ref($down_bias),
                        type($down_bias), type($result))
  }];
}

def Transformer_ActivationOp
    : Transformer_ValueOp<"activation", [
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RoundsRows, Transformer_RowWise]> {
  let summary = "an activation function, element by element";
  let description = [{
    * `identity`: x
    * `gelu`: x/2 (1 + erf(x / sqrt 2))
    * `gelu_new`: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    * `relu`: max(x, 0)
    * `silu`: x / (1 + exp(-x))
    * `tanh`: tanh x
    * `relu2`: max(x, 0)^2
    * `sigmoid`: 1 / (1 + exp(-x))
    * `softplus`: max(x, 0) + log(1 + exp(-|x|))
    * `quick_gelu`: x / (1 + exp(-1.702 x))

    (Hendrycks and Gimpel 2016, arXiv:1606.08415, for the three kinds of gelu.) With a result of
    other elements `identity` rounds or widens rows, and nothing else.

    ```mlir
    %y = transformer.activation gelu %x : tensor<?x150xf32>
    ```

    Shapes: `[T, W]` to `[T, W]`.
  }];
  let arguments = (ins Transformer_Activation:$act, Transformer_Rows:$input);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $act $input attr-dict `:` type($input)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
  let hasVerifier = 0;
  let hasFolder = 1;
}

def Transformer_AddOp
    : Transformer_ValueOp<"add", [
        Commutative, DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RowWise]> {
  let summary = "the sum of two streams of rows";
  let description = [{
    `y = lhs + rhs`: the residual connection, and the sum of embeddings.

    ```mlir
    %y = transformer.add %x, %f : tensor<?x104xf32>, tensor<?x104xf32>
    ```

    Shapes: `[T, W]` each.

    Constraints:
    * C1. the widths are equal.
  }];
  let arguments = (ins Transformer_Rows:$lhs, Transformer_Rows:$rhs);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs)
    `` custom<RowsAs>(type($result), ref(type($lhs)))
  }];
}

def Transformer_MultiplyOp
    : Transformer_ValueOp<"multiply", [
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RoundsRows, Transformer_RowWise]> {
  let summary = "rows times what gates them, element by element";
  let description = [{
    `y[t,w] = x[t,w] * act(gate[t,w])`: what an attention, a convolution or a
    recurrence gave, as far as a projection of the same row lets it through.

    ```mlir
    %y = transformer.multiply %x by %g act sigmoid
           : tensor<?x104xf32>, tensor<?x104xf32>
    ```

    Shapes: `[T, W]` each.

    Constraints:
    * C1. the widths are equal.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Rows:$gate,
                       DefaultValuedAttr<Transformer_Activation,
                         "Activation::Identity">:$act);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `by` $gate (`act` $act^)? attr-dict `:` type($input) `,` type($gate)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_ScaleOp
    : Transformer_ValueOp<"scale", [
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RowWise]> {
  let summary = "rows times a number";
  let description = [{
    `y = factor * x`: of embeddings, and of what goes into a head whose weight
    is tied to them.

    ```mlir
    %y = transformer.scale %x by 8.0 : tensor<?x104xf32>
    ```

    Shapes: `[T, W]` to `[T, W]`.

    Constraints:
    * C1. factor is finite.
  }];
  let arguments = (ins Transformer_Rows:$input, F64Attr:$factor);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `by` $factor attr-dict `:` type($input)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
  let hasFolder = 1;
}

def Transformer_ClampOp
    : Transformer_ValueOp<"clamp", [
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RowWise]> {
  let summary = "rows whose numbers are at least as great as a number";
  let description = [{
    `y = max(x, least)`, NaN where x is: of the time that a token takes of a
    recurrence.

    ```mlir
    %y = transformer.clamp %x least -6.9 : tensor<?x6xf32>
    ```

    Shapes: `[T, W]` to `[T, W]`.

    Constraints:
    * C1. least is finite.
  }];
  let arguments = (ins Transformer_Rows:$input, F64Attr:$least);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `least` $least attr-dict `:` type($input)
    `` custom<RowsAs>(type($result), ref(type($input)))
  }];
}

def Transformer_XieluOp
    : Transformer_ValueOp<"xielu", [
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RowWise]> {
  let summary = "an activation with learned slopes";
  let description = [{
    With p = softplus(positive) and n = beta + softplus(negative)
    `y = x > 0 ? p x^2 + beta x : n (exp(min(x, least)) - 1 - x) + beta x`
    (Huang and Schlag 2024, arXiv:2411.13010).

    ```mlir
    %y = transformer.xielu %x positive %p negative %n
           {beta = 5.0e-01, least = -1.0e-06}
           : (tensor<?x22xf32>, tensor<1xf32>, tensor<1xf32>)
             -> tensor<?x22xf32>
    ```

    Shapes: input and result `[T, W]`, positive and negative `[1]`.

    Constraints:
    * C1. positive and negative are one number each.
    * C2. beta and least are finite.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Vector:$positive,
                       Transformer_Vector:$negative, F64Attr:$beta,
                       F64Attr:$least);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `positive` $positive `negative` $negative attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_AllReduceOp
    : Transformer_ValueOp<"all_reduce", [Transformer_RowWise]> {
  let summary = "the sum of what all ranks have";
  let description = [{
    `y[t,c] = (x_0[t,c] + x_1[t,c]) + ...`, x_r being the rows of rank r, in f32
    and in the order of ranks: the same bits for each of them. All ranks run the
    same program on the same step. Behind a product of which each rank has some
    columns of the matrix (Shoeybi et al. 2019, arXiv:1909.08053).

    ```mlir
    %y = transformer.all_reduce %x : tensor<?x104xf32>
    ```

    Shapes: `[T, W]` to `[T, W]`.
  }];
  let arguments = (ins Transformer_WideRows:$input);
  let results = (outs Transformer_WideRows:$result);
  let assemblyFormat = "$input attr-dict `:` type($input)";
  let hasVerifier = 0;
}

def Transformer_GatherRowsOp : Transformer_ValueOp<"gather_rows"> {
  let summary = "some of the rows";
  let description = [{
    `y[r,:] = x[rows[r],:]`, 0 <= rows[r] < T. Before a head, it keeps rows
    that nobody asked for out of the head's product.

    ```mlir
    %y = transformer.gather_rows %x, %rows : tensor<?x104xf32>, tensor<?xi32>
    ```

    Shapes: input `[T, W]`, rows `[R]`, result `[R, W]`.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Ids:$rows);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $rows attr-dict `:` type($input) `,` type($rows)
    `` custom<RowsOfTable>(type($result), ref(type($rows)), ref(type($input)))
  }];
  let hasVerifier = 0;
}

def Transformer_PoolRowsOp : Transformer_ValueOp<"pool_rows"> {
  let summary = "a row of all rows of a sequence";
  let description = [{
    `y[r,:]` is of the sequence that has row `rows[r]`, 0 <= rows[r] < T: over
    its n new tokens that are visible (the first `keys - past` of them) but the
    first `skip` (0 where it is not given), by column,

    * `mean`: their sum / n
    * `max`: the greatest
    * `mean_sqrt_len`: their sum / sqrt n

    (Reimers and Gurevych 2019, arXiv:1908.10084.) Spectators are not counted;
    of a sequence without rows that are the row is not a number.

    ```mlir
    %y = transformer.pool_rows mean %x, %rows, %batch
           : tensor<?x104xf32>, tensor<?xi32>
    ```

    Shapes: input `[T, W]`, rows `[R]`, result `[R, W]`.

    Constraints:
    * C1. skip is from 0 to 2^20.
  }];
  let arguments = (ins Transformer_Pooling:$how, Transformer_Rows:$input,
                       Transformer_Ids:$rows, Transformer_BatchType:$batch,
                       OptionalAttr<I64Attr>:$skip);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $how $input `,` $rows `,` $batch attr-dict `:` type($input) `,` type($rows)
    `` custom<RowsOfTable>(type($result), ref(type($rows)), ref(type($input)))
  }];
  let hasVerifier = 1;
}

def Transformer_UnfoldOp : Transformer_ValueOp<"unfold"> {
  let summary = "each row with its neighbours, for a convolution";
  let description = [{
    A row is `frames` frames of C columns, those of the inputs one after the
    other, so that a sequence has frames 0, 1, 2, ... of its rows in turn:
    `y[t, taps c + i] = frame[frames t + first + i, c]` for `0 <= i < taps`;
    zero where there is no such frame in the visible new tokens of the token's
    sequence (the first `keys - past` of them). Without `from` first is
    -(taps - 1) / 2. A product with a matrix `[N, C taps]` is a convolution over
    the sequence, of a stride of `frames` (Waibel et al. 1989, the time delays
    of a network): of torch's Conv1d with -first frames of padding, the weight
    `[N, C, taps]` with its last axes as one.

    ```mlir
    %y = transformer.unfold %x taps 3, %batch
           : (tensor<?x26xf32>, !transformer.batch) -> tensor<?x78xf32>
    %z = transformer.unfold %even, %odd taps 3 from -1 frames 2, %batch
           : (tensor<?x26xf32>, tensor<?x26xf32>, !transformer.batch)
             -> tensor<?x78xf32>
    ```

    Shapes: inputs `[T, C frames / inputs]`, result `[T, C taps]`.

    Constraints:
    * C1. taps is in [1, 1023], and odd without `from`.
    * C2. first is in [-1023, 1023], frames in [1, 1024].
    * C3. inputs are of one type, their number divides frames, and what each
      has of them divides its columns.
  }];
  let arguments = (ins Variadic<Transformer_Rows>:$inputs, I64Attr:$taps,
                       OptionalAttr<I64Attr>:$first,
                       DefaultValuedAttr<I64Attr, "1">:$frames,
                       Transformer_BatchType:$batch);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $inputs `taps` $taps (`from` $first^)? (`frames` $frames^)? `,` $batch
    attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_LayerScaleOp
    : Transformer_ValueOp<"layer_scale", [
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface>,
        Transformer_RowWise]> {
  let summary = "rows times learned numbers";
  let description = [{
    `y[t,c] = weight[c] x[t,c]`, or `weight[0] x[t,c]` where there is one number
    for all (Touvron et al. 2021, arXiv:2103.17239).

    ```mlir
    %y = transformer.layer_scale %x, %w
           : (tensor<?x104xf32>, tensor<1xf32>) -> tensor<?x104xf32>
    ```

    Shapes: input and result `[T, W]`, weight `[W]` or `[1]`.

    Constraints:
    * C1. weight has a number for each column, or one.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Vector:$weight);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weight attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_SliceColumnsOp : Transformer_ValueOp<"slice_columns"> {
  let summary = "a range of columns";
  let description = [{
    `y[t,c] = x[t, first + c]` for `0 <= c < width`; with `layer`, rows being
    those of several layers side by side, `x[t, first + layer width + c]`.

    ```mlir
    %start = transformer.slice_columns %x[0, 1] : tensor<?x2xf32>
    %own = transformer.slice_columns %x[0, 26] layer %i : tensor<?x104xf32>
    ```

    Shapes: input `[T, W]`, result `[T, width]`.

    Constraints:
    * C1. `[first, first + width)` is not empty and lies inside `[0, W)`; with
      `layer`, that range of each layer does.
    * C2. width is at least 0.
  }];
  let arguments = (ins Transformer_Rows:$input, I64Attr:$first, I64Attr:$width,
                       Optional<Index>:$layer);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `[` $first `,` $width `]` (`layer` $layer^)? attr-dict `:`
    type($input)
    `` custom<RowsSliced>(type($result), ref(type($input)), ref($width))
  }];
  let hasFolder = 1;
}

#endif // TFC_DIALECT_PROJECTIONOPS
