// Checked, every buffer has a place of its own and a red zone behind its last byte,
// which the host is told of; loops over layers say which one is next.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s -tfc-plan-workspace -allow-unregistered-dialect | FileCheck %s

#ids = #transformer.input<"input_ids", fill = required, limit = 5>
!tokens = memref<?xi32>

module attributes {transformer.checked} {
  // CHECK: llvm.func @tfc_check_access(!llvm.ptr, i64, i32, !llvm.ptr)
  // CHECK-LABEL: func.func @two_lives
  func.func @two_lives(
      %ids: !tokens {transformer.input = #ids},
      %rows: !tokens {transformer.rows}, %step: !llvm.ptr {transformer.step},
      %workers: index {transformer.workers}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    // All of it, then behind each of the two places.
    // CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index
    // CHECK: %[[UNPOISON:.*]] = llvm.mlir.constant(3 : i32)
    // CHECK: llvm.call @tfc_check_access(%{{.*}}, %{{.*}}, %[[UNPOISON]], %{{.*}})
    // CHECK: %[[POISON:.*]] = llvm.mlir.constant(2 : i32)
    // CHECK: llvm.call @tfc_check_access(%{{.*}}, %{{.*}}, %[[POISON]], %{{.*}})
    // CHECK: llvm.call @tfc_check_access
    // CHECK: memref.view
    %n = memref.dim %ids, %c0 : !tokens
    %first = memref.alloc(%n) : memref<?x8xf32>
    "test.use"(%first) : (memref<?x8xf32>) -> ()
    // CHECK: memref.view
    %second = memref.alloc(%n) : memref<?x8xf32>
    // CHECK: scf.for %[[LAYER:.*]] = %{{.*}} to
    scf.for %layer = %c0 to %c3 step %c1 {
      // CHECK-NEXT: %[[NONE:.*]] = llvm.mlir.zero
      // CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[LAYER]] : index to i64
      // CHECK-NEXT: %[[KIND:.*]] = llvm.mlir.constant(4 : i32)
      // CHECK: llvm.call @tfc_check_access(%[[NONE]], %[[I]], %[[KIND]],
      scf.parallel (%i) = (%c0) to (%n) step (%c1) {
        "test.use"(%second, %i) : (memref<?x8xf32>, index) -> ()
        scf.reduce
      }
    }
    // CHECK: %[[END:.*]] = llvm.mlir.constant(3 : i32)
    // CHECK: llvm.call @tfc_check_access(%{{.*}}, %{{.*}}, %[[END]], %{{.*}})
    // CHECK: return
    return
  }
}
