// A matrix of bytes: its rows twice, for the greatest element and for the bytes,
// and a scale and an excess for each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse | FileCheck %s

// One panel of 4 rows has two words of 4 columns: 32 bytes.
// CHECK: packed_bytes = 192 : i64, transformer.packed_layout = "int8-{{[0-9a-f]+}}"
// CHECK: @w : tensor<3x7xi8> {{.*}} at 0
// CHECK: @w.scales : tensor<3xf32> {{.*}} at 64
// CHECK: @w.excess : tensor<3xi32> {{.*}} at 128
transformer.parameter @w : tensor<3x7xi8> from <["w"], stored_rows = 3> packed<panel = 4, word = 4> rounds
transformer.parameter @w.scales : tensor<3xf32> companion<scales of @w>
transformer.parameter @w.excess : tensor<3xi32> companion<excess of @w>
// CHECK: func.func @pack
// CHECK: case 4
// CHECK: %[[STORED:.*]] = memref.view %{{.*}} to memref<?xf32>
// CHECK: %[[BYTES:.*]] = memref.view %{{.*}} to memref<?xi8>
// CHECK: %[[SCALES:.*]] = memref.view %{{.*}} to memref<?xf32>
// CHECK: %[[EXCESS:.*]] = memref.view %{{.*}} to memref<?xi32>
// CHECK: scf.for
// CHECK: %[[GREATEST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %c226492416_i32)
// CHECK: arith.maxsi
// CHECK: %[[SCALE:.*]] = arith.select
// CHECK: %[[SUM:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %false)
// CHECK: %[[BYTE:.*]] = arith.trunci %[[INTEGER:.*]] : i32 to i8
// CHECK: memref.store %[[BYTE]], %[[BYTES]]
// What is not the byte times the scale was rounded.
// CHECK: %[[F:.*]] = arith.sitofp %[[INTEGER]] : i32 to f32
// CHECK: %[[WIDE:.*]] = arith.mulf %[[F]], %[[SCALE]] : f32
// CHECK: arith.cmpf one, %[[WIDE]]
// CHECK: memref.store %[[SCALE]], %[[SCALES]]
// Two for a row that is not finite, more than one for a rounded element.
// CHECK: arith.extui %[[SUM]]#1 : i1 to i32
// CHECK: arith.select %{{.*}}, %c2_i32, %c0_i32
// CHECK: arith.maxsi
// CHECK: scf.if
// CHECK: %[[TIMES:.*]] = arith.muli %[[SUM]]#0, %c128_i32 : i32
// CHECK: memref.store %[[TIMES]], %[[EXCESS]]
