// Matrices that products alone read are of bytes, with scales, and rows are made
// integers once in a block; what is looked up in is of bf16, and so is what has
// too many columns for sums of 32 bits, or what a rule keeps wide.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision="weights=int8 rounds" --split-input-file | FileCheck %s
// Bytes stay bytes.
// RUN: tfc-opt %s --split-input-file --tfc-choose-precision=weights=int8 --tfc-choose-precision=weights=f16 | FileCheck %s --check-prefix=AGAIN
// AGAIN: @q : tensor<8x8xi8> layers 2

// RUN: not tfc-opt %s --split-input-file --tfc-choose-precision="weights=int8 factors=bf16" 2>&1 | FileCheck %s --check-prefix=FACTORS
// FACTORS: error: expected factors of f32 with weights=int8 (its products multiply integers), got others

// CHECK: @q : tensor<8x8xi8> layers 2 {{.*}} rounds
// CHECK-NEXT: @q.scales : tensor<8xf32> layers 2 companion<scales of @q>
transformer.parameter @q : tensor<8x8xf32> layers 2 from <["q{i}"], stored_rows = 8>
// A name that is taken is left to whom it is.
transformer.parameter @k : tensor<4x8xf32> layers 2 from <["k{i}"], stored_rows = 4>
// CHECK: @k.scales : tensor<3xf32> from
transformer.parameter @k.scales : tensor<3xf32> from <["s"], stored_rows = 3>
// CHECK: @table : tensor<20x8xbf16> {{.*}} rounds
transformer.parameter @table : tensor<20x8xf32> from <["t"], stored_rows = 20>
// CHECK: @wide : tensor<8x131073xbf16> {{.*}} rounds
transformer.parameter @wide : tensor<8x131073xf32> from <["wide"], stored_rows = 8>
// CHECK: @kept : tensor<8x8xbf16> {{.*}} rounds
transformer.parameter @kept : tensor<8x8xf32> from <["kept"], stored_rows = 8> {transformer.kept_wide}
// Parts are kept alike.
// CHECK: @first : tensor<8x8xbf16>
transformer.parameter @first : tensor<8x8xf32> from <["first"], stored_rows = 8>
// CHECK: @second : tensor<8x8xbf16>
transformer.parameter @second : tensor<8x8xf32> from <["second"], stored_rows = 8> {transformer.kept_wide}
// CHECK: @both : tensor<16x8xbf16>
transformer.parameter @both : tensor<16x8xf32> parts [@first, @second]

// CHECK-LABEL: func.func @layer
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>
func.func @layer(%x: tensor<?x8xf32>, %layer: index, %wanted: i1) -> tensor<?x8xf32> {
  // CHECK: %[[QW:.*]] = transformer.weight @q[%[[LAYER:.*]]] : tensor<8x8xi8>
  // CHECK: %[[QS:.*]] = transformer.weight @q.scales[%[[LAYER]]] : tensor<8xf32>
  %qw = transformer.weight @q[%layer] : tensor<8x8xf32>
  // CHECK: %[[KW:.*]] = transformer.weight @k[%[[LAYER]]] : tensor<4x8xi8>
  // CHECK: %[[KS:.*]] = transformer.weight @k.scales{{.*}}[%[[LAYER]]] : tensor<4xf32>
  %kw = transformer.weight @k[%layer] : tensor<4x8xf32>
  // CHECK: %[[ROWS:.*]], %[[SCALES:.*]] = transformer.quantize_rows %[[X]] : tensor<?x8xf32>
  // CHECK: %[[Y:.*]] = transformer.linear %[[ROWS]], %[[QW]] scales %[[SCALES]], %[[QS]] residual %[[X]] : tensor<?x8xi8>, tensor<8x8xi8>, tensor<?xf32>, tensor<8xf32>, tensor<?x8xf32>
  %y = transformer.linear %x, %qw residual %x : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  // CHECK-NOT: quantize_rows
  // CHECK: transformer.linear %[[ROWS]], %[[KW]] scales %[[SCALES]], %[[KS]]
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<4x8xf32>
  scf.if %wanted {
    // CHECK: scf.if
    // CHECK: transformer.quantize_rows %[[X]]
    %z = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<4x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @kept_wide
func.func @kept_wide(%x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x16xf32>) {
  %k = transformer.weight @kept : tensor<8x8xf32>
  %b = transformer.weight @both : tensor<16x8xf32>
  // CHECK-NOT: quantize_rows
  // CHECK: transformer.linear %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x8xbf16>
  %y = transformer.linear %x, %k : tensor<?x8xf32>, tensor<8x8xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<16x8xbf16>
  %z = transformer.linear %x, %b : tensor<?x8xf32>, tensor<16x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x16xf32>
}

// CHECK-LABEL: func.func @head
func.func @head(%ids: tensor<?xi32>, %long: tensor<?x131073xf32>) -> (tensor<?x20xf32>, tensor<?x8xf32>) {
  // CHECK: transformer.weight @table : tensor<20x8xbf16>
  %t = transformer.weight @table : tensor<20x8xf32>
  %w = transformer.weight @wide : tensor<8x131073xf32>
  %x = transformer.embedding %ids, %t : tensor<?xi32>, tensor<20x8xf32>
  // CHECK-NOT: quantize_rows
  // CHECK: transformer.linear %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<20x8xbf16>
  %y = transformer.linear %x, %t : tensor<?x8xf32>, tensor<20x8xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} : tensor<?x131073xf32>, tensor<8x131073xbf16>
  %z = transformer.linear %long, %w : tensor<?x131073xf32>, tensor<8x131073xf32>
  return %y, %z : tensor<?x20xf32>, tensor<?x8xf32>
}
