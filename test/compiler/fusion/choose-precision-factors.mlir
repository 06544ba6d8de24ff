// What products multiply is bf16: who computes rows for them alone rounds them,
// others are rounded beside, once in a block. All else stays f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision="weights=bf16 factors=bf16" --split-input-file | FileCheck %s
// RUN: not tfc-opt %s --split-input-file --tfc-choose-precision=factors=f16 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: Cannot find option named 'f16'

transformer.parameter @n : tensor<8xf32> from <["n"], stored_rows = 8>
transformer.parameter @up : tensor<12x8xf32> from <["up"], stored_rows = 12>
transformer.parameter @down : tensor<8x12xf32> from <["down"], stored_rows = 8>

// CHECK-LABEL: func.func @computed_for_products_alone
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @computed_for_products_alone(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %nw = transformer.weight @n : tensor<8xf32>
  %uw = transformer.weight @up : tensor<12x8xf32>
  %dw = transformer.weight @down : tensor<8x12xf32>
  // CHECK: %[[N:.*]] = transformer.rms_norm %[[X]], {{.*}} -> tensor<?x8xbf16>
  %n = transformer.rms_norm %x, %nw {eps = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<8xf32>
  // A factor of elements is none of a product.
  // CHECK: %[[G:.*]] = transformer.linear %[[N]], {{.*}} : tensor<?x8xbf16>, tensor<12x8xbf16>{{$}}
  %g = transformer.linear %n, %uw act silu : tensor<?x8xf32>, tensor<12x8xf32>
  // CHECK: %[[U:.*]] = transformer.linear %[[N]], {{.*}} factor %[[G]] : {{.*}} -> tensor<?x12xbf16>
  %u = transformer.linear %n, %uw factor %g : tensor<?x8xf32>, tensor<12x8xf32>, tensor<?x12xf32>
  // CHECK: %[[D:.*]] = transformer.linear %[[U]], {{.*}} residual %[[X]] : tensor<?x12xbf16>, tensor<8x12xbf16>, tensor<?x8xf32>{{$}}
  %d = transformer.linear %u, %dw residual %x : tensor<?x12xf32>, tensor<8x12xf32>, tensor<?x8xf32>
  // CHECK-NOT: transformer.activation
  // CHECK: return %[[D]] : tensor<?x8xf32>
  return %d : tensor<?x8xf32>
}

// -----

transformer.parameter @n : tensor<8xf32> from <["n"], stored_rows = 8>
transformer.parameter @w : tensor<8x8xf32> from <["w"], stored_rows = 8>

// The rows of a norm behind a residual are read by two products and added.
// CHECK-LABEL: func.func @read_by_others
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @read_by_others(%x: tensor<?x8xf32>, %isWanted: i1) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %nw = transformer.weight @n : tensor<8xf32>
  %w = transformer.weight @w : tensor<8x8xf32>
  // CHECK: %[[N:.*]] = transformer.rms_norm %[[X]], %{{.*}} : tensor<?x8xf32>, tensor<8xf32>{{$}}
  %n = transformer.rms_norm %x, %nw {eps = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<8xf32>
  // CHECK: %[[R:.*]] = transformer.activation identity %[[N]] : tensor<?x8xf32> -> tensor<?x8xbf16>
  // CHECK: transformer.linear %[[R]], {{.*}} residual %[[N]]
  %a = transformer.linear %n, %w residual %n : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  // CHECK: transformer.linear %[[R]],
  %b = transformer.linear %n, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %s = transformer.add %a, %b : tensor<?x8xf32>, tensor<?x8xf32>
  // In another block nobody has rounded them if nobody wants them.
  // CHECK: scf.if
  // CHECK: %[[T:.*]] = transformer.activation identity %[[N]]
  // CHECK: transformer.linear %[[T]],
  %c = scf.if %isWanted -> (tensor<?x8xf32>) {
    %y = transformer.linear %n, %w : tensor<?x8xf32>, tensor<8x8xf32>
    scf.yield %y : tensor<?x8xf32>
  } else {
    scf.yield %x : tensor<?x8xf32>
  }
  return %s, %c : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

transformer.parameter @w : tensor<8x8xf32> from <["w"], stored_rows = 8>

// Rows that a kernel computes, an argument, and a weight that somebody reads as
// f32.
// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<?x8xf32>, %rows: tensor<?xi32>, %t: tensor<8x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %w = transformer.weight @w : tensor<8x8xf32>
  // CHECK: %[[G:.*]] = transformer.gather_rows {{.*}} : tensor<?x8xf32>, tensor<?xi32>{{$}}
  // CHECK: transformer.activation identity %[[G]] : tensor<?x8xf32> -> tensor<?x8xbf16>
  %g = transformer.gather_rows %x, %rows : tensor<?x8xf32>, tensor<?xi32>
  %y = transformer.linear %g, %w : tensor<?x8xf32>, tensor<8x8xf32>
  // CHECK: transformer.linear %{{.*}}, %{{.*}} : tensor<?x8xf32>, tensor<8x8xf32>{{$}}
  %z = transformer.linear %x, %t : tensor<?x8xf32>, tensor<8x8xf32>
  return %y, %z : tensor<?x8xf32>, tensor<?x8xf32>
}
