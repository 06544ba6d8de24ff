// What the verifiers of the weight table and its uses refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected at least 1 layer, got 0}}
transformer.parameter @parameter_c1_layers : tensor<8xf32> layers 0
  from <["w"], stored_rows = 8>

// -----

// expected-error @below {{expected rows inside [0, 12) (stored_rows), got [5, 13)}}
transformer.parameter @parameter_c2_rows_beyond : tensor<8x4xf32>
  from <["w"], first_row = 5, stored_rows = 12>

// -----

// expected-error @below {{expected rows inside [0, 12) (stored_rows), got [-1, 7)}}
transformer.parameter @parameter_c2_rows_before : tensor<8x4xf32>
  from <["w"], first_row = -1, stored_rows = 12>

// -----

// expected-error @below {{expected tied_to to name a parameter of type 'tensor<8x4xf32>' with a value of its own, got "table"}}
transformer.parameter @parameter_c3_tied_to_nothing : tensor<8x4xf32>
  from <["w"], stored_rows = 8, tied_to = "table">

// -----

transformer.parameter @table : tensor<8x5xf32> from <["t"], stored_rows = 8>
// expected-error @below {{expected tied_to to name a parameter of type 'tensor<8x4xf32>' with a value of its own, got "table"}}
transformer.parameter @parameter_c3_tied_to_another_type : tensor<8x4xf32>
  from <["w"], stored_rows = 8, tied_to = "table">

// -----

// expected-error @below {{expected tied_to to name a parameter of type 'tensor<8x4xf32>' with a value of its own, got "parameter_c3_tied_to_itself"}}
transformer.parameter @parameter_c3_tied_to_itself : tensor<8x4xf32>
  from <["w"], stored_rows = 8, tied_to = "parameter_c3_tied_to_itself">

// -----

// expected-error @below {{expected a matrix (it is packed in panels), got 'tensor<8xf32>'}}
transformer.parameter @parameter_c4_vector : tensor<8xf32>
  from <["w"], stored_rows = 8> packed<panel = 16>

// -----

// expected-error @below {{expected a source, parts or a companion, or to be prepared, got 0 of them}}
transformer.parameter @parameter_c5_neither : tensor<8x4xf32>

// -----

transformer.parameter @k : tensor<8x4xf32> from <["k"], stored_rows = 8>
// expected-error @below {{expected a source, parts or a companion, or to be prepared, got 2 of them}}
transformer.parameter @parameter_c5_both : tensor<8x4xf32>
  from <["w"], stored_rows = 8> parts [@k]

// -----

transformer.parameter @k : tensor<3x4xf32> from <["k"], stored_rows = 3>
// expected-error @below {{expected parts to name parameters with a source and a value of their own, got @v}}
transformer.parameter @parameter_c6_nothing : tensor<8x4xf32> parts [@k, @v]

// -----

transformer.parameter @k : tensor<4x4xf32> from <["k"], stored_rows = 4>
transformer.parameter @v : tensor<4x4xf32>
  from <["v"], stored_rows = 4, tied_to = "k">
// expected-error @below {{expected parts to name parameters with a source and a value of their own, got @v}}
transformer.parameter @parameter_c6_tied : tensor<8x4xf32> parts [@k, @v]

// -----

transformer.parameter @k : tensor<8x4xf32> from <["k"], stored_rows = 8>
transformer.parameter @whole : tensor<8x4xf32> parts [@k]
// expected-error @below {{expected parts to name parameters with a source and a value of their own, got @whole}}
transformer.parameter @parameter_c6_of_parts : tensor<8x4xf32> parts [@whole]

// -----

transformer.parameter @k : tensor<3x4xf32> from <["k"], stored_rows = 3>
transformer.parameter @v : tensor<5x6xf32> from <["v"], stored_rows = 5>
// expected-error @below {{expected part @v to have its columns, element type and layers, got 'tensor<5x6xf32>' layers 0}}
transformer.parameter @parameter_c7_columns : tensor<8x4xf32> parts [@k, @v]

// -----

transformer.parameter @k : tensor<8xf32> from <["k"], stored_rows = 8>
// expected-error @below {{expected part @k to have its columns, element type and layers, got 'tensor<8xf32>' layers 0}}
transformer.parameter @parameter_c7_rank : tensor<8x4xf32> parts [@k]

