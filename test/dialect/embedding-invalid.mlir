// What the verifiers of the table look-ups refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @embedding_c1_offset_negative(%ids: tensor<?xi32>,
                                        %table: tensor<97x104xf32>) {
  // expected-error @below {{expected offset in [0, 97) (the rows of the table), got -1}}
  %0 = transformer.embedding %ids, %table {offset = -1 : i64}
         : tensor<?xi32>, tensor<97x104xf32>
  return
}

// -----

func.func @embedding_c1_offset_beyond_table(%ids: tensor<?xi32>,
                                            %table: tensor<97x104xf32>) {
  // expected-error @below {{expected offset in [0, 97) (the rows of the table), got 97}}
  %0 = transformer.embedding %ids, %table {offset = 97 : i64}
         : tensor<?xi32>, tensor<97x104xf32>
  return
}
