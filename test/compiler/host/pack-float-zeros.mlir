// A matrix of four bits whose groups have zeros that are floats: 8 times the scale
// of a group that is rounded, and what is given with integers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse | FileCheck %s

// CHECK: packed_bytes = 576 : i64
// CHECK: @w.zeros : tensor<3x2xf32> {{.*}} at 192
transformer.parameter @w : tensor<3x64xi4> from <["w"], stored_rows = 3> packed<panel = 4, word = 8> rounds
transformer.parameter @w.scales : tensor<3x2xf32> companion<scales of @w> packed<panel = 4>
transformer.parameter @w.zeros : tensor<3x2xf32> companion<zeros of @w> packed<panel = 4>
// Bytes beside it have none.
transformer.parameter @b : tensor<3x64xi8> from <["b"], stored_rows = 3> packed<panel = 4, word = 4> rounds
transformer.parameter @b.scales : tensor<3x2xf32> companion<scales of @b> packed<panel = 4>
// CHECK: func.func @pack({{.*}}, %[[SCALES:.*]]: memref<?xf32>, %[[GIVEN:.*]]: memref<?xi8>) -> i32
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8.000000e+00 : f32
// CHECK: case 5
// CHECK: %[[SCALE:.*]] = arith.mulf
// CHECK: %[[ZERO:.*]] = arith.mulf %[[SCALE]], %[[EIGHT]] : f32
// CHECK: memref.store %[[ZERO]], %{{.*}} : memref<?xf32>
// CHECK: %[[ZEROS:.*]] = memref.view %[[GIVEN]]{{.*}} : memref<?xi8> to memref<?xf32>
// CHECK: %[[OWN:.*]] = memref.load %[[ZEROS]]
// CHECK: memref.store %[[OWN]], %{{.*}} : memref<?xf32>
