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

// -----

func.func @embedding_c2_beyond(%ids: tensor<?xi32>, %table: tensor<97x104xf32>) {
  // expected-error @below {{expected first alone, at least 0 and with ids below 2^31, got 2147483600}}
  %0 = transformer.embedding %ids, %table from 2147483600
         : tensor<?xi32>, tensor<97x104xf32>
  return
}

// -----

func.func @embedding_c2_optional(%ids: tensor<?xi32>,
                                 %table: tensor<97x104xf32>) {
  // expected-error @below {{expected first alone, at least 0 and with ids below 2^31, got 4}}
  %0 = transformer.embedding %ids, %table optional from 4
         : tensor<?xi32>, tensor<97x104xf32>
  return
}

// -----

func.func @rotary_angles_c1_no_frequency(%positions: tensor<?xi32>) {
  // expected-error @below {{expected at least one frequency, got none}}
  %0 = transformer.rotary_angles %positions times []
         factors [1.0] : tensor<?xi32>
  return
}

// -----

func.func @rotary_angles_c1_frequency_infinite(%positions: tensor<?xi32>) {
  // expected-error @below {{expected finite frequencies, got}}
  %0 = transformer.rotary_angles %positions times [1.0, 0x7FF0000000000000]
         factors [1.0] : tensor<?xi32>
  return
}

// -----

func.func @rotary_angles_c2_factor(%positions: tensor<?xi32>) {
  // expected-error @below {{expected finite factors, got}}
  %0 = transformer.rotary_angles %positions times [1.0]
         factors [0x7FF0000000000000] : tensor<?xi32>
  return
}

// -----

func.func @rotary_angles_c2_factors(%positions: tensor<?xi32>) {
  // expected-error @below {{expected 1 factor, or one for each of 3 frequencies, got 2}}
  %0 = transformer.rotary_angles %positions times [1.0, 1.0, 1.0]
         factors [1.0, 1.0] : tensor<?xi32>
  return
}

// -----

