// A program that the strategy table has no row for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not tfc-opt %s --tfc-select-strategy=target=sparc64 2>&1 | FileCheck %s

// CHECK: error: option target of tfc-select-strategy: expected one of x86-64-v3, x86-64-v4, x86-64-v4+bf16, x86-64-v4+amx-bf16, x86-64-v3+avxvnni, x86-64-v4+vnni, x86-64-v4+amx-int8, armv8-a, armv8-a+dotprod, armv8-a+i8mm, rv64gcv, rv64gcv+zvl256b, rv64gcv+zvl512b, got "sparc64"
func.func @nothing() {
  return
}
