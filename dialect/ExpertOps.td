// Mixtures of experts: which experts a row takes, and what they make of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_EXPERTOPS
#define TFC_DIALECT_EXPERTOPS

include "dialect/StructuredOps.td"
include "dialect/TransformerAttrs.td"
include "dialect/TransformerTypes.td"

def Transformer_RouteOp : Transformer_ValueOp<"route"> {
  let summary = "the experts that each row takes, and their weights";
  let description = [{
    With s the row's scores, softmax or sigmoid of its logits or these
    themselves, and c = s + choice_bias: the `per_token` experts of the greatest
    c are chosen. Of `groups` equal parts of the experts only the experts of the
    `groups_used` best are left to choose from, a group being as good as its
    greatest c (`max`) or as the sum of its two greatest (`top2`). Of equal ones
    the lower number goes first.

    The weights are s of the chosen: as they are, over their sum
    (`sum`: w / max(sum + plus, floor)), or their softmax; then times `factor`.
    An expert's place in the row is by its number, not by its score.

    With `late_sigmoid` experts are chosen by their logits, and s of the chosen
    is the sigmoid of its logit.

    With `sparsemixer` an expert is chosen `per_token` times, each time that of
    the greatest logit m that is left. Its weight is its share of the softmax of
    those left whose logit z is near: `(m - z) / max(|z|, m) <= tolerance`
    (Liu et al. 2023, arXiv:2310.00811; Abdin et al. 2024, arXiv:2404.14219).

    ```mlir
    %ids, %w = transformer.route softmax %z take 2 renormalize sum
                 : (tensor<?x8xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
    ```

    (Shazeer et al. 2017, arXiv:1701.06538; groups and the bias of the choice:
    DeepSeek-AI 2024, arXiv:2412.19437.)

    Shapes: logits `[T, E]`, choice_bias `[E]`, ids and weights `[T, k]`.

    Constraints:
    * C1. per_token is in [1, E].
    * C2. choice_bias has the length E.
    * C3. groups is a positive divisor of E, and groups_used is in [1, groups].
    * C4. per_token experts are in the groups used; of groups by `top2` each has
      at least two.
    * C5. plus, floor and tolerance are at least 0, factor is above 0, all are
      finite.
    * C6. of sparsemixer there are no choice_bias and no groups, and weights
      stay as they are; a tolerance is of nothing else.
  }];
  let arguments = (ins Transformer_RouterScore:$score,
                       Transformer_WideRows:$logits,
                       Optional<Transformer_Vector>:$choice_bias,
                       I64Attr:$per_token,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$groups_used,
                       DefaultValuedAttr<Transformer_GroupRank,
                         "GroupRank::Max">:$group_by,
                       DefaultValuedAttr<Transformer_Renormalize,
                         "Renormalize::None">:$renormalize,
                       DefaultValuedAttr<F64Attr, "0.0">:$plus,
                       DefaultValuedAttr<F64Attr, "0.0">:$floor,
                       DefaultValuedAttr<F64Attr, "1.0">:$factor,
                       DefaultValuedAttr<F64Attr, "0.0">:$tolerance);
  let results = (outs Transformer_ExpertIds:$ids,
                      Transformer_WideRows:$weights);
  let assemblyFormat = [{
    $score $logits (`bias` $choice_bias^)? `take` $per_token
    (`renormalize` $renormalize^)? attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_ScaleExpertsOp : Transformer_ValueOp<"scale_experts"> {
  let summary = "weights of experts times a number of each expert";
  let description = [{
    `y[t,j] = weights[t,j] * scale[ids[t,j]]`, of ids in [0, E).

    ```mlir
    %y = transformer.scale_experts %w, %ids by %s
           : tensor<?x2xf32>, tensor<?x2xi32>, tensor<8xf32>
    ```

    Shapes: weights, ids and result `[T, k]`, scale `[E]`.

    Constraints:
    * C1. ids and weights have the same shape.
  }];
  let arguments = (ins Transformer_WideRows:$weights,
                       Transformer_ExpertIds:$ids, Transformer_Vector:$scale);
  let results = (outs Transformer_WideRows:$result);
  let assemblyFormat = [{
    $weights `,` $ids `by` $scale attr-dict `:` type($weights) `,` type($ids)
    `,` type($scale) `` custom<RowsAs>(type($result), ref(type($weights)))
  }];
}

def Transformer_ExpertsOp
    : Transformer_ValueOp<"experts", [AttrSizedOperandSegments]> {
  let summary = "the feed-forward blocks that each row takes, weighted";
  let description = [{
    `y[t] = sum_j weights[t,j] f_e(x[t])` with e = ids[t,j], j ascending, where
    f_e is `down_e(act(up_e x))` or gated `down_e(act(gate_e x) * up_e x)`, each
    with its bias: expert e has matrix e of each. With `limit` the gate is
    clamped: f_e is `down_e(h)` with h as `transformer.clamped_gate` makes it of
    both. `tfc-decompose-experts` makes products of it.

    ```mlir
    %y = transformer.experts %x, %ids, %w up %u down %d gate %g act silu
           : (tensor<?x30xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
              tensor<8x14x30xf32>, tensor<8x30x14xf32>, tensor<8x14x30xf32>)
             -> tensor<?x30xf32>
    ```

    Shapes: input `[T, W]`, ids and weights `[T, k]`, up and gate `[E, F, W]`,
    down `[E, W, F]`, their biases `[E, F]`, `[E, F]`, `[E, W]`, result `[T, W]`.

    Constraints:
    * C1. ids and weights have the same shape.
    * C2. up has W columns.
    * C3. down is `[E, W, F]`, gate has the shape of up.
    * C4. the biases have a row for each expert, F, F and W long.
    * C5. a gate bias needs a gate.
    * C6. alpha and limit stand together, with a gate and the activation silu;
      they are positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_ExpertIds:$ids,
                       Transformer_WideRows:$weights,
                       Transformer_ExpertMatrices:$up,
                       Transformer_ExpertMatrices:$down,
                       Optional<Transformer_ExpertMatrices>:$gate,
                       Optional<Transformer_Matrix>:$up_bias,
                       Optional<Transformer_Matrix>:$gate_bias,
                       Optional<Transformer_Matrix>:$down_bias,
                       Transformer_Activation:$act,
                       OptionalAttr<F64Attr>:$alpha,
                       OptionalAttr<F64Attr>:$limit);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $ids `,` $weights `up` $up `down` $down (`gate` $gate^)?
    (`up_bias` $up_bias^)? (`gate_bias` $gate_bias^)?
    (`down_bias` $down_bias^)? `act` $act attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_GroupByOp : Transformer_ValueOp<"group_by"> {
  let summary = "the rows of each expert, one expert after the other";
  let description = [{
    The n = T k pairs of a row and an expert that it takes, sorted by expert,
    those of one expert by row. `rows[i]` is the row of pair i, `experts[i]` its
    expert, and `places[t,j]` where the pair (t, ids[t,j]) stands. Ids are in
    [0, experts).

    ```mlir
    %rows, %experts, %places = transformer.group_by %ids of 8 : tensor<?x2xi32>
    ```

    Shapes: ids `[T, k]`, rows and sorted `[T k]`, places `[T, k]`.

    Constraints:
    * C1. there is an expert.
  }];
  let arguments = (ins Transformer_ExpertIds:$ids, I64Attr:$experts);
  let results = (outs Transformer_Ids:$rows, Transformer_Ids:$sorted,
                      Transformer_ExpertIds:$places);
  let assemblyFormat = "$ids `of` $experts attr-dict `:` type($ids)";
}

def Transformer_ExpertLinearOp
    : Transformer_ValueOp<"expert_linear", [
        AttrSizedOperandSegments, Transformer_WidensMatrices]> {
  let summary = "a product of each row with the matrix of its expert";
  let description = [{
    `y[i,n] = act(sum_k x[i,k] weight[e,n,k] + bias[e,n]) * factor[i,n]` with
    e = experts[i]. Equal experts stand together, in ascending order, as
    `transformer.group_by` leaves them.

    ```mlir
    %y = transformer.expert_linear %x of %experts, %weight act silu
           : (tensor<?x30xf32>, tensor<?xi32>, tensor<8x14x30xf32>)
             -> tensor<?x14xf32>
    ```

    Shapes: input `[R, K]`, experts `[R]`, weight `[E, N, K]`, bias `[E, N]`,
    factor and result `[R, N]`. A weight of f16 or bf16 is widened to f32,
    exactly.

    Rows of bytes and weights of integers whose columns have groups are
    multiplied as by `transformer.linear`: input_scales `[R]`, weight_scales and
    weight_zeros `[E, N, G]`.

    Constraints:
    * C1. input and weight agree in K.
    * C2. bias is `[E, N]`.
    * C3. factor has the width N.
    * C4. input is of i8 and weight of i8 or i4 exactly if there are input_scales
      and weight_scales, which have the weight's experts and rows and a number of
      groups that divides K; weight_zeros have their shape, and the weight is of
      i4 then.
  }];
  let arguments = (ins Transformer_Factors:$input, Transformer_Ids:$experts,
                       Transformer_ExpertMatrices:$weight,
                       Optional<Transformer_RowScales>:$input_scales,
                       Optional<Transformer_ExpertScales>:$weight_scales,
                       Optional<Transformer_ExpertZeros>:$weight_zeros,
                       Optional<Transformer_Matrix>:$bias,
                       Optional<Transformer_Rows>:$factor,
                       DefaultValuedAttr<Transformer_Activation,
                         "Activation::Identity">:$act);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `of` $experts `,` $weight
    (`scales` $input_scales^ `,` $weight_scales)? (`zeros` $weight_zeros^)?
    (`bias` $bias^)? (`factor` $factor^)?
    (`act` $act^)? attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$input,
                                 "::mlir::Value":$experts,
                                 "::mlir::Value":$weight,
                                 "::mlir::Value":$bias,
                                 "::mlir::Value":$factor,
                                 "::tfc::transformer::Activation":$act), [{
    build($_builder, $_state, input, experts, weight, ::mlir::Value(),
          ::mlir::Value(), ::mlir::Value(), bias, factor, act);
  }]>, OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$input,
                      "::mlir::Value":$experts, "::mlir::Value":$weight,
                      "::mlir::Value":$bias, "::mlir::Value":$factor,
                      "::tfc::transformer::Activation":$act), [{
    build($_builder, $_state, result, input, experts, weight, ::mlir::Value(),
          ::mlir::Value(), ::mlir::Value(), bias, factor, act);
  }]>];
}

def Transformer_CombineOp : Transformer_ValueOp<"combine"> {
  let summary = "what experts made of a row, weighted and added";
  let description = [{
    `y[t] = weights[t,0] x[places[t,0]] + weights[t,1] x[places[t,1]] + ...`,
    each product rounded, then added in this order.

    ```mlir
    %y = transformer.combine %f, %places, %w
           : (tensor<?x30xf32>, tensor<?x2xi32>, tensor<?x2xf32>)
             -> tensor<?x30xf32>
    ```

    Shapes: input `[R, W]`, places and weights `[T, k]`, result `[T, W]`; places
    are in [0, R).

    Constraints:
    * C1. places and weights have the same width.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_ExpertIds:$places,
                       Transformer_WideRows:$weights);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $places `,` $weights attr-dict `:`
    functional-type(operands, results)
  }];
}

def Transformer_GateRowsOp : Transformer_ValueOp<"gate_rows", [Transformer_RowWise]> {
  let summary = "parts of rows times an activation of a number each";
  let description = [{
    `y[t,c] = x[t,c] * act(gate[t, c / (W / H)])`: how much of what a shared
    expert made a row gets, H being 1, or of what a head of an attention did.

    ```mlir
    %y = transformer.gate_rows %x by %g act sigmoid
           : (tensor<?x30xf32>, tensor<?x1xf32>) -> tensor<?x30xf32>
    ```

    Shapes: input and result `[T, W]`, gate `[T, H]`.

    Constraints:
    * C1. H divides W.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Rows:$gate,
                       Transformer_Activation:$act);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `by` $gate `act` $act attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_ClampedGateOp
    : Transformer_ValueOp<"clamped_gate", [Transformer_RowWise]> {
  let summary = "one clamped factor, and another through a clamped gate";
  let description = [{
    `y = (u + 1) g / (1 + exp(-alpha g))` with g = min(gate, limit) and u the
    input between -limit and limit: what experts of gpt-oss have between their
    products.

    ```mlir
    %h = transformer.clamped_gate %u by %g {alpha = 1.702, limit = 7.0}
           : (tensor<?x14xf32>, tensor<?x14xf32>) -> tensor<?x14xf32>
    ```

    Shapes: input, gate and result `[T, W]`.

    Constraints:
    * C1. gate is as wide as the input.
    * C2. alpha and limit are positive and finite.
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Rows:$gate,
                       F64Attr:$alpha, F64Attr:$limit);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `by` $gate attr-dict `:` functional-type(operands, results)
  }];
}

def Transformer_ChooseExpertsOp
    : Transformer_StructuredOp<"choose_experts", [DestinationStyleOpInterface]> {
  let summary = "experts and weights of rows, written where they belong";
  let description = [{
    The results of `transformer.route`, written to `ids` and `weights`, whatever
    the logits are: a logit that is no number is the least there is where
    experts are chosen, so that they are different ones that there are.

    Constraints:
    * C1. ids and weights are per_token wide.
    * C2. choice_bias has an element for each logit of a row.
  }];
  let arguments = (ins Transformer_RouterScore:$score,
                       Transformer_RowsOrBuffer:$logits,
                       Optional<Transformer_VectorOrBuffer>:$choice_bias,
                       Transformer_ExpertIdsOrBuffer:$ids,
                       Transformer_RowsOrBuffer:$weights,
                       I64Attr:$per_token,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$groups_used,
                       DefaultValuedAttr<Transformer_GroupRank,
                         "GroupRank::Max">:$group_by,
                       DefaultValuedAttr<Transformer_Renormalize,
                         "Renormalize::None">:$renormalize,
                       DefaultValuedAttr<F64Attr, "0.0">:$plus,
                       DefaultValuedAttr<F64Attr, "0.0">:$floor,
                       DefaultValuedAttr<F64Attr, "1.0">:$factor,
                       DefaultValuedAttr<F64Attr, "0.0">:$tolerance);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $score $logits (`bias` $choice_bias^)? `take` $per_token
    (`renormalize` $renormalize^)? `outs` `(` $ids `,` $weights `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      unsigned first = getIdsMutable().getOperandNumber();
      return ::mlir::MutableOperandRange(getOperation(), first, 2);
    }
  }];
  let hasVerifier = 1;
}

def Transformer_SortByExpertOp
    : Transformer_StructuredOp<"sort_by_expert", [DestinationStyleOpInterface]> {
  let summary = "rows sorted by expert, written where they belong";
  let description = [{
    The results of `transformer.group_by`, written to `rows`, `sorted` and
    `places`.

    Constraints:
    * C1. places are as wide as ids.
  }];
  let arguments = (ins Transformer_ExpertIdsOrBuffer:$ids, I64Attr:$experts,
                       Transformer_IdsOrBuffer:$rows,
                       Transformer_IdsOrBuffer:$sorted,
                       Transformer_ExpertIdsOrBuffer:$places);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $ids `of` $experts `outs` `(` $rows `,` $sorted `,` $places `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      unsigned first = getRowsMutable().getOperandNumber();
      return ::mlir::MutableOperandRange(getOperation(), first, 3);
    }
  }];
  let hasVerifier = 1;
}

#endif // TFC_DIALECT_EXPERTOPS