// -----

transformer.parameter @k : tensor<8x4xf32> layers 3
  from <["k.{i}"], stored_rows = 8>
// expected-error @below {{expected part @k to have its columns, element type and layers, got 'tensor<8x4xf32>' layers 3}}
transformer.parameter @parameter_c7_layers : tensor<8x4xf32> layers 2
  parts [@k]

// -----

transformer.parameter @k : tensor<3x4xf32> from <["k"], stored_rows = 3>
transformer.parameter @v : tensor<4x4xf32> from <["v"], stored_rows = 4>
// expected-error @below {{expected parts with rows 8 (the rows of the parameter), got 7}}
transformer.parameter @parameter_c8_rows : tensor<8x4xf32> parts [@k, @v]

// -----

transformer.parameter @k : tensor<4x4xf32> from <["k"], stored_rows = 4>
// expected-error @below {{expected @k to be a part once, got 2 times}}
transformer.parameter @parameter_c9_twice_in_one : tensor<8x4xf32>
  parts [@k, @k]

// -----

transformer.parameter @k : tensor<4x4xf32> from <["k"], stored_rows = 4>
// expected-error @below {{expected @k to be a part once, got 2 times}}
transformer.parameter @parameter_c9_in_two : tensor<4x4xf32> parts [@k]
transformer.parameter @other : tensor<4x4xf32> parts [@k]

// -----

// The type is an attribute, so ODS does not check it.
// expected-error @below {{expected a static f32 vector, or matrix of f32, f16, bf16, i8 or i4, got 'tensor<?x4xf32>'}}
transformer.parameter @parameter_type : tensor<?x4xf32>
  from <["w"], stored_rows = 8>

// -----

func.func @weight_c1_no_parameter() {
  // expected-error @below {{expected the name of a transformer.parameter with a value of its own, got @w}}
  %0 = transformer.weight @w : tensor<8xf32>
  return
}

// -----

transformer.parameter @table : tensor<8xf32> from <["t"], stored_rows = 8>
transformer.parameter @w : tensor<8xf32>
  from <["w"], stored_rows = 8, tied_to = "table">
func.func @weight_c1_tied() {
  // expected-error @below {{expected the name of a transformer.parameter with a value of its own, got @w}}
  %0 = transformer.weight @w : tensor<8xf32>
  return
}

// -----

transformer.parameter @w : tensor<8xf32> layers 2
  from <["w.{i}"], stored_rows = 8>
func.func @weight_c2_no_index() {
  // expected-error @below {{expected a layer index (parameter @w has layers)}}
  %0 = transformer.weight @w : tensor<8xf32>
  return
}

// -----

transformer.parameter @w : tensor<8xf32> from <["w"], stored_rows = 8>
func.func @weight_c2_index(%layer: index) {
  // expected-error @below {{expected no layer index (parameter @w has no layers)}}
  %0 = transformer.weight @w[%layer] : tensor<8xf32>
  return
}

// -----

transformer.parameter @w : tensor<8xf32> from <["w"], stored_rows = 8>
func.func @weight_c3_shape() {
  // expected-error @below {{expected the shape of 'tensor<8xf32>' (parameter @w), got 'tensor<9xf32>'}}
  %0 = transformer.weight @w : tensor<9xf32>
  return
}

// -----

transformer.parameter @table : tensor<8x4xf32> layers 3
  from <["t.{i}"], stored_rows = 8>
// expected-error @below {{expected tied_to to name a parameter with as many layers (0), got 3 of "table"}}
transformer.parameter @parameter_c3_tied_to_layers : tensor<8x4xf32>
  from <["w"], stored_rows = 8, tied_to = "table">

// -----

// expected-error @below {{expected no empty axis, got 'tensor<0x4xf32>'}}
transformer.parameter @parameter_c10_rows : tensor<0x4xf32>
  from <["w"], stored_rows = 8>

// -----

// expected-error @below {{expected no empty axis, got 'tensor<8x0xf32>'}}
transformer.parameter @parameter_c10_columns : tensor<8x0xf32>
  from <["w"], stored_rows = 8>

// -----

