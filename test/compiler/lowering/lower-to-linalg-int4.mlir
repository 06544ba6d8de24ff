// A product with a matrix of four bits: in panels with its groups' scales and
// zero points beside it, or as plain loops over groups, a multiply-add each.
// Rows are bytes with a sign, whatever those of bytes are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=excess" --canonicalize | FileCheck %s --check-prefix=PANELS
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=wide" --canonicalize | FileCheck %s --check-prefix=PANELS
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s --check-prefix=PLAIN

// PANELS: @w : tensor<20x64xi4> from{{.*}} packed<panel = 16, word = 8> rounds
// PANELS-NEXT: @w.scales : tensor<20x2xf32> companion<scales of @w> packed<panel = 16>
// PANELS-NEXT: @w.zeros : tensor<20x2xi8> companion<zeros of @w> packed<panel = 16>
// PLAIN: @w : tensor<20x64xi4> from{{.*}} packed<panel = 1, word = 2> rounds
// PLAIN-NEXT: @w.scales : tensor<20x2xf32> companion<scales of @w>{{$}}
transformer.parameter @w : tensor<20x64xi4> from <["w"], stored_rows = 20> rounds
transformer.parameter @w.scales : tensor<20x2xf32> companion<scales of @w>
transformer.parameter @w.zeros : tensor<20x2xi8> companion<zeros of @w>

func.func @product(%x: tensor<?x64xf32>, %b: tensor<20xf32>) -> tensor<?x20xf32> {
  %w = transformer.weight @w : tensor<20x64xi4>
  %ws = transformer.weight @w.scales : tensor<20x2xf32>
  %wz = transformer.weight @w.zeros : tensor<20x2xi8>
  // PANELS: %[[ROWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x64xi8>)
  // PANELS-NOT: 128
  // PANELS: arith.trunci %{{.*}} : i32 to i8
  %q, %s = transformer.quantize_rows %x : tensor<?x64xf32>
  // PANELS: %[[W:.*]] = transformer.weight @w : tensor<2x8x16x4xi8>
  // PANELS: %[[S:.*]] = transformer.weight @w.scales : tensor<2x2x16xf32>
  // PANELS: %[[Z:.*]] = transformer.weight @w.zeros : tensor<2x2x16xi8>
  // PANELS: transformer.product %[[ROWS]], %[[W]] columns(%{{.*}}) scales(%{{.*}}) groups(%[[S]]) zeros(%[[Z]])
  // PANELS: ^bb0(%[[SUM:.*]]: f32, %[[BIAS:.*]]: f32, %[[ROW:.*]]: f32):
  // PANELS-NEXT: %[[SCALED:.*]] = arith.mulf %[[SUM]], %[[ROW]] : f32
  // PANELS-NEXT: arith.addf %[[SCALED]], %[[BIAS]] : f32
  // PLAIN: transformer.weight @w : tensor<20x32x1xi8>
  // PLAIN: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} outs(%{{.*}} : tensor<?x20xf32>)
  // PLAIN: scf.for {{.*}} -> (f32)
  // PLAIN: scf.for {{.*}} -> (i32)
  // PLAIN: arith.andi
  // PLAIN: arith.subi
  // PLAIN: arith.muli %{{.*}} : i32
  // PLAIN: arith.sitofp %{{.*}} : i32 to f32
  // PLAIN: math.fma
  %y = transformer.linear %q, %w scales %s, %ws zeros %wz bias %b
    : tensor<?x64xi8>, tensor<20x64xi4>, tensor<?xf32>, tensor<20x2xf32>, tensor<20x2xi8>, tensor<20xf32>
  return %y : tensor<?x20xf32>
}

// Zeros that are floats come off behind the scale: a multiply-add more, of minus
// the sum of the row.
transformer.parameter @f : tensor<20x64xi4> from <["f"], stored_rows = 20> rounds
transformer.parameter @f.scales : tensor<20x2xf32> companion<scales of @f>
// PANELS: @f.zeros : tensor<20x2xf32> companion<zeros of @f> packed<panel = 16>
transformer.parameter @f.zeros : tensor<20x2xf32> companion<zeros of @f>

// PANELS-LABEL: func.func @takes_floats_off
// PLAIN-LABEL: func.func @takes_floats_off
func.func @takes_floats_off(%q: tensor<?x64xi8>, %s: tensor<?xf32>) -> tensor<?x20xf32> {
  %w = transformer.weight @f : tensor<20x64xi4>
  %ws = transformer.weight @f.scales : tensor<20x2xf32>
  %wz = transformer.weight @f.zeros : tensor<20x2xf32>
  // PANELS: %[[Z:.*]] = transformer.weight @f.zeros : tensor<2x2x16xf32>
  // PANELS: transformer.product %{{.*}} zeros(%[[Z]])
  // PLAIN: math.fma
  // PLAIN: scf.for {{.*}} -> (i32)
  // PLAIN: arith.subi
  // PLAIN: %[[SUM:.*]] = arith.sitofp
  // PLAIN: math.fma %[[SUM]], %{{.*}}, %{{.*}} : f32
  %y = transformer.linear %q, %w scales %s, %ws zeros %wz
    : tensor<?x64xi8>, tensor<20x64xi4>, tensor<?xf32>, tensor<20x2xf32>, tensor<20x2xf32>
  return %y : tensor<?x20xf32>
}

// Of experts, all panels of one expert lie together, and so does what its groups
// have.
// PANELS: @e : tensor<20x64xi4> experts 3 {{.*}} packed<panel = 16, word = 8>
transformer.parameter @e : tensor<20x64xi4> experts 3 from <["{e}"], stored_rows = 20> rounds
// PANELS-NEXT: @e.scales : tensor<20x2xf32> experts 3 companion<scales of @e> packed<panel = 16>
transformer.parameter @e.scales : tensor<20x2xf32> experts 3 companion<scales of @e>

// PANELS-LABEL: func.func @experts
// PLAIN-LABEL: func.func @experts
func.func @experts(%x: tensor<?x64xf32>, %i: tensor<?xi32>) -> tensor<?x20xf32> {
  %w = transformer.weight @e : tensor<3x20x64xi4>
  %ws = transformer.weight @e.scales : tensor<3x20x2xf32>
  %q, %s = transformer.quantize_rows %x : tensor<?x64xf32>
  // PANELS: %[[W:.*]] = transformer.weight @e : tensor<3x2x8x16x4xi8>
  // PANELS: %[[S:.*]] = transformer.weight @e.scales : tensor<3x2x2x16xf32>
  // PANELS: transformer.product %{{.*}}, %[[W]] scales(%{{.*}}) groups(%[[S]]) experts(%{{.*}}) outs
  // PLAIN: transformer.weight @e : tensor<3x20x32x1xi8>
  // PLAIN: %[[EXPERT:.*]] = arith.index_cast %{{.*}} : i32 to index
  // PLAIN: tensor.extract %{{.*}}[%[[EXPERT]], %{{.*}}, %{{.*}}, %{{.*}}] : tensor<3x20x32x1xi8>
  // PLAIN: tensor.extract %{{.*}}[%[[EXPERT]], %{{.*}}, %{{.*}}] : tensor<3x20x2xf32>
  %y = transformer.expert_linear %q of %i, %w scales %s, %ws
    : (tensor<?x64xi8>, tensor<?xi32>, tensor<3x20x64xi4>, tensor<?xf32>, tensor<3x20x2xf32>)
      -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}
