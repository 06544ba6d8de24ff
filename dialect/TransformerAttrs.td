// Enums and attributes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_TRANSFORMERATTRS
#define TFC_DIALECT_TRANSFORMERATTRS

include "dialect/TransformerBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Transformer_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tfc::transformer";
  let genSpecializedAttr = 0;
}

class Transformer_EnumAttr<EnumAttrInfo info, string enumMnemonic>
    : EnumAttr<Transformer_Dialect, info, enumMnemonic> {
  let assemblyFormat = "$value";
}

def Transformer_ActivationEnum
    : Transformer_Enum<"Activation", "activation function", [
        I32EnumAttrCase<"Identity", 0, "identity">,
        I32EnumAttrCase<"Gelu", 1, "gelu">,
        I32EnumAttrCase<"GeluNew", 2, "gelu_new">,
        I32EnumAttrCase<"Relu", 3, "relu">,
        I32EnumAttrCase<"Silu", 4, "silu">,
        I32EnumAttrCase<"Tanh", 5, "tanh">,
        I32EnumAttrCase<"Relu2", 6, "relu2">,
        I32EnumAttrCase<"Sigmoid", 7, "sigmoid">,
        I32EnumAttrCase<"Softplus", 8, "softplus">,
        I32EnumAttrCase<"QuickGelu", 9, "quick_gelu">]>;
def Transformer_Activation
    : Transformer_EnumAttr<Transformer_ActivationEnum, "activation">;

def Transformer_MaskEnum
    : Transformer_Enum<"Mask", "which positions a query sees", [
        I32EnumAttrCase<"Bidirectional", 0, "bidirectional">,
        I32EnumAttrCase<"Causal", 1, "causal">]>;
def Transformer_Mask
    : Transformer_EnumAttr<Transformer_MaskEnum, "mask">;

