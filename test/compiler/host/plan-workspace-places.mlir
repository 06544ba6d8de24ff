// Which buffers share a place: those of one kind whose lives do not overlap.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-plan-workspace | FileCheck %s
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-plan-workspace --canonicalize --cse | FileCheck %s --check-prefix=SIZE

#ids = #transformer.input<"input_ids", fill = required, limit = 9>

// CHECK-LABEL: @disjoint_lives_share
func.func @disjoint_lives_share(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: %[[FIRST:.*]] = memref.view %[[WORKSPACE:.*]][%[[PLACE:[a-z0-9_]*]]][
  // CHECK-NEXT: "test.use"(%[[FIRST]])
  %0 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%0) : (memref<?x8xf32>) -> ()
  // CHECK-NEXT: %[[SECOND:.*]] = memref.view %[[WORKSPACE]][%[[PLACE]]][
  // CHECK-NEXT: "test.use"(%[[SECOND]])
  %1 = memref.alloc(%t) : memref<?x16xf32>
  "test.use"(%1) : (memref<?x16xf32>) -> ()
  return
}
// The place is as large as the larger of the two.
// SIZE-LABEL: @disjoint_lives_share_workspace_bytes
// SIZE-SAME: (%[[T:[a-z0-9]*]]: index
// SIZE: %[[ROW:.*]] = arith.constant 64 : index
// SIZE: arith.muli %[[T]], %[[ROW]]
// SIZE: arith.addi %{{.*}}, %c1344
// SIZE-NOT: arith.addi
// SIZE: return

// The largest choose first. In the order of birth the one that is born between
// the wide ones would take the first one's place, and the last a new one.
// CHECK-LABEL: @wide_ones_share
func.func @wide_ones_share(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:.*]][%[[WIDE:[a-z0-9_]*]]][{{.*}} to memref<?x24xf32>
  %0 = memref.alloc(%t) : memref<?x24xf32>
  // CHECK-NEXT: memref.view %[[WORKSPACE]][%[[FIRST:[a-z0-9_]*]]][{{.*}} to memref<?x8xf32>
  %1 = memref.alloc(%t) : memref<?x8xf32>
  // CHECK-NEXT: "test.use"
  "test.use"(%0, %1) : (memref<?x24xf32>, memref<?x8xf32>) -> ()
  // CHECK-NOT: [%[[WIDE]]]
  // CHECK-NOT: [%[[FIRST]]]
  // CHECK: memref.view {{.*}} to memref<?x8xf32>
  %2 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%1, %2) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  // CHECK: memref.view %[[WORKSPACE]][%[[WIDE]]][{{.*}} to memref<?x32xf32>
  %3 = memref.alloc(%t) : memref<?x32xf32>
  "test.use"(%2, %3) : (memref<?x8xf32>, memref<?x32xf32>) -> ()
  return
}

// CHECK-LABEL: @overlapping_lives_do_not
func.func @overlapping_lives_do_not(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:[a-z0-9]*]][%[[PLACE:[a-z0-9_]*]]][
  // CHECK-NOT: memref.view %[[WORKSPACE]][%[[PLACE]]][
  // CHECK: "test.use"
  %0 = memref.alloc(%t) : memref<?x8xf32>
  %1 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%0, %1) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// Counts of one kind say nothing about those of another.
// CHECK-LABEL: @other_kinds_do_not
func.func @other_kinds_do_not(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  %r = memref.dim %rows, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:[a-z0-9]*]][%[[PLACE:[a-z0-9_]*]]][
  // CHECK: "test.use"
  // CHECK-NOT: memref.view %[[WORKSPACE]][%[[PLACE]]][
  // CHECK: return
  %0 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%0) : (memref<?x8xf32>) -> ()
  %1 = memref.alloc(%r) : memref<?x8xf32>
  "test.use"(%1) : (memref<?x8xf32>) -> ()
  return
}

