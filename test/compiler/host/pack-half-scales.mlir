// Scales of 16 bits: integers are made of what is kept, and what is given and
// would be another is no rounding that anybody asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse | FileCheck %s

// CHECK: packed_bytes = 384 : i64
// CHECK: @w.scales : tensor<3x2xf16> {{.*}} at 128
// CHECK: @w.zeros : tensor<3x2xf16> {{.*}} at 192
transformer.parameter @w : tensor<3x64xi4> from <["w"], stored_rows = 3> packed<panel = 4, word = 8> rounds
transformer.parameter @w.scales : tensor<3x2xf16> companion<scales of @w> packed<panel = 4>
transformer.parameter @w.zeros : tensor<3x2xf16> companion<zeros of @w> packed<panel = 4>
// Those of bytes beside them are f32.
// CHECK: @b.scales : tensor<1x2xf32> {{.*}} at 320
transformer.parameter @b : tensor<1x64xi8> from <["b"], stored_rows = 1> packed<panel = 1, word = 4> rounds
transformer.parameter @b.scales : tensor<1x2xf32> companion<scales of @b> packed<panel = 1>
// CHECK: func.func @pack({{.*}}: memref<?xi8>, %{{.*}}: memref<?xi8>, %[[SCALES:.*]]: memref<?xf32>, %[[ZEROS:.*]]: memref<?xi8>) -> i32
// CHECK: case 5
// CHECK: %[[EXTREME:.*]] = scf.for {{.*}} -> (f32)
// CHECK: %[[EXACT:.*]] = arith.mulf %[[EXTREME]], %{{.*}} : f32
// CHECK: %[[NEAREST:.*]] = arith.truncf %[[EXACT]] : f32 to f16
// The next one by size, where the extreme would be -9.
// CHECK: %[[NEXT:.*]] = arith.addi %{{.*}}, %c1_i16
// CHECK: arith.select %{{.*}}, %[[NEXT]], %{{.*}} : i16
// CHECK: %[[SCALE:.*]] = arith.extf %{{.*}} : f16 to f32
// CHECK: arith.divf %{{.*}}, %[[SCALE]] : f32
// CHECK: memref.store {{.*}} : memref<?xf16>
// CHECK: memref.store {{.*}} : memref<?xf16>
// Given ones are compared with what they become.
// CHECK: memref.load %[[SCALES]]
// CHECK: %[[KEPT:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK: memref.store %[[KEPT]], %{{.*}} : memref<?xf16>
// CHECK: arith.extf %[[KEPT]]
// CHECK: arith.cmpf one
