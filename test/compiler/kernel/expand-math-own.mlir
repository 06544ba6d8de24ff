// Our polynomials: explicit fma, no call, no op of one instruction set; each
// clamp is one comparison and one select.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-math=polynomials=own | FileCheck %s
// RUN: not tfc-opt %s --tfc-expand-math=polynomials=libm 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: Cannot find option named 'libm'

// CHECK-LABEL: @expands_exp
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
func.func @expands_exp(%x: vector<16xf32>) -> vector<16xf32> {
  // CHECK: arith.cmpf ogt, %{{.*}}, %[[X]]
  // CHECK: arith.select
  // CHECK: arith.cmpf olt
  // CHECK: %[[CLAMPED:.*]] = arith.select
  // CHECK: %[[BIASED:.*]] = math.fma %[[CLAMPED]]
  // CHECK: arith.subf %[[BIASED]]
  // CHECK-COUNT-7: math.fma
  // CHECK: %[[TWICE:.*]] = math.fma
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[BIASED]]
  // CHECK-SAME: vector<16xf32> to vector<16xi32>
  // CHECK: %[[EXPONENT:.*]] = arith.shli %[[BITS]]
  // CHECK: %[[SCALE:.*]] = arith.bitcast %[[EXPONENT]]
  // CHECK: %[[Y:.*]] = arith.mulf %[[TWICE]], %[[SCALE]]
  // CHECK: return %[[Y]]
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: @expands_tanh
func.func @expands_tanh(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  // CHECK-NOT: math.tanh
  // CHECK: arith.divf {{.*}} : vector<2x8xf32>
  // CHECK-NEXT: arith.constant
  // CHECK-NEXT: math.fma
  // CHECK-NOT: math.tanh
  // CHECK: return
  %0 = math.tanh %x : vector<2x8xf32>
  return %0 : vector<2x8xf32>
}

// CHECK-LABEL: @expands_erf
func.func @expands_erf(%x: f32) -> f32 {
  // CHECK-NOT: math.erf
  // CHECK: arith.divf {{.*}} : f32
  // CHECK-NOT: math.erf
  // CHECK: return
  %0 = math.erf %x : f32
  return %0 : f32
}

// CHECK-LABEL: @expands_rsqrt
// CHECK-SAME: %[[X:.*]]: f32
func.func @expands_rsqrt(%x: f32) -> f32 {
  // CHECK: %[[ROOT:.*]] = math.sqrt %[[X]]
  // CHECK: %[[ONE:.*]] = arith.constant 1.0
  // CHECK: arith.divf %[[ONE]], %[[ROOT]]
  %0 = math.rsqrt %x : f32
  return %0 : f32
}

// CHECK-LABEL: @expands_scalar_exp
func.func @expands_scalar_exp(%x: f32) -> f32 {
  // CHECK: arith.bitcast {{.*}} : f32 to i32
  // CHECK: arith.shli {{.*}} : i32
  %0 = math.exp %x : f32
  return %0 : f32
}

// CHECK-LABEL: @leaves_other_types_alone
func.func @leaves_other_types_alone(%x: f64, %t: tensor<4xf32>)
    -> (f64, tensor<4xf32>) {
  // CHECK-NEXT: math.exp %{{.*}} : f64
  // CHECK-NEXT: math.tanh %{{.*}} : tensor<4xf32>
  // CHECK-NEXT: return
  %0 = math.exp %x : f64
  %1 = math.tanh %t : tensor<4xf32>
  return %0, %1 : f64, tensor<4xf32>
}

// CHECK-LABEL: @leaves_instructions_alone
func.func @leaves_instructions_alone(%x: f32) -> f32 {
  // CHECK-NEXT: math.sqrt
  // CHECK-NEXT: return
  %0 = math.sqrt %x : f32
  return %0 : f32
}

// Three floats of pi/2, both polynomials, a choice, a sign.
// CHECK-LABEL: @expands_sin
// CHECK-SAME: %[[X:.*]]: vector<8xf32>
func.func @expands_sin(%x: vector<8xf32>) -> vector<8xf32> {
  // CHECK: %[[BIASED:.*]] = math.fma %[[X]]
  // CHECK: %[[N:.*]] = arith.subf %[[BIASED]]
  // CHECK-COUNT-3: math.fma %[[N]]
  // CHECK: %[[QUARTER:.*]] = arith.addi
  // CHECK: arith.select
  // CHECK: %[[SIGN:.*]] = arith.shli
  // CHECK: %[[BITS:.*]] = arith.xori {{.*}}, %[[SIGN]]
  // CHECK: %[[Y:.*]] = arith.bitcast %[[BITS]] : vector<8xi32> to vector<8xf32>
  // CHECK: return %[[Y]]
  %0 = math.sin %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// CHECK-LABEL: @expands_cos
func.func @expands_cos(%x: f32) -> f32 {
  // CHECK-NOT: math.cos
  // CHECK: arith.bitcast %{{.*}} : i32 to f32
  // CHECK-NOT: math.cos
  // CHECK: return
  %0 = math.cos %x : f32
  return %0 : f32
}

// Rounding to bf16 is arithmetic of integers: instructions for it take small
// numbers for zeros. To f16 it is an instruction everywhere.
// CHECK-LABEL: @expands_rounding
// CHECK-SAME: %[[X:.*]]: vector<16xf32>
func.func @expands_rounding(%x: vector<16xf32>, %y: f32) -> (vector<16xbf16>, bf16, f16) {
  // CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : vector<16xf32> to vector<16xi32>
  // CHECK: arith.cmpf uno, %[[X]], %[[X]]
  // CHECK: arith.bitcast %{{.*}} : vector<16xi16> to vector<16xbf16>
  // CHECK: arith.bitcast %{{.*}} : i16 to bf16
  // CHECK: arith.truncf %{{.*}} : f32 to f16
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  %1 = arith.truncf %y : f32 to bf16
  %2 = arith.truncf %y : f32 to f16
  return %0, %1, %2 : vector<16xbf16>, bf16, f16
}
