// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @mix_rows_c1_no_term(%x: tensor<?x26xf32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expected at least one term, got none}}
  %0 = "transformer.mix_rows"(%x, %w) {first = 0 : i64}
         : (tensor<?x26xf32>, tensor<?x4xf32>) -> tensor<?x26xf32>
  return
}

// -----

func.func @mix_rows_c1_width(%x: tensor<?x26xf32>, %z: tensor<?x25xf32>,
                             %w: tensor<?x4xf32>) {
  // expected-error @below {{expected a term of width 26 (the width of the input), got 25}}
  %0 = transformer.mix_rows %x plus %x, %z by %w[0]
         : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x25xf32>,
            tensor<?x4xf32>) -> tensor<?x26xf32>
  return
}

// -----

func.func @mix_rows_c2_range(%x: tensor<?x26xf32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expected a weight for each term inside [0, 4), got 2 from 3 on}}
  %0 = transformer.mix_rows %x plus %x, %x by %w[3]
         : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x26xf32>,
            tensor<?x4xf32>) -> tensor<?x26xf32>
  return
}

// -----

func.func @mix_rows_c2_negative(%x: tensor<?x26xf32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expected a weight for each term inside [0, 4), got 1 from -1 on}}
  %0 = transformer.mix_rows %x plus %x by %w[-1]
         : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x4xf32>)
           -> tensor<?x26xf32>
  return
}

// -----

func.func @mix_rows_c3_offset(%x: tensor<?x26xf32>, %w: tensor<?x4xf32>) {
  // expected-error @below {{expected a finite offset, got INF}}
  %0 = transformer.mix_rows %x plus %x by %w[0]
         {offset = 0x7FF0000000000000 : f64}
         : (tensor<?x26xf32>, tensor<?x26xf32>, tensor<?x4xf32>)
           -> tensor<?x26xf32>
  return
}

// -----

func.func @match_magnitude_c1_width(%x: tensor<?x26xf32>,
                                    %z: tensor<?x25xf32>) {
  // expected-error @below {{expected rows to match of width 26 (the width of the input), got 25}}
  %0 = transformer.match_magnitude %x to %z {floor = 1.0e-05 : f64}
         : tensor<?x26xf32>, tensor<?x25xf32>
  return
}

// -----

func.func @match_magnitude_c2_floor(%x: tensor<?x26xf32>) {
  // expected-error @below {{expected floor to be positive and finite, got 0}}
  %0 = transformer.match_magnitude %x to %x {floor = 0.0 : f64}
         : tensor<?x26xf32>, tensor<?x26xf32>
  return
}

// -----

func.func @join_columns_c1_one(%x: tensor<?x26xf32>) {
  // expected-error @below {{expected at least two inputs, got 1}}
  %0 = transformer.join_columns %x : (tensor<?x26xf32>) -> tensor<?x26xf32>
  return
}
