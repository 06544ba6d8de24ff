// Experts: the number of a layer counts those of all layers. Here two layers of
// three experts each, in panels of 4 rows, one tensor for each or one for all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize | FileCheck %s

// 2 panels of 4 rows of 3 floats are 96 bytes an expert, 288 a layer; layers
// begin on lines.
// CHECK: @apart : tensor<6x3xf32> layers 2 experts 3 {{.*}} at 0 stride 320{{$}}
transformer.parameter @apart : tensor<6x3xf32> layers 2 experts 3
  from <["{i}.{e}.w"], stored_rows = 6> packed <panel = 4>
// CHECK: @together : tensor<6x3xf32> layers 2 experts 3 {{.*}} at 640 stride 320{{$}}
transformer.parameter @together : tensor<6x3xf32> layers 2 experts 3
  from <["{i}.w"], stored_rows = 8, stacked = true> packed <panel = 4>
// CHECK: @other : tensor<5xf32> {{.*}} at 1280{{$}}
transformer.parameter @other : tensor<5xf32> from <["v"], stored_rows = 5>

// The experts of a layer, the bytes from one to the next, and the elements
// where they are stored together.
// CHECK: func.func @pack(%{{[^,]*}}, %[[NUMBER:[a-z0-9]+]]: index,
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C96:.*]] = arith.constant 96 : index
// CHECK: %[[FIELDS:[0-9]+]]:{{[0-9]+}} = scf.index_switch
// CHECK: case 0
// CHECK-NEXT: scf.yield {{.*}}, %[[C3]], %[[C96]], %[[C0]] :
// CHECK: case 1
// CHECK-NEXT: scf.yield {{.*}}, %[[C3]], %[[C96]], %[[C24]] :
// CHECK: case 2
// CHECK-NEXT: scf.yield {{.*}}, %[[C1]], %{{.*}}, %[[C0]] :
// CHECK: arith.remui %[[NUMBER]], %[[FIELDS]]
// CHECK: arith.divui %[[NUMBER]], %[[FIELDS]]
