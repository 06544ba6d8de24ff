// The weight table and its uses.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_WEIGHTOPS
#define TFC_DIALECT_WEIGHTOPS

include "dialect/TransformerAttrs.td"
include "dialect/TransformerTypes.td"
include "mlir/IR/SymbolInterfaces.td"

def Transformer_ParameterOp : Transformer_Op<"parameter", [Symbol]> {
  let summary = "declares a weight: its shape and where it is stored";
  let description = [{
    A row of the weight table. `layers`, when given, says that there is one
    tensor of this type per layer; they lie at constant distance in the packed
    weights. `packed`, when given, says how the rows and columns of a matrix lie
    there for products; without, as they are declared.
    `offset` and `stride` (bytes) are written by `tfc-pack-weights`.

    The element type is the one that it is kept in. `rounds` says that what is
    stored with more bits is rounded to it; without, that is an error when the
    weights are loaded.

    A matrix of i8 is kept as multiples of a number a row, its greatest element
    by size over 127; that is in a vector of its own, a parameter with a
    `companion` instead of a source, which says whose it is. One of i4 has them
    for groups of its columns: of a group's greatest element by size the -8th
    part, so that this is -8, and what is nearest to 8 of the other sign 7.
    Those of i4 may be of 16 bits: the part is rounded to them before integers
    are made of it.

    ```mlir
    transformer.parameter @w : tensor<150x104xi8> from <["w"], stored_rows = 150> rounds
    transformer.parameter @w.scales : tensor<150xf32> companion<scales of @w>
    ```

    With `experts` there is one of this type for each expert of a layer, one
    after the other; a weight of it has an axis of experts in front.

    ```mlir
    transformer.parameter @decoder.layers.moe.up.weight : tensor<14x30xf32>
      layers 2 experts 8
      from <["{p}layers.{i}.mlp.experts.{e}.up_proj.weight"], stored_rows = 14>
    ```

    A parameter with `parts` instead of a source is not stored as such: its rows
    are those of its parts, one after the other. It is no row of the weight
    table, and its parts have no place of their own in the packed weights.

    ```mlir
    transformer.parameter @encoder.layers.attn.q.weight : tensor<104x104xf32>
      layers 2 from <["{p}encoder.layer.{i}.attention.self.query.weight"],
                     stored_rows = 104>
    transformer.parameter @encoder.layers.attn.q_k_v.weight
      : tensor<312x104xf32> layers 2
      parts [@encoder.layers.attn.q.weight, @encoder.layers.attn.k.weight,
             @encoder.layers.attn.v.weight]
    ```

    A parameter that is `prepared` is not stored either: it is computed from the
    weights, by `transformer.keep`, once when they are loaded. It lies behind
    them, as it is declared.

    ```mlir
    transformer.parameter @encoder.layers.attn.relative_k : tensor<64x104xf32>
      layers 2 prepared
    ```

    Constraints:
    * C1. `layers` is at least 1.
    * C2. rows `first_row + row_step * r` lie inside `stored_rows`, and columns
      inside `stored_cols` where there are some; of shares those of all parts do.
    * C3. `tied_to` names a parameter of the same type and layers that is not
      tied itself.
    * C4. what is `packed` is a matrix.
    * C5. there is a source, or there are parts, or a companion, or it is
      prepared: one of them.
    * C6. a part names a parameter that has a source and is not tied to another.
    * C7. a part has the parameter's columns, element type and layers.
    * C8. the rows of the parts are as many as the parameter's.
    * C9. no parameter is a part twice.
    * C10. no axis is empty.
    * C11. all layers together, packed, are less than 2^63 bytes.
    * C13. a companion is a vector, of f32 for scales and of i32 for an excess,
      as long as there are rows of the matrix of i8 that it names, with its
      layers and experts; of a matrix of i4 it is scales, a matrix of f32, f16 or
      bf16 with as many rows and a number of columns that divides the matrix's,
      and zeros are one of i8 or of floats like the scales.
    * C15. a matrix of i4 has an even word where it is packed.
    * C14. there is at least one expert; a parameter of experts has a source, or
      is the companion of one, and is not tied; one of integers has scales of
      groups. A source is `stacked` only of one of experts.
    * C16. what is prepared is a matrix of f32 that is not packed.
    * C12. an offset is at least 0, and has with it, exactly if there are
      layers, a stride of at least the bytes of one.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type,
                       OptionalAttr<I64Attr>:$layers,
                       OptionalAttr<I64Attr>:$experts,
                       OptionalAttr<Transformer_SourceAttr>:$source,
                       OptionalAttr<FlatSymbolRefArrayAttr>:$parts,
                       OptionalAttr<Transformer_CompanionAttr>:$companion,
                       OptionalAttr<Transformer_PackedAttr>:$packed,
                       UnitAttr:$rounds,
                       OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$stride,
                       UnitAttr:$prepared);
  let assemblyFormat = [{
    $sym_name `:` $type (`layers` $layers^)? (`experts` $experts^)? (`from` `` $source^)?
    (`parts` $parts^)? (`companion` `` $companion^)? (`prepared` $prepared^)? (`packed` `` $packed^)? (`rounds` $rounds^)?
    (`at` $offset^)? (`stride` $stride^)? attr-dict
  }];
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getType());
    }
    /// The tensor of a layer: as declared, of all experts.
    ::mlir::RankedTensorType getLayerType();
    /// The tensor of a layer in the packed weights: in panels, or as declared.
    ::mlir::RankedTensorType getPackedType();
    /// The bytes of one layer in the packed weights; none if no integer holds
    /// those of all layers, each from a multiple of 64 bytes on.
    std::optional<int64_t> getPackedBytes();
    /// The bytes of one expert of a layer, or of the layer.
    int64_t getExpertBytes() {
      return *getPackedBytes() / static_cast<int64_t>(getExperts().value_or(1));
    }
    /// That of its companions which is of this kind, if there is one.
    ParameterOp findCompanion(CompanionKind kind);
    /// Whether it is only another name of a parameter.
    bool isTied() {
      return getSource() && getSource()->getTiedTo();
    }
  }];
  let hasVerifier = 1;
}

