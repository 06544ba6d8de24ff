// embedding and gather_rows: reads of whole rows by number.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg --canonicalize | FileCheck %s

// CHECK-LABEL: @reads_the_row_of_each_id
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: tensor<?xi32>, %[[TABLE:[a-z0-9]*]]: tensor<5x8xf32>
func.func @reads_the_row_of_each_id(%ids: tensor<?xi32>,
                                    %table: tensor<5x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[TOKENS:.*]] = tensor.dim %[[IDS]]
  // CHECK: %[[ROWS:.*]] = tensor.empty(%[[TOKENS]]) : tensor<?x8xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[IDS]] : tensor<?xi32>) outs(%[[ROWS]]
  // CHECK: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[COLUMN:.*]] = linalg.index 1
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[ID]] : i32 to index
  // CHECK: %[[VALUE:.*]] = tensor.extract %[[TABLE]][%[[ROW]], %[[COLUMN]]]
  // CHECK: linalg.yield %[[VALUE]]
  %0 = transformer.embedding %ids, %table : tensor<?xi32>, tensor<5x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @adds_the_offset_to_the_row
// CHECK-SAME: %{{.*}}: tensor<?xi32>, %[[TABLE:[a-z0-9]*]]: tensor<5x8xf32>
func.func @adds_the_offset_to_the_row(%ids: tensor<?xi32>,
                                      %table: tensor<5x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[OFFSET:.*]] = arith.constant 2 : index
  // CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %[[OFFSET]] : index
  // CHECK: tensor.extract %[[TABLE]][%[[ROW]],
  %0 = transformer.embedding %ids, %table {offset = 2 : i64}
         : tensor<?xi32>, tensor<5x8xf32>
  return %0 : tensor<?x8xf32>
}

// Row 0 is read in place of one that does not exist.
// CHECK-LABEL: @gives_zeros_for_an_absent_id
// CHECK-SAME: %{{.*}}: tensor<?xi32>, %[[TABLE:[a-z0-9]*]]: tensor<5x8xf32>
func.func @gives_zeros_for_an_absent_id(%ids: tensor<?xi32>,
                                        %table: tensor<5x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[NOTHING:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[SAFE:.*]] = arith.maxsi %[[ID]], %[[ZERO]]
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[SAFE]]
  // CHECK: %[[VALUE:.*]] = tensor.extract %[[TABLE]][%[[ROW]],
  // CHECK: %[[ABSENT:.*]] = arith.cmpi slt, %[[ID]], %[[ZERO]]
  // CHECK: arith.select %[[ABSENT]], %[[NOTHING]], %[[VALUE]]
  %0 = transformer.embedding %ids, %table optional
         : tensor<?xi32>, tensor<5x8xf32>
  return %0 : tensor<?x8xf32>
}

// Row 0 is read, and not used, where a token has an id of the table.
// CHECK-LABEL: @gives_the_rows_of_negative_ids
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: tensor<?xi32>, %[[INPUT:[a-z0-9]*]]: tensor<?x8xf32>, %[[TABLE:[a-z0-9]*]]: tensor<2x8xf32>
func.func @gives_the_rows_of_negative_ids(%ids: tensor<?xi32>,
                                          %input: tensor<?x8xf32>,
                                          %table: tensor<2x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[ONES:.*]] = arith.constant -1 : i32
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[NOTHING:.*]] = arith.constant 0.0{{.*}} : f32
  // CHECK: %[[GIVEN:.*]] = linalg.generic {{.*}} ins(%[[IDS]] :
  // CHECK: ^bb0(%[[ID:.*]]: i32, %{{.*}}: f32):
  // CHECK: %[[NUMBER:.*]] = arith.xori %[[ID]], %[[ONES]]
  // CHECK: %[[SAFE:.*]] = arith.maxsi %[[NUMBER]], %[[ZERO]]
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[SAFE]]
  // CHECK: %[[VALUE:.*]] = tensor.extract %[[INPUT]][%[[ROW]],
  // CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[ID]], %[[ZERO]]
  // CHECK: arith.select %[[HAS]], %[[VALUE]], %[[NOTHING]]
  %given = transformer.given_rows %ids, %input : tensor<?xi32>, tensor<?x8xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[IDS]], %[[GIVEN]] :
  // CHECK: ^bb0(%[[ID:.*]]: i32, %[[OTHER:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[SAFE:.*]] = arith.maxsi %[[ID]], %[[ZERO]]
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[SAFE]]
  // CHECK: %[[VALUE:.*]] = tensor.extract %[[TABLE]][%[[ROW]],
  // CHECK: %[[HAS:.*]] = arith.cmpi slt, %[[ID]], %[[ZERO]]
  // CHECK: arith.select %[[HAS]], %[[OTHER]], %[[VALUE]]
  %0 = transformer.embedding %ids, %table given %given of tensor<?x8xf32>
         : tensor<?xi32>, tensor<2x8xf32>
  return %0 : tensor<?x8xf32>
}

