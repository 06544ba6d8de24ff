// What the verifiers of the products and the row-wise ops refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @linear_c1_weight_columns(%x: tensor<?x104xf32>,
                                    %w: tensor<150x103xf32>) {
  // expected-error @below {{expected weight with columns 104 (the width of the input), got 103}}
  %0 = transformer.linear %x, %w : tensor<?x104xf32>, tensor<150x103xf32>
  return
}

// -----

func.func @linear_c2_bias_length(%x: tensor<?x104xf32>,
                                 %w: tensor<150x104xf32>, %b: tensor<104xf32>) {
  // expected-error @below {{expected bias of length 150 (the rows of the weight), got 104}}
  %0 = transformer.linear %x, %w bias %b
         : tensor<?x104xf32>, tensor<150x104xf32>, tensor<104xf32>
  return
}

// -----

func.func @linear_c3_residual_width(%x: tensor<?x104xf32>,
                                    %w: tensor<150x104xf32>) {
  // expected-error @below {{expected residual of width 150 (the rows of the weight), got 104}}
  %0 = transformer.linear %x, %w residual %x
         : tensor<?x104xf32>, tensor<150x104xf32>, tensor<?x104xf32>
  return
}

// -----

func.func @linear_c4_factor_width(%x: tensor<?x104xf32>,
                                  %w: tensor<150x104xf32>) {
  // expected-error @below {{expected factor of width 150 (the rows of the weight), got 104}}
  %0 = transformer.linear %x, %w factor %x
         : tensor<?x104xf32>, tensor<150x104xf32>, tensor<?x104xf32>
  return
}

// -----

func.func @ffn_c1_up_columns(%x: tensor<?x8xf32>, %u: tensor<12x9xf32>,
                             %d: tensor<8x12xf32>) {
  // expected-error @below {{expected up with columns 8 (the width of the input), got 9}}
  %0 = transformer.ffn %x up %u down %d act gelu
         : tensor<?x8xf32>, tensor<12x9xf32>, tensor<8x12xf32>
  return
}

// -----

func.func @ffn_c2_down_columns(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                               %d: tensor<8x11xf32>) {
  // expected-error @below {{expected down with columns 12 (the rows of up), got 11}}
  %0 = transformer.ffn %x up %u down %d act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x11xf32>
  return
}

// -----

func.func @ffn_c2_down_rows(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                            %d: tensor<7x12xf32>) {
  // expected-error @below {{expected down with rows 8 (the width of the input), got 7}}
  %0 = transformer.ffn %x up %u down %d act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<7x12xf32>
  return
}

// -----

func.func @ffn_c3_gate_shape(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                             %d: tensor<8x12xf32>, %g: tensor<8x12xf32>) {
  // expected-error @below {{expected gate of type 'tensor<12x8xf32>' (the type of up), got 'tensor<8x12xf32>'}}
  %0 = transformer.ffn %x up %u down %d gate %g act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<8x12xf32>
  return
}

// -----

func.func @ffn_c4_up_bias_length(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                                 %d: tensor<8x12xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{expected up_bias of length 12 (the rows of its weight), got 8}}
  %0 = transformer.ffn %x up %u down %d up_bias %b act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<8xf32>
  return
}

// -----

func.func @ffn_c4_gate_bias_length(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                                   %d: tensor<8x12xf32>, %b: tensor<8xf32>) {
  // expected-error @below {{expected gate_bias of length 12 (the rows of its weight), got 8}}
  %0 = transformer.ffn %x up %u down %d gate %u gate_bias %b act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>,
           tensor<12x8xf32>, tensor<8xf32>
  return
}

// -----

func.func @ffn_c4_down_bias_length(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>,
                                   %d: tensor<8x12xf32>, %b: tensor<12xf32>) {
  // expected-error @below {{expected down_bias of length 8 (the rows of its weight), got 12}}
  %0 = transformer.ffn %x up %u down %d down_bias %b act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12xf32>
  return
}

// -----

func.func @ffn_c5_gate_bias_without_gate(%x: tensor<?x8xf32>,
                                         %u: tensor<12x8xf32>,
                                         %d: tensor<8x12xf32>,
                                         %b: tensor<12xf32>) {
  // expected-error @below {{expected no gate bias (there is no gate)}}
  %0 = transformer.ffn %x up %u down %d gate_bias %b act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12xf32>
  return
}

// -----

func.func @add_c1_width(%x: tensor<?x8xf32>, %y: tensor<?x9xf32>) {
  // expected-error @below {{expected rhs of width 8 (the width of lhs), got 9}}
  %0 = transformer.add %x, %y : tensor<?x8xf32>, tensor<?x9xf32>
  return
}

// -----

func.func @slice_columns_c1_empty(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a range inside [0, 8) (the width of the input), got [3, 3)}}
  %0 = transformer.slice_columns %x[3, 0] : tensor<?x8xf32>
  return
}

