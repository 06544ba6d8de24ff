// Rows become integers by three maps, as the kernels of panels want them or, for
// plain loops, as they are; a product begins with its scales.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=excess" --canonicalize | FileCheck %s --check-prefixes=CHECK,EXCESS
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=signed" --canonicalize | FileCheck %s --check-prefixes=CHECK,SIGNED,DOTS
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=matrices" --canonicalize | FileCheck %s --check-prefixes=CHECK,SIGNED,MATRICES
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 int8-rows=wide" --canonicalize | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s --check-prefixes=CHECK,PLAIN

// EXCESS: @w : tensor<20x7xi8> from{{.*}} packed<panel = 16, word = 4> rounds
// EXCESS-NEXT: @w.excess : tensor<20xi32> companion<excess of @w>
// DOTS: @w : tensor<20x7xi8> from{{.*}} packed<panel = 16, word = 4> rounds
// MATRICES: @w : tensor<20x7xi8> from{{.*}} packed<panel = 16, word = 8> rounds
// SIGNED-NOT: excess
// WIDE: @w : tensor<20x7xi8> from{{.*}} packed<panel = 16, word = 2> rounds
// PLAIN: @w : tensor<20x7xi8> from{{.*}} rounds
// WIDE-NOT: excess
// PLAIN-NOT: excess
transformer.parameter @w : tensor<20x7xi8> from <["w"], stored_rows = 20> rounds
transformer.parameter @w.scales : tensor<20xf32> companion<scales of @w>

// CHECK-LABEL: func.func @product
// CHECK-SAME: %[[X:.*]]: tensor<?x7xf32>, %[[B:.*]]: tensor<20xf32>
func.func @product(%x: tensor<?x7xf32>, %b: tensor<20xf32>) -> tensor<?x20xf32> {
  %w = transformer.weight @w : tensor<20x7xi8>
  // CHECK: %[[WS:.*]] = transformer.weight @w.scales : tensor<20xf32>
  %ws = transformer.weight @w.scales : tensor<20xf32>
  // The greatest of a row by size, as bits, at least those of 2^-100.
  // CHECK: %[[LEAST:.*]] = linalg.fill ins(%c226492416_i32 : i32)
  // CHECK: %[[GREATEST:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] : tensor<?x7xf32>) outs(%[[LEAST]] : tensor<?xi32>)
  // CHECK: %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
  // CHECK: %[[SIZE:.*]] = arith.andi %[[BITS]], %c2147483647_i32
  // CHECK: arith.maxsi %{{.*}}, %[[SIZE]] : i32
  // NaN where not all of a row is finite.
  // CHECK: %[[SCALES:.*]] = linalg.generic {{.*}} ins(%[[GREATEST]] : tensor<?xi32>)
  // CHECK: %[[STEP:.*]] = arith.divf %{{.*}}, %cst{{.*}} : f32
  // CHECK: %[[BAD:.*]] = arith.cmpi sge, %{{.*}}, %c2139095040_i32
  // CHECK: arith.select %[[BAD]], %{{.*}}, %[[STEP]] : f32
  // CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[GREATEST]] : tensor<?x7xf32>, tensor<?xi32>)
  // CHECK: %[[PER:.*]] = arith.divf
  // CHECK: %[[QUOTIENT:.*]] = arith.mulf %{{.*}}, %[[PER]] : f32
  // CHECK: %[[ROUNDED:.*]] = arith.addf %[[QUOTIENT]], %{{.*}} : f32
  // CHECK: arith.bitcast %[[ROUNDED]] : f32 to i32
  // EXCESS: arith.trunci %{{.*}} : i32 to i8
  // SIGNED: arith.trunci %{{.*}} : i32 to i8
  // WIDE: arith.trunci %{{.*}} : i32 to i16
  // PLAIN: arith.trunci %{{.*}} : i32 to i8
  %q, %s = transformer.quantize_rows %x : tensor<?x7xf32>
  // EXCESS: %[[PANELS:.*]] = transformer.weight @w : tensor<2x2x16x4xi8>
  // EXCESS: %[[OVER:.*]] = transformer.weight @w.excess : tensor<20xi32>
  // EXCESS: transformer.product %[[ROWS]], %[[PANELS]] columns(%[[WS]], %[[OVER]], %[[B]]) scales(%[[SCALES]])
  // EXCESS: ^bb0(%[[SUM:.*]]: i32, %[[COLUMN:.*]]: f32, %[[O:.*]]: i32, %[[BIAS:.*]]: f32, %[[ROW:.*]]: f32):
  // EXCESS: %[[OWN:.*]] = arith.subi %[[SUM]], %[[O]] : i32
  // EXCESS: %[[F:.*]] = arith.sitofp %[[OWN]] : i32 to f32
  // SIGNED: transformer.product %[[ROWS]], %{{.*}} columns(%[[WS]], %[[B]]) scales(%[[SCALES]]) outs(%{{.*}}) : tensor<?x7xi8>
  // SIGNED: ^bb0(%[[SUM:.*]]: i32, %[[COLUMN:.*]]: f32, %[[BIAS:.*]]: f32, %[[ROW:.*]]: f32):
  // SIGNED: %[[F:.*]] = arith.sitofp %[[SUM]] : i32 to f32
  // WIDE: transformer.product %[[ROWS]], %{{.*}} columns(%[[WS]], %[[B]]) scales(%[[SCALES]]) outs(%{{.*}}) : tensor<?x7xi16>
  // WIDE: ^bb0(%[[SUM:.*]]: i32, %[[COLUMN:.*]]: f32, %[[BIAS:.*]]: f32, %[[ROW:.*]]: f32):
  // WIDE: %[[F:.*]] = arith.sitofp %[[SUM]] : i32 to f32
  // PLAIN: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ROWS]], %{{.*}} : tensor<?x7xi8>, tensor<20x7xi8>)
  // PLAIN: arith.extsi
  // PLAIN: arith.extsi
  // PLAIN: arith.muli %{{.*}} : i32
  // PLAIN: linalg.generic {{.*}} ins(%{{.*}}, %[[SCALES]], %[[WS]], %[[B]] :
  // PLAIN: ^bb0(%[[SUM:.*]]: i32, %[[ROW:.*]]: f32, %[[COLUMN:.*]]: f32, %[[BIAS:.*]]: f32, %{{.*}}: f32):
  // PLAIN: %[[F:.*]] = arith.sitofp %[[SUM]] : i32 to f32
  // CHECK: %[[ONE:.*]] = arith.mulf %[[F]], %[[ROW]] : f32
  // CHECK: %[[BOTH:.*]] = arith.mulf %[[ONE]], %[[COLUMN]] : f32
  // CHECK: arith.addf %[[BOTH]], %[[BIAS]] : f32
  %y = transformer.linear %q, %w scales %s, %ws bias %b
    : tensor<?x7xi8>, tensor<20x7xi8>, tensor<?xf32>, tensor<20xf32>, tensor<20xf32>
  return %y : tensor<?x20xf32>
}