// expected-error @below {{expected less than 2^63 bytes when packed, got 9223372036854775807 of 'tensor<1048576x1048576xf32>' in panels of 1 rows}}
transformer.parameter @parameter_c11_layers : tensor<1048576x1048576xf32>
  layers 9223372036854775807 from <["w.{i}"], stored_rows = 1048576>

// -----

// expected-error @below {{expected less than 2^63 bytes when packed, got 1 of 'tensor<8x4xf32>' in panels of 4611686018427387904 rows}}
transformer.parameter @parameter_c11_panel : tensor<8x4xf32>
  from <["w"], stored_rows = 8> packed<panel = 4611686018427387904>

// -----

// expected-error @below {{expected an offset of at least 0, got -64}}
transformer.parameter @parameter_c12_offset : tensor<8x4xf32>
  from <["w"], stored_rows = 8> at -64

// -----

// expected-error @below {{expected a stride of at least 128 (the bytes of a layer), got none}}
transformer.parameter @parameter_c12_no_stride : tensor<8x4xf32> layers 2
  from <["w.{i}"], stored_rows = 8> at 64

// -----

// expected-error @below {{expected a stride of at least 128 (the bytes of a layer), got 64}}
transformer.parameter @parameter_c12_short_stride : tensor<8x4xf32> layers 2
  from <["w.{i}"], stored_rows = 8> at 64 stride 64

// -----

// expected-error @below {{expected no stride (it is one of layers with an offset), got 128}}
transformer.parameter @parameter_c12_stride_without_layers : tensor<8x4xf32>
  from <["w"], stored_rows = 8> at 64 stride 128

// -----

transformer.parameter @w : tensor<8xf32> layers 2
  from <["w.{i}"], stored_rows = 8>
func.func @weight_c4_layer() {
  %layer = arith.constant 2 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the parameter), got 2}}
  %0 = transformer.weight @w[%layer] : tensor<8xf32>
  return
}

// -----

// expected-error @below {{expected patterns of tensor names, got an empty one}}
transformer.parameter @source_c1_empty : tensor<8xf32> from <["w", ""], stored_rows = 8>

// -----

// expected-error @below {{expected first_layer in [0, 2^31), got -1}}
transformer.parameter @source_c2_first_layer : tensor<8xf32> layers 2 from <["w.{i}"], first_layer = -1, stored_rows = 8>

// -----

// expected-error @below {{expected layer_step in [1, 2^31), got 0}}
transformer.parameter @source_c2_layer_step : tensor<8xf32> layers 2 from <["w.{i}"], layer_step = 0, stored_rows = 8>

// -----

// expected-error @below {{expected layer_step in [1, 2^31), got 2147483648}}
transformer.parameter @source_c2_layer_step_large : tensor<8xf32> layers 2 from <["w.{i}"], layer_step = 2147483648, stored_rows = 8>

// -----

// expected-error @below {{expected row_step of at least 1 and stored_cols of at least 0, got 0 and 0}}
transformer.parameter @source_c2_row_step : tensor<8xf32> from <["w"], stored_rows = 8, row_step = 0>

// -----

// expected-error @below {{expected rows inside [0, 12) (stored_rows), got [1, 9) with others between}}
transformer.parameter @parameter_c2_steps_beyond : tensor<8x4xf32>
  from <["w"], first_row = 1, stored_rows = 12, row_step = 2>

// -----

// expected-error @below {{expected stored_cols of at least 4 (the columns), got 3}}
transformer.parameter @parameter_c2_columns : tensor<8x4xf32>
  from <["w"], stored_rows = 8, stored_cols = 3>

// -----

// expected-error @below {{expected stored_rows of at least 1, got 0}}
transformer.parameter @source_c2_stored_rows : tensor<8xf32> from <["w"], stored_rows = 0>

// -----

// Vectors go into arithmetic as they are.
// expected-error @below {{expected a static f32 vector, or matrix of f32, f16, bf16, i8 or i4, got 'tensor<4xbf16>'}}
transformer.parameter @narrow_vector : tensor<4xbf16> from <["t"], stored_rows = 4>

// -----

