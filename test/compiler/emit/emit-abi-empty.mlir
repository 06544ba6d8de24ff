// Lists without elements are null pointers, and an encoder is one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-emit-abi | mlir-translate --mlir-to-llvmir | FileCheck %s

module attributes {
  transformer.model = #transformer.model<"m", kind = encoder, spec = "{}",
                                         max_positions = 0, pad = 0, decoder_start = 0,
                                         eos = [], prefixes = [], aliases = []>,
    transformer.packed_bytes = 0 : i64, transformer.packed_layout = "none"} {
// eos, prefixes, aliases, weights; there is one program, without entries.
// CHECK: @[[PROGRAMS:.*]] = private constant {{.*}} { ptr @{{.*}}, i32 0, i32 0, i64 3, i32 0, i32 0, i32 0, i32 0, i64 0, ptr @{{.*}}, ptr @pack, ptr null, i32 0, i32 0, i32 0, i32 0, ptr null, ptr null, ptr null, i64 0, ptr null }]
// CHECK: i32 0, i32 0, i32 1, i32 0, i32 0, i32 0, i64 0, i64 0, i64 -1, i64 0, ptr null, ptr null, ptr null, ptr null, ptr @[[PROGRAMS]], ptr @{{.*}} }]
llvm.func @pack(%pack: !llvm.ptr) -> i32
    attributes {transformer.role = #transformer.role<pack>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
// A function that is no entry stays what it is, and is in no table.
// CHECK: define void @helper
llvm.func @helper() {
  llvm.return
}
}
