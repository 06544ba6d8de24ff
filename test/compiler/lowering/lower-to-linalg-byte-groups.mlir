// A product with a matrix of bytes that has groups: in panels of four bytes a
// word, whatever other bytes lie in, with the groups' scales beside it and no
// excess, or as plain loops over groups. Rows are bytes with a sign.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=excess" --canonicalize | FileCheck %s --check-prefix=PANELS
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=wide" --canonicalize | FileCheck %s --check-prefix=PANELS
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s --check-prefix=PLAIN

// PANELS: @w : tensor<20x64xi8> from{{.*}} packed<panel = 16, word = 4>
// PANELS-NEXT: @w.scales : tensor<20x2xf32> companion<scales of @w> packed<panel = 16>
// PANELS-NOT: excess
// PLAIN: @w : tensor<20x64xi8> from{{.*}}stored_rows = 20>{{$}}
transformer.parameter @w : tensor<20x64xi8> from <["w"], stored_rows = 20>
transformer.parameter @w.scales : tensor<20x2xf32> companion<scales of @w>

func.func @product(%x: tensor<?x64xf32>) -> tensor<?x20xf32> {
  %w = transformer.weight @w : tensor<20x64xi8>
  %ws = transformer.weight @w.scales : tensor<20x2xf32>
  // PANELS: %[[ROWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x64xi8>)
  // PANELS-NOT: 128
  // PANELS: arith.trunci %{{.*}} : i32 to i8
  %q, %s = transformer.quantize_rows %x : tensor<?x64xf32>
  // PANELS: %[[W:.*]] = transformer.weight @w : tensor<2x16x16x4xi8>
  // PANELS: %[[S:.*]] = transformer.weight @w.scales : tensor<2x2x16xf32>
  // PANELS: transformer.product %[[ROWS]], %[[W]] scales(%{{.*}}) groups(%[[S]])
  // PANELS: ^bb0(%[[SUM:.*]]: f32, %[[ROW:.*]]: f32):
  // PANELS-NEXT: arith.mulf %[[SUM]], %[[ROW]] : f32
  // PLAIN: %[[OWN:.*]] = transformer.weight @w : tensor<20x64xi8>
  // PLAIN: scf.for {{.*}} -> (f32)
  // PLAIN: scf.for {{.*}} -> (i32)
  // PLAIN: tensor.extract %[[OWN]]
  // PLAIN-NOT: arith.subi
  // PLAIN: arith.muli %{{.*}} : i32
  // PLAIN: math.fma
  %y = transformer.linear %q, %w scales %s, %ws
    : tensor<?x64xi8>, tensor<20x64xi8>, tensor<?xf32>, tensor<20x2xf32>
  return %y : tensor<?x20xf32>
}