// A buffer from outside a loop is needed again in the next round, wherever in
// the body its use is; buffers of the body may follow one another.
// CHECK-LABEL: @what_lives_across_a_loop_keeps_its_place_in_it
func.func @what_lives_across_a_loop_keeps_its_place_in_it(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:[a-z0-9]*]][%[[OUTER:[a-z0-9_]*]]][
  %outer = memref.alloc(%t) : memref<?x8xf32>
  // CHECK: scf.for
  scf.for %i = %c0 to %t step %c1 {
    // CHECK: "test.use"
    // CHECK-NOT: memref.view %[[WORKSPACE]][%[[OUTER]]][
    // CHECK: memref.view %[[WORKSPACE]][%[[INNER:[a-z0-9_]*]]][
    // CHECK: "test.use"
    // CHECK: memref.view %[[WORKSPACE]][%[[INNER]]][
    // CHECK: "test.use"
    "test.use"(%outer) : (memref<?x8xf32>) -> ()
    %0 = memref.alloc(%t) : memref<?x8xf32>
    "test.use"(%0) : (memref<?x8xf32>) -> ()
    %1 = memref.alloc(%t) : memref<?x8xf32>
    "test.use"(%1) : (memref<?x8xf32>) -> ()
  }
  // Behind the loop its place is free.
  // CHECK: memref.view %[[WORKSPACE]][%[[OUTER]]][
  %2 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%2) : (memref<?x8xf32>) -> ()
  return
}

// CHECK-LABEL: @a_use_of_a_view_is_a_use
func.func @a_use_of_a_view_is_a_use(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:[a-z0-9]*]][%[[PLACE:[a-z0-9_]*]]][
  // CHECK-NOT: memref.view %[[WORKSPACE]][%[[PLACE]]][
  // CHECK: return
  %0 = memref.alloc(%t) : memref<?x8xf32>
  %part = memref.subview %0[0, 0] [1, 8] [1, 1]
            : memref<?x8xf32> to memref<1x8xf32, strided<[8, 1]>>
  %1 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%1) : (memref<?x8xf32>) -> ()
  "test.use"(%part) : (memref<1x8xf32, strided<[8, 1]>>) -> ()
  return
}

// What a loop carries of outside stays until the last user of its result.
// CHECK-LABEL: @carried_from_outside
func.func @carried_from_outside(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:[a-z0-9]*]][%[[CARRIED:[a-z0-9_]*]]][
  // CHECK-NOT: memref.view %[[WORKSPACE]][%[[CARRIED]]][
  // CHECK: "test.last"
  %0 = memref.alloc(%t) : memref<?x8xf32>
  %1 = scf.for %i = %c0 to %t step %c1 iter_args(%x = %0) -> memref<?x8xf32> {
    "test.use"(%x) : (memref<?x8xf32>) -> ()
    scf.yield %x : memref<?x8xf32>
  }
  %2 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%2) : (memref<?x8xf32>) -> ()
  "test.last"(%1) : (memref<?x8xf32>) -> ()
  return
}

// Half bytes fill whole ones.
// CHECK-LABEL: @narrow_elements
func.func @narrow_elements(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %0 = memref.alloc(%workers) : memref<?x17xi4>
  return
}
// SIZE-LABEL: @narrow_elements_workspace_bytes
// SIZE: arith.constant 9 : index

// A buffer lives as long as what is computed from its address.
// CHECK-LABEL: @an_address_keeps_its_buffer
func.func @an_address_keeps_its_buffer(
    %ids: memref<?xi32> {transformer.input = #ids},
    %rows: memref<?xi32> {transformer.rows},
    %step: !llvm.ptr {transformer.step},
    %workers: index {transformer.workers}) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %t = memref.dim %ids, %c0 : memref<?xi32>
  // CHECK: memref.view %[[WORKSPACE:.*]][%[[PLACE:[a-z0-9_]*]]][
  // CHECK-NOT: memref.view %[[WORKSPACE]][%[[PLACE]]][
  // CHECK: return
  %0 = memref.alloc(%t) : memref<?x8xf32>
  %begin = memref.extract_aligned_pointer_as_index %0 : memref<?x8xf32> -> index
  %place = arith.addi %begin, %c64 : index
  %1 = memref.alloc(%t) : memref<?x8xf32>
  "test.use"(%1) : (memref<?x8xf32>) -> ()
  "test.use"(%place) : (index) -> ()
  return
}
