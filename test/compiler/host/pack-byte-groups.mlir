// A matrix of bytes that has groups: each of a row's is rounded as a row is, or
// is given with its scale; a matrix beside it has one group a row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse | FileCheck %s

// One panel of 4 rows has sixteen words of 4 bytes a row, and two groups.
// CHECK: packed_bytes = 512 : i64, transformer.packed_layout = "int8-{{[0-9a-f]+}}"
// CHECK: @w : tensor<3x64xi8> {{.*}} at 0
// CHECK: @w.scales : tensor<3x2xf32> {{.*}} at 256
// CHECK: @v : tensor<3x7xi8> {{.*}} at 320
transformer.parameter @w : tensor<3x64xi8> from <["w"], stored_rows = 3> packed<panel = 4, word = 4> rounds
transformer.parameter @w.scales : tensor<3x2xf32> companion<scales of @w> packed<panel = 4>
transformer.parameter @v : tensor<3x7xi8> from <["v"], stored_rows = 3> packed<panel = 4, word = 4> rounds
transformer.parameter @v.scales : tensor<3xf32> companion<scales of @v>
transformer.parameter @v.excess : tensor<3xi32> companion<excess of @v>
// CHECK: func.func @pack({{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %[[SCALES:.*]]: memref<?xf32>, %{{.*}}: memref<?xi8>) -> i32
// Columns of a scale: 32, and 7 of the other.
// CHECK: case 0
// CHECK: scf.yield {{.*}}%c32
// CHECK: case 1
// CHECK: scf.yield {{.*}}%c7
// CHECK: case 4
// Rows, and their groups: the greatest, then the integers.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c226492416_i32)
// CHECK: arith.maxsi
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %c0_i32, %{{.*}} = %false)
// CHECK: memref.store {{.*}} : memref<?xf32>
// Of integers the scales that are given.
// CHECK: memref.load %[[SCALES]]
