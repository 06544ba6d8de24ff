// What the tables cannot do without.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-emit-abi --split-input-file --verify-diagnostics
// RUN: not tfc-opt %s --tfc-emit-abi=isa=cuda --split-input-file 2>&1 | FileCheck %s
// CHECK: error: option isa of tfc-emit-abi: expected one of x86_64, aarch64, riscv64, got "cuda"

// expected-error @+1 {{expected the attributes 'transformer.packed_bytes' and 'transformer.packed_layout' (from tfc-pack-weights)}}
module attributes {
    transformer.model = #transformer.model<"m", kind = encoder, spec = "{}">,
    transformer.packed_bytes = 0 : i64} {
  llvm.func @pack(!llvm.ptr) -> i32 attributes {transformer.role = #transformer.role<pack>}
}

// -----

// expected-error @+1 {{expected the attribute 'transformer.model' (from the frontend) and a function with the role pack (from tfc-pack-weights)}}
module attributes {
    transformer.packed_bytes = 0 : i64, transformer.packed_layout = "none"} {
  llvm.func @pack(!llvm.ptr) -> i32 attributes {transformer.role = #transformer.role<pack>}
}

// -----

// expected-error @+1 {{and a function with the role pack}}
module attributes {transformer.model = #transformer.model<"m", kind = encoder, spec = "{}">,
    transformer.packed_bytes = 0 : i64, transformer.packed_layout = "none"} {
}

// -----

module attributes {transformer.model = #transformer.model<"m", kind = encoder, spec = "{}">,
    transformer.packed_bytes = 0 : i64, transformer.packed_layout = "none"} {
  llvm.func @pack(!llvm.ptr) -> i32 attributes {transformer.role = #transformer.role<pack>}
  // expected-error @+1 {{expected its output ports as the attribute 'transformer.outputs' and a function with the role workspace_bytes of it (from tfc-plan-workspace)}}
  llvm.func @encode(!llvm.ptr) -> i32 attributes {
    transformer.inputs = [], transformer.outputs = []}
}

// -----

module attributes {transformer.model = #transformer.model<"m", kind = encoder, spec = "{}">,
    transformer.packed_bytes = 0 : i64, transformer.packed_layout = "none"} {
  llvm.func @pack(!llvm.ptr) -> i32 attributes {transformer.role = #transformer.role<pack>}
  llvm.func @encode_workspace_bytes(i64, i64, i64, i64) -> i64
    attributes {transformer.role = #transformer.role<workspace_bytes of @encode>}
  // expected-error @+1 {{expected its output ports as the attribute 'transformer.outputs'}}
  llvm.func @encode(!llvm.ptr) -> i32 attributes {transformer.inputs = []}
}

// -----

// expected-error @+1 {{expected program "x86-64-v3" in the attribute 'transformer.programs'}}
module attributes {
    transformer.model = #transformer.model<"m", kind = encoder, spec = "{}">,
    transformer.programs = [#transformer.program<"x86-64-v4", features = 7, layout = "rows", packed_bytes = 0>],
    transformer.packed_bytes = 0 : i64, transformer.packed_layout = "none"} {
  llvm.func @pack(!llvm.ptr) -> i32 attributes {transformer.role = #transformer.role<pack>}
}
