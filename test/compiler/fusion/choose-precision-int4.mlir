// Matrices of integers of four bits: groups of columns have a scale, and maybe a
// zero point; what groups do not divide, and what a rule says, is of bytes, the
// latter with the same groups, as matrices of bytes have where there is a group.
// Rows are quantised for what has groups, and for what has none.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 rounds" | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 zeros" | FileCheck %s --check-prefix=ZEROS
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 float-zeros" | FileCheck %s --check-prefix=FLOATS
// What groups have may be of 16 bits, but for bytes.
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 float-zeros scales=bf16" | FileCheck %s --check-prefix=HALF
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 zeros scales=f16" | FileCheck %s --check-prefix=F16
// RUN: tfc-opt %s --tfc-choose-precision="weights=int8 group=32 scales=f16" | FileCheck %s --check-prefix=BYTES
// Who widens integers takes off no floats: such a matrix is of bf16 then.
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 float-zeros values=bf16" | FileCheck %s --check-prefix=WIDENED
// Scales and zero points of a module that has them stay what they are.
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 zeros" --tfc-choose-precision="weights=bf16" | FileCheck %s --check-prefix=ZEROS
// RUN: tfc-opt %s --tfc-choose-precision="weights=int8 group=32" | FileCheck %s --check-prefix=BYTES
// RUN: not tfc-opt %s --tfc-choose-precision="weights=int8 group=48" 2>&1 | FileCheck %s --check-prefix=BYTE-GROUP
// BYTE-GROUP: error: expected group 32, 64 or 128 with weights=int8, or 0 (a scale a row), got 48
// RUN: not tfc-opt %s --tfc-choose-precision="weights=int4" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: expected group 32, 64 or 128 with weights=int4, got 0

// CHECK: @q : tensor<8x64xi4> layers 2 {{.*}} rounds
// CHECK-NEXT: @q.scales : tensor<8x2xf32> layers 2 companion<scales of @q>
// NONE-NOT: zeros
// BYTES: @q : tensor<8x64xi8>
// BYTES-NEXT: @q.scales : tensor<8x2xf32>
// BYTES: @uncut.scales : tensor<8xf32>
// ZEROS: @q : tensor<8x64xi4>
// ZEROS-NEXT: @q.zeros : tensor<8x2xi8> layers 2 companion<zeros of @q>
// ZEROS-NEXT: @q.scales
// FLOATS: @q : tensor<8x64xi4>
// FLOATS-NEXT: @q.zeros : tensor<8x2xf32> layers 2 companion<zeros of @q>
// FLOATS: @kept.scales
// FLOATS-NOT: @kept.zeros
// HALF: @q : tensor<8x64xi4>
// HALF-NEXT: @q.zeros : tensor<8x2xbf16> layers 2 companion<zeros of @q>
// HALF-NEXT: @q.scales : tensor<8x2xbf16> layers 2 companion<scales of @q>
// HALF: @kept.scales : tensor<8x2xf32>
// HALF: transformer.linear {{.*}} : tensor<?x64xi8>, tensor<8x64xi4>, tensor<?xf32>, tensor<8x2xbf16>, tensor<8x2xbf16>
// F16: @q.zeros : tensor<8x2xi8>
// F16-NEXT: @q.scales : tensor<8x2xf16>
// WIDENED: @q : tensor<8x64xbf16>
// WIDENED-NEXT: @kept : tensor<8x64xi8>
transformer.parameter @q : tensor<8x64xf32> layers 2 from <["q{i}"], stored_rows = 8>
// CHECK: @kept : tensor<8x64xi8>
// CHECK-NEXT: @kept.scales : tensor<8x2xf32>
transformer.parameter @kept : tensor<8x64xf32> from <["kept"], stored_rows = 8> {transformer.kept_byte}
// CHECK: @wide : tensor<8x64xbf16>
transformer.parameter @wide : tensor<8x64xf32> from <["wide"], stored_rows = 8> {transformer.kept_wide}
// CHECK: @uncut : tensor<8x48xi8>
transformer.parameter @uncut : tensor<8x48xf32> from <["uncut"], stored_rows = 8>

// CHECK-LABEL: func.func @layer
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x64xf32>
func.func @layer(%x: tensor<?x64xf32>, %s: tensor<?x48xf32>, %layer: index) -> tensor<?x8xf32> {
  // CHECK: %[[QW:.*]] = transformer.weight @q[%[[LAYER:.*]]] : tensor<8x64xi4>
  // CHECK: %[[QS:.*]] = transformer.weight @q.scales[%[[LAYER]]] : tensor<8x2xf32>
  // ZEROS: %[[Z:.*]] = transformer.weight @q.zeros[{{.*}}] : tensor<8x2xi8>
  %qw = transformer.weight @q[%layer] : tensor<8x64xf32>
  %kw = transformer.weight @kept : tensor<8x64xf32>
  %ww = transformer.weight @wide : tensor<8x64xf32>
  %uw = transformer.weight @uncut : tensor<8x48xf32>
  // CHECK: %[[FOURS:.*]], %[[S:.*]] = transformer.quantize_rows %[[X]]
  // CHECK: transformer.linear %[[FOURS]], %[[QW]] scales %[[S]], %[[QS]] : tensor<?x64xi8>, tensor<8x64xi4>, tensor<?xf32>, tensor<8x2xf32>
  // ZEROS: transformer.linear %{{.*}} scales %{{.*}}, %{{.*}} zeros %[[Z]] : tensor<?x64xi8>, tensor<8x64xi4>, tensor<?xf32>, tensor<8x2xf32>, tensor<8x2xi8>
  // FLOATS: transformer.linear %{{.*}} scales %{{.*}}, %{{.*}} zeros %{{.*}} : tensor<?x64xi8>, tensor<8x64xi4>, tensor<?xf32>, tensor<8x2xf32>, tensor<8x2xf32>
  %a = transformer.linear %x, %qw : tensor<?x64xf32>, tensor<8x64xf32>
  // CHECK-NOT: quantize_rows
  // CHECK: transformer.linear %[[FOURS]], {{.*}} : tensor<?x64xi8>, tensor<8x64xi8>, tensor<?xf32>, tensor<8x2xf32>
  %b = transformer.linear %x, %kw : tensor<?x64xf32>, tensor<8x64xf32>
  // CHECK: transformer.linear %[[X]], {{.*}} : tensor<?x64xf32>, tensor<8x64xbf16>
  %c = transformer.linear %x, %ww : tensor<?x64xf32>, tensor<8x64xf32>
  // CHECK: transformer.quantize_rows
  // CHECK: transformer.linear {{.*}} : tensor<?x48xi8>, tensor<8x48xi8>, tensor<?xf32>, tensor<8xf32>
  %d = transformer.linear %s, %uw : tensor<?x48xf32>, tensor<8x48xf32>
  %e = transformer.add %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
  %f = transformer.add %c, %d : tensor<?x8xf32>, tensor<?x8xf32>
  %g = transformer.add %e, %f : tensor<?x8xf32>, tensor<?x8xf32>
  return %g : tensor<?x8xf32>
}
