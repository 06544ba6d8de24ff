// Passes from buffers to the LLVM dialect and the library's tables.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_EMIT_PASSES
#define TFC_COMPILER_EMIT_PASSES

include "mlir/Pass/PassBase.td"

def ConvertToLlvmPass : Pass<"tfc-convert-to-llvm"> {
  let summary = "everything that computes becomes the LLVM dialect, at once";
  let description = [{
    One conversion of all that the stage `buffer` may contain: functions, loops,
    affine maps, views, loads, vectors, arithmetic. An op without an instruction
    of its own (a loop, a view, a rounded division) is expanded first, and what
    it becomes is converted in the same walk. Casts between a pointer that the
    step gives and the buffer behind it cancel out.

    ```mlir
    %x = memref.load %row[%i] : memref<?xf32>
    %y = math.fma %x, %w, %sum : f32
    // becomes
    %p = llvm.getelementptr inbounds|nuw %base[%j] : ..., f32
    %x = llvm.load %p : !llvm.ptr -> f32
    %y = llvm.intr.fma(%x, %w, %sum) : (f32, f32, f32) -> f32
    ```

    Runs on a module after `tfc-lower-parallel` or `tfc-lower-launches`, and on
    a `gpu.module`, whose kernels become functions with the attributes of the
    NVVM dialect: a parallel loop that is left is a
    sequential one. The larger of two floats is chosen by comparison, because
    x86 has no instruction that orders zeros. Rounding does not change.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def CheckAccessesPass : Pass<"tfc-check-accesses", "::mlir::ModuleOp"> {
  let summary = "every load and store asks the host first, where asked for";
  let description = [{
    In a module with the attribute `transformer.checked`, which it takes away,
    every access of memory that is neither the function's stack nor one of the
    library's constants comes behind a call of the host's `@tfc_check_access`,
    with the address, the bytes, what is done, and the path of the op. A call of
    a function that several ops share says for whom it is. Other modules stay as
    they are.

    ```mlir
    llvm.call @tfc_check_access(%p, %c64, %write, %name) : ...
    llvm.store %x, %p : vector<16xf32>, !llvm.ptr
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numChecks", "num-checks", "calls of the host">];
}

def EmitAbiPass : Pass<"tfc-emit-abi", "::mlir::ModuleOp"> {
  let summary = "write the module's description and tfc_module_query";
  let description = [{
    Turns what the IR says of itself (the module attribute `transformer.model`,
    the parameters, the entries' ports and cache) into constants of the structs
    of runtime/include/tfc/abi.h, and generates `@tfc_module_query`, the one
    function that a library exports. Afterwards nothing of the transformer
    dialect is left; everything else is internal.

    Size and layout of the packed weights are the module attributes
    `transformer.packed_bytes` and `transformer.packed_layout`, as
    `tfc-pack-weights` writes them.

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
    Option<"isa", "isa", "std::string", "\"x86_64\"",
           "what its host's instructions are: x86_64, aarch64 or riscv64">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let statistics = [
    Statistic<"numEntries", "num-entries", "entries in the table">];
}

#endif // TFC_COMPILER_EMIT_PASSES