// expected-error @below {{expected part @narrow to have its columns, element type and layers, got 'tensor<4x4xbf16>' layers 0}}
transformer.parameter @parameter_c7_type : tensor<4x4xf32> parts [@narrow]
transformer.parameter @narrow : tensor<4x4xbf16> from <["n"], stored_rows = 4>

// -----

// Three columns are two words of two.
transformer.parameter @words : tensor<5x3xbf16> from <["w"], stored_rows = 5> packed<panel = 4, word = 2>
func.func @weight_c3_words() {
  // expected-error @below {{expected the shape of 'tensor<2x2x4x2xbf16>' (parameter @words), got 'tensor<2x3x4xbf16>'}}
  %0 = transformer.weight @words : tensor<2x3x4xbf16>
  return
}

// -----

transformer.parameter @w : tensor<8x4xi8> layers 2 from <["w"], stored_rows = 8>
// expected-error @below {{expected a companion of a matrix of i8 with 0 layers, got @w}}
transformer.parameter @parameter_c13_layers : tensor<8xf32> companion<scales of @w>

// -----

transformer.parameter @w : tensor<8x4xf32> from <["w"], stored_rows = 8>
// expected-error @below {{expected a companion of a matrix of i8 with 0 layers, got @w}}
transformer.parameter @parameter_c13_floats : tensor<8xf32> companion<scales of @w>

// -----

transformer.parameter @w : tensor<8x4xi8> from <["w"], stored_rows = 8>
// expected-error @below {{expected type 'tensor<8xi32>' (the excess of 'tensor<8x4xi8>'), got 'tensor<8xf32>'}}
transformer.parameter @parameter_c13_type : tensor<8xf32> companion<excess of @w>

// -----

// expected-error @below {{expected a static f32 vector, or matrix of f32, f16, bf16, i8 or i4, got 'tensor<4xi32>'}}
transformer.parameter @parameter_integers : tensor<4xi32> from <["t"], stored_rows = 4>

// -----

transformer.parameter @w : tensor<8x64xi4> from <["w"], stored_rows = 8>
// expected-error @below {{expected type 'tensor<8x1xf32>' (the scales of 'tensor<8x64xi4>'), got 'tensor<8x3xf32>'}}
transformer.parameter @parameter_c13_groups : tensor<8x3xf32> companion<scales of @w>

// -----

transformer.parameter @w : tensor<8x64xi8> from <["w"], stored_rows = 8>
// expected-error @below {{expected type 'tensor<8x1xf32>' (the scales of 'tensor<8x64xi8>'), got 'tensor<8x3xf32>'}}
transformer.parameter @parameter_c13_byte_groups : tensor<8x3xf32> companion<scales of @w>

// -----

transformer.parameter @w : tensor<8x64xi8> from <["w"], stored_rows = 8>
// expected-error @below {{expected a companion of a matrix of i8 with 0 layers, got @w}}
transformer.parameter @parameter_c13_zeros : tensor<8x2xi8> companion<zeros of @w>

// -----

transformer.parameter @w : tensor<8x64xi4> from <["w"], stored_rows = 8>
// expected-error @below {{expected type 'tensor<8x2xi8>' (the zeros of 'tensor<8x64xi4>'), got 'tensor<8x2xi32>'}}
transformer.parameter @parameter_c13_zeros_of : tensor<8x2xi32> companion<zeros of @w>

// -----

transformer.parameter @w : tensor<8x64xi4> from <["w"], stored_rows = 8>
transformer.parameter @w.scales : tensor<8x2xf16> companion<scales of @w>
// expected-error @below {{expected type 'tensor<8x2xf16>' (the zeros of 'tensor<8x64xi4>'), got 'tensor<8x2xf32>'}}
transformer.parameter @parameter_c13_zeros_like : tensor<8x2xf32> companion<zeros of @w>

// -----

transformer.parameter @w : tensor<8x64xi8> from <["w"], stored_rows = 8>
// expected-error @below {{expected type 'tensor<8x2xf32>' (the scales of 'tensor<8x64xi8>'), got 'tensor<8x2xbf16>'}}
transformer.parameter @parameter_c13_byte_scales : tensor<8x2xbf16> companion<scales of @w>

// -----

// expected-error @below {{expected an even word of a matrix of i4 (two columns are a byte), got 1}}
transformer.parameter @parameter_c15_word : tensor<8x64xi4> from <["w"], stored_rows = 8> packed<panel = 4>

