// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-return-status --split-input-file --verify-diagnostics

llvm.func @body(%f: !llvm.ptr) {
  // expected-error@+1 {{'llvm.call' op expected a call that returns i32, in a function that does}}
  %s = llvm.call %f() {transformer.status} : !llvm.ptr, () -> i32
  llvm.return
}

// -----

llvm.func @entry(%f: !llvm.ptr) -> i32 {
  // expected-error@+1 {{'llvm.call' op expected a call that returns i32, in a function that does}}
  %s = llvm.call %f() {transformer.status} : !llvm.ptr, () -> i64
  %ok = llvm.mlir.constant(0 : i32) : i32
  llvm.return %ok : i32
}
