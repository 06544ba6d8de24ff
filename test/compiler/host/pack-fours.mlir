// A matrix of four bits: a group of a row at a time, two columns of a word a byte;
// integers that are given as they are come with their scales and zero points.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse | FileCheck %s

// One panel of 4 rows has eight words of 4 bytes a row, and two groups.
// CHECK: packed_bytes = 256 : i64, transformer.packed_layout = "int4-{{[0-9a-f]+}}"
// CHECK: @w : tensor<3x64xi4> {{.*}} at 0
// CHECK: @w.scales : tensor<3x2xf32> {{.*}} at 128
// CHECK: @w.zeros : tensor<3x2xi8> {{.*}} at 192
transformer.parameter @w : tensor<3x64xi4> from <["w"], stored_rows = 3> packed<panel = 4, word = 8> rounds
transformer.parameter @w.scales : tensor<3x2xf32> companion<scales of @w> packed<panel = 4>
transformer.parameter @w.zeros : tensor<3x2xi8> companion<zeros of @w> packed<panel = 4>
// CHECK: func.func @pack({{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %[[SCALES:.*]]: memref<?xf32>, %[[ZEROS:.*]]: memref<?xi8>) -> i32
// CHECK: case 5
// Of floats the extreme, its -8th part, and integers of at most 7.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[EXTREME:.*]] = scf.for {{.*}} -> (f32)
// CHECK: arith.mulf %[[EXTREME]], %{{.*}} : f32
// CHECK: arith.minsi
// CHECK: arith.shli
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: memref.store {{.*}} : memref<?xf32>
// Of integers what is given.
// CHECK: memref.load %[[ZEROS]]
// CHECK: memref.load %[[SCALES]]
