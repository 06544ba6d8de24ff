// Each constraint of convolutions, recurrences and states broken once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s -split-input-file -verify-diagnostics

func.func @causal_conv_c1_rows(
    %x: tensor<?x8xf32>, %w: tensor<7x3xf32>, %b: tensor<8xf32>,
    %s: !transformer.state<layers = 2, width = 20>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected a weight with rows 8 (the width of the input), got 7}}
  %0 = transformer.causal_conv %x, %w, %s[%l] at 0, %batch bias %b
      : tensor<?x8xf32>, tensor<7x3xf32>, <layers = 2, width = 20>,
        tensor<8xf32>
  return
}

// -----

func.func @causal_conv_c1_one_token(
    %x: tensor<?x8xf32>, %w: tensor<8x1xf32>, %b: tensor<8xf32>,
    %s: !transformer.state<layers = 2, width = 20>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected a weight of at least 2 tokens, got one of 1}}
  %0 = transformer.causal_conv %x, %w, %s[%l] at 0, %batch bias %b
      : tensor<?x8xf32>, tensor<8x1xf32>, <layers = 2, width = 20>,
        tensor<8xf32>
  return
}

// -----

func.func @causal_conv_c2_bias(
    %x: tensor<?x8xf32>, %w: tensor<8x3xf32>, %b: tensor<9xf32>,
    %s: !transformer.state<layers = 2, width = 20>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected bias of length 8 (the width of the input), got 9}}
  %0 = transformer.causal_conv %x, %w, %s[%l] at 0, %batch bias %b
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>,
        tensor<9xf32>
  return
}

// -----

func.func @causal_conv_c3_beyond(
    %x: tensor<?x8xf32>, %w: tensor<8x3xf32>, %b: tensor<8xf32>,
    %s: !transformer.state<layers = 2, width = 20>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected numbers within the state's 20, got 16 from 5 on}}
  %0 = transformer.causal_conv %x, %w, %s[%l] at 5, %batch bias %b
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>,
        tensor<8xf32>
  return
}

// -----

func.func @causal_conv_c3_before(
    %x: tensor<?x8xf32>, %w: tensor<8x3xf32>, %b: tensor<8xf32>,
    %s: !transformer.state<layers = 2, width = 20>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected numbers within the state's 20, got 16 from -1 on}}
  %0 = transformer.causal_conv %x, %w, %s[%l] at -1, %batch bias %b
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>,
        tensor<8xf32>
  return
}

// -----

func.func @causal_conv_c4_layer(
    %x: tensor<?x8xf32>, %w: tensor<8x3xf32>, %b: tensor<8xf32>,
    %s: !transformer.state<layers = 2, width = 20>,
    %batch: !transformer.batch) {
  %l = arith.constant 2 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the state), got 2}}
  %0 = transformer.causal_conv %x, %w, %s[%l] at 0, %batch bias %b
      : tensor<?x8xf32>, tensor<8x3xf32>, <layers = 2, width = 20>,
        tensor<8xf32>
  return
}

// -----

func.func @recurrence_c1_heads(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected heads to be a positive multiple of key_heads, got 6 and 4}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 4
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c1_none(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected heads to be a positive multiple of key_heads, got 6 and 0}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 0
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c2_query(
    %q: tensor<?x12xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected a query of width 14 (the width of the key), got 12}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x12xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c2_key(
    %q: tensor<?x15xf32>, %k: tensor<?x15xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected a key of a multiple of 2 columns (its heads), got 15}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x15xf32>, tensor<?x15xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c2_value(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x31xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected a value of a multiple of 6 columns (its heads), got 31}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x31xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c3_decay(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x5xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected decay of width 6 (heads) or 42 (their keys), got 5}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x5xf32>, tensor<?x5xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c4_beyond(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 209>,
    %batch: !transformer.batch) {
  %l = arith.constant 1 : index
  // expected-error @below {{expected numbers within the state's 209, got 210 from 0 on}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 209>
  return
}

// -----

func.func @recurrence_c5_layer(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %s: !transformer.state<layers = 2, width = 210>,
    %batch: !transformer.batch) {
  %l = arith.constant 5 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the state), got 5}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>
  return
}

// -----

func.func @recurrence_c6_skip(
    %q: tensor<?x14xf32>, %k: tensor<?x14xf32>, %v: tensor<?x30xf32>,
    %e: tensor<?x6xf32>, %d: tensor<2xf32>,
    %s: !transformer.state<layers = 2, width = 210>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected skip of length 6 (heads), got 2}}
  %0 = transformer.recurrence %q, %k, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>,
        tensor<2xf32>
  return
}

// -----

