// exp, tanh and erf become arithmetic; what has an instruction stays.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-math | FileCheck %s

// CHECK-LABEL: @expands_exp
func.func @expands_exp(%x: f32) -> f32 {
  // CHECK-NOT: math.exp
  // CHECK: arith.bitcast
  // CHECK: return
  %0 = math.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: @expands_tanh
func.func @expands_tanh(%x: f32) -> f32 {
  // CHECK-NOT: math.tanh
  // CHECK: arith.divf
  // CHECK: return
  %0 = math.tanh %x : f32
  return %0 : f32
}

// CHECK-LABEL: @expands_erf
func.func @expands_erf(%x: f32) -> f32 {
  // CHECK-NOT: math.erf
  // CHECK-NOT: math.exp
  // CHECK: return
  %0 = math.erf %x : f32
  return %0 : f32
}

// CHECK-LABEL: @expands_vectors_alike
func.func @expands_vectors_alike(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK-NOT: math.exp
  // CHECK: arith.mulf {{.*}} : vector<8xf32>
  // CHECK: return
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: @leaves_instructions_alone
func.func @leaves_instructions_alone(%x: f32) -> f32 {
  // CHECK-NEXT: %[[ROOT:.*]] = math.sqrt
  // CHECK-NEXT: %[[ABS:.*]] = math.absf %[[ROOT]]
  // CHECK-NEXT: math.fma %[[ABS]]
  // CHECK-NEXT: return
  %0 = math.sqrt %x : f32
  %1 = math.absf %0 : f32
  %2 = math.fma %1, %x, %x : f32
  return %2 : f32
}
