// What the verifiers of attention and of the cache refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c1_heads(%q: tensor<?x78xf32>, %k: tensor<?x52xf32>,
                              %batch: !transformer.batch, %cache: !cache,
                              %layer: index) {
  // expected-error @below {{expected a positive multiple of 2 heads (kv_heads of the cache), got 3}}
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch causal heads 3
         {scale = 0.5 : f64}
         : tensor<?x78xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c1_no_heads(%q: tensor<?x52xf32>, %k: tensor<?x52xf32>,
                                 %batch: !transformer.batch, %cache: !cache,
                                 %layer: index) {
  // expected-error @below {{expected a positive multiple of 2 heads (kv_heads of the cache), got 0}}
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch causal heads 0
         {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c2_query_width(%q: tensor<?x52xf32>, %k: tensor<?x52xf32>,
                                    %batch: !transformer.batch, %cache: !cache,
                                    %layer: index) {
  // expected-error @below {{expected query of width 104 (num_heads times head_dim), got 52}}
  %0 = transformer.attention %q, %k, %k, %cache[%layer], %batch causal heads 4
         {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c3_key_width(%q: tensor<?x52xf32>, %k: tensor<?x26xf32>,
                                  %batch: !transformer.batch, %cache: !cache,
                                  %layer: index) {
  // expected-error @below {{expected key of width 52 (kv_heads times head_dim of the cache), got 26}}
  %0 = transformer.attention %q, %k, %q, %cache[%layer], %batch causal heads 2
         {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x26xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c3_value_width(%q: tensor<?x52xf32>, %v: tensor<?x26xf32>,
                                    %batch: !transformer.batch, %cache: !cache,
                                    %layer: index) {
  // expected-error @below {{expected value of width 52 (kv_heads times head_dim of the cache), got 26}}
  %0 = transformer.attention %q, %q, %v, %cache[%layer], %batch causal heads 2
         {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x26xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c4_scale(%q: tensor<?x52xf32>, %batch: !transformer.batch,
                              %cache: !cache, %layer: index) {
  // expected-error @below {{expected a finite scale, got}}
  %0 = transformer.attention %q, %q, %q, %cache[%layer], %batch causal heads 2
         {scale = 0x7FF8000000000000 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

func.func private @cache_layers(
    // expected-error @below {{expected layers of at least 1, got 0}}
    !transformer.cache<layers = 0, kv_heads = 2, head_dim = 26>)

// -----

func.func private @cache_kv_heads(
    // expected-error @below {{expected kv_heads of at least 1, got -1}}
    !transformer.cache<layers = 2, kv_heads = -1, head_dim = 26>)

// -----

func.func private @cache_head_dim(
    // expected-error @below {{expected head_dim of at least 1, got 0}}
    !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 0>)

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c5_bias_rows(%q: tensor<?x52xf32>, %bias: tensor<4x9xf32>,
                                  %batch: !transformer.batch, %cache: !cache,
                                  %layer: index) {
  // expected-error @below {{expected bias with rows 2 (num_heads), got 4}}
  %0 = transformer.attention %q, %q, %q, %cache[%layer], %batch bias %bias
         causal heads 2 {scale = 0.5 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache, tensor<4x9xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c5_bias_width(%q: tensor<?x52xf32>, %bias: tensor<2x8xf32>,
                                   %batch: !transformer.batch, %cache: !cache,
                                   %layer: index) {
  // expected-error @below {{expected bias of an odd width (distances from -M to M), got 8}}
  %0 = transformer.attention %q, %q, %q, %cache[%layer], %batch bias %bias
         causal heads 2 {scale = 0.5 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache, tensor<2x8xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c6_right_of_causal(%q: tensor<?x52xf32>,
                                        %batch: !transformer.batch,
                                        %cache: !cache, %layer: index) {
  // expected-error @below {{expected no right end of the window (causal attention does not look to the right), got one}}
  %0 = transformer.attention %q, %q, %q, %cache[%layer], %batch causal
         right %layer heads 2 {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c7_cross(%q: tensor<?x52xf32>, %batch: !transformer.batch,
                              %cross: !cross, %layer: index) {
  // expected-error @below {{expected a cache that attention may append to, got a cross cache}}
  %0 = transformer.attention %q, %q, %q, %cross[%layer], %batch bidirectional
         heads 2 {scale = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cross
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @cross_attention_c1_heads(%q: tensor<?x78xf32>,
                                    %batch: !transformer.batch, %cross: !cross,
                                    %layer: index) {
  // expected-error @below {{expected a positive multiple of 2 heads (kv_heads of the cache), got 3}}
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 3
         {scale = 0.5 : f64} : tensor<?x78xf32>, !cross
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @cross_attention_c2_query_width(%q: tensor<?x78xf32>,
                                          %batch: !transformer.batch,
                                          %cross: !cross, %layer: index) {
  // expected-error @below {{expected query of width 52 (num_heads times head_dim), got 78}}
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         {scale = 0.5 : f64} : tensor<?x78xf32>, !cross
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @cross_attention_c3_scale(%q: tensor<?x52xf32>,
                                    %batch: !transformer.batch, %cross: !cross,
                                    %layer: index) {
  // expected-error @below {{expected a finite scale, got}}
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         {scale = 0x7FF8000000000000 : f64} : tensor<?x52xf32>, !cross
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @cross_attention_c4_cache(%q: tensor<?x52xf32>,
                                    %batch: !transformer.batch, %cache: !cache,
                                    %layer: index) {
  // expected-error @below {{expected a cross cache, got '!transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>'}}
  %0 = transformer.cross_attention %q, %cache[%layer], %batch heads 2
         {scale = 0.5 : f64} : tensor<?x52xf32>, !cache
  return
}

// -----

!one = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 4>
func.func @attention_c1_product(%q: tensor<?x4xf32>, %batch: !transformer.batch,
                                %cache: !one, %layer: index) {
  // expected-error @below {{expected num_heads times head_dim of less than 2^63, got 4611686018427387904 times 4}}
  %0 = transformer.attention %q, %q, %q, %cache[%layer], %batch causal
         heads 4611686018427387904 {scale = 1.0 : f64}
         : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>, !one
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @attention_c8_layer(%q: tensor<?x52xf32>, %batch: !transformer.batch,
                              %cache: !cache) {
  %layer = arith.constant 2 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the cache), got 2}}
  %0 = transformer.attention %q, %q, %q, %cache[%layer], %batch causal heads 2
         {scale = 1.0 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!one = !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 4>
func.func @cross_attention_c1_product(%q: tensor<?x4xf32>,
                                      %batch: !transformer.batch, %cache: !one,
                                      %layer: index) {
  // expected-error @below {{expected num_heads times head_dim of less than 2^63, got 4611686018427387904 times 4}}
  %0 = transformer.cross_attention %q, %cache[%layer], %batch
         heads 4611686018427387904 {scale = 1.0 : f64} : tensor<?x4xf32>, !one
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @cross_attention_c5_layer(%q: tensor<?x52xf32>,
                                    %batch: !transformer.batch,
                                    %cross: !cross) {
  %layer = arith.constant -1 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the cache), got -1}}
  %0 = transformer.cross_attention %q, %cross[%layer], %batch heads 2
         {scale = 1.0 : f64} : tensor<?x52xf32>, !cross
  return
}

// -----

func.func @cache_c3_cross(
    // expected-error @below {{expected a window of at least 1, of a cache that is neither scratch nor cross, got 8}}
    !transformer.cache<cross, layers = 2, kv_heads = 4, head_dim = 4, window = 8>)

// -----

func.func @cache_c3_negative(
    // expected-error @below {{expected a window of at least 1, of a cache that is neither scratch nor cross, got -1}}
    !transformer.cache<layers = 2, kv_heads = 4, head_dim = 4, window = -1>)

// -----

func.func @cache_c4_integer(
    // expected-error @below {{expected elements of f32, f16, bf16 or i8, got 'i16'}}
    !transformer.cache<layers = 2, kv_heads = 4, head_dim = 4, i16>)

// -----

func.func @cache_c4_unsigned(
    // expected-error @below {{expected elements of f32, f16, bf16 or i8, got 'ui8'}}
    !transformer.cache<layers = 2, kv_heads = 4, head_dim = 4, ui8>)

// -----

func.func @cache_c2_heads(
    // expected-error @below {{expected layers times kv_heads times head_dim of less than 2^48, got 2 times 4611686018427387904 times 4}}
    !transformer.cache<layers = 2, kv_heads = 4611686018427387904, head_dim = 4>)

// -----

func.func @cache_c2_layers(
    // expected-error @below {{expected layers times kv_heads times head_dim of less than 2^48, got 140737488355328 times 1 times 2}}
    !transformer.cache<layers = 140737488355328, kv_heads = 1, head_dim = 2>)

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c9_cap(%x: tensor<?x52xf32>, %cache: !cache,
                            %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected cap to be positive and finite, got 0}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         {scale = 1.0 : f64, cap = 0.0 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c10_slopes(%x: tensor<?x52xf32>, %cache: !cache,
                                %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected 2 finite slopes (one for each head), got 3}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         {scale = 1.0 : f64, slopes = array<f64: 1.0, 2.0, 3.0>}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c11_sinks(%x: tensor<?x52xf32>, %cache: !cache,
                               %layer: index, %batch: !transformer.batch,
                               %sinks: tensor<3xf32>) {
  // expected-error @below {{expected sinks of length 2 (num_heads), got 3}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         sinks %sinks {scale = 1.0 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
         sinks tensor<3xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c12_log_base(%x: tensor<?x52xf32>, %cache: !cache,
                                  %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected log_base to be more than 1 and finite, got 5.000000e-01}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         {scale = 1.0 : f64, log_base = 0.5 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c13_no_span(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected a span exactly if there are relative_keys, relative_queries or relative_values, got no span}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c13_no_table(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected a span exactly if there are relative_keys, relative_queries or relative_values, got a span alone}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 span 8 {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache 
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c13_rows(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected relative_keys with rows 18 (2 span), got 16}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 9 {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c13_width(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected relative_queries of width 52 (num_heads times head_dim), got 27}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_queries %w span 8 {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_queries tensor<16x27xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c14_kv_heads(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected a cache with a number of kv_heads 4 (num_heads, with relative_keys, relative_queries or relative_values), got 2}}
  %0 = transformer.attention %q, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 relative_keys %d span 8 {scale = 1.0 : f64} : tensor<?x104xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<16x104xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c15_span(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected a span in [1, 2^30), got 0}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 0 {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c15_max_distance(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected with max_distance an even span of at least 4, and max_distance above span / 2 + 1 and below 2^30, got 8 and 5}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 8 max_distance 5 {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c15_odd_span(%x: tensor<?x52xf32>, %q: tensor<?x104xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch,
    %a: tensor<16x52xf32>, %w: tensor<16x27xf32>, %d: tensor<16x104xf32>) {
  // expected-error @below {{expected with max_distance an even span of at least 4, and max_distance above span / 2 + 1 and below 2^30, got 7 and 30}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 7 max_distance 30 {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c13_rows_of_odd_span(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected relative_values with rows 13 (2 span - 1), got 15}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_values %a span 7 {scale = 1.0 : f64, odd_span} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_values tensor<15x26xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c16_odd_span_alone(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected odd_span with a span and without max_distance, got no span}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, odd_span} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache 
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c16_odd_span_and_max_distance(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected odd_span with a span and without max_distance, got a max_distance}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 8 max_distance 20 {scale = 1.0 : f64, odd_span} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_keys tensor<15x26xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c16_rounded_slopes(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected slopes with rounded_slopes, got none}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, rounded_slopes} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache 
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_half(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected a sparse_block and random_blocks, or blocks_before and blocks_after, or none of them, got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, sparse_block = 4} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache 
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_range(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected a sparse_block from 1 on and random_blocks, both below 2^20, got 0 and 1}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, sparse_block = 0, random_blocks = 1} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache 
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_causal(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<15x26xf32>) {
  // expected-error @below {{expected attention without window and cap with a sparse_block, bidirectional with random_blocks or blocks_after, got another}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal
         heads 2 {scale = 1.0 : f64, sparse_block = 4, random_blocks = 1} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache 
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_both(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected a sparse_block and random_blocks, or blocks_before and blocks_after, or none of them, got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, sparse_block = 4, random_blocks = 1, blocks_before = 1,
          blocks_after = 1}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_before_alone(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected a sparse_block and random_blocks, or blocks_before and blocks_after, or none of them, got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, sparse_block = 4, blocks_before = 1}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_far(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected blocks_before and blocks_after of 0 or 1, got 2 and 0}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64, sparse_block = 4, blocks_before = 2, blocks_after = 0}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c17_ahead(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected attention without window and cap with a sparse_block, bidirectional with random_blocks or blocks_after, got another}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal
         heads 2 {scale = 1.0 : f64, sparse_block = 4, blocks_before = 0, blocks_after = 1}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c18_length(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected query_bias of length 52 (num_heads times head_dim), got 51}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 query_bias %short {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache query_bias tensor<51xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c18_no_keys(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected relative_keys with relative_bias, got none}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_bias %u {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache relative_bias tensor<52xf32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c18_no_segments(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected segments with segment_bias, got none}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 segment_bias %u {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache segment_bias tensor<52xf32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c19_no_types(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected types exactly if there are segments, got segments alone}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 segments %e {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache segments tensor<2x52xf32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c19_no_segments(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected types exactly if there are segments, got types alone}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 types %types {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache types tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c19_rows(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected segments with rows 2 (the same one, another one), got 3}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 segments %three types %types {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache segments tensor<3x52xf32> types tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c19_cache(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected a scratch cache and a bidirectional mask with segments (types are of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 segments %e types %types {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache segments tensor<2x52xf32> types tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c19_mask(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>) {
  // expected-error @below {{expected a scratch cache and a bidirectional mask with segments (types are of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal
         heads 2 segments %e types %types {scale = 1.0 : f64} : tensor<?x52xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache segments tensor<2x52xf32> types tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c19_kv_heads(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %u: tensor<52xf32>,
    %short: tensor<51xf32>, %e: tensor<2x52xf32>, %three: tensor<3x52xf32>,
    %types: tensor<?xi32>, %q: tensor<?x104xf32>, %f: tensor<2x104xf32>) {
  // expected-error @below {{expected a cache with a number of kv_heads 4 (num_heads, with segments), got 2}}
  %0 = transformer.attention %q, %x, %x, %cache[%layer], %batch bidirectional
         heads 4 segments %f types %types {scale = 1.0 : f64} : tensor<?x104xf32>, tensor<?x52xf32>,
         tensor<?x52xf32>, !cache segments tensor<2x104xf32> types tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c20_element(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected factors of bf16, got 'f16'}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         {factors = f16, scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26, i8>

func.func @attention_c20_cache(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected a cache of floats and no relative terms with factors, got a cache of integers}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         {factors = bf16, scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c20_relative(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %a: tensor<16x52xf32>) {
  // expected-error @below {{expected a cache of floats and no relative terms with factors, got relative terms}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 relative_keys %a span 8 {factors = bf16, scale = 1.0 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
         relative_keys tensor<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>

func.func @cross_attention_c6_element(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected factors of bf16, got 'f32'}}
  %0 = transformer.cross_attention %x, %cache[%layer], %batch heads 2
         {factors = f32, scale = 1.0 : f64} : tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>

func.func @cross_attention_c7_cap(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected cap to be positive and finite, got -3}}
  %0 = transformer.cross_attention %x, %cache[%layer], %batch heads 2
         {cap = -3.0 : f64, scale = 1.0 : f64} : tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c21_key_alone(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected key and value, or neither of a cache that is not scratch, got a key alone}}
  %0 = "transformer.attention"(%x, %x, %cache, %layer, %batch)
         {mask = #transformer<mask causal>, num_heads = 2 : i64,
          scale = 1.0 : f64, operandSegmentSizes =
          array<i32: 1, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>}
         : (tensor<?x52xf32>, tensor<?x52xf32>, !cache, index,
            !transformer.batch) -> tensor<?x52xf32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c21_scratch(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected key and value, or neither of a cache that is not scratch, got neither}}
  %0 = transformer.attention %x shared, %cache[%layer], %batch bidirectional
         heads 2 {scale = 1.0 : f64} : tensor<?x52xf32>, !cache
  return
}

// -----

func.func @cache_c7_one_part(
  // expected-error @below {{expected a part of two or more, each of three numbers, of a cache that is neither scratch nor cross nor of latents, got part 0 of 3 numbers}}
  %0: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26, part = 0 of [2, 2, 26]>)

// -----

func.func @cache_c7_part(
  // expected-error @below {{got part 2 of 6 numbers}}
  %0: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26, part = 2 of [2, 2, 26, 1, 1, 8]>)

// -----

func.func @cache_c7_scratch(
  // expected-error @below {{got part 1 of 6 numbers}}
  %0: !transformer.cache<scratch, layers = 1, kv_heads = 1, head_dim = 8, part = 1 of [2, 2, 26, 1, 1, 8]>)

// -----

func.func @cache_c7_numbers(
  // expected-error @below {{expected the numbers of part 1, got 2, 1, 8}}
  %0: !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8, part = 1 of [2, 2, 26, 1, 1, 8]>)

// -----

func.func @cache_c7_other(
  // expected-error @below {{expected kv_heads of at least 1, got 0}}
  %0: !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8, part = 1 of [2, 0, 26, 1, 1, 8]>)

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c22_cache(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %unseen: tensor<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 unseen %unseen {scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache unseen tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c22_mask(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %unseen: tensor<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal
         heads 2 unseen %unseen {scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache unseen tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c22_window(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %unseen: tensor<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional left %layer
         heads 2 unseen %unseen {scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache unseen tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c22_cap(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %unseen: tensor<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 unseen %unseen {cap = 5.0 : f64, scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache unseen tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c22_log_base(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %unseen: tensor<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 unseen %unseen {log_base = 8.0 : f64, scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache unseen tensor<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @attention_c22_sparse(%x: tensor<?x52xf32>, %cache: !cache,
    %layer: index, %batch: !transformer.batch, %unseen: tensor<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch bidirectional
         heads 2 unseen %unseen {sparse_block = 4, random_blocks = 3, scale = 1.0 : f64} : tensor<?x52xf32>,
         tensor<?x52xf32>, tensor<?x52xf32>, !cache unseen tensor<?xi32>
  return
}

// -----

func.func @hashed_attention_c1_heads(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected num_heads to divide 8 (the width of the query), got 3}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 3
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c2_key(%q: tensor<?x8xf32>, %k: tensor<?x4xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected key of width 8 (the width of the query), got 4}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x4xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c2_value(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x4xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected value of width 8 (the width of the query), got 4}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x4xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c3_block(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected block in [1, 2^20), before and after of 0 or 1, hashes in [1, 2^16) and a multiple of block below 2^31, got 0, 1, 0, 3 and 16}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 0 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c3_near(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{got 8, 2, 0, 3 and 16}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 2 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c3_multiple(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{got 8, 1, 0, 3 and 12}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 12 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c4_odd(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected buckets of even factors whose product is below 2^31, got 2, 3}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 3>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c4_many(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected buckets of even factors}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 65536, 65536>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c5_rows(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<4x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected rotations with rows 8 (the width of the query), got 4}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<4x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c5_width(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x8xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected rotations of width 9 (hashes times half the sum of buckets), got 8}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x8xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func @hashed_attention_c6_scale(%q: tensor<?x8xf32>, %k: tensor<?x8xf32>,
    %v: tensor<?x8xf32>, %r: tensor<8x9xf32>, %batch: !transformer.batch) {
  // expected-error @below {{expected a finite scale, got INF}}
  %0 = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64,
          multiple = 16 : i64, scale = 0x7FF0000000000000 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  return
}