// -----

func.func @slice_columns_c1_before(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a range inside [0, 8) (the width of the input), got [-1, 1)}}
  %0 = transformer.slice_columns %x[-1, 2] : tensor<?x8xf32>
  return
}

// -----

func.func @slice_columns_c1_beyond(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a range inside [0, 8) (the width of the input), got [7, 9)}}
  %0 = transformer.slice_columns %x[7, 2] : tensor<?x8xf32>
  return
}

// -----

func.func @scale_c1_factor(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a finite factor, got}}
  %0 = transformer.scale %x by 0x7FF8000000000000 : tensor<?x8xf32>
  return
}

// -----

func.func @clamp_c1_least(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a finite least, got}}
  %0 = transformer.clamp %x least 0xFFF0000000000000 : tensor<?x8xf32>
  return
}

// -----

func.func @xielu_c1_two_slopes(%x: tensor<?x8xf32>, %p: tensor<1xf32>,
                               %n: tensor<2xf32>) {
  // expected-error @below {{expected negative of length 1 (a number for all), got 2}}
  %0 = transformer.xielu %x positive %p negative %n
         {beta = 0.5 : f64, least = -1.0e-6 : f64}
         : (tensor<?x8xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @xielu_c2_beta(%x: tensor<?x8xf32>, %p: tensor<1xf32>) {
  // expected-error @below {{expected a finite beta, got}}
  %0 = transformer.xielu %x positive %p negative %p
         {beta = 0x7FF0000000000000 : f64, least = -1.0e-6 : f64}
         : (tensor<?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @slice_columns_c2_negative(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a width of at least 0, got -5}}
  %0 = transformer.slice_columns %x[0, -5] : tensor<?x8xf32>
  return
}

// -----

func.func @linear_c5_no_scales(%x: tensor<?x104xi8>, %w: tensor<150x104xi8>) {
  // expected-error @below {{expected a weight of floats (it has no scales), got 'tensor<150x104xi8>'}}
  %0 = transformer.linear %x, %w : tensor<?x104xi8>, tensor<150x104xi8>
  return
}

// -----

func.func @linear_c5_floats(%x: tensor<?x104xi8>, %w: tensor<150x104xf32>, %s: tensor<?xf32>, %ws: tensor<150xf32>) {
  // expected-error @below {{expected a weight of i8 or i4 (it has scales), got 'tensor<150x104xf32>'}}
  %0 = transformer.linear %x, %w scales %s, %ws : tensor<?x104xi8>, tensor<150x104xf32>, tensor<?xf32>, tensor<150xf32>
  return
}

// -----

func.func @linear_c5_rows(%x: tensor<?x104xf32>, %w: tensor<150x104xi8>, %s: tensor<?xf32>, %ws: tensor<150xf32>) {
  // expected-error @below {{expected rows of i8, and a weight of integers (there are input_scales), got 'tensor<?x104xf32>'}}
  %0 = transformer.linear %x, %w scales %s, %ws : tensor<?x104xf32>, tensor<150x104xi8>, tensor<?xf32>, tensor<150xf32>
  return
}

// -----

func.func @linear_c5_no_row_scales(%x: tensor<?x104xi8>, %w: tensor<150x104xi8>, %ws: tensor<150xf32>) {
  // expected-error @below {{expected rows of floats (there are no input_scales), got 'tensor<?x104xi8>'}}
  %0 = transformer.linear %x, %w scales %ws : tensor<?x104xi8>, tensor<150x104xi8>, tensor<150xf32>
  return
}

// -----

func.func @linear_c6_weight_scales(%x: tensor<?x104xi8>, %w: tensor<150x104xi8>, %s: tensor<?xf32>, %ws: tensor<104xf32>) {
  // expected-error @below {{expected weight_scales of length 150 (the rows of the weight), got 104}}
  %0 = transformer.linear %x, %w scales %s, %ws : tensor<?x104xi8>, tensor<150x104xi8>, tensor<?xf32>, tensor<104xf32>
  return
}

// -----

func.func @linear_c6_groups(%x: tensor<?x104xi8>, %w: tensor<150x104xi4>, %s: tensor<?xf32>, %ws: tensor<150x3xf32>) {
  // expected-error @below {{expected a number of groups that divides 104 (the columns of the weight), got 3}}
  %0 = transformer.linear %x, %w scales %s, %ws : tensor<?x104xi8>, tensor<150x104xi4>, tensor<?xf32>, tensor<150x3xf32>
  return
}

// -----

func.func @linear_c6_byte_groups(%x: tensor<?x104xi8>, %w: tensor<150x104xi8>, %s: tensor<?xf32>, %ws: tensor<150x3xf32>) {
  // expected-error @below {{expected a number of groups that divides 104 (the columns of the weight), got 3}}
  %0 = transformer.linear %x, %w scales %s, %ws : tensor<?x104xi8>, tensor<150x104xi8>, tensor<?xf32>, tensor<150x3xf32>
  return
}

// -----

func.func @linear_c6_vector(%x: tensor<?x104xi8>, %w: tensor<150x104xi4>, %s: tensor<?xf32>, %ws: tensor<150xf32>) {
  // expected-error @below {{expected weight_scales for each group of a weight of i4, got 'tensor<150xf32>'}}
  %0 = transformer.linear %x, %w scales %s, %ws : tensor<?x104xi8>, tensor<150x104xi4>, tensor<?xf32>, tensor<150xf32>
  return
}

// -----

func.func @linear_c7_floats(%x: tensor<?x104xf32>, %w: tensor<150x104xi4>, %ws: tensor<150x2xf32>, %z: tensor<150x2xf32>) {
  // expected-error @below {{and of floats only with rows of i8, got 'tensor<150x2xf32>'}}
  %0 = transformer.linear %x, %w scales %ws zeros %z : tensor<?x104xf32>, tensor<150x104xi4>, tensor<150x2xf32>, tensor<150x2xf32>
  return
}

// -----

func.func @linear_c7_shape(%x: tensor<?x104xi8>, %w: tensor<150x104xi4>, %s: tensor<?xf32>, %ws: tensor<150x2xf32>, %z: tensor<150x4xi8>) {
  // expected-error @below {{expected weight_zeros of a weight of i4, one for each of its weight_scales, and of floats only with rows of i8, got 'tensor<150x4xi8>'}}
  %0 = transformer.linear %x, %w scales %s, %ws zeros %z : tensor<?x104xi8>, tensor<150x104xi4>, tensor<?xf32>, tensor<150x2xf32>, tensor<150x4xi8>
  return
}

// -----

func.func @layer_scale_c1_length(%x: tensor<?x8xf32>, %w: tensor<7xf32>) {
  // expected-error @below {{expected weight of length 8 (the width of the input, or 1), got 7}}
  %0 = transformer.layer_scale %x, %w
         : (tensor<?x8xf32>, tensor<7xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @pool_rows_c1_skip(%x: tensor<?x8xf32>, %rows: tensor<?xi32>,
                             %batch: !transformer.batch) {
  // expected-error @below {{expected skip from 0 to 2^20, got 1048577}}
  %0 = transformer.pool_rows mean %x, %rows, %batch {skip = 1048577}
         : tensor<?x8xf32>, tensor<?xi32>
  return
}

// -----

func.func @unfold_c1_even(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected odd taps in [1, 1023], got 2}}
  %0 = transformer.unfold %x taps 2, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x16xf32>
  return
}

// -----

func.func @unfold_c1_many_from(%x: tensor<?x1xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected taps in [1, 1023], got 1024}}
  %0 = transformer.unfold %x taps 1024 from 0, %batch
         : (tensor<?x1xf32>, !transformer.batch) -> tensor<?x1024xf32>
  return
}

