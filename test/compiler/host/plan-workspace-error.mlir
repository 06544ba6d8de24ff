// Allocations that have no place in a workspace of linear size.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-plan-workspace --split-input-file --verify-diagnostics

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @count_of_unknown_kind(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}, %n: index) {
  // expected-error @+1 {{expected a first axis of tokens, wanted rows or workers and static other axes (the workspace is linear in those)}}
  %0 = memref.alloc(%n) : memref<?x8xf32>
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @two_dynamic_axes(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  // expected-error @+1 {{expected a first axis of tokens}}
  %0 = memref.alloc(%workers, %workers) : memref<?x?xf32>
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @dynamic_axis_behind_a_static_one(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  // expected-error @+1 {{expected a first axis of tokens}}
  %0 = memref.alloc(%workers) : memref<8x?xf32>
  return
}

// -----

// expected-error @+1 {{expected arguments marked as input, rows and workers (by tfc-expand-cpu-kernels)}}
func.func @entry_without_marks(%step: !llvm.ptr {transformer.step}) {
  return
}
