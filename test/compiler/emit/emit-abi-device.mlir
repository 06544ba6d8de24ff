// A program of a device says where its kernels, their images and its weights
// are. In a library of several it shows them to the first, which points there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: split-file %s %t
// RUN: tfc-opt %t/device.mlir --tfc-emit-abi="program=sm_80 features=80" > %t/alone
// RUN: FileCheck %s --check-prefix=CLEAN < %t/alone
// RUN: mlir-translate --mlir-to-llvmir %t/alone | FileCheck %s --check-prefix=ALONE
// RUN: sed 's/transformer.packed_bytes =/transformer.programs = [#transformer.program<"cpu-1", features = 3, layout = "tiles", packed_bytes = 768>, #transformer.program<"sm_80", features = 80, layout = "rows", packed_bytes = 640, isa = cuda, kernels = 2, images = 2>], &/' %t/device.mlir > %t/second.mlir
// RUN: tfc-opt %t/second.mlir --tfc-emit-abi="program=sm_80 features=80" | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=SECOND
// RUN: sed '/^gpu.binary/,/PTX">\]$/d' %t/second.mlir > %t/first.mlir
// RUN: tfc-opt %t/first.mlir --tfc-emit-abi="program=cpu-1 features=3" | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=FIRST
// RUN: tfc-opt %t/error.mlir --split-input-file --verify-diagnostics --tfc-emit-abi

// CLEAN-NOT: gpu.
// CLEAN: llvm.func @tfc_module_query
// CLEAN-NOT: gpu.

// tfc_image_v0: kind, arch, bytes, data; PTX counts its null byte.
// ALONE-DAG: @[[CUBIN:.*]] = private constant [4 x i8] c"\7FELF", align 16
// ALONE-DAG: @[[PTX:.*]] = private constant [4 x i8] c"PTX\00"
// tfc_kernel_v0: name, block, shared_bytes.
// ALONE-DAG: @[[A:.*]] = private constant [2 x i8] c"a\00"
// ALONE-DAG: @[[B:.*]] = private constant [2 x i8] c"b\00"
// ALONE: @[[KERNELS:.*]] = private constant {{.*}} { ptr @[[A]], { i32, i32, i32 } { i32 128, i32 1, i32 1 }, i32 0 }, { ptr, { i32, i32, i32 }, i32 } { ptr @[[B]], { i32, i32, i32 } { i32 64, i32 2, i32 1 }, i32 0 }]
// ALONE: @[[IMAGES:.*]] = private constant {{.*}} { i32 0, i32 80, i64 4, ptr @[[CUBIN]] }, { i32, i32, i64, ptr } { i32 1, i32 80, i64 4, ptr @[[PTX]] }]
// tfc_place_v0: offset, layer_stride, bytes of a layer; the tied weight has none.
// ALONE: @[[PLACES:.*]] = private constant {{.*}} { i64 0, i64 128, i64 128 }, { i64, i64, i64 } { i64 256, i64 0, i64 32 }, { i64, i64, i64 } zeroinitializer]
// tfc_program_v0: isa, memory, features, ... the counts and the tables.
// ALONE: { ptr @{{.*}}, i32 1, i32 1, i64 80, i32 0, i32 0, i32 1, i32 0, i64 640, ptr @{{.*}}, ptr @pack, ptr @{{.*}}, i32 2, i32 2, i32 3, i32 0, ptr @[[KERNELS]], ptr @[[IMAGES]], ptr @[[PLACES]], i64 0, ptr null }

// SECOND-DAG: @sm_80_kernels = hidden constant
// SECOND-DAG: @sm_80_images = hidden constant
// SECOND-DAG: @sm_80_places = hidden constant
// SECOND-NOT: @tfc_module_query

// The device's program comes after the CPU's and is preferred to it.
// FIRST: { ptr @{{.*}}, i32 0, i32 0, i64 3, i32 0, {{.*}} ptr @pack, {{.*}}, i32 0, i32 0, i32 0, i32 0, ptr null, ptr null, ptr null, i64 0, ptr null }
// FIRST-SAME: { ptr @{{.*}}, i32 1, i32 1, i64 80, i32 1, {{.*}} ptr @sm_80_pack, ptr @sm_80_entries, i32 2, i32 2, i32 3, i32 0, ptr @sm_80_kernels, ptr @sm_80_images, ptr @sm_80_places, i64 0, ptr null }

//--- device.mlir
#ids = #transformer.input<"input_ids", fill = required, limit = 9>
#y = #transformer.output_port<"y", rows = wanted, take = all, width = 1>

module attributes {
  gpu.container_module,
  transformer.model = #transformer.model<"tiny", kind = encoder, spec = "{}",
                                         max_positions = 64>,
  transformer.packed_bytes = 640 : i64,
  transformer.packed_layout = "rows"} {

transformer.parameter @w : tensor<8x4xf32> layers 2
  from <["w.{i}"], stored_rows = 8> at 0 stride 128
transformer.parameter @b : tensor<8xf32> from <["b"], stored_rows = 8> at 256
transformer.parameter @t : tensor<8xf32>
  from <["t"], stored_rows = 8, tied_to = "b">

gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">,
    kernels = <[#gpu.kernel_metadata<"a", !llvm.func<void ()>, metadata = {nvvm.maxntid = array<i32: 128, 1, 1>}>,
                #gpu.kernel_metadata<"b", !llvm.func<void ()>, metadata = {nvvm.maxntid = array<i32: 64, 2, 1>}>]>,
    bin = "\7FELF">,
  #gpu.object<#nvvm.target<chip = "sm_80">, assembly = "PTX">]

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

//--- error.mlir
module attributes {
  gpu.container_module,
  transformer.model = #transformer.model<"tiny", kind = encoder, spec = "{}">,
  transformer.packed_bytes = 640 : i64, transformer.packed_layout = "rows"} {
llvm.func @pack(%pack: !llvm.ptr) -> i32
    attributes {transformer.role = #transformer.role<pack>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
// expected-error @+1 {{expected objects of #nvvm.target that are assembly or bin}}
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">, kernels = <>, offload = "x">]
}

// -----

module attributes {
  gpu.container_module,
  transformer.model = #transformer.model<"tiny", kind = encoder, spec = "{}">,
  transformer.packed_bytes = 640 : i64, transformer.packed_layout = "rows"} {
llvm.func @pack(%pack: !llvm.ptr) -> i32
    attributes {transformer.role = #transformer.role<pack>} {
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
// expected-error @+1 {{expected the three sizes of a block of kernel "a" as 'nvvm.maxntid'}}
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">,
    kernels = <[#gpu.kernel_metadata<"a", !llvm.func<void ()>>]>, assembly = "x">]
}
