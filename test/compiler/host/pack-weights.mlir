// Places of the weights in the packed area, and the function that fills them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize | FileCheck %s

// The end of the last weight, on a line of 64 bytes.
// CHECK: module attributes {transformer.packed_bytes = 832 : i64, transformer.packed_layout = "f32-{{[0-9a-f]+}}"}

// CHECK: @plain : tensor<8x4xf32> {{.*}} at 0{{$}}
transformer.parameter @plain : tensor<8x4xf32> from <["a"], stored_rows = 8>

// 20 bytes take a line; one layer begins a line after the other.
// CHECK: @layered : tensor<5xf32> layers 3 {{.*}} at 128 stride 64{{$}}
transformer.parameter @layered : tensor<5xf32> layers 3
  from <["b.{i}"], stored_rows = 5>

// A part of a fused tensor, stored transposed.
// CHECK: @part : tensor<8x4xf32> layers 2 {{.*}} at 320 stride 128{{$}}
transformer.parameter @part : tensor<8x4xf32> layers 2
  from <["c.{i}"], first_row = 16, stored_rows = 24, in_out = true>

// It is another's value: in the table, with no place of its own.
// CHECK: @tied : tensor<8x4xf32> {{.*}} tied_to = "plain">{{$}}
transformer.parameter @tied : tensor<8x4xf32>
  from <["d"], stored_rows = 8, tied_to = "plain">

// CHECK: @last : tensor<8x8xf32> {{.*}} at 576{{$}}
transformer.parameter @last : tensor<8x8xf32>
  from <["e"], first_row = 8, stored_rows = 24>

// CHECK: func.func @pack(%[[WEIGHT:.*]]: index, %[[LAYER:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %[[DTYPE:.*]]: index, %[[SOURCE:.*]]: memref<?xi8>, %[[PACKED:.*]]: memref<?xi8>)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[C24:.*]] = arith.constant 24 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[C320:.*]] = arith.constant 320 : index
// CHECK-DAG: %[[C576:.*]] = arith.constant 576 : index

// The first element, the strides of rows and columns in the stored tensor; rows
// and columns; offset and stride in the packed area.
// CHECK: %[[FIELDS:.*]]:7 = scf.index_switch %[[WEIGHT]]
// CHECK: case 0
// CHECK-NEXT: scf.yield %[[C0]], %[[C4]], %[[C1]], %[[C8]], %[[C4]], %[[C0]], %[[C0]]
// CHECK: case 1
// CHECK-NEXT: scf.yield %[[C0]], %[[C1]], %[[C1]], %[[C5]], %[[C1]], %[[C128]], %[[C64]]
// CHECK: case 2
// CHECK-NEXT: scf.yield %[[C16]], %[[C1]], %[[C24]], %[[C8]], %[[C4]], %[[C320]], %[[C128]]
// CHECK: case 3
// CHECK-NEXT: scf.yield %[[C0]], %[[C0]], %[[C0]], %[[C0]], %[[C0]], %[[C0]], %[[C0]]
// CHECK: case 4
// CHECK-NEXT: scf.yield %[[C64]], %[[C8]], %[[C1]], %[[C8]], %[[C8]], %[[C576]], %[[C0]]

// CHECK: %[[DISTANCE:.*]] = arith.muli %[[LAYER]], %[[FIELDS]]#6
// CHECK: %[[START:.*]] = arith.addi %[[FIELDS]]#5, %[[DISTANCE]]
// CHECK: scf.index_switch %[[DTYPE]]

// f32: a tensor in a file may begin at any byte.
// CHECK: case 0
// CHECK: %[[FLOATS:.*]] = memref.view %[[SOURCE]]{{.*}} to memref<?xf32>
// CHECK: %[[TARGET:.*]] = memref.view %[[PACKED]][%[[START]]]
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[TO_ROW:.*]] = arith.muli %[[ROW]], %[[FIELDS]]#4
// CHECK: %[[ROW_DISTANCE:.*]] = arith.muli %[[ROW]], %[[FIELDS]]#1
// CHECK: %[[FROM_ROW:.*]] = arith.addi %[[FIELDS]]#0, %[[ROW_DISTANCE]]
// CHECK: scf.for %[[COLUMN:.*]] = %[[C0]] to %[[FIELDS]]#4
// CHECK: %[[COLUMN_DISTANCE:.*]] = arith.muli %[[COLUMN]], %[[FIELDS]]#2
// CHECK: %[[FROM:.*]] = arith.addi %[[FROM_ROW]], %[[COLUMN_DISTANCE]]
// CHECK: %[[VALUE:.*]] = memref.load %[[FLOATS]][%[[FROM]]] {alignment = 1 : i64}
// CHECK: %[[TO:.*]] = arith.addi %[[TO_ROW]], %[[COLUMN]]
// CHECK: memref.store %[[VALUE]], %[[TARGET]][%[[TO]]]

// f16 and bf16 are converted; no other dtype is.
// CHECK: case 1
// CHECK: memref.load {{.*}} {alignment = 1 : i64} : memref<?xf16>
// CHECK: arith.extf {{.*}} : f16 to f32
// CHECK: case 2
// CHECK: memref.load {{.*}} {alignment = 1 : i64} : memref<?xbf16>
// CHECK: arith.extf {{.*}} : bf16 to f32
// CHECK: default {
// CHECK-NEXT: }
// Nothing is rounded.
// CHECK-NEXT: return %{{.*}} : i32
