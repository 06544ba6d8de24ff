// What a library says of itself: attributes from the frontend, the lowering and
// the code generators to the tables of the ABI.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_DESCRIPTIONATTRS
#define TFC_DIALECT_DESCRIPTIONATTRS

include "dialect/TransformerAttrs.td"

// The numbers of these three are those of abi.h.
def Transformer_IsaEnum
    : Transformer_Enum<"Isa", "what a program's instructions are", [
        I32EnumAttrCase<"X86_64", 0, "x86_64">,
        I32EnumAttrCase<"Cuda", 1, "cuda">,
        I32EnumAttrCase<"Aarch64", 2, "aarch64">,
        I32EnumAttrCase<"Riscv64", 3, "riscv64">]>;
def Transformer_IsaParameter : EnumParameter<Transformer_IsaEnum> {
  let defaultValue = "::tfc::transformer::Isa::X86_64";
}
def Transformer_ModelKindEnum
    : Transformer_Enum<"ModelKind", "which stacks a model has", [
        I32EnumAttrCase<"Encoder", 0, "encoder">,
        I32EnumAttrCase<"Decoder", 1, "decoder">,
        I32EnumAttrCase<"EncoderDecoder", 2, "encoder_decoder">]>;
def Transformer_EarlyStoppingEnum
    : Transformer_Enum<"EarlyStopping", "when a beam search ends", [
        I32EnumAttrCase<"No", 0, "no">,
        I32EnumAttrCase<"Yes", 1, "yes">,
        I32EnumAttrCase<"Never", 2, "never">]>;

def Transformer_RoleKindEnum
    : Transformer_Enum<"RoleKind", "what the host calls a function for", [
        I32EnumAttrCase<"Pack", 0, "pack">,
        I32EnumAttrCase<"WorkspaceBytes", 1, "workspace_bytes">]>;

class Transformer_DescriptionAttr<string name, string attrMnemonic>
    : AttrDef<Transformer_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Transformer_OutputPortAttr
    : Transformer_DescriptionAttr<"OutputPort", "output_port"> {
  let summary = "an output port: argument attribute of an entry";
  let description = [{
    What is left of `transformer.output` once its value goes to a memref: the
    name, which rows there are and which of them a forward pass wants, whether
    the axis of width 1 is dropped, whether a step may ask for some of its
    columns (`head_rows`), and the width.

    ```mlir
    #transformer.output_port<"logits", rows = wanted, take = all, width = 97>
    ```

    Constraints:
    * C1. width is in [1, 2^31).
    * C2. a squeezed port is one wide.
  }];
  let parameters = (ins StringRefParameter<>:$name,
                        EnumParameter<Transformer_RowKindEnum>:$rows,
                        EnumParameter<Transformer_TakeEnum>:$take,
                        DefaultValuedParameter<"bool", "false">:$squeezed,
                        DefaultValuedParameter<"bool", "false">:$head_rows,
                        "int64_t":$width);
  let assemblyFormat = [{
    `<` $name `,` struct($rows, $take, $squeezed, $head_rows, $width) `>`
  }];
}

def Transformer_CacheLayoutAttr
    : Transformer_DescriptionAttr<"CacheLayout", "cache_layout"> {
  let summary = "how a program lays out the blocks of a cache";
  let description = [{
    A block holds `block_tokens` positions of `layers` layers, keys and values,
    in `block_bytes`, or, where that is 0, their states; a layer's begins `layer_bytes` behind the one before (0:
    all layers use the one there is in turn). A work item of attention has at
    most `query_rows` queries. A token sees `window` positions at most; 0, which
    is not written: all. Keys and values are kept as `storage`; `f32` is not
    written. With a `key_width`, so many columns, values are columns of keys.

    ```mlir
    #transformer.cache_layout<block_tokens = 64, layers = 12,
                              block_bytes = 4718592, layer_bytes = 393216,
                              query_rows = 8>
    ```

    Constraints:
    * C1. layers and query_rows are in [1, 2^31), block_tokens, window and
      key_width are in [0, 2^31).
    * C2. block_bytes is at least 1, and no less than layers * layer_bytes.
  }];
  let parameters = (ins "int64_t":$block_tokens, "int64_t":$layers,
                        "int64_t":$block_bytes, "int64_t":$layer_bytes,
                        "int64_t":$query_rows,
                        DefaultValuedParameter<"int64_t", "0">:$window,
                        Transformer_StorageParameter:$storage,
                        DefaultValuedParameter<"int64_t", "0">:$key_width);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Transformer_RoleAttr : Transformer_DescriptionAttr<"Role", "role"> {
  let summary = "what the host calls a function for that is no entry";
  let description = [{
    `pack` packs the weights of a program; `workspace_bytes` says how large the
    workspace of the entry `of` is for a step.

    ```mlir
    #transformer.role<pack>
    #transformer.role<workspace_bytes of @step>
    ```

    Constraints:
    * C1. an entry is named with `workspace_bytes`, and with nothing else.
  }];
  let parameters = (ins EnumParameter<Transformer_RoleKindEnum>:$kind,
                        OptionalParameter<"::mlir::FlatSymbolRefAttr">:$entry);
  let assemblyFormat = "`<` $kind (`of` $entry^)? `>`";
}

