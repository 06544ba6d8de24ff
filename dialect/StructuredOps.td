// What linalg cannot say: paged attention, the cache, outputs, taps. These ops
// exist on tensors and, after bufferization, on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_STRUCTUREDOPS
#define TFC_DIALECT_STRUCTUREDOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Transformer_StructuredOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Transformer_CacheWriteOp
    : Transformer_StructuredOp<"cache_write", [Transformer_ReadsColumns]> {
  let summary = "appends keys and values to the cache";
  let description = [{
    Writes row i of sequence s of `key` and `value` to position `past + i` of
    the sequence's blocks in `cache[layer]`; of its cross blocks, when it is a
    cross cache. The entry `encode` of an encoder-decoder fills the cross cache
    with it, a layer of the decoder at a time.

    Constraints:
    * C1. key and value are kv_heads * head_dim wide.
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
        DestinationStyleOpInterface, Transformer_ReadsColumns]> {
  let summary = "attention over the positions in the cache";
  let description = [{
    The sum of `transformer.attention`, over what `cache[layer]` holds, written
    to `init`; of `transformer.cross_attention`, when it is a cross cache.
    `scale` is a value because it may depend on the layer.

    Constraints:
    * C1. num_heads is a positive multiple of the cache's kv_heads.
    * C2. query and init are num_heads * head_dim wide.
    * C3. bias has num_heads rows and an odd width.
    * C4. a window is at least 0, and of causal attention.
    * C5. over a cross cache attention is bidirectional, without bias.
  }];
  let arguments = (ins Transformer_RowsOrBuffer:$query, F32:$scale,
                       Transformer_CacheType:$cache, Index:$layer,
                       Transformer_BatchType:$batch,
                       Optional<Transformer_MatrixOrBuffer>:$bias,
                       Transformer_RowsOrBuffer:$init,
                       Transformer_Mask:$mask, I64Attr:$num_heads,
                       OptionalAttr<I64Attr>:$window);
  let results = (outs Optional<Transformer_Rows>:$result);
  let assemblyFormat = [{
    $query `,` $scale `,` $cache `[` $layer `]` `,` $batch (`bias` $bias^)?
    $mask `heads` $num_heads (`window` $window^)?
    `outs` `(` $init `:` type($init) `)` attr-dict `:` type($query)
    `,` type($cache) (`,` type($bias)^)? (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_OutputOp
    : Transformer_StructuredOp<"output", [SingleBlock, NoRegionArguments,
        RecursiveMemoryEffects]> {
  let summary = "an output of the entry and how to compute it";
  let description = [{
    The region computes the value of the output port `name`; it is not run when
    the caller does not want that output. `tokens` outputs have a row for every
    token, `wanted` ones a row for every row that the caller asked for; `take`
    says which rows that are in a forward pass. A `squeezed` output is one wide
    and given without that axis.

    ```mlir
    transformer.output "logits" wanted take all {
      %r = transformer.gather_rows %x, %rows : tensor<?x104xf32>, tensor<?xi32>
      %y = transformer.linear %r, %w : tensor<?x104xf32>, tensor<97x104xf32>
      transformer.yield %y : tensor<?x97xf32>
    }
    ```

    Constraints:
    * C1. the region ends with `transformer.yield`.
    * C2. a squeezed output is one wide.
    * C3. the parent is an entry function, and no other output has this name.
  }];
  let arguments = (ins StrAttr:$name, Transformer_RowKind:$rows,
                       Transformer_Take:$take, UnitAttr:$squeezed);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name $rows `take` $take (`squeezed` $squeezed^)? attr-dict-with-keyword
    $body
  }];
  let hasVerifier = 1;
}

def Transformer_YieldOp
    : Transformer_Op<"yield", [Pure, ReturnLike, Terminator,
        HasParent<"OutputOp">]> {
  let summary = "the value of an output";
  let arguments = (ins Transformer_Rows:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Transformer_TapOp : Transformer_StructuredOp<"tap"> {
  let summary = "reports a value to the host";
  let description = [{
    Hands `value` to the host's tap under `id` and, inside the layer loop, the
    layer. `tfc-insert-taps` adds them; libraries for use have none.

    ```mlir
    transformer.tap "decoder.layers.attn:attention" layer %i %x
      : tensor<?x78xf32>
    ```
  }];
  let arguments = (ins StrAttr:$id, Transformer_RowsOrBuffer:$value,
                       Optional<Index>:$layer);
  let assemblyFormat = [{
    $id (`layer` $layer^)? $value attr-dict `:` type($value)
  }];
}

def Transformer_WorkerOp
    : Transformer_Op<"worker", [MemoryEffects<[MemRead]>]> {
  let summary = "the number of the running worker";
  let description = [{
    Inside a parallel loop: which of the host's workers runs the body, in
    `[0, n_workers)`. It picks the worker's own scratch memory, nothing else:
    results do not depend on it. (It reads, so that nobody moves it out of the
    loop.)
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

#endif // TFC_DIALECT_STRUCTUREDOPS
