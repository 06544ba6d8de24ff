// Parts: rows of one parameter, here of 5, 9 and 6 in panels of 8, so that the
// second and the third begin inside a panel.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize | FileCheck %s

// One place for all: 3 panels of 8 rows of 3, twice, and a line in front.
// CHECK: module attributes {transformer.packed_bytes = 704 : i64, transformer.packed_layout = "f32-{{[0-9a-f]+}}"}

// CHECK: @before : tensor<2xf32> {{.*}} at 0{{$}}
transformer.parameter @before : tensor<2xf32> from <["a"], stored_rows = 2>
// CHECK: @q : tensor<5x3xf32> layers 2 {{.*}}>{{$}}
transformer.parameter @q : tensor<5x3xf32> layers 2
  from <["q.{i}"], stored_rows = 5>
// CHECK: @k : tensor<9x3xf32> layers 2 {{.*}}>{{$}}
transformer.parameter @k : tensor<9x3xf32> layers 2
  from <["k.{i}"], first_row = 9, stored_rows = 27, in_out = true>
// CHECK: @whole : tensor<20x3xf32> layers 2 parts [@q, @k, @v] packed<panel = 8> at 64 stride 320{{$}}
transformer.parameter @whole : tensor<20x3xf32> layers 2 parts [@q, @k, @v]
  packed<panel = 8>
// CHECK: @v : tensor<6x3xf32> layers 2 {{.*}}>{{$}}
transformer.parameter @v : tensor<6x3xf32> layers 2
  from <["v.{i}"], stored_rows = 6>

// CHECK: func.func @pack(%{{[^,]*}}, %{{[^,]*}}, %[[ROW_BEGIN:.*]]: index, %[[ROW_END:.*]]: index, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C6:.*]] = arith.constant 6 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C9:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[C14:.*]] = arith.constant 14 : index
// CHECK-DAG: %[[C27:.*]] = arith.constant 27 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[C320:.*]] = arith.constant 320 : index

// The first element, the strides of rows and columns in the stored tensor; rows
// and columns; the first row, panel, offset and stride in the packed area. What
// is not stored has no number: @v is the fourth of the table.
// CHECK: %[[FIELDS:.*]]:9 = scf.index_switch
// CHECK: case 0
// CHECK-NEXT: scf.yield %[[C0]], %[[C1]], %[[C1]], %[[C2]], %[[C1]], %[[C0]], %[[C1]], %[[C0]], %[[C0]]
// CHECK: case 1
// CHECK-NEXT: scf.yield %[[C0]], %[[C3]], %[[C1]], %[[C5]], %[[C3]], %[[C0]], %[[C8]], %[[C64]], %[[C320]]
// CHECK: case 2
// CHECK-NEXT: scf.yield %[[C9]], %[[C1]], %[[C27]], %[[C9]], %[[C3]], %[[C5]], %[[C8]], %[[C64]], %[[C320]]
// CHECK: case 3
// CHECK-NEXT: scf.yield %[[C0]], %[[C3]], %[[C1]], %[[C6]], %[[C3]], %[[C14]], %[[C8]], %[[C64]], %[[C320]]
// CHECK: default
// CHECK-NEXT: scf.yield

// As many panels as there are up to the last row.
// CHECK: %[[END:.*]] = arith.addi %[[FIELDS]]#5, %[[FIELDS]]#3
// CHECK: %[[PANELS:.*]] = arith.ceildivui %[[END]], %[[FIELDS]]#6
// CHECK: scf.for %[[ROW:.*]] = %[[ROW_BEGIN]] to %[[ROW_END]]
// CHECK: %[[TARGET_ROW:.*]] = arith.addi %[[FIELDS]]#5, %[[ROW]]
// CHECK: arith.divui %[[TARGET_ROW]], %[[FIELDS]]#6
// CHECK: arith.remui %[[TARGET_ROW]], %[[FIELDS]]#6
// CHECK: arith.muli %[[ROW]], %[[FIELDS]]#1
