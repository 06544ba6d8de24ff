// What the verifiers of the normalisations refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @layer_norm_c1_weight_length(%x: tensor<?x104xf32>,
                                       %weight: tensor<103xf32>) {
  // expected-error @below {{expected weight of length 104 (the width of the input), got 103}}
  %0 = transformer.layer_norm %x, %weight {eps = 1.0e-5 : f64}
         : tensor<?x104xf32>, tensor<103xf32>
  return
}

// -----

func.func @layer_norm_c2_bias_length(%x: tensor<?x104xf32>,
                                     %weight: tensor<104xf32>,
                                     %bias: tensor<1xf32>) {
  // expected-error @below {{expected bias of length 104 (the width of the input), got 1}}
  %0 = transformer.layer_norm %x, %weight bias %bias {eps = 1.0e-5 : f64}
         : tensor<?x104xf32>, tensor<104xf32>, tensor<1xf32>
  return
}

// -----

func.func @layer_norm_c3_eps_zero(%x: tensor<?x104xf32>,
                                  %weight: tensor<104xf32>) {
  // expected-error @below {{expected eps to be positive and finite, got 0}}
  %0 = transformer.layer_norm %x, %weight {eps = 0.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @layer_norm_c3_eps_infinite(%x: tensor<?x104xf32>,
                                      %weight: tensor<104xf32>) {
  // expected-error @below {{expected eps to be positive and finite, got INF}}
  %0 = transformer.layer_norm %x, %weight {eps = 0x7FF0000000000000 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @rms_norm_c1_weight_length(%x: tensor<?x104xf32>,
                                     %weight: tensor<1xf32>) {
  // expected-error @below {{expected weight of length 104 (the width of the input), got 1}}
  %0 = transformer.rms_norm %x, %weight {eps = 1.0e-6 : f64}
         : tensor<?x104xf32>, tensor<1xf32>
  return
}

// -----

func.func @rms_norm_c2_eps_negative(%x: tensor<?x104xf32>,
                                    %weight: tensor<104xf32>) {
  // expected-error @below {{expected eps to be positive and finite, got -1}}
  %0 = transformer.rms_norm %x, %weight {eps = -1.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @layer_norm_c1_weight_of_a_part(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected weight of length 26 (the width of a part), got 104}}
  %0 = transformer.layer_norm %x, %weight parts 4 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @layer_norm_c4_parts(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected parts to divide 104 (the width of the input), got 5}}
  %0 = transformer.layer_norm %x, %weight parts 5 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @layer_norm_c4_no_parts(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected parts to divide 104 (the width of the input), got 0}}
  %0 = transformer.layer_norm %x, %weight parts 0 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @layer_norm_c5_offset_infinite(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected a finite offset, got INF}}
  %0 = transformer.layer_norm %x, %weight {eps = 1.0 : f64, offset = 0x7FF0000000000000 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @layer_norm_c5_offset_of_nothing(%x: tensor<?x104xf32>) {
  // expected-error @below {{expected offset 0 (there is no weight), got 1}}
  %0 = transformer.layer_norm %x {eps = 1.0 : f64, offset = 1.0 : f64}
         : tensor<?x104xf32>
  return
}

// -----

func.func @rms_norm_c1_weight_of_a_part(%x: tensor<?x104xf32>,
    %weight: tensor<52xf32>) {
  // expected-error @below {{expected weight of length 26 (the width of a part), got 52}}
  %0 = transformer.rms_norm %x, %weight parts 4 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<52xf32>
  return
}

// -----

func.func @rms_norm_c3_parts(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected parts to divide 104 (the width of the input), got 5}}
  %0 = transformer.rms_norm %x, %weight parts 5 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @rms_norm_c3_no_parts(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected parts to divide 104 (the width of the input), got 0}}
  %0 = transformer.rms_norm %x, %weight parts 0 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @rms_norm_c4_offset_infinite(%x: tensor<?x104xf32>,
    %weight: tensor<104xf32>) {
  // expected-error @below {{expected a finite offset, got INF}}
  %0 = transformer.rms_norm %x, %weight {eps = 1.0 : f64, offset = 0x7FF0000000000000 : f64}
         : tensor<?x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @rms_norm_c4_offset_of_nothing(%x: tensor<?x104xf32>) {
  // expected-error @below {{expected offset 0 (there is no weight), got 1}}
  %0 = transformer.rms_norm %x {eps = 1.0 : f64, offset = 1.0 : f64}
         : tensor<?x104xf32>
  return
}

// -----

func.func @layer_norm_c1_rows(%x: tensor<?x104xf32>,
                              %weight: tensor<2x26xf32>) {
  // expected-error @below {{expected weight with rows 4 (the number of parts), got 2}}
  %0 = transformer.layer_norm %x, %weight parts 4 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<2x26xf32>
  return
}

// -----

func.func @layer_norm_c1_rows_and_bias(%x: tensor<?x104xf32>,
    %weight: tensor<4x26xf32>, %bias: tensor<26xf32>) {
  // expected-error @below {{expected no bias (the weight has a row for each part)}}
  %0 = transformer.layer_norm %x, %weight bias %bias parts 4 {eps = 1.0 : f64}
         : tensor<?x104xf32>, tensor<4x26xf32>, tensor<26xf32>
  return
}

// -----

func.func @l2_normalize_c1_eps(%x: tensor<?x104xf32>) {
  // expected-error @below {{expected eps to be positive and finite, got 0}}
  %0 = transformer.l2_normalize %x {eps = 0.0 : f64} : tensor<?x104xf32>
  return
}

// -----

func.func @layer_norm_c6_one_column(%x: tensor<?x104xf32>) {
  // expected-error @below {{expected at least 2 columns (the deviation of a sample divides by one less), got 1}}
  %0 = transformer.layer_norm %x parts 104 {eps = 1.0 : f64, unbiased_std}
         : tensor<?x104xf32>
  return
}

// -----

func.func @cut_rows_c1_deviations(%x: tensor<?x104xf32>) {
  // expected-error @below {{expected finite deviations, got INF}}
  %0 = transformer.cut_rows %x {deviations = 0x7FF0000000000000 : f64}
         : tensor<?x104xf32>
  return
}
