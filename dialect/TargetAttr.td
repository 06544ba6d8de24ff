// What a module is compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_DIALECT_TARGETATTR
#define TFC_DIALECT_TARGETATTR

include "dialect/TransformerAttrs.td"

def Transformer_OptLevelEnum
    : Transformer_Enum<"OptLevel", "how a program is compiled", [
        I32EnumAttrCase<"None", 0, "none">,
        I32EnumAttrCase<"Full", 1, "full">]>;

def Transformer_TargetAttr : AttrDef<Transformer_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "what a module is compiled for: a module attribute";
  let description = [{
    The name of the program, as the library says it (`"x86-64-v4"`); `opt`,
    whether it is `full`y optimised (packed, tiled, vectors) or `none`, plain
    scalar loops, the second opinion; `cpu`, LLVM's name of the machine that is to
    be fast, where one is meant, or later architectures of devices that get a
    binary of their own; `weights`, what matrices are kept in, and whether it is
    so for weights that it `rounds`, and of int4 how many columns a `group` has,
    whether groups have `zeros`, or `float_zeros`, and what their `scales` are
    kept in; `deterministic`, whether a row's
    bits may not depend on the other rows of its step, on devices either. What passes depend on besides the IR
    follows from it alone, so that every arrow of `tfc-opt` compiles the program
    that `tfc compile` does.

    ```mlir
    module attributes {transformer.target = #transformer.target<"x86-64-v4", opt = full, cpu = "znver4">} {
    ```
  }];
  let parameters = (ins StringRefParameter<>:$program,
                        EnumParameter<Transformer_OptLevelEnum>:$opt,
                        StringRefParameter<"", [{""}]>:$cpu,
                        Transformer_StorageParameter:$weights,
                        DefaultValuedParameter<"bool", "false">:$rounds,
                        DefaultValuedParameter<"bool", "false">:$deterministic,
                        DefaultValuedParameter<"int64_t", "0">:$group,
                        DefaultValuedParameter<"bool", "false">:$zeros,
                        DefaultValuedParameter<"bool", "false">:$float_zeros,
                        Transformer_StorageParameter:$scales);
  let assemblyFormat = "`<` $program `,` "
                       "struct($opt, $cpu, $weights, $rounds, $deterministic, "
                       "$group, $zeros, $float_zeros, $scales) `>`";
}

#endif // TFC_DIALECT_TARGETATTR