// -----

// expected-error @below {{expected a source, parts or a companion, or to be prepared, got 2 of them}}
transformer.parameter @parameter_c5_prepared : tensor<8x4xf32> from <["w"], stored_rows = 8> prepared

// -----

// expected-error @below {{expected a matrix of f32 that is not packed (it is prepared), got 'tensor<8xf32>'}}
transformer.parameter @parameter_c16_vector : tensor<8xf32> prepared

// -----

// expected-error @below {{expected a matrix of f32 that is not packed (it is prepared), got 'tensor<8x4xbf16>'}}
transformer.parameter @parameter_c16_element : tensor<8x4xbf16> prepared

// -----

// expected-error @below {{expected a matrix of f32 that is not packed (it is prepared), got 'tensor<8x4xf32>'}}
transformer.parameter @parameter_c16_packed : tensor<8x4xf32> prepared packed<panel = 16>

// -----

transformer.parameter @w : tensor<8x4xf32> from <["w"], stored_rows = 8>
func.func @keep_c1_stored(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected the name of a transformer.parameter that is prepared, got @w}}
  transformer.keep %x, @w : tensor<8x4xf32>
  return
}

// -----

func.func @keep_c1_nothing(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected the name of a transformer.parameter that is prepared, got @w}}
  transformer.keep %x, @w : tensor<8x4xf32>
  return
}

// -----

transformer.parameter @w : tensor<8x4xf32> layers 2 prepared
func.func @keep_c2_no_index(%x: tensor<8x4xf32>) {
  // expected-error @below {{expected a layer index (parameter @w has layers)}}
  transformer.keep %x, @w : tensor<8x4xf32>
  return
}

// -----

transformer.parameter @w : tensor<8x4xf32> prepared
func.func @keep_c2_index(%x: tensor<8x4xf32>, %i: index) {
  // expected-error @below {{expected no layer index (parameter @w has no layers)}}
  transformer.keep %x, @w[%i] : tensor<8x4xf32>
  return
}

// -----

transformer.parameter @w : tensor<8x4xf32> prepared
func.func @keep_c3_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{expected a value of the type 'tensor<8x4xf32>' (parameter @w), got 'tensor<4x8xf32>'}}
  transformer.keep %x, @w : tensor<4x8xf32>
  return
}

// -----

transformer.parameter @w : tensor<8x4xf32> layers 2 prepared
func.func @keep_c4_layer(%x: tensor<8x4xf32>) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the parameter), got 2}}
  transformer.keep %x, @w[%c2] : tensor<8x4xf32>
  return
}

// -----

// expected-error @below {{expected at least 1 part, and rows and cols of at least 0, got 0, 4 and 0}}
// expected-error @below {{failed to parse Transformer_SourceAttr parameter 'share'}}
transformer.parameter @share_c1 : tensor<4xf32> from <["w"], stored_rows = 8, share = <parts = 0, rows = 4>>

// -----

// expected-error @below {{expected a share by rows, by cols or of the first rank, got 0 of them}}
// expected-error @below {{failed to parse Transformer_SourceAttr parameter 'share'}}
transformer.parameter @share_c2_none : tensor<4xf32> from <["w"], stored_rows = 8, share = <parts = 2>>

// -----

// expected-error @below {{expected a share by rows, by cols or of the first rank, got 2 of them}}
// expected-error @below {{failed to parse Transformer_SourceAttr parameter 'share'}}
transformer.parameter @share_c2_both : tensor<4x4xf32> from <["w"], stored_rows = 8, share = <parts = 2, rows = 4, cols = 4>>

// -----

// expected-error @below {{expected the rows of all 3 parts inside [0, 8) (stored_rows), got them beyond}}
transformer.parameter @parameter_c2_parts : tensor<4xf32> from <["w"], stored_rows = 8, share = <parts = 3, rows = 4>>

// -----

// expected-error @below {{expected stored_cols of at least 8 (the columns of all parts), got 0}}
transformer.parameter @parameter_c2_columns : tensor<4x4xf32> from <["w"], stored_rows = 4, share = <parts = 2, cols = 4>>
