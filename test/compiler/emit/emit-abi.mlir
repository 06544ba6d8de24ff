// What the IR says of itself becomes constants of the ABI's structs, behind the
// one function that a library exports.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-emit-abi | FileCheck %s --check-prefix=CLEAN
// RUN: tfc-opt %s --tfc-emit-abi | mlir-translate --mlir-to-llvmir | FileCheck %s
// RUN: tfc-opt %s --tfc-emit-abi="program=cpu9 features=7 isa=aarch64" \
// RUN:   | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=OPTIONS

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
#pos = #transformer.input<"position_ids", fill = position, limit = 64>
#y = #transformer.output_port<"y", rows = wanted, take = last_nonpad,
                              squeezed = true, width = 1>

module attributes {
  transformer.model = #transformer.model<"tiny", kind = decoder, spec = "{\0A \22a \\\22 b\22: 1\0A}",
                       max_positions = 64, bos = 7, decoder_start = 0,
                       eos = [8], prefixes = ["model.", ""],
                       aliases = ["gamma", "weight"]>,
  transformer.packed_bytes = 640 : i64,
  transformer.packed_layout = "f32-tiles"} {

transformer.parameter @w : tensor<8x4xf32> layers 2
  from <["{p}w.{i}", "w"], first_layer = 1, layer_step = 5, first_row = 8,
        stored_rows = 24, in_out = true> at 0 stride 128
transformer.parameter @b : tensor<8xf32>
  from <["b"], stored_rows = 8, fill_zeros = true> at 256
transformer.parameter @t : tensor<8xf32>
  from <["t"], stored_rows = 8, tied_to = "b">

llvm.func @pack(%pack: !llvm.ptr) -> i32
    attributes {transformer.role = #transformer.role<pack>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
llvm.func @step(%step: !llvm.ptr) -> i32 attributes {
    transformer.inputs = [#ids, #pos], transformer.outputs = [#y],
    transformer.cache = #transformer.cache_layout<
      block_tokens = 16, layers = 3, block_bytes = 3072, layer_bytes = 1024,
      query_rows = 4>,
    transformer.distances} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
llvm.func @step_workspace_bytes(%t: i64, %r: i64, %s: i64, %w: i64) -> i64
    attributes {transformer.role = #transformer.role<workspace_bytes of @step>} {
  llvm.return %t : i64
}
}

// Nothing of the dialect is left, in ops or in attributes.
// CLEAN-NOT: transformer
// CLEAN: llvm.func @tfc_module_query
// CLEAN-NOT: transformer

// tfc_port_v0: name, dtype, rows, width, flags, fill, take, limit.
// CHECK: @[[IDS:.*]] = private constant [10 x i8] c"input_ids\00"
// CHECK: @[[POSITIONS:.*]] = private constant [13 x i8] c"position_ids\00"
// CHECK: @[[INPUTS:.*]] = private constant {{.*}} { ptr @[[IDS]], i32 3, i32 0, i32 1, i32 0, i32 0, i32 0, i64 9 },
// CHECK-SAME: { ptr @[[POSITIONS]], i32 3, i32 0, i32 1, i32 0, i32 3, i32 0, i64 64 }]
// CHECK: @[[Y:.*]] = private constant [2 x i8] c"y\00"
// CHECK: @[[OUTPUTS:.*]] = private constant {{.*}} { ptr @[[Y]], i32 0, i32 1, i32 1, i32 1, i32 0, i32 2, i64 0 }]

// tfc_cache_v0: role, dtype, block_tokens, layers, block_bytes, layer_bytes,
// window.
// CHECK: @[[CACHES:.*]] = private constant {{.*}} { i32 0, i32 0, i32 16, i32 3, i64 3072, i64 1024, i64 0, i32 0, i32 0 }]

// tfc_entry_v0: name, how many inputs, outputs and caches, query_rows, flags,
// they, and what to call.
// CHECK: @[[ENTRIES:.*]] = private constant {{.*}}, i32 2, i32 1, i32 1, i32 4, i32 1, i32 0, ptr @[[INPUTS]], ptr @[[OUTPUTS]], ptr @[[CACHES]], ptr @step_workspace_bytes, ptr @step }]

// CHECK: @[[NAME:.*]] = private constant {{.*}} c"tiny\00"
// CHECK: @[[PRODUCER:.*]] = private constant {{.*}} c"tfc {{.*}}\00"
// Spaces are those of its words alone.
// CHECK: @[[SPEC:.*]] = private constant {{.*}} c"{\22a \\\22 b\22:1}\00"
// CHECK: @[[EOS:.*]] = private constant [1 x i64] [i64 8]
// CHECK: @[[PREFIX:.*]] = private constant {{.*}} c"model.\00"
// CHECK: @[[EMPTY:.*]] = private constant [1 x i8] zeroinitializer
// CHECK: @[[PREFIXES:.*]] = private constant [2 x ptr] [ptr @[[PREFIX]], ptr @[[EMPTY]]]
// CHECK: @[[ALIASES:.*]] = private constant [2 x ptr]

// tfc_source_v0: patterns, how many, flags, rank, dtypes; cols, first_row,
// stored_rows. tfc_weight_v0: name, sources, how many, flags, first_layer,
// layer_step, layers, tied_to; rows, cols. Equal strings are one.
// CHECK: @[[W:.*]] = private constant {{.*}} c"w\00"
// CHECK: @[[PATTERN:.*]] = private constant {{.*}} c"{p}w.{i}\00"
// CHECK: @[[PATTERNS:.*]] = private constant [2 x ptr] [ptr @[[PATTERN]], ptr @[[W]]]
// CHECK: @[[SOURCE:.*]] = private constant {{.*}} { ptr @[[PATTERNS]], i32 2, i32 1, i32 2, i32 7, i64 4, i64 8, i64 24, i64 1, i64 0, i64 0, i64 0, i64 0 }]
// CHECK: @[[ZEROS:.*]] = private constant {{.*}}, i32 1, i32 2, i32 1, i32 7, i64 1, i64 0, i64 8, i64 1, i64 0, i64 0, i64 0, i64 0 }]
// CHECK: @[[TIED:.*]] = private constant {{.*}}, i32 1, i32 0, i32 1, i32 7, i64 1, i64 0, i64 8, i64 1, i64 0, i64 0, i64 0, i64 0 }]
// CHECK: @[[WEIGHTS:.*]] = private constant {{.*}} { ptr @[[W]], ptr @[[SOURCE]], i32 1, i32 0, i32 1, i32 5, i32 2, i32 0, i64 8, i64 4, i32 0, i32 0, i32 0, i32 0 },
// CHECK-SAME: ptr @[[ZEROS]], i32 1, i32 0, i32 0, i32 1, i32 1, i32 0, i64 8, i64 1, i32 0, i32 0, i32 0, i32 0 },
// CHECK-SAME: ptr @[[TIED]], i32 1, i32 1, i32 0, i32 1, i32 1, i32 1, i64 8, i64 1, i32 0, i32 0, i32 0, i32 0 }]

// tfc_program_v0: name, isa, memory, features, priority, dtype, n_entries,
// reserved, packed_bytes, layout_tag, pack, entries.
// CHECK: @[[PROGRAM:.*]] = private constant {{.*}} c"x86-64-v3\00"
// CHECK: @[[TAG:.*]] = private constant {{.*}} c"f32-tiles\00"
// CHECK: @[[PROGRAMS:.*]] = private constant {{.*}} { ptr @[[PROGRAM]], i32 0, i32 0, i64 3, i32 0, i32 0, i32 1, i32 0, i64 640, ptr @[[TAG]], ptr @pack, ptr @[[ENTRIES]], i32 0, i32 0, i32 0, i32 0, ptr null, ptr null, ptr null, i64 0, ptr null }]
// OPTIONS: @[[OTHER:.*]] = private constant {{.*}} c"cpu9\00"
// OPTIONS: @[[LAYOUT:.*]] = private constant {{.*}} c"f32-tiles\00"
// OPTIONS: { ptr @[[OTHER]], i32 2, i32 0, i64 7, i32 0, i32 0, i32 1, i32 0, i64 640, ptr @[[LAYOUT]],

// tfc_generation_v0: what the module does not say is off.
// CHECK: @[[GENERATION:.*]] = private constant {{.*}} { i64 -1, i64 -1, i64 0, i64 0, i64 0, i32 1, i32 0, i32 0, i32 50, i64 4607182418800017408, i64 4607182418800017408, i64 0, i64 4607182418800017408, i64 4607182418800017408, ptr null, ptr null, i32 0, i32 0 }]

// tfc_module_v0: header, sizes of elements, spec, its hash (FNV-1a of its text); kind, counts
// of weights, programs, prefixes, eos, aliases; max_positions, pad, bos,
// decoder_start.
// CHECK: @[[MODULE:.*]] = private constant {{.*}} { i32 10, i32 3, ptr @[[NAME]], ptr @[[PRODUCER]] }, {{.*}} { i32 200, i32 120, i32 72, i32 88, i32 128, i32 72, i32 40, i32 48, i32 24, i32 24, i32 24, i32 0 }, ptr @[[SPEC]], i64 5619158933377590451,
// CHECK-SAME: i32 1, i32 3, i32 1, i32 2, i32 1, i32 1, i64 64, i64 -1, i64 7, i64 0, ptr @[[EOS]], ptr @[[PREFIXES]], ptr @[[ALIASES]], ptr @[[WEIGHTS]], ptr @[[PROGRAMS]], ptr @[[GENERATION]], i32 0, i32 0 }]

// Too old a host gets null.
// CHECK: define ptr @tfc_module_query(i32 %[[MAX:.*]])
// CHECK: %[[OLD:.*]] = icmp ult i32 %[[MAX]], 3
// CHECK: select i1 %[[OLD]], ptr null, ptr @[[MODULE]]