// Where the table has no row of the id it is the one that is given.
// CHECK-LABEL: @replaces_rows
// CHECK-SAME: %[[WHICH:[a-z0-9]*]]: tensor<?xi32>, %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[TABLE:[a-z0-9]*]]: tensor<1x8xf32>
func.func @replaces_rows(%which: tensor<?xi32>, %x: tensor<?x8xf32>,
                         %table: tensor<1x8xf32>) -> tensor<?x8xf32> {
  // CHECK: linalg.generic {{.*}} ins(%[[WHICH]], %[[X]] :
  // CHECK: ^bb0(%{{.*}}: i32, %[[OTHER:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[VALUE:.*]] = tensor.extract %[[TABLE]][
  // CHECK: %[[HAS:.*]] = arith.andi
  // CHECK: arith.select %[[HAS]], %[[VALUE]], %[[OTHER]]
  %0 = transformer.embedding %which, %table given %x of tensor<?x8xf32> from 1
         : tensor<?xi32>, tensor<1x8xf32>
  return %0 : tensor<?x8xf32>
}

// As many rows as are wanted, whatever the tokens.
// CHECK-LABEL: @gathers_the_wanted_rows
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, %[[WANTED:[a-z0-9]*]]: tensor<?xi32>
func.func @gathers_the_wanted_rows(%x: tensor<?x8xf32>, %wanted: tensor<?xi32>)
    -> tensor<?x8xf32> {
  // CHECK: %[[COUNT:.*]] = tensor.dim %[[WANTED]]
  // CHECK: tensor.empty(%[[COUNT]])
  // CHECK: %[[ROW:.*]] = arith.index_cast
  // CHECK: tensor.extract %[[X]][%[[ROW]],
  %0 = transformer.gather_rows %x, %wanted : tensor<?x8xf32>, tensor<?xi32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @unfold
// CHECK: %[[INIT:.*]] = tensor.empty(%{{.*}}) : tensor<?x24xf32>
// CHECK: transformer.ragged_unfold %{{.*}} taps 3, %{{.*}} outs(%[[INIT]] : tensor<?x24xf32>)
func.func @unfold(%x: tensor<?x8xf32>, %batch: !transformer.batch) -> tensor<?x24xf32> {
  %y = transformer.unfold %x taps 3, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// CHECK-LABEL: @ids_beyond_the_table
func.func @ids_beyond_the_table(%ids: tensor<?xi32>, %table: tensor<3x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[ROWS:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 2 : i32
  // CHECK: ^bb0(%[[ID:.*]]: i32,
  // CHECK: %[[KNOWN:.*]] = arith.cmpi slt, %[[ID]], %[[ROWS]]
  // CHECK: arith.select %[[KNOWN]], %[[ID]], %[[LAST]]
  %0 = transformer.embedding %ids, %table beyond 2
         : tensor<?xi32>, tensor<3x8xf32>
  return %0 : tensor<?x8xf32>
}

// CHECK-LABEL: @ids_in_turns
func.func @ids_in_turns(%ids: tensor<?xi32>, %table: tensor<3x8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-DAG: %[[ROWS:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[EVERY:.*]] = arith.constant 5 : i32
  // CHECK: ^bb0(%[[ID:.*]]: i32,
  // CHECK: %[[TURN:.*]] = arith.divui %[[ID]], %[[EVERY]]
  // CHECK: %[[ROW:.*]] = arith.remui %[[TURN]], %[[ROWS]]
  // CHECK: arith.index_cast %[[ROW]]
  %0 = transformer.embedding %ids, %table every 5
         : tensor<?xi32>, tensor<3x8xf32>
  return %0 : tensor<?x8xf32>
}
