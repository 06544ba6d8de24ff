// Two programs of a library: the first describes it and points into the object
// of the second, which shows just that.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-emit-abi="program=cpu-1 features=3" \
// RUN:   | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=FIRST
// RUN: tfc-opt %s --tfc-emit-abi="program=cpu-2 features=7" > %t
// RUN: FileCheck %s --check-prefix=CLEAN < %t
// RUN: mlir-translate --mlir-to-llvmir %t | FileCheck %s --check-prefix=SECOND

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
#y = #transformer.output_port<"y", rows = wanted, take = all, squeezed = true,
                              width = 1>

module attributes {
  transformer.model = #transformer.model<"tiny", kind = encoder, spec = "{}",
                                         max_positions = 64,
                                         eos = [], prefixes = [], aliases = []>,
  transformer.packed_bytes = 640 : i64,
  transformer.packed_layout = "rows",
  transformer.programs = [
    #transformer.program<"cpu-1", features = 3, layout = "rows", packed_bytes = 640>,
    #transformer.program<"cpu-2", features = 7, layout = "tiles", packed_bytes = 768, entries = 2>]} {

transformer.parameter @b : tensor<8xf32> from <["b"], stored_rows = 8> at 0

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
}

// FIRST: @[[ENTRIES:.*]] = private constant {{.*}} ptr @encode_workspace_bytes, ptr @encode }]
// FIRST: @[[ONE:.*]] = private constant {{.*}} c"cpu-1\00"
// FIRST: @[[ROWS:.*]] = private constant {{.*}} c"rows\00"
// FIRST: @cpu_2_entries = external hidden constant i8
// FIRST: @[[TWO:.*]] = private constant {{.*}} c"cpu-2\00"
// FIRST: @[[TILES:.*]] = private constant {{.*}} c"tiles\00"
// FIRST: @[[PROGRAMS:.*]] = private constant [2 x {{.*}}] [{{.*}} { ptr @[[ONE]], i32 0, i32 0, i64 3, i32 0, i32 0, i32 1, i32 0, i64 640, ptr @[[ROWS]], ptr @pack, ptr @[[ENTRIES]], i32 0, i32 0, i32 0, i32 0, ptr null, ptr null, ptr null, i64 0, ptr null },
// FIRST-SAME: { ptr @[[TWO]], i32 0, i32 0, i64 7, i32 1, i32 0, i32 2, i32 0, i64 768, ptr @[[TILES]], ptr @cpu_2_pack, ptr @cpu_2_entries, i32 0, i32 0, i32 0, i32 0, ptr null, ptr null, ptr null, i64 0, ptr null }]
// A module of one weight and two programs.
// FIRST: i32 0, i32 1, i32 2, i32 0, i32 0, i32 0, i64 64, {{.*}} ptr @[[PROGRAMS]], ptr @{{.*}} }]
// FIRST: declare hidden i32 @cpu_2_pack()
// FIRST: define ptr @tfc_module_query

// CLEAN-NOT: transformer
// CLEAN: llvm.mlir.global external hidden constant @cpu_2_entries
// CLEAN-NOT: transformer
// CLEAN-NOT: tfc_module_query

// SECOND-NOT: external
// SECOND: @cpu_2_entries = hidden constant {{.*}} ptr @encode_workspace_bytes, ptr @encode }]
// SECOND-NOT: c"cpu-2
// SECOND: define hidden i32 @cpu_2_pack(ptr
// SECOND: define i32 @encode(ptr