def Transformer_WeightOp
    : Transformer_Op<"weight", [Pure,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a weight, of one layer where there is one a layer";
  let description = [{
    `W[layer]`, read-only; those of all experts where the parameter has some. On tensors until bufferization, then a memref into
    the packed weights. Of a prepared parameter it may be a memref from
    `tfc-lower-to-linalg` on, which @prepare writes to.

    ```mlir
    %w = transformer.weight @encoder.layers.attn.q.weight[%layer]
           : tensor<104x104xf32>
    ```

    Constraints:
    * C1. the symbol is a `transformer.parameter` that is not tied to another.
    * C2. there is an index exactly if the parameter has layers.
    * C3. the result has the shape of the parameter, as it is packed.
    * C4. a constant index is one of the parameter's layers.
  }];
  let arguments = (ins FlatSymbolRefAttr:$name, Optional<Index>:$layer);
  let results = (outs AnyTypeOf<[
      Transformer_Weight, StaticShapeTensorOf<[F32, F16, BF16, I8, I32]>,
      MemRefRankOf<[F32, F16, BF16, I8, I32], [1, 2, 3, 4, 5]>]>:$result);
  let assemblyFormat = "$name (`[` $layer^ `]`)? attr-dict `:` type($result)";
}

def Transformer_KeepOp
    : Transformer_Op<"keep", [MemoryEffects<[MemWrite]>,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "makes a value a weight";
  let description = [{
    `W[layer] = value`. In the entry @prepare alone, which the host runs once,
    over the packed weights, before any other; those read it by
    `transformer.weight`.

    ```mlir
    transformer.keep %a, @encoder.layers.attn.relative_k[%layer]
      : tensor<64x104xf32>
    ```

    Constraints:
    * C1. the symbol is a `transformer.parameter` that is prepared.
    * C2. there is an index exactly if the parameter has layers.
    * C3. the value has the parameter's type.
    * C4. a constant index is one of the parameter's layers.
  }];
  let arguments = (ins StaticShapeTensorOf<[F32]>:$value,
                       FlatSymbolRefAttr:$name, Optional<Index>:$layer);
  let assemblyFormat =
      "$value `,` $name (`[` $layer^ `]`)? attr-dict `:` type($value)";
}

#endif // TFC_DIALECT_WEIGHTOPS