func.func @rotary_c1_heads(%x: tensor<?x104xf32>, %angles: tensor<?x4xf32>) {
  // expected-error @below {{expected a number of heads that divides 104 (the width of the input), got 3}}
  %0 = transformer.rotary half %x, %angles heads 3
         : tensor<?x104xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @rotary_c1_no_heads(%x: tensor<?x104xf32>, %angles: tensor<?x4xf32>) {
  // expected-error @below {{expected a number of heads that divides 104 (the width of the input), got 0}}
  %0 = transformer.rotary half %x, %angles heads 0
         : tensor<?x104xf32>, tensor<?x4xf32>
  return
}

// -----

func.func @rotary_c2_no_kind(%x: tensor<?x104xf32>, %angles: tensor<?x8xf32>) {
  // expected-error @below {{expected a kind where there are several, got 2 and none}}
  %0 = transformer.rotary half %x, %angles heads 4 {kinds = 2 : i64}
         : tensor<?x104xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @rotary_c2_one_kind(%x: tensor<?x104xf32>, %angles: tensor<?x8xf32>,
                              %kind: index) {
  // expected-error @below {{expected a kind where there are several, got 1 and one}}
  %0 = transformer.rotary half %x, %angles kind %kind of 1 heads 4
         : tensor<?x104xf32>, tensor<?x8xf32>
  return
}

// -----

func.func @rotary_c3_kinds(%x: tensor<?x104xf32>, %angles: tensor<?x10xf32>,
                           %kind: index) {
  // expected-error @below {{expected angles of 2 times an even width of at most 26 (head_dim), got 10}}
  %0 = transformer.rotary half %x, %angles kind %kind of 2 heads 4
         : tensor<?x104xf32>, tensor<?x10xf32>
  return
}

// -----

func.func @rotary_c3_odd_width(%x: tensor<?x104xf32>,
                               %angles: tensor<?x25xf32>) {
  // expected-error @below {{expected angles of 1 times an even width of at most 26 (head_dim), got 25}}
  %0 = transformer.rotary half %x, %angles heads 4
         : tensor<?x104xf32>, tensor<?x25xf32>
  return
}

// -----

func.func @rotary_c3_wide(%x: tensor<?x104xf32>, %angles: tensor<?x28xf32>) {
  // expected-error @below {{expected angles of 1 times an even width of at most 26 (head_dim), got 28}}
  %0 = transformer.rotary half %x, %angles heads 4
         : tensor<?x104xf32>, tensor<?x28xf32>
  return
}

// -----

func.func @distance_bias_c1_buckets(%table: tensor<3x8xf32>) {
  // expected-error @below {{expected a table of at least 4 buckets, got 3}}
  %0 = transformer.distance_bias %table bidirectional max_distance 128
         : tensor<3x8xf32>
  return
}

// -----

func.func @distance_bias_c2_max_distance(%table: tensor<32x8xf32>) {
  // expected-error @below {{expected max_distance of more than 16 (the distances with a bucket each), got 16}}
  %0 = transformer.distance_bias %table causal max_distance 16
         : tensor<32x8xf32>
  return
}

// -----

func.func @distance_bias_c3_negative(%table: tensor<8x4xf32>) {
  // expected-error @below {{expected max_distance in [0, 2^31) (positions are 32 bits wide), got -1}}
  %0 = transformer.distance_bias %table bidirectional max_distance -1
         : tensor<8x4xf32>
  return
}

// -----

func.func @distance_bias_c3_huge(%table: tensor<8x4xf32>) {
  // expected-error @below {{expected max_distance in [0, 2^31) (positions are 32 bits wide), got 4611686018427387904}}
  %0 = transformer.distance_bias %table bidirectional
         max_distance 4611686018427387904 : tensor<8x4xf32>
  return
}

// -----

func.func @sinusoid_c1_none(%positions: tensor<?xi32>) {
  // expected-error @below {{expected at least one frequency, got none}}
  %0 = transformer.sinusoid half %positions times [] : tensor<?xi32>
  return
}

// -----

func.func @sinusoid_c2_offset(%positions: tensor<?xi32>) {
  // expected-error @below {{expected offset in [0, 2^31), got -1}}
  %0 = transformer.sinusoid half %positions times [1.0] {offset = -1}
         : tensor<?xi32>
  return
}

// -----

func.func @embedding_c3_width(%ids: tensor<?xi32>, %table: tensor<2x8xf32>,
                              %given: tensor<?x9xf32>) {
  // expected-error @below {{expected given rows without offset and optional, 8 wide (as the table), got 9}}
  %0 = transformer.embedding %ids, %table given %given of tensor<?x9xf32>
         : tensor<?xi32>, tensor<2x8xf32>
  return
}

// -----

func.func @embedding_c3_optional(%ids: tensor<?xi32>, %table: tensor<2x8xf32>,
                              %given: tensor<?x8xf32>) {
  // expected-error @below {{expected given rows without offset and optional, 8 wide (as the table), got 8}}
  %0 = transformer.embedding %ids, %table given %given of tensor<?x8xf32> optional
         : tensor<?xi32>, tensor<2x8xf32>
  return
}

// -----

func.func @given_rows_c1_elements(%ids: tensor<?xi32>, %patches: tensor<?x8xbf16>) {
  // expected-error @below {{expected rows of f32 (as the caller gives them), got 'bf16'}}
  %0 = transformer.given_rows %ids, %patches : tensor<?xi32>, tensor<?x8xbf16>
  return
}

// -----

func.func @embedding_c4_beyond(%ids: tensor<?xi32>, %table: tensor<2x8xf32>) {
  // expected-error @below {{expected beyond alone, in [0, 2) (the rows of the table), got 2}}
  %0 = transformer.embedding %ids, %table beyond 2
         : tensor<?xi32>, tensor<2x8xf32>
  return
}

// -----

func.func @embedding_c4_alone(%ids: tensor<?xi32>, %table: tensor<2x8xf32>) {
  // expected-error @below {{expected beyond alone, in [0, 2) (the rows of the table), got 0}}
  %0 = transformer.embedding %ids, %table optional beyond 0
         : tensor<?xi32>, tensor<2x8xf32>
  return
}

// -----

func.func @embedding_c5_range(%ids: tensor<?xi32>, %table: tensor<2x8xf32>) {
  // expected-error @below {{expected every alone, at least 1 and below 2^31 times the rows, got 1073741824}}
  %0 = transformer.embedding %ids, %table every 1073741824
         : tensor<?xi32>, tensor<2x8xf32>
  return
}

// -----

func.func @embedding_c5_alone(%ids: tensor<?xi32>, %table: tensor<2x8xf32>) {
  // expected-error @below {{expected every alone, at least 1 and below 2^31 times the rows, got 3}}
  %0 = transformer.embedding %ids, %table optional every 3
         : tensor<?xi32>, tensor<2x8xf32>
  return
}
