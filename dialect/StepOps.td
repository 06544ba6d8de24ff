// What a step has besides mathematics: outputs, taps, the running worker.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_STEPOPS
#define TFC_DIALECT_STEPOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

class Transformer_StepOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat(
        [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)>;

def Transformer_OutputOp
    : Transformer_StepOp<"output", [SingleBlock, NoRegionArguments,
        RecursiveMemoryEffects]> {
  let summary = "an output of the entry and how to compute it";
  let description = [{
    The region computes the value of the output port `name`; it is not run when
    the caller does not want that output. `tokens` outputs have a row for every
    token, `wanted` ones a row for every row that the caller asked for; `take`
    says which rows that are in a forward pass. A `squeezed` output is one wide
    and given without that axis.

    With `part`, the value is one of several equal parts of the port's rows, by
    number, and each part has an op: that is how every layer of a loop gives its
    own. A part that nobody computes holds arbitrary numbers.

    ```mlir
    transformer.output "logits" wanted take all {
      %r = transformer.gather_rows %x, %rows : tensor<?x104xf32>, tensor<?xi32>
      %y = transformer.linear %r, %w : tensor<?x104xf32>, tensor<97x104xf32>
      transformer.yield %y : tensor<?x97xf32>
    }
    transformer.output "hidden_states" tokens take all part %layer of 3 {
      transformer.yield %x : tensor<?x104xf32>
    }
    ```

    Constraints:
    * C1. the region ends with `transformer.yield`.
    * C2. a squeezed output is one wide.
    * C3. the parent is an entry function, and no other output has this name; a
      part may also stand in loops of an entry function, and all outputs of its
      name are as many parts, of as many columns and the same rows.
    * C4. there are a part and a number of them, or neither.
  }];
  let arguments = (ins StrAttr:$name, Transformer_RowKind:$rows,
                       Transformer_Take:$take, UnitAttr:$squeezed,
                       Optional<Index>:$part,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$parts);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name $rows `take` $take (`squeezed` $squeezed^)?
    (`part` $part^ `of` $parts)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Transformer_YieldOp
    : Transformer_Op<"yield", [Pure, ReturnLike, Terminator,
        ParentOneOf<["OutputOp", "ProductOp"]>]> {
  let summary = "the value of an output, or of an element of a product";
  let arguments = (ins AnyTypeOf<[Transformer_WideRows, F32]>:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Transformer_TapOp : Transformer_StepOp<"tap"> {
  let summary = "reports a value to the host";
  let description = [{
    Hands `value` to the host's tap under `id` and, inside the layer loop, the
    layer: f32, or the 16 bits that it is kept in. `tfc-insert-taps` adds them; libraries for use have none.

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

#endif // TFC_DIALECT_STEPOPS
