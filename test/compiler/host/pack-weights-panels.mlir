// Panels: 20 rows of 3 in panels of 8, so three panels, the last half empty.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize | FileCheck %s

// CHECK: transformer.packed_bytes = 320 : i64
// CHECK: @w : tensor<20x3xf32> from{{.*}} packed<panel = 8> at 0{{$}}
transformer.parameter @w : tensor<20x3xf32> from <["w"], stored_rows = 20>
  packed<panel = 8>

// CHECK: func.func @pack(%{{[^,]*}}, %{{[^,]*}}, %[[BEGIN:.*]]: index, %[[END:.*]]: index, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}})
// 3 panels * 8 rows * 3 columns
// CHECK: memref.view %{{.*}} to memref<?xf32>
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]]
// CHECK: %[[PANEL:.*]] = arith.divui %[[ROW]], %[[SIZE:[^ ]*]] : index
// CHECK: %[[PLACE:.*]] = arith.remui %[[ROW]], %[[SIZE]] : index
// CHECK: %[[START:.*]] = arith.muli %[[PANEL]], %{{.*}}
// CHECK: %[[TO_ROW:.*]] = arith.addi %[[START]], %[[PLACE]]
// CHECK: scf.for %[[COLUMN:.*]] = %c0
// CHECK: %[[STEP:.*]] = arith.muli %[[COLUMN]], %[[SIZE]]
// CHECK: %[[TO:.*]] = arith.addi %[[TO_ROW]], %[[STEP]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[TO]]]
