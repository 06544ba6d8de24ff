// The pass that writes the library's tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_PASSES
#define TFC_COMPILER_EMIT_PASSES

include "mlir/Pass/PassBase.td"

def EmitAbiPass : Pass<"tfc-emit-abi", "::mlir::ModuleOp"> {
  let summary = "write the module's description and tfc_module_query";
  let description = [{
    Turns what the IR says of itself (the module attribute `transformer.model`,
    the parameters, the entries' ports and cache) into constants of the structs
    of runtime/include/tfc/abi.h, and generates `@tfc_module_query`, the one
    function that a library exports. Afterwards nothing of the transformer
    dialect is left; everything else is internal.

    A library may have several programs, an object each. Then the module
    attribute `transformer.programs` lists them. The first describes the
    library; of the others, the pack function and the table of entries are
    named after the program and hidden, so that the first can point at them.

    ```mlir
    // In x86-64-v4, the second of the list, and in x86-64-v3, the first.
    llvm.mlir.global external hidden constant @x86_64_v4_entries()
    llvm.mlir.global external hidden constant @x86_64_v4_entries() : i8
    ```
  }];
  let options = [
    Option<"program", "program", "std::string", "\"x86-64-v3\"",
           "name of the program">,
    Option<"features", "features", "uint64_t", "3",
           "instruction sets that the program needs, TFC_FEATURE_*">,
    Option<"layout", "layout", "std::string", "\"f32-rows\"",
           "name of the packed weights' layout">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TFC_COMPILER_EMIT_PASSES
