// A call of the host that returns a status ends its entry where that is not 0,
// also from within a loop; other calls do not.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-return-status | FileCheck %s

// CHECK-LABEL: llvm.func @step
llvm.func @step(%f: !llvm.ptr, %n: i64) -> i32 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.br ^head(%zero : i64)
^head(%i: i64):
  %more = llvm.icmp "slt" %i, %n : i64
  llvm.cond_br %more, ^body, ^end
^body:
  // CHECK: %[[FIRST:.*]] = llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (i64) -> i32
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: %[[STOPS:.*]] = llvm.icmp "ne" %[[FIRST]], %[[ZERO]]
  // CHECK: llvm.cond_br %[[STOPS]] weights([1, 2000]), ^[[STOP:.*]](%[[FIRST]] : i32), ^[[NEXT:bb[0-9]+]]
  %first = llvm.call %f(%i) {transformer.status} : !llvm.ptr, (i64) -> i32
  // CHECK: ^[[NEXT]]:
  // CHECK: llvm.call
  // CHECK-NOT: llvm.icmp
  // CHECK: llvm.br
  %other = llvm.call %f(%i) : !llvm.ptr, (i64) -> i32
  %next = llvm.add %i, %one : i64
  llvm.br ^head(%next : i64)
^end:
  // CHECK: %[[SECOND:.*]] = llvm.call
  // CHECK: llvm.cond_br %{{.*}} weights([1, 2000]), ^[[STOP]](%[[SECOND]] : i32), ^[[LAST:bb[0-9]+]]
  // CHECK: ^[[LAST]]:
  // CHECK: llvm.return %{{.*}} : i32
  %second = llvm.call %f(%n) {transformer.status} : !llvm.ptr, (i64) -> i32
  llvm.return %ok : i32
  // CHECK: ^[[STOP]](%[[STATUS:.*]]: i32):
  // CHECK-NEXT: llvm.return %[[STATUS]] : i32
}

// CHECK-LABEL: llvm.func @nothing_to_pass_on
// CHECK-NOT: llvm.cond_br
llvm.func @nothing_to_pass_on(%f: !llvm.ptr) {
  llvm.call %f() : !llvm.ptr, () -> ()
  llvm.return
}
