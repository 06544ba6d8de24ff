// Linears of one input become one, with a slice of its columns for each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-fuse-projections --split-input-file | FileCheck %s
// RUN: tfc-opt %s --tfc-fuse-projections --split-input-file --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOCATION
// Those of integers have scales each, and are left.
// RUN: tfc-opt %s --split-input-file --tfc-choose-precision="weights=int4 group=32 rounds" --tfc-fuse-projections -o /dev/null

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 4>

// CHECK: transformer.parameter @attn.q.weight
transformer.parameter @attn.q.weight : tensor<8x8xf32> layers 2
  from <["q.{i}.w"], stored_rows = 8>
transformer.parameter @attn.q.bias : tensor<8xf32> layers 2
  from <["q.{i}.b"], stored_rows = 8>
transformer.parameter @attn.k.weight : tensor<4x8xf32> layers 2
  from <["k.{i}.w"], stored_rows = 4>
transformer.parameter @attn.k.bias : tensor<4xf32> layers 2
  from <["k.{i}.b"], stored_rows = 4>
// CHECK: transformer.parameter @attn.v.weight
// CHECK-NEXT: transformer.parameter @attn.q_k_v.weight : tensor<16x8xf32> layers 2 parts [@attn.q.weight, @attn.k.weight, @attn.v.weight]{{$}}
transformer.parameter @attn.v.weight : tensor<4x8xf32> layers 2
  from <["v.{i}.w"], stored_rows = 4>
// CHECK: transformer.parameter @attn.v.bias
// CHECK-NEXT: transformer.parameter @attn.q_k_v.bias : tensor<16xf32> layers 2 parts [@attn.q.bias, @attn.k.bias, @attn.v.bias]{{$}}
transformer.parameter @attn.v.bias : tensor<4xf32> layers 2
  from <["v.{i}.b"], stored_rows = 4>