// -----

func.func @unfold_c1_none(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected odd taps in [1, 1023], got 0}}
  %0 = transformer.unfold %x taps 0, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @unfold_c2_first(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected first in [-1023, 1023], got 1024}}
  %0 = transformer.unfold %x taps 3 from 1024, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x24xf32>
  return
}

// -----

func.func @unfold_c2_frames(%x: tensor<?x2048xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected frames in [1, 1024], got 2048}}
  %0 = transformer.unfold %x taps 3 frames 2048, %batch
         : (tensor<?x2048xf32>, !transformer.batch) -> tensor<?x3xf32>
  return
}

// -----

func.func @unfold_c3_number(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected inputs that divide 3 frames, got 2}}
  %0 = transformer.unfold %x, %x taps 3 frames 3, %batch
         : (tensor<?x8xf32>, tensor<?x8xf32>, !transformer.batch)
           -> tensor<?x15xf32>
  return
}

// -----

func.func @unfold_c3_types(%x: tensor<?x8xf32>, %y: tensor<?x4xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected inputs of one type, got several}}
  %0 = transformer.unfold %x, %y taps 3 frames 2, %batch
         : (tensor<?x8xf32>, tensor<?x4xf32>, !transformer.batch)
           -> tensor<?x24xf32>
  return
}

// -----

func.func @unfold_c3_columns(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected inputs of 3 whole frames, got 8 columns}}
  %0 = transformer.unfold %x taps 3 frames 3, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x6xf32>
  return
}

// -----

func.func @unfold_c1_many(%x: tensor<?x1xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected odd taps in [1, 1023], got 1025}}
  %0 = transformer.unfold %x taps 1025, %batch
         : (tensor<?x1xf32>, !transformer.batch) -> tensor<?x1025xf32>
  return
}
