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

// expected-error @below {{expected a panel of at least 1 row of a matrix, got 16 of 'tensor<8xf32>'}}
transformer.parameter @parameter_c4_panel_of_a_vector : tensor<8xf32>
  from <["w"], stored_rows = 8> panel 16

// -----

// The type is an attribute, so ODS does not check it.
// expected-error @below {{expected a static f32 vector or matrix, got 'tensor<?x4xf32>'}}
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
