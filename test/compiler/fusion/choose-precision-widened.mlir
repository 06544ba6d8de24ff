// With values of 16 bits rows are no integers: products widen the matrix, and have
// its scales alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision="weights=int8 values=bf16 rounds" | FileCheck %s --check-prefixes=CHECK,BYTES --implicit-check-not=quantize_rows
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 zeros values=f16" | FileCheck %s --check-prefix=FOURS --implicit-check-not=quantize_rows

// BYTES: @w : tensor<6x64xi8> {{.*}} rounds
// BYTES-NEXT: @w.scales : tensor<6xf32> companion<scales of @w>
// FOURS: @w : tensor<6x64xi4>
transformer.parameter @w : tensor<6x64xf32> from <["w"], stored_rows = 6>
transformer.parameter @n : tensor<64xf32> from <["n"], stored_rows = 64>
transformer.parameter @head : tensor<8x6xf32> from <["head"], stored_rows = 8>

// CHECK-LABEL: func.func @layer
func.func @layer(%x: tensor<?x64xf32>) -> tensor<?x8xf32> {
  %nw = transformer.weight @n : tensor<64xf32>
  // BYTES: %[[W:.*]] = transformer.weight @w : tensor<6x64xi8>
  // BYTES: %[[S:.*]] = transformer.weight @w.scales : tensor<6xf32>
  // FOURS: %[[W:.*]] = transformer.weight @w : tensor<6x64xi4>
  // FOURS: %[[S:.*]] = transformer.weight @w.scales : tensor<6x2xf32>
  // FOURS: %[[Z:.*]] = transformer.weight @w.zeros : tensor<6x2xi8>
  %w = transformer.weight @w : tensor<6x64xf32>
  %h = transformer.weight @head : tensor<8x6xf32>
  // CHECK: %[[X:.*]] = transformer.rms_norm {{.*}} -> tensor<?x64xbf16>
  // FOURS: %[[X:.*]] = transformer.rms_norm {{.*}} -> tensor<?x64xf16>
  %n = transformer.rms_norm %x, %nw {eps = 1.0e-6 : f64} : tensor<?x64xf32>, tensor<64xf32>
  // CHECK: transformer.linear %[[X]], %[[W]] scales %[[S]] : tensor<?x64xbf16>, tensor<6x64xi8>, tensor<6xf32> -> tensor<?x6xbf16>
  // FOURS: transformer.linear %[[X]], %[[W]] scales %[[S]] zeros %[[Z]] : tensor<?x64xf16>, tensor<6x64xi4>, tensor<6x2xf32>, tensor<6x2xi8> -> tensor<?x6xf16>
  %y = transformer.linear %n, %w : tensor<?x64xf32>, tensor<6x64xf32>
  // Columns that groups do not divide are bytes.
  // FOURS: transformer.linear %{{.*}} scales %{{.*}} : tensor<?x6xf16>, tensor<8x6xi8>, tensor<8xf32>
  %z = transformer.linear %y, %h : tensor<?x6xf32>, tensor<8x6xf32>
  return %z : tensor<?x8xf32>
}
