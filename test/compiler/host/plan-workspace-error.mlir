// Allocations that have no place in a workspace of linear size, or more than
// one at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-plan-workspace --split-input-file --verify-diagnostics

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @count_of_unknown_kind(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}, %n: index) {
  // expected-error @+1 {{expected a first axis of tokens, wanted rows, sequences or workers and static other axes (the workspace is linear in those)}}
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

// expected-error @+1 {{expected arguments marked as input, rows and workers (by tfc-bind-weights)}}
func.func @entry_without_marks(%step: !llvm.ptr {transformer.step}) {
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @inside_a_parallel_loop(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // expected-note @+1 {{the parallel loop}}
  scf.parallel (%i) = (%c0) to (%t) step (%c1) {
    scf.for %j = %c0 to %c1 step %c1 {
      // expected-error @+1 {{expected allocations outside of parallel loops (all workers would get the same place)}}
      %own = memref.alloc() : memref<1x8xf32>
      "test.use"(%own) : (memref<1x8xf32>) -> ()
    }
  }
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @inside_a_loop_over_workers(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  // expected-note @+1 {{the parallel loop}}
  scf.forall (%i) in (8) {
    // expected-error @+1 {{expected allocations outside of parallel loops}}
    %own = memref.alloc(%workers) : memref<?x8xf32>
    "test.use"(%own) : (memref<?x8xf32>) -> ()
  }
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @carried_to_the_next_round(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  %first = memref.alloc(%t) : memref<?x8xf32>
  %last = scf.for %i = %c0 to %t step %c1 iter_args(%carried = %first)
      -> memref<?x8xf32> {
    %before = memref.alloc(%t) : memref<?x8xf32>
    "test.use"(%before, %carried) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
    // expected-error @+1 {{expected a loop to carry buffers from outside of it (the next round reads what it carries in the place that it allocates anew), got one of its body}}
    %next = memref.alloc(%t) : memref<?x8xf32>
    scf.yield %next : memref<?x8xf32>
  }
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @carried_through_a_view_and_a_choice(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  %given = arith.cmpi eq, %t, %c1 : index
  %first = memref.alloc(%t) : memref<?x8xf32>
  %dynamic = memref.cast %first : memref<?x8xf32> to memref<?x?xf32>
  %last = scf.for %i = %c0 to %t step %c1 iter_args(%carried = %dynamic)
      -> memref<?x?xf32> {
    // expected-error @+1 {{expected a loop to carry buffers from outside of it}}
    %next = memref.alloc(%t) : memref<?x8xf32>
    %view = memref.cast %next : memref<?x8xf32> to memref<?x?xf32>
    %chosen = scf.if %given -> memref<?x?xf32> {
      scf.yield %view : memref<?x?xf32>
    } else {
      scf.yield %carried : memref<?x?xf32>
    }
    scf.yield %chosen : memref<?x?xf32>
  }
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @taken_by_a_branch(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  // expected-error @+1 {{expected no branch between blocks to take the buffer (its life is not followed there)}}
  %buffer = memref.alloc(%workers) : memref<?x8xf32>
  cf.br ^next(%buffer : memref<?x8xf32>)
^next(%taken: memref<?x8xf32>):
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @elements_without_a_size(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  // expected-error @+1 {{expected elements that are integers or floats, got 'index'}}
  %buffer = memref.alloc(%workers) : memref<?x8xindex>
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func @a_row_of_too_many_bits(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  // expected-error @+1 {{expected a row of less than 2^63 bits, got 'memref<?x4611686018427387904xf32>'}}
  %buffer = memref.alloc(%workers) : memref<?x4611686018427387904xf32>
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func private @step.layers(%step: !llvm.ptr {transformer.step})
    attributes {transformer.layers_of = @step} {
  return
}
func.func @step(%ids: memref<?xi32> {transformer.input = #ids},
                %rows: memref<?xi32> {transformer.rows},
                %step: !llvm.ptr {transformer.step},
                %workers: index {transformer.workers}) {
  call @step.layers(%step) : (!llvm.ptr) -> ()
  // expected-error @+1 {{expected one call of a function of layers, at the top of the entry that its attribute 'transformer.layers_of' names, got another}}
  call @step.layers(%step) : (!llvm.ptr) -> ()
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func private @other.layers(%step: !llvm.ptr {transformer.step})
    attributes {transformer.layers_of = @other} {
  return
}
func.func @step(%ids: memref<?xi32> {transformer.input = #ids},
                %rows: memref<?xi32> {transformer.rows},
                %step: !llvm.ptr {transformer.step},
                %workers: index {transformer.workers}) {
  // expected-error @+1 {{expected one call of a function of layers, at the top of the entry}}
  call @other.layers(%step) : (!llvm.ptr) -> ()
  return
}

// -----

#ids = #transformer.input<"input_ids", fill = required, limit = 9>
func.func private @step.layers(%x: memref<?x8xf32> {transformer.tokens},
                               %step: !llvm.ptr {transformer.step})
    -> memref<?x8xf32> attributes {transformer.layers_of = @step} {
  return %x : memref<?x8xf32>
}
func.func @step(%ids: memref<?xi32> {transformer.input = #ids},
                %rows: memref<?xi32> {transformer.rows},
                %step: !llvm.ptr {transformer.step},
                %workers: index {transformer.workers}, %x: memref<?x8xf32>) {
  // expected-error @+1 {{expected layers that return nothing (what they compute is in the place of an argument)}}
  %0 = call @step.layers(%x, %step)
    : (memref<?x8xf32>, !llvm.ptr) -> memref<?x8xf32>
  return
}

// -----

// expected-error @+1 {{expected no argument marked as 'transformer.workspace' (the pass adds it), got one}}
func.func @planned_already(%step: !llvm.ptr {transformer.step},
                           %memory: memref<?xi8> {transformer.workspace}) {
  return
}