// CHECK-LABEL: @makes_one_of_three
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>, {{.*}}, %[[LAYER:[a-z0-9]*]]: index
func.func @makes_one_of_three(%x: tensor<?x8xf32>, %angles: tensor<?x4xf32>,
                              %batch: !transformer.batch, %cache: !cache,
                              %layer: index) -> tensor<?x8xf32> {
  // CHECK-NEXT: %[[WEIGHT:.*]] = transformer.weight @attn.q_k_v.weight[%[[LAYER]]] : tensor<16x8xf32>
  // CHECK-NEXT: %[[BIAS:.*]] = transformer.weight @attn.q_k_v.bias[%[[LAYER]]] : tensor<16xf32>
  // CHECK-NEXT: %[[Y:.*]] = transformer.linear %[[X]], %[[WEIGHT]] bias %[[BIAS]] :
  // CHECK-NEXT: %[[Q:.*]] = transformer.slice_columns %[[Y]][0, 8]
  // CHECK-NEXT: %[[K:.*]] = transformer.slice_columns %[[Y]][8, 4]
  // CHECK-NEXT: %[[TURNED:.*]] = transformer.rotary half %[[K]]
  // CHECK-NEXT: %[[V:.*]] = transformer.slice_columns %[[Y]][12, 4]
  // CHECK-NEXT: transformer.attention %[[Q]], %[[TURNED]], %[[V]]
  // LOCATION: transformer.linear {{.*}} loc(fused["attn.q", "attn.k", "attn.v"])
  // LOCATION: transformer.slice_columns {{.*}} loc("attn.q")
  // LOCATION: transformer.slice_columns {{.*}} loc("attn.k")
  // LOCATION: transformer.slice_columns {{.*}} loc("attn.v")
  %qw = transformer.weight @attn.q.weight[%layer] : tensor<8x8xf32>
  %qb = transformer.weight @attn.q.bias[%layer] : tensor<8xf32>
  %q = transformer.linear %x, %qw bias %qb
         : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32> loc("attn.q")
  %kw = transformer.weight @attn.k.weight[%layer] : tensor<4x8xf32>
  %kb = transformer.weight @attn.k.bias[%layer] : tensor<4xf32>
  %k = transformer.linear %x, %kw bias %kb
         : tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32> loc("attn.k")
  %turned = transformer.rotary half %k, %angles heads 1
              : tensor<?x4xf32>, tensor<?x4xf32>
  %vw = transformer.weight @attn.v.weight[%layer] : tensor<4x8xf32>
  %vb = transformer.weight @attn.v.bias[%layer] : tensor<4xf32>
  %v = transformer.linear %x, %vw bias %vb
         : tensor<?x8xf32>, tensor<4x8xf32>, tensor<4xf32> loc("attn.v")
  %y = transformer.attention %q, %turned, %v, %cache[%layer], %batch causal
         heads 2 {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !cache
  return %y : tensor<?x8xf32>
}

// -----

// Keys and values of the source; the name that is not free is left alone.

!cross = !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 4>

transformer.parameter @k_v : tensor<1xf32> from <["x"], stored_rows = 1>
transformer.parameter @k : tensor<4x8xf32> from <["k"], stored_rows = 4>
transformer.parameter @v : tensor<4x8xf32> from <["v"], stored_rows = 4>
// CHECK: transformer.parameter @[[$WHOLE:k_v_[0-9]+]] : tensor<8x8xf32> parts [@k, @v]

// CHECK-LABEL: @makes_one_of_a_cache_write
func.func @makes_one_of_a_cache_write(%x: tensor<?x8xf32>,
                                      %batch: !transformer.batch,
                                      %cache: !cross, %layer: index) {
  // CHECK: transformer.weight @[[$WHOLE]] : tensor<8x8xf32>
  // CHECK-NEXT: transformer.linear
  // CHECK-NEXT: transformer.slice_columns
  // CHECK-NEXT: transformer.slice_columns
  // CHECK-NEXT: transformer.cache_write
  %kw = transformer.weight @k : tensor<4x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<4x8xf32>
  %vw = transformer.weight @v : tensor<4x8xf32>
  %v = transformer.linear %x, %vw : tensor<?x8xf32>, tensor<4x8xf32>
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : tensor<?x4xf32>, tensor<?x4xf32>, !cross
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_another_input
// CHECK-NOT: slice_columns
func.func @leaves_another_input(%x: tensor<?x8xf32>, %z: tensor<?x8xf32>,
                                %batch: !transformer.batch, %cache: !cache,
                                %i: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %z, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_another_layer
// CHECK-NOT: slice_columns
func.func @leaves_another_layer(%x: tensor<?x8xf32>, %batch: !transformer.batch,
                                %cache: !cache, %i: index, %j: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32>
  %kw = transformer.weight @k[%j] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 3
  from <["k.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_another_number_of_layers
// CHECK-NOT: slice_columns
func.func @leaves_another_number_of_layers(%x: tensor<?x8xf32>,
                                           %batch: !transformer.batch,
                                           %cache: !cache, %i: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>
transformer.parameter @b : tensor<8xf32> layers 2
  from <["b.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_a_bias_beside_none
// CHECK-NOT: slice_columns
func.func @leaves_a_bias_beside_none(%x: tensor<?x8xf32>,
                                     %batch: !transformer.batch,
                                     %cache: !cache, %i: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %b = transformer.weight @b[%i] : tensor<8xf32>
  %q = transformer.linear %x, %qw bias %b
         : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_an_activation
// CHECK-NOT: slice_columns
func.func @leaves_an_activation(%x: tensor<?x8xf32>, %batch: !transformer.batch,
                                %cache: !cache, %i: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw act tanh : tensor<?x8xf32>, tensor<8x8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_a_residual
// CHECK-NOT: slice_columns
func.func @leaves_a_residual(%x: tensor<?x8xf32>, %batch: !transformer.batch,
                             %cache: !cache, %i: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw residual %x
         : tensor<?x8xf32>, tensor<8x8xf32>, tensor<?x8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>

// A tap wants rows of their own, as any reader does that takes dense ones only.
// CHECK-LABEL: @leaves_what_a_tap_reads
// CHECK-NOT: slice_columns
func.func @leaves_what_a_tap_reads(%x: tensor<?x8xf32>,
                                   %batch: !transformer.batch,
                                   %cache: !cache, %i: index) {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.tap "q" %q : tensor<?x8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x8xf32> layers 2
  from <["k.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_a_parameter_with_another_reader
// CHECK-NOT: slice_columns
func.func @leaves_a_parameter_with_another_reader(%x: tensor<?x8xf32>,
                                                  %batch: !transformer.batch,
                                                  %cache: !cache, %i: index)
    -> tensor<8x8xf32> {
  %qw = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32>
  %kw = transformer.weight @k[%i] : tensor<8x8xf32>
  %k = transformer.linear %x, %kw : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  %again = transformer.weight @q[%i] : tensor<8x8xf32>
  return %again : tensor<8x8xf32>
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>

// CHECK-NOT: parts
transformer.parameter @q : tensor<8x8xf32> layers 2
  from <["q.{i}"], stored_rows = 8>

// CHECK-LABEL: @leaves_a_weight_of_two_linears
// CHECK-NOT: slice_columns
func.func @leaves_a_weight_of_two_linears(%x: tensor<?x8xf32>,
                                          %batch: !transformer.batch,
                                          %cache: !cache, %i: index) {
  %w = transformer.weight @q[%i] : tensor<8x8xf32>
  %q = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  %k = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
  transformer.cache_write %q, %k into %cache[%i], %batch
    : tensor<?x8xf32>, tensor<?x8xf32>, !cache
  return
}

// -----

// What is stored in groups is a whole already: the new one has the parts of
// both, and the old ones are gone.
// CHECK: transformer.parameter @q.0.weight
transformer.parameter @q.0.weight : tensor<4x8xf32>
  from <["qk.w"], stored_rows = 16>
transformer.parameter @q.1.weight : tensor<4x8xf32>
  from <["qk.w"], first_row = 8, stored_rows = 16>
// CHECK-NOT: parts [@q.0.weight, @q.1.weight]{{$}}
transformer.parameter @q.weight : tensor<8x8xf32>
  parts [@q.0.weight, @q.1.weight]
transformer.parameter @k.0.weight : tensor<4x8xf32>
  from <["qk.w"], first_row = 4, stored_rows = 16>
transformer.parameter @k.1.weight : tensor<4x8xf32>
  from <["qk.w"], first_row = 12, stored_rows = 16>
// CHECK: transformer.parameter @q_k.weight : tensor<16x8xf32> parts [@q.0.weight, @q.1.weight, @k.0.weight, @k.1.weight]{{$}}
transformer.parameter @k.weight : tensor<8x8xf32>
  parts [@k.0.weight, @k.1.weight]

// CHECK-LABEL: @joins_wholes
func.func @joins_wholes(%x: tensor<?x8xf32>, %angles: tensor<?x4xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK: transformer.weight @q_k.weight : tensor<16x8xf32>
  %wq = transformer.weight @q.weight : tensor<8x8xf32>
  %wk = transformer.weight @k.weight : tensor<8x8xf32>
  %q = transformer.linear %x, %wq : tensor<?x8xf32>, tensor<8x8xf32>
  %k = transformer.linear %x, %wk : tensor<?x8xf32>, tensor<8x8xf32>
  %0 = transformer.rotary half %q, %angles heads 2
         : tensor<?x8xf32>, tensor<?x4xf32>
  %1 = transformer.rotary half %k, %angles heads 2
         : tensor<?x8xf32>, tensor<?x4xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// -----

// Products that are rounded alike are one that is rounded so.
transformer.parameter @q.weight : tensor<8x8xf32> from <["q"], stored_rows = 8>
transformer.parameter @k.weight : tensor<8x8xf32> from <["k"], stored_rows = 8>
transformer.parameter @v.weight : tensor<8x8xf32> from <["v"], stored_rows = 8>

// CHECK-LABEL: @joins_by_elements
func.func @joins_by_elements(%x: tensor<?x8xbf16>, %angles: tensor<?x4xf32>) {
  // CHECK: %[[Y:.*]] = transformer.linear {{.*}} : tensor<?x8xbf16>, tensor<16x8xf32> -> tensor<?x16xbf16>
  // CHECK: transformer.slice_columns %[[Y]][0, 8] : tensor<?x16xbf16> -> tensor<?x8xbf16>
  // CHECK: transformer.linear {{.*}} : tensor<?x8xbf16>, tensor<8x8xf32>{{$}}
  // CHECK: transformer.slice_columns %[[Y]][8, 8] : tensor<?x16xbf16> -> tensor<?x8xbf16>
  %wq = transformer.weight @q.weight : tensor<8x8xf32>
  %wk = transformer.weight @k.weight : tensor<8x8xf32>
  %wv = transformer.weight @v.weight : tensor<8x8xf32>
  %q = transformer.linear %x, %wq : tensor<?x8xbf16>, tensor<8x8xf32> -> tensor<?x8xbf16>
  %k = transformer.linear %x, %wk : tensor<?x8xbf16>, tensor<8x8xf32>
  %v = transformer.linear %x, %wv : tensor<?x8xbf16>, tensor<8x8xf32> -> tensor<?x8xbf16>
  %0 = transformer.rotary half %q, %angles heads 2 : tensor<?x8xbf16>, tensor<?x4xf32>
  %1 = transformer.rotary half %k, %angles heads 2 : tensor<?x8xf32>, tensor<?x4xf32>
  %2 = transformer.rotary half %v, %angles heads 2 : tensor<?x8xbf16>, tensor<?x4xf32>
  return
}

// -----

// What is kept in 16 bits stays so; with another type it is another matrix.
// CHECK: transformer.parameter @n.q_k.weight : tensor<16x8xbf16> parts [@n.q.weight, @n.k.weight]
transformer.parameter @n.q.weight : tensor<8x8xbf16>
  from <["n.q"], stored_rows = 8>
transformer.parameter @n.k.weight : tensor<8x8xbf16>
  from <["n.k"], stored_rows = 8>
transformer.parameter @n.v.weight : tensor<8x8xf16>
  from <["n.v"], stored_rows = 8>

// CHECK-LABEL: @joins_what_is_kept_alike
func.func @joins_what_is_kept_alike(%x: tensor<?x8xf32>,
                                    %angles: tensor<?x4xf32>)
    -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  // CHECK-DAG: transformer.weight @n.q_k.weight : tensor<16x8xbf16>
  // CHECK-DAG: transformer.weight @n.v.weight : tensor<8x8xf16>
  %wq = transformer.weight @n.q.weight : tensor<8x8xbf16>
  %wk = transformer.weight @n.k.weight : tensor<8x8xbf16>
  %wv = transformer.weight @n.v.weight : tensor<8x8xf16>
  %q = transformer.linear %x, %wq : tensor<?x8xf32>, tensor<8x8xbf16>
  %k = transformer.linear %x, %wk : tensor<?x8xf32>, tensor<8x8xbf16>
  %v = transformer.linear %x, %wv : tensor<?x8xf32>, tensor<8x8xf16>
  %0 = transformer.rotary half %q, %angles heads 2
         : tensor<?x8xf32>, tensor<?x4xf32>
  %1 = transformer.rotary half %k, %angles heads 2
         : tensor<?x8xf32>, tensor<?x4xf32>
  %2 = transformer.rotary half %v, %angles heads 2
         : tensor<?x8xf32>, tensor<?x4xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}
