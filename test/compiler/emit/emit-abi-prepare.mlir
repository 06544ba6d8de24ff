// An entry that makes weights of weights: its flag, no ports, and a host that
// knows it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-emit-abi > %t
// RUN: FileCheck %s --check-prefix=CLEAN < %t
// RUN: mlir-translate --mlir-to-llvmir %t | FileCheck %s

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
#y = #transformer.output_port<"y", rows = tokens, take = all, width = 8>

module attributes {
  transformer.model = #transformer.model<"tiny", kind = encoder, spec = "{}",
                                         max_positions = 64,
                                         eos = [], prefixes = [], aliases = []>,
  transformer.packed_bytes = 640 : i64,
  transformer.packed_layout = "f32-tiles"} {

transformer.parameter @b : tensor<8xf32> from <["b"], stored_rows = 8> at 0
transformer.parameter @made : tensor<8x4xf32> layers 2 prepared at 64 stride 128

llvm.func @pack(%pack: !llvm.ptr) -> i32
    attributes {transformer.role = #transformer.role<pack>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
llvm.func @encode(%step: !llvm.ptr) -> i32 attributes {
    transformer.inputs = [#ids], transformer.outputs = [#y]} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
llvm.func @encode_workspace_bytes(%t: i64, %r: i64, %s: i64, %w: i64) -> i64
    attributes {transformer.role = #transformer.role<workspace_bytes of @encode>} {
  llvm.return %t : i64
}
llvm.func @prepare(%step: !llvm.ptr) -> i32 attributes {
    transformer.prepare, transformer.inputs = [], transformer.outputs = []} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
llvm.func @prepare_workspace_bytes(%t: i64, %r: i64, %s: i64, %w: i64) -> i64
    attributes {transformer.role = #transformer.role<workspace_bytes of @prepare>} {
  llvm.return %t : i64
}
}

// CLEAN-NOT: transformer
// CLEAN: llvm.func @tfc_module_query
// CLEAN-NOT: transformer

// tfc_entry_v0: name, inputs, outputs, caches, query_rows, flags.
// CHECK: @[[ENCODE:.*]] = private constant [7 x i8] c"encode\00"
// CHECK: @[[PREPARE:.*]] = private constant [8 x i8] c"prepare\00"
// CHECK: @{{.*}} = private constant [2 x {{.*}}] [{{.*}} { ptr @[[ENCODE]], i32 1, i32 1, i32 0, i32 1, i32 0, i32 0, {{.*}}, ptr @encode_workspace_bytes, ptr @encode },
// CHECK-SAME: { ptr @[[PREPARE]], i32 0, i32 0, i32 0, i32 1, i32 2, i32 0, ptr null, ptr null, ptr null, ptr @prepare_workspace_bytes, ptr @prepare }]
// One weight is stored: the other one is in no table.
// CHECK: private constant {{.*}} { i32 10, i32 9, ptr
// CHECK-SAME: i32 0, i32 1, i32 1, i32 0, i32 0, i32 0, i64 64,
// CHECK: icmp ult i32 %{{.*}}, 9