func.func @recurrence_c3_decay_of_values(
    %q: tensor<?x14xf32>, %v: tensor<?x30xf32>, %e: tensor<?x6xf32>,
    %d: tensor<30xf32>, %r: tensor<7x30xf32>,
    %s: !transformer.state<layers = 2, width = 210>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected decay of width 30 (the width of the value), got 6}}
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d log_rate %r
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x6xf32>, tensor<?x6xf32>, <layers = 2, width = 210>,
        tensor<30xf32> log_rate tensor<7x30xf32>
  return
}

// -----

func.func @recurrence_c6_skip_of_values(
    %q: tensor<?x14xf32>, %v: tensor<?x30xf32>, %e: tensor<?x30xf32>,
    %d: tensor<6xf32>, %r: tensor<7x30xf32>,
    %s: !transformer.state<layers = 2, width = 210>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected skip of length 30 (the width of the value), got 6}}
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d log_rate %r
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>,
        tensor<6xf32> log_rate tensor<7x30xf32>
  return
}

// -----

func.func @recurrence_c7_rates_of_keys(
    %q: tensor<?x14xf32>, %v: tensor<?x30xf32>, %e: tensor<?x30xf32>,
    %d: tensor<30xf32>, %r: tensor<6x30xf32>,
    %s: !transformer.state<layers = 2, width = 210>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected a log_rate with rows 7 (the keys of a head), got 6}}
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d log_rate %r
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>,
        tensor<30xf32> log_rate tensor<6x30xf32>
  return
}

// -----

func.func @recurrence_c7_rates_of_values(
    %q: tensor<?x14xf32>, %v: tensor<?x30xf32>, %e: tensor<?x30xf32>,
    %d: tensor<30xf32>, %r: tensor<7x29xf32>,
    %s: !transformer.state<layers = 2, width = 210>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected a log_rate of width 30 (the width of the value), got 29}}
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 rule add skip %d log_rate %r
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>,
        tensor<30xf32> log_rate tensor<7x29xf32>
  return
}

// -----

func.func @recurrence_c8_rule(
    %q: tensor<?x14xf32>, %v: tensor<?x30xf32>, %e: tensor<?x30xf32>,
    %d: tensor<30xf32>, %r: tensor<7x30xf32>,
    %s: !transformer.state<layers = 2, width = 210>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected rule add beside a log_rate, got delta}}
  %0 = transformer.recurrence %q, %q, %v, %e, %e, %s[%l] at 0, %batch
         heads 6 key_heads 2 skip %d log_rate %r
      : tensor<?x14xf32>, tensor<?x14xf32>, tensor<?x30xf32>,
        tensor<?x30xf32>, tensor<?x30xf32>, <layers = 2, width = 210>,
        tensor<30xf32> log_rate tensor<7x30xf32>
  return
}

// -----

func.func @decay_c1_rate(%x: tensor<?x6xf32>, %r: tensor<5xf32>) {
  // expected-error @below {{expected log_rate of a length that divides 6 (the width of the input), got 5}}
  %0 = transformer.decay %x, %r : tensor<?x6xf32>, tensor<5xf32>
  return
}

// -----

func.func @multiply_c1_gate(%x: tensor<?x6xf32>, %g: tensor<?x5xf32>) {
  // expected-error @below {{expected a gate of width 6 (the width of the input), got 5}}
  %0 = transformer.multiply %x by %g : tensor<?x6xf32>, tensor<?x5xf32>
  return
}

// -----

func.func @ragged_conv_c1_init(
    %x: memref<?x8xf32>, %w: memref<8x3xf32>, %y: memref<?x7xf32>,
    %s: !transformer.state<layers = 2, width = 20>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 8 (the width of the input), got 7}}
  transformer.ragged_conv %x, %w, %s[%l] at 0, %batch
      outs(%y : memref<?x7xf32>)
      : memref<?x8xf32>, memref<8x3xf32>, <layers = 2, width = 20>
  return
}

// -----

func.func @ragged_recurrence_c1_init(
    %x: memref<?x8xf32>, %e: memref<?x2xf32>, %y: memref<?x7xf32>,
    %s: !transformer.state<layers = 2, width = 64>, %l: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 8 (the width of the value), got 7}}
  transformer.ragged_recurrence %x, %x, %x, %e, %e, %s[%l] at 0, %batch
      heads 2 key_heads 1 outs(%y : memref<?x7xf32>)
      : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<?x2xf32>,
        memref<?x2xf32>, <layers = 2, width = 64>
  return
}

// -----

// expected-error @below {{expected width of at least 1, got 0}}
func.func private @state_c1_width(!transformer.state<layers = 2, width = 0>)

// -----

// expected-error @below {{expected layers times width of less than 2^48, got 4194304 times 67108864}}
func.func private @state_c2_size(!transformer.state<layers = 4194304, width = 67108864>)
