// What linalg cannot say: paged attention, the cache, products with packed
// weights. These ops exist on tensors and, after bufferization, on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_STRUCTUREDOPS
#define TFC_DIALECT_STRUCTUREDOPS

include "dialect/AttentionOps.td"
include "dialect/TransformerAttrs.td"
include "dialect/TransformerInterfaces.td"
include "dialect/TransformerTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"

class Transformer_StructuredOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Transformer_CacheWriteOp
    : Transformer_StructuredOp<"cache_write", [
        Transformer_AcceptsStridedRows,
        DeclareOpInterfaceMethods<Transformer_SharedColumnsOpInterface,
          ["shareOperands"]>]> {
  let summary = "appends keys and values to the cache";
  let description = [{
    Writes row i of sequence s of `key` and `value` to position `past + i` of
    the sequence's blocks in `cache[layer]`; of its cross blocks, when it is a
    cross cache. The entry `encode` of an encoder-decoder fills the cross cache
    with it, a layer of the decoder at a time.

    Rows of 16 bits are widened, then rounded to what the cache keeps.

    Constraints:
    * C1. key and value are kv_heads * head_dim wide, and the cache is none of
      latents.
    * C2. a constant layer is one of the cache's.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$key,
                       Transformer_RowsOrBuffer:$value,
                       Transformer_CacheType:$cache, Index:$layer,
                       Transformer_BatchType:$batch);
  let assemblyFormat = [{
    $key `,` $value `into` $cache `[` $layer `]` `,` $batch attr-dict `:`
    type($key) `,` type($value) `,` type($cache)
  }];
  let hasVerifier = 1;
}

def Transformer_PagedAttentionOp
    : Transformer_StructuredOp<"paged_attention", [
        AttrSizedOperandSegments, DestinationStyleOpInterface,
        Transformer_AcceptsStridedRows]> {
  let summary = "attention over the positions in the cache";
  let description = [{
    The sum of `transformer.attention`, over what `cache[layer]` holds, written
    to `init`; of `transformer.cross_attention`, when it is a cross cache.
    `scale` is a value because it may depend on the layer; `slopes` and `sinks`
    are values so that code can look them up by head. Queries of 16 bits are
    widened; scores, their softmax and the sums are f32, and rounded once, to the
    elements of `init`. `distance_rows[M + d]` is the row of `relative_keys`,
    `relative_queries` and `relative_values` for a key that is d in [-M, M]
    before the query: the same for the last 16 at each end, and for all farther
    ones. `rounded_slopes`, `sparse_block`, `random_blocks`, `blocks_before`,
    `blocks_after` and `factors` are those of `transformer.attention`, and so are `query_bias`, `relative_bias`,
    `segments`, `segment_bias`, `types` and `unseen`.

    Constraints:
    * C1. num_heads is a positive multiple of the kv_heads of the cache, which
      is none of latents; times head_dim it is less than 2^63.
    * C2. query and init are num_heads * head_dim wide.
    * C3. bias has num_heads rows and an odd width.
    * C4. causal attention has no `right`.
    * C5. over a cross cache attention is bidirectional, without bias and
      window.
    * C6. a constant layer is one of the cache's.
    * C7. cap is positive and finite.
    * C8. slopes and sinks are num_heads long; sinks of tokens have
      relative_keys beside them.
    * C9. log_base is more than 1 and finite.
    * C10. there are distance_rows, an odd number and at least 33 of them,
      exactly if there are relative_keys, relative_queries or relative_values;
      those are num_heads * head_dim or head_dim wide, and the cache has
      num_heads kv_heads.
    * C11. there are random_blocks, or blocks_before and blocks_after, exactly if
      there is a sparse_block, all in the ranges of `transformer.attention`; then
      there is no window and no cap, and with random_blocks the mask is
      bidirectional, with causal no block is after.
    * C12. query_bias, relative_bias and segment_bias are num_heads * head_dim
      long; there is a relative_bias with relative_keys only, and a segment_bias
      with segments only.
    * C13. there are types exactly if there are segments, of 2 rows that are
      num_heads * head_dim wide; then the cache is scratch and has num_heads
      kv_heads, and the mask is bidirectional.
    * C14. factors are bf16; then there are no distance_rows, and the cache is
      of floats.
    * C15. with unseen the cache is scratch and the mask is bidirectional, without
      window, cap, log_base and sparse_block.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$query, F32:$scale,
                       Transformer_CacheType:$cache, Index:$layer,
                       Transformer_BatchType:$batch,
                       Optional<Transformer_MatrixOrBuffer>:$bias,
                       Optional<Index>:$left, Optional<Index>:$right,
                       Optional<Transformer_VectorOrBuffer>:$slopes,
                       Optional<Transformer_SinksOrBuffer>:$sinks,
                       Optional<Transformer_RowsOrBuffer>:$relative_keys,
                       Optional<Transformer_RowsOrBuffer>:$relative_queries,
                       Optional<Transformer_RowsOrBuffer>:$relative_values,
                       Optional<Transformer_IdsOrBuffer>:$distance_rows,
                       Optional<Transformer_VectorOrBuffer>:$query_bias,
                       Optional<Transformer_VectorOrBuffer>:$relative_bias,
                       Optional<Transformer_MatrixOrBuffer>:$segments,
                       Optional<Transformer_VectorOrBuffer>:$segment_bias,
                       Optional<Transformer_IdsOrBuffer>:$types,
                       Optional<Transformer_IdsOrBuffer>:$unseen,
                       Transformer_RowsOrBuffer:$init,
                       Transformer_Mask:$mask, I64Attr:$num_heads,
                       OptionalAttr<F64Attr>:$cap,
                       OptionalAttr<F64Attr>:$log_base,
                       UnitAttr:$rounded_slopes,
                       OptionalAttr<I64Attr>:$sparse_block,
                       OptionalAttr<I64Attr>:$random_blocks,
                       OptionalAttr<I64Attr>:$blocks_before,
                       OptionalAttr<I64Attr>:$blocks_after,
                       OptionalAttr<TypeAttr>:$factors);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $query `,` $scale `,` $cache `[` $layer `]` `,` $batch (`bias` $bias^)?
    $mask (`left` $left^)? (`right` $right^)? `heads` $num_heads
    (`slopes` $slopes^)? (`sinks` $sinks^)?
    (`relative_keys` $relative_keys^)? (`relative_queries` $relative_queries^)?
    (`relative_values` $relative_values^)?
    (`distance_rows` $distance_rows^)? (`query_bias` $query_bias^)?
    (`relative_bias` $relative_bias^)? (`segments` $segments^)?
    (`segment_bias` $segment_bias^)? (`types` $types^)? (`unseen` $unseen^)?
    `outs` `(` $init `:` type($init) `)` attr-dict `:` type($query)
    `,` type($cache) (`,` type($bias)^)? (`slopes` type($slopes)^)?
    (`sinks` type($sinks)^)? (`relative_keys` type($relative_keys)^)?
    (`relative_queries` type($relative_queries)^)?
    (`relative_values` type($relative_values)^)?
    (`distance_rows` type($distance_rows)^)?
    (`query_bias` type($query_bias)^)? (`relative_bias` type($relative_bias)^)?
    (`segments` type($segments)^)? (`segment_bias` type($segment_bias)^)?
    (`types` type($types)^)? (`unseen` type($unseen)^)?
    (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_RaggedHashedOp
    : Transformer_StructuredOp<"ragged_hashed", [
        DestinationStyleOpInterface, Transformer_AcceptsStridedRows]> {
  let summary = "attention by hashes, over what the step says of sequences";
  let description = [{
    The result of `transformer.hashed_attention`, written to `init`. A column of
    z is a sum through the columns of a head, ascending, from zero, a
    multiply-add each. A score is a sum of a multiply-add a column, 16 at a time,
    ascending, then folded, then of the columns that are left. Rounds ascend, in
    them chunks around the circle, in those rows in their order: with a greater
    score than m what was before is times exp(old m - new m).

    Constraints: those of `transformer.hashed_attention`, and
    * C1. init is as wide as the query.
  }];
  let arguments = !con((ins Transformer_RowsOrBuffer:$query,
                            Transformer_RowsOrBuffer:$key,
                            Transformer_RowsOrBuffer:$value,
                            Transformer_MatrixOrBuffer:$rotations,
                            Transformer_BatchType:$batch,
                            Transformer_RowsOrBuffer:$init),
                       Transformer_Hashes<>.attributes);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $query `,` $key `,` $value `,` $rotations `,` $batch `heads` $num_heads
    `outs` `(` $init `:` type($init) `)` attr-dict `:` type($query) `,`
    type($key) `,` type($value) `,` type($rotations) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_RaggedPoolOp
    : Transformer_StructuredOp<"ragged_pool", [DestinationStyleOpInterface]> {
  let summary = "rows of sequences pooled, over what the step says of them";
  let description = [{
    The result of `transformer.pool_rows`, written to `init`; sums are f32
    whatever rows are kept in.

    Constraints:
    * C1. input and init have the same width.
    * C2. skip is from 0 to 2^20.
  }];
  let arguments = (ins Transformer_Pooling:$how,
                       Transformer_RowsOrBuffer:$input,
                       Transformer_IdsOrBuffer:$rows,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init,
                       OptionalAttr<I64Attr>:$skip);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $how $input `,` $rows `,` $batch `outs` `(` $init `:` type($init) `)`
    attr-dict `:` type($input) `,` type($rows) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_ReduceInPlaceOp
    : Transformer_StructuredOp<"reduce_in_place",
                               [DestinationStyleOpInterface]> {
  let summary = "what all ranks have is added up where it is";
  let description = [{
    The result of `transformer.all_reduce` of `init`, written to `init`, by the
    host. Not in parallel loops.

    ```mlir
    %y = transformer.reduce_in_place outs(%x : tensor<?x104xf32>) -> tensor<?x104xf32>
    ```
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$init);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    `outs` `(` $init `:` type($init) `)` attr-dict (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
}

def Transformer_RaggedUnfoldOp
    : Transformer_StructuredOp<"ragged_unfold", [DestinationStyleOpInterface]> {
  let summary = "rows with their neighbours, over what the step says of them";
  let description = [{
    The result of `transformer.unfold`, written to `init`.

    Constraints: those of `transformer.unfold`, and
    * C1. init is taps times as wide as a frame.
  }];
  let arguments = (ins Variadic<Transformer_RowsOrBuffer>:$inputs,
                       I64Attr:$taps, OptionalAttr<I64Attr>:$first,
                       DefaultValuedAttr<I64Attr, "1">:$frames,
                       Transformer_BatchType:$batch,
                       Transformer_RowsOrBuffer:$init);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $inputs `taps` $taps (`from` $first^)? (`frames` $frames^)? `,` $batch
    `outs` `(` $init `:` type($init) `)` attr-dict `:` type($inputs)
    (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_ProductOp
    : Transformer_StructuredOp<"product", [
        AttrSizedOperandSegments, DestinationStyleOpInterface, SingleBlock,
        DeclareOpInterfaceMethods<Transformer_KernelOpInterface>,
        Transformer_AcceptsStridedRows]> {
  let summary = "a product with packed weights, and what is done to its sums";
  let description = [{
    `y[t,n] = body(sum_k x[t,k] w[n,k], columns[n]..., rows[t,n]..., scales[t])`,
    the last one where there are scales, written to
    `init`, where `w[p * W + j, k]` is `panels[p,k,j]`: W rows of the weight
    after the other, a step of k for all of them together. Where words have C
    columns, `w[p * W + j, C k + i]` is `panels[p,k,j,i]` (`#transformer.packed`).
    Weights of f16 and bf16 are widened to f32, and so are rows of them; the body's result is
    rounded to the elements of `init`. The sum begins at zero and goes through k in
    order, a multiply-add a step, or as the `tile` says. Panels are whole: what the last one has beyond
    N is computed and not written. Of panels of i8 and rows of i8 or i16 the sum
    is an i32; rows of i8 have the excess of 128, each element being that of
    `transformer.quantize_rows` and 128, without a sign. Of panels of i8 and rows
    of floats it is an f32, each integer being widened exactly.

    ```mlir
    %y = transformer.product %x, %panels columns(%bias) rows(%residual)
        outs(%init) : tensor<?x104xf32>, tensor<3x104x48xf32>, tensor<130xf32>,
        tensor<?x130xf32>, tensor<?x130xf32> -> tensor<?x130xf32> {
    ^bb0(%sum: f32, %b: f32, %r: f32):
      %biased = arith.addf %sum, %b : f32
      %z = arith.addf %biased, %r : f32
      transformer.yield %z : f32
    }
    ```

    With `groups`, panels are those of a matrix of i4 (`#transformer.packed`), or of
    i8, whose words then have as many columns as bytes; the sum is an f32: a group
    of K / G columns after the other, what it adds up to, of rows of i8 an integer,
    times `groups[p,g,j]`, a multiply-add a group. Beside rows of floats, panels of
    groups may be of another width than those of the matrix.
    With `zeros`, 8 more than the group's zero point, an integer stands for
    itself minus that. With `zeros` of floats, beside rows of i8, it stands for
    itself times its scale minus the zero: a group is two multiply-adds, the
    second of minus the sum of the row's integers and the zero. Groups, and such
    zeros, of 16 bits are widened to f32.

    With `experts`, panels and columns have an axis of experts in front, and row
    t is multiplied with the panels of expert `experts[t]` and has its columns.
    Equal experts stand together, in ascending order.

    With `head_rows` the columns are those of an output, and the step may name
    some of them (`tfc_step_v0.head_rows`): then `init` has, row after row,
    these alone, in the step's order, and panels without any of them are not
    read. The bits of a column are the same either way.

    Shapes: input `[T, K]`, panels `[P, K, W]` or `[P, ceil(K / C), W, C]`, groups `[P, G, W]`, columns `[N]`, scales and experts `[T]`, rows, init and
    result `[T, N]`. No row may lie where init is written.

    Constraints:
    * C1. input and panels agree in K.
    * C2. N, the width of init, ends in the last panel: P = ceil(N / W).
    * C3. columns are N long.
    * C4. rows are N wide.
    * C5. the body takes the sum, an element of each of columns and rows, and
      that of scales, if there are any; rows are f32 to it. It yields an f32, and
      has ops that work element by element only.
    * C6. panels are of i8 if the input is of i8 or i16.
    * C8. with groups, panels are of i8, and input is of i8 or floats; groups have
      the panels' P and W, or beside floats a W of their own and a P that ends
      with N, and a G that cuts K into groups, beside i8 of whole words; zeros
      have their shape.
    * C7. with experts, panels are floats, or have groups of as many experts and
      rows of i8, with an axis of experts in front, and
      columns have two axes, the first of them as long; without, columns have
      one.
    * C8. with head_rows, init is of f32, and there are no experts.
    * C8. with head_rows, init is of f32, and there are no experts.
  }];
  let arguments = (ins Transformer_FactorsOrBuffer:$input,
                       Transformer_PanelsOrBuffer:$panels,
                       Variadic<Transformer_ColumnsOrBuffer>:$columns,
                       Variadic<Transformer_RowsOrBuffer>:$rows,
                       Optional<Transformer_RowScalesOrBuffer>:$scales,
                       Optional<Transformer_GroupScalesOrBuffer>:$groups,
                       Optional<Transformer_GroupZerosOrBuffer>:$zeros,
                       Optional<Transformer_IdsOrBuffer>:$experts,
                       Transformer_RowsOrBuffer:$init,
                       OptionalAttr<Transformer_ProductTileAttr>:$tile,
                       UnitAttr:$head_rows);
  let results = (outs Optional<Transformer_Rows>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $input `,` $panels (`columns` `(` $columns^ `)`)? (`rows` `(` $rows^ `)`)?
    (`scales` `(` $scales^ `)`)? (`groups` `(` $groups^ `)`)?
    (`zeros` `(` $zeros^ `)`)?
    (`experts` `(` $experts^ `)`)? `outs` `(` $init `)` attr-dict `:` type(operands) (`->` type($result)^)?
    $body
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
    /// What it adds up: f32, or i32 of integers without groups.
    ::mlir::Type getSumType();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // TFC_DIALECT_STRUCTUREDOPS