def Transformer_ProgramAttr
    : Transformer_DescriptionAttr<"Program", "program"> {
  let summary = "a program of the library that the module is one of";
  let description = [{
    Its name, what it needs of the machine (the bits of TFC_FEATURE_*, of which
    the last one is a number's sign), and layout and size
    of its packed weights. It says how many `entries` it has where that is not
    one: programs of one library may differ in that. A program that is not of
    x86-64 says its `isa`, and one of a device how many `kernels` it has, in how many `images`.

    ```mlir
    #transformer.program<"x86-64-v3", features = 3, layout = "f32-rows",
                         packed_bytes = 640, entries = 2>
    #transformer.program<"armv8-a", features = 0, layout = "f32-rows",
                         packed_bytes = 640, isa = aarch64>
    #transformer.program<"sm_80", features = 80, layout = "f32-rows",
                         packed_bytes = 640, isa = cuda, kernels = 12,
                         images = 2>
    ```

    Constraints:
    * C1. there is a name.
    * C2. packed_bytes is at least 0.
    * C3. kernels and images are in [0, 2^31), and 0 where isa is not cuda.
    * C4. entries are in [0, 2^31).
  }];
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$features,
                        StringRefParameter<>:$layout, "int64_t":$packed_bytes,
                        Transformer_IsaParameter:$isa,
                        DefaultValuedParameter<"int64_t", "1">:$entries,
                        DefaultValuedParameter<"int64_t", "0">:$kernels,
                        DefaultValuedParameter<"int64_t", "0">:$images);
  let assemblyFormat =
      "`<` $name `,` struct($features, $layout, $packed_bytes, $isa, $entries, "
      "$kernels, $images) `>`";
}

def Transformer_GenerationAttr
    : Transformer_DescriptionAttr<"Generation", "generation"> {
  let summary = "the model's defaults of generation";
  let description = [{
    The fields of `tfc_generation_v0` (runtime/include/tfc/abi.h), by name.

    Constraints:
    * C1. the numbers with a fraction are f64.
    * C2. num_beams and top_k are in [0, 2^31).
    * C3. suppress and begin_suppress are integers of 64 bits.
  }];
  let parameters = (ins "int64_t":$forced_bos, "int64_t":$forced_eos,
                        "int64_t":$min_length, "int64_t":$max_length,
                        "int64_t":$no_repeat_ngram, "int64_t":$num_beams,
                        EnumParameter<Transformer_EarlyStoppingEnum>
                          :$early_stopping,
                        "bool":$do_sample, "int64_t":$top_k,
                        "::mlir::FloatAttr":$temperature,
                        "::mlir::FloatAttr":$top_p, "::mlir::FloatAttr":$min_p,
                        "::mlir::FloatAttr":$length_penalty,
                        "::mlir::FloatAttr":$repetition_penalty,
                        OptionalParameter<"::mlir::ArrayAttr">:$suppress,
                        OptionalParameter<"::mlir::ArrayAttr">:$begin_suppress);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Transformer_ModelAttr : Transformer_DescriptionAttr<"Model", "model"> {
  let summary = "what the library says of the model beside its tables";
  let description = [{
    Fields of `tfc_module_v0` (runtime/include/tfc/abi.h): its name, kind and
    canonical spec, the longest sequence (0: no limit), token ids
    (-1: none), end tokens, prefixes of tensor names, aliases of their suffixes
    in pairs, and the defaults of generation (absent: greedy choice).

    ```mlir
    #transformer.model<"tiny", kind = decoder, spec = "{}",
                       max_positions = 64, eos = [8], prefixes = ["model.", ""]>
    ```

    Constraints:
    * C1. max_positions is at least 0.
    * C2. eos are integers of 64 bits.
    * C3. prefixes and aliases are strings, and aliases come in pairs.
  }];
  let parameters = (ins
      StringRefParameter<>:$name,
      EnumParameter<Transformer_ModelKindEnum>:$kind,
      StringRefParameter<>:$spec,
      DefaultValuedParameter<"int64_t", "0">:$max_positions,
      DefaultValuedParameter<"int64_t", "-1">:$pad,
      DefaultValuedParameter<"int64_t", "-1">:$bos,
      DefaultValuedParameter<"int64_t", "-1">:$decoder_start,
      OptionalParameter<"::mlir::ArrayAttr">:$eos,
      OptionalParameter<"::mlir::ArrayAttr">:$prefixes,
      OptionalParameter<"::mlir::ArrayAttr">:$aliases,
      OptionalParameter<"::tfc::transformer::GenerationAttr">:$generation);
  let assemblyFormat = [{
    `<` $name `,` struct($kind, $spec, $max_positions, $pad, $bos, $decoder_start,
    $eos, $prefixes, $aliases, $generation) `>`
  }];
}

#endif // TFC_DIALECT_DESCRIPTIONATTRS
