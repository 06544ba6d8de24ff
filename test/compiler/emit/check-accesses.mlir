// Every access asks the host first, where the module says so.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s -split-input-file -tfc-check-accesses | FileCheck %s

// CHECK-LABEL: module
// CHECK-NOT: transformer.checked
// CHECK: llvm.mlir.global internal constant @{{name_[0-9]+}}("decoder.norm\00")
// CHECK: llvm.func @tfc_check_access(!llvm.ptr, i64, i32, !llvm.ptr)
module attributes {transformer.checked} {
  // CHECK-LABEL: @accesses
  // CHECK-SAME: (%[[P:.*]]: !llvm.ptr, %[[MASK:.*]]: vector<8xi1>, %[[SIZE:.*]]: i64)
  llvm.func @accesses(%p: !llvm.ptr, %mask: vector<8xi1>, %size: i64) {
    // CHECK: %[[BYTES:.*]] = llvm.mlir.constant(32 : i64)
    // CHECK: %[[NAME:.*]] = llvm.mlir.addressof
    // CHECK: %[[READ:.*]] = llvm.mlir.constant(0 : i32)
    // CHECK: llvm.call @tfc_check_access(%[[P]], %[[BYTES]], %[[READ]], %[[NAME]])
    // CHECK-NEXT: %[[X:.*]] = llvm.load %[[P]]
    %x = llvm.load %p : !llvm.ptr -> vector<8xf32> loc("decoder.norm")
    // CHECK: %[[WRITE:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: llvm.call @tfc_check_access(%[[P]], %{{.*}}, %[[WRITE]], %{{.*}})
    // CHECK-NEXT: llvm.store %[[X]], %[[P]]
    llvm.store %x, %p : vector<8xf32>, !llvm.ptr
    // The lanes from the first that is on to the last.
    // CHECK: llvm.bitcast %[[MASK]] : vector<8xi1> to i8
    // CHECK: %[[FIRST:.*]] = "llvm.intr.cttz"
    // CHECK: %[[AT:.*]] = llvm.getelementptr %[[P]][%[[FIRST]]] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    // CHECK: llvm.call @tfc_check_access(%[[AT]],
    // CHECK-NEXT: llvm.intr.masked.store
    llvm.intr.masked.store %x, %p, %mask {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
    // CHECK: llvm.call @tfc_check_access(%[[P]], %[[SIZE]],
    // CHECK: llvm.call @tfc_check_access(%[[P]], %[[SIZE]],
    // CHECK-NEXT: "llvm.intr.memcpy"
    "llvm.intr.memcpy"(%p, %p, %size) <{isVolatile = false}> : (!llvm.ptr, !llvm.ptr, i64) -> ()
    // Lanes and no more, though such a vector takes a power of two in memory.
    // CHECK: %[[ODD:.*]] = llvm.mlir.constant(52 : i64)
    // CHECK: llvm.call @tfc_check_access(%[[P]], %[[ODD]],
    // CHECK-NEXT: llvm.load %[[P]] : !llvm.ptr -> vector<13xf32>
    %y = llvm.load %p : !llvm.ptr -> vector<13xf32>
    llvm.return
  }
  // The function's own stack is not the host's.
  // CHECK-LABEL: @own
  llvm.func @own(%x: f32) {
    // CHECK-NOT: tfc_check_access
    %one = llvm.mlir.constant(1 : i64) : i64
    %p = llvm.alloca %one x f32 : (i64) -> !llvm.ptr
    llvm.store %x, %p : f32, !llvm.ptr
    // A function that several ops share is told for whom it is.
    // CHECK: %[[OP:.*]] = llvm.mlir.constant(5 : i32)
    // CHECK: llvm.call @tfc_check_access(%{{.*}}, %{{.*}}, %[[OP]],
    // CHECK-NEXT: llvm.call @kernel
    llvm.call @kernel() : () -> () loc("decoder.q")
    llvm.return
  }
  llvm.func @kernel() {
    llvm.return
  }
}

// -----

// Others stay as they are.
// CHECK-LABEL: @unchecked
// CHECK-NEXT: llvm.store
llvm.func @unchecked(%x: f32, %p: !llvm.ptr) {
  llvm.store %x, %p : f32, !llvm.ptr
  llvm.return
}