def Transformer_RotaryStyleEnum
    : Transformer_Enum<"RotaryStyle", "which columns turn together", [
        I32EnumAttrCase<"Half", 0, "half">,
        I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;
def Transformer_RotaryStyle
    : Transformer_EnumAttr<Transformer_RotaryStyleEnum, "rotary_style">;

def Transformer_PoolingEnum
    : Transformer_Enum<"Pooling", "one row of the rows of a sequence", [
        I32EnumAttrCase<"Mean", 0, "mean">,
        I32EnumAttrCase<"Max", 1, "max">,
        I32EnumAttrCase<"MeanSqrtLen", 2, "mean_sqrt_len">]>;
def Transformer_Pooling
    : Transformer_EnumAttr<Transformer_PoolingEnum, "pooling">;

def Transformer_QueryPlaceEnum
    : Transformer_Enum<"QueryPlace", "which row of a sequence asks", [
        I32EnumAttrCase<"First", 0, "first">,
        I32EnumAttrCase<"Last", 1, "last">]>;
def Transformer_QueryPlace
    : Transformer_EnumAttr<Transformer_QueryPlaceEnum, "query_place">;

def Transformer_RouterScoreEnum
    : Transformer_Enum<"RouterScore", "what experts are chosen by", [
        I32EnumAttrCase<"Softmax", 0, "softmax">,
        I32EnumAttrCase<"Sigmoid", 1, "sigmoid">,
        I32EnumAttrCase<"Logits", 2, "logits">,
        I32EnumAttrCase<"Sparsemixer", 3, "sparsemixer">,
        I32EnumAttrCase<"LateSigmoid", 4, "late_sigmoid">]>;
def Transformer_RouterScore
    : Transformer_EnumAttr<Transformer_RouterScoreEnum, "router_score">;

def Transformer_GroupRankEnum
    : Transformer_Enum<"GroupRank", "how good a group of experts is", [
        I32EnumAttrCase<"Max", 0, "max">,
        I32EnumAttrCase<"Top2", 1, "top2">]>;
def Transformer_GroupRank
    : Transformer_EnumAttr<Transformer_GroupRankEnum, "group_rank">;

def Transformer_RenormalizeEnum
    : Transformer_Enum<"Renormalize", "what becomes of chosen scores", [
        I32EnumAttrCase<"None", 0, "none">,
        I32EnumAttrCase<"Sum", 1, "sum">,
        I32EnumAttrCase<"Softmax", 2, "softmax">]>;
def Transformer_Renormalize
    : Transformer_EnumAttr<Transformer_RenormalizeEnum, "renormalize">;

def Transformer_RecurrenceRuleEnum
    : Transformer_Enum<"RecurrenceRule", "what a token changes of a state", [
        I32EnumAttrCase<"Delta", 0, "delta">,
        I32EnumAttrCase<"Add", 1, "add">]>;
def Transformer_RecurrenceRule
    : Transformer_EnumAttr<Transformer_RecurrenceRuleEnum, "recurrence_rule">;

def Transformer_CacheKindEnum
    : Transformer_Enum<"CacheKind", "what a cache is for", [
        I32EnumAttrCase<"Self", 0, "self">,
        I32EnumAttrCase<"Scratch", 1, "scratch">,
        I32EnumAttrCase<"Cross", 2, "cross">]>;

// The numbers are those of abi.h, where nothing has bytes.
def Transformer_StorageEnum
    : Transformer_Enum<"Storage", "what numbers are kept in", [
        I32EnumAttrCase<"F32", 0, "f32">,
        I32EnumAttrCase<"F16", 1, "f16">,
        I32EnumAttrCase<"BF16", 2, "bf16">,
        I32EnumAttrCase<"Int8", 4, "int8">,
        I32EnumAttrCase<"Int4", 5, "int4">]>;

def Transformer_StorageParameter : EnumParameter<Transformer_StorageEnum> {
  let defaultValue = "::tfc::transformer::Storage::F32";
}

// The numbers of the next three are those of abi.h.
def Transformer_FillEnum
    : Transformer_Enum<"Fill", "values of an input not given", [
        I32EnumAttrCase<"Required", 0, "required">,
        I32EnumAttrCase<"Zero", 1, "zero">,
        I32EnumAttrCase<"Absent", 2, "absent">,
        I32EnumAttrCase<"Position", 3, "position">,
        I32EnumAttrCase<"Shifted", 4, "shifted">,
        I32EnumAttrCase<"FromPad", 5, "from_pad">,
        I32EnumAttrCase<"FromMask", 6, "from_mask">,
        I32EnumAttrCase<"Given", 7, "given">,
        I32EnumAttrCase<"Unseen", 8, "unseen">]>;
def Transformer_Fill
    : Transformer_EnumAttr<Transformer_FillEnum, "fill">;
def Transformer_RowKindEnum
    : Transformer_Enum<"RowKind", "which rows an output has", [
        I32EnumAttrCase<"Tokens", 0, "tokens">,
        I32EnumAttrCase<"Wanted", 1, "wanted">]>;
def Transformer_RowKind
    : Transformer_EnumAttr<Transformer_RowKindEnum, "row_kind">;
def Transformer_TakeEnum
    : Transformer_Enum<"Take", "which rows a forward pass wants", [
        I32EnumAttrCase<"All", 0, "all">,
        I32EnumAttrCase<"First", 1, "first">,
        I32EnumAttrCase<"LastNonpad", 2, "last_nonpad">,
        I32EnumAttrCase<"LastEos", 3, "last_eos">,
        I32EnumAttrCase<"FirstVisible", 4, "first_visible">,
        I32EnumAttrCase<"LastVisible", 5, "last_visible">,
        I32EnumAttrCase<"FirstEos", 6, "first_eos">]>;
def Transformer_Take
    : Transformer_EnumAttr<Transformer_TakeEnum, "take">;

def Transformer_InputAttr : AttrDef<Transformer_Dialect, "Input"> {
  let mnemonic = "input";
  let summary = "an input port: argument attribute of an entry";
  let description = [{
    Hugging Face's name of the input, what it is when the caller does not give
    it, and its bound: every value is in `[0, limit)`. With a `width` it has rows
    of so many floats, those of the tokens whose ids are negative; ids are
    `given` then: all of the table, and behind them one for each of the rows.
  }];
  let parameters = (ins StringRefParameter<>:$name,
                        EnumParameter<Transformer_FillEnum>:$fill,
                        "int64_t":$limit,
                        DefaultValuedParameter<"int64_t", "0">:$width);
  let assemblyFormat = [{
    `<` $name `,` `fill` `=` $fill `,` `limit` `=` $limit (`,` `width` `=` $width^)? `>`
  }];
}

def Transformer_ShareAttr : AttrDef<Transformer_Dialect, "Share"> {
  let mnemonic = "share";
  let summary = "what a rank has of a parameter";
  let description = [{
    Of n ranks, rank r has part `r * parts / n` of equal `parts`: `rows` rows of
    what is stored, or `cols` columns, behind those of the part before. The
    parameter's own shape is that of a part, and its source says where part 0
    is. With `first_rank` rank 0 has all of it, and others zeros: what is added
    to a part of a sum.

    ```mlir
    #transformer.share<parts = 2, rows = 52>
    ```

    Constraints:
    * C1. parts is at least 1, rows and cols are at least 0.
    * C2. it is by rows, by columns or of the first rank: one of them.
  }];
  let parameters = (ins "int64_t":$parts,
                        DefaultValuedParameter<"int64_t", "0">:$rows,
                        DefaultValuedParameter<"int64_t", "0">:$cols,
                        DefaultValuedParameter<"bool", "false">:$first_rank);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Transformer_SourceAttr : AttrDef<Transformer_Dialect, "Source"> {
  let mnemonic = "source";
  let summary = "where a parameter is stored";
  let description = [{
    Tensor name patterns (`{p}` prefix, `{i}` layer, `{e}` expert), and the part
    of the stored tensor that is meant: rows `first_row + row_step * r` of
    `[stored_rows, cols]`, and, where there are `stored_cols`, the first columns
    of so many; `in_out` for a tensor stored transposed; `stacked` for one that
    has those of all experts, one after the other. `zeros`
    stands in for a missing tensor when `fill_zeros`. Layer j of a parameter of
    layers is the model's layer `first_layer + j * layer_step`: layers between
    them are those of other parameters. Where ranks have parts of it, `share`
    says which. A parameter `tied_to` another is none of
    its own: if stored, it must equal that one.

    Constraints:
    * C1. there is a pattern, and none is empty.
    * C2. first_layer is in [0, 2^31), layer_step in [1, 2^31), stored_rows and
      row_step are at least 1, and stored_cols is at least 0.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$patterns,
                        DefaultValuedParameter<"int64_t", "0">:$first_layer,
                        DefaultValuedParameter<"int64_t", "1">:$layer_step,
                        DefaultValuedParameter<"int64_t", "0">:$first_row,
                        "int64_t":$stored_rows,
                        DefaultValuedParameter<"int64_t", "1">:$row_step,
                        DefaultValuedParameter<"int64_t", "0">:$stored_cols,
                        DefaultValuedParameter<"bool", "false">:$in_out,
                        DefaultValuedParameter<"bool", "false">:$fill_zeros,
                        DefaultValuedParameter<"bool", "false">:$stacked,
                        OptionalParameter<"::mlir::StringAttr">:$tied_to,
                        OptionalParameter<"ShareAttr">:$share);
  let builders = [
    AttrBuilder<(ins "::llvm::ArrayRef<::mlir::StringAttr>":$patterns,
                     "int64_t":$first_layer, "int64_t":$layer_step,
                     "int64_t":$first_row, "int64_t":$stored_rows,
                     "int64_t":$row_step, "int64_t":$stored_cols,
                     "bool":$in_out, "bool":$fill_zeros, "bool":$stacked,
                     "::mlir::StringAttr":$tied_to), [{
      return $_get($_ctxt, patterns, first_layer, layer_step, first_row,
                   stored_rows, row_step, stored_cols, in_out, fill_zeros,
                   stacked, tied_to, ShareAttr());
    }]>
  ];
  let assemblyFormat = "`<` `[` $patterns `]` `,` struct($first_layer, "
                       "$layer_step, $first_row, $stored_rows, $row_step, "
                       "$stored_cols, $in_out, "
                       "$fill_zeros, $stacked, $tied_to, $share) `>`";
  let genVerifyDecl = 1;
}

def Transformer_PackedAttr : AttrDef<Transformer_Dialect, "Packed"> {
  let mnemonic = "packed";
  let summary = "how a matrix lies in the packed weights";
  let description = [{
    In panels of `panel` rows, for the kernels of products: a step of theirs
    reads `word` columns of all rows of a panel, which lie together, `[panel,
    word of columns, row in the panel, column in the word]`; without the last
    axis where a word has one column, which is not written. What a panel has
    beyond the matrix's rows, and the last word beyond its columns, is zero.

    A matrix of i4 is packed in bytes: a word of W columns is W / 2 of them, and
    byte j has column j of the word in its lower four bits and column j + W / 2
    in the upper ones, each with 8 added, which makes it a number without a sign.

    Words of 64 columns of integers, of one row a panel, are for kernels that widen
    them in the registers of a tensor core's fragment, and have them in its order
    (`dialect/FragmentWord.h`): lane p of four has 16 columns, one after the other,
    columns 8 p + e of both halves h of the word, e < 8. Of i8, column 32 h + 8 p + e
    is byte 16 p + 8 h + 4 (e / 4) + o, where o is 0, 2, 1, 3 for e % 4; of i4 it is
    four bits number e / 2 + 4 (e % 2), from the lowest on, of the four bytes from 8 p
    + 4 h on.

    Which panels and words those are follows from no element type: whoever
    knows the kernels says so. One row a panel and one column a word are the
    matrix as it is.

    ```mlir
    #transformer.packed<panel = 48>
    #transformer.packed<panel = 48, word = 2>
    ```

    Constraints:
    * C1. panel and word are at least 1.
  }];
  let parameters = (ins "int64_t":$panel,
                        DefaultValuedParameter<"int64_t", "1">:$word);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The tensor that `matrix` is packed as.
    ::mlir::RankedTensorType pack(::mlir::RankedTensorType matrix) const;
  }];
}

def Transformer_CompanionKindEnum
    : Transformer_Enum<"CompanionKind", "what is kept beside a matrix of integers", [
        I32EnumAttrCase<"Scales", 0, "scales">,
        I32EnumAttrCase<"Excess", 1, "excess">,
        I32EnumAttrCase<"Zeros", 2, "zeros">]>;

def Transformer_CompanionAttr : AttrDef<Transformer_Dialect, "Companion"> {
  let mnemonic = "companion";
  let summary = "what is said beside a matrix of integers";
  let description = [{
    Numbers that are made with the matrix when it is packed: `scales`, what its
    integers are multiples of, one for each row of a matrix of bytes, and of one
    of i4 for each row and group of columns, `[rows, groups]`; `zeros`, as many, what an
    integer of i4 stands for being itself minus that, packed with 8 added as it
    is, or of f32 itself plus 8, times the scale, minus that; `excess`, one for
    each row of a matrix of bytes, 128 times their sum,
    which is by how much too large its products are with rows whose elements are
    128 too large.

    ```mlir
    #transformer.companion<scales of @encoder.layers.attn.q.weight>
    ```
  }];
  let parameters = (ins EnumParameter<Transformer_CompanionKindEnum>:$kind,
                        "::mlir::FlatSymbolRefAttr":$matrix);
  let assemblyFormat = "`<` $kind `of` $matrix `>`";
}

def Transformer_StrategyAttr : AttrDef<Transformer_Dialect, "Strategy"> {
  let mnemonic = "strategy";
  let summary = "tile sizes of a root op, by iteration dimension";
  let description = [{
    What `tfc-select-strategy` chose and `tfc-tile-and-fuse` reads, level by
    level: `parallel`, work items for the host's workers; `rows`, the tile of
    the innermost kernel; `reduction`, its steps. 0 leaves a dimension whole, an
    empty list leaves out the level.

    Constraints:
    * C1. a size is at least 0.
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$parallel,
                        OptionalArrayRefParameter<"int64_t">:$rows,
                        OptionalArrayRefParameter<"int64_t">:$reduction);
  let assemblyFormat = "`<` `parallel` `=` `[` (`]`) : ($parallel^ `]`)? `,` "
                       "`rows` `=` `[` (`]`) : ($rows^ `]`)? `,` "
                       "`reduction` `=` `[` (`]`) : ($reduction^ `]`)? `>`";
  let genVerifyDecl = 1;
}

def Transformer_ProductKindEnum
    : Transformer_Enum<"ProductKind", "how a product multiplies and adds", [
        I32EnumAttrCase<"Fma", 0, "fma">,
        I32EnumAttrCase<"Dot", 1, "dot">,
        I32EnumAttrCase<"Pairs", 2, "pairs">,
        I32EnumAttrCase<"SignedDot", 3, "signed_dot">,
        I32EnumAttrCase<"LaneFma", 4, "lane_fma">,
        I32EnumAttrCase<"SignedMatrix", 5, "signed_matrix">]>;

def Transformer_ProductTileAttr : AttrDef<Transformer_Dialect, "ProductTile"> {
  let mnemonic = "product_tile";
  let summary = "how a product is cut into tiles, and what it asks for ahead";
  let description = [{
    What `tfc-select-strategy` chose for a `product` and its expansion follows;
    nothing in between looks at it.

    * `kind`: `fma`, a multiply-add of f32; `lane_fma`, the same, where
      instructions take a factor out of a vector: of four steps of a row, which
      are loaded at once; `dot`, all of a word of 32 bits at
      once. Of two neighbours of bf16, rows and weights, into f32: the second
      one's first (16 words at once in tiles of AMX: the first ones' and the
      second ones' apart, then both), and numbers below 2^-126 count as zeros,
      as elements, sums and results. Of four bytes, or of two integers of 16
      bits and two bytes, into i32. `signed_dot`: the same of four bytes and
      four, both with a sign, which is how NEON multiplies them.
      `signed_matrix`: of two rows and two columns, eight bytes each, all four
      sums at once; words have eight columns. `pairs`: of
      integers of four bits and bytes, two at a time into 16 bits, and what those
      add up to into i32.
    * `rows`: of a tile; its columns are those of a panel. `lanes`: floats in a
      vector register.
    * `item`: rows of a parallel item, a multiple of `rows`.
    * `unroll`: steps in a turn of the loop, at most; `turn_rows`: a tile's rows
      times the steps in a turn, at most.
    * `ahead`: steps of f32 from asking for weights to using them (of narrower
      weights, so many more that it is as many bytes); `ahead_rows`: the
      fewest rows of a tile that asks.
    * `block_bytes`: of a panel, what an item's tiles read in turns, at most;
      `next_bytes`: the largest block that is asked for a block ahead.
  }];
  let parameters = (ins EnumParameter<Transformer_ProductKindEnum>:$kind,
                        "int64_t":$rows, "int64_t":$lanes, "int64_t":$item,
                        "int64_t":$unroll, "int64_t":$turn_rows,
                        "int64_t":$ahead, "int64_t":$ahead_rows,
                        "int64_t":$block_bytes, "int64_t":$next_bytes);
  let assemblyFormat = "`<` $kind `,` struct($rows, $lanes, $item, $unroll, "
                       "$turn_rows, $ahead, $ahead_rows, $block_bytes, "
                       "$next_bytes) `>`";
  let genVerifyDecl = 1;
}

#endif // TFC_DIALECT_TRANSFORMERATTRS
