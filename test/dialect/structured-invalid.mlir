// What the verifiers of the structured ops refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @cache_write_c1_key_width(%k: tensor<?x26xf32>, %v: tensor<?x52xf32>,
                                    %batch: !transformer.batch, %cache: !cache,
                                    %layer: index) {
  // expected-error @below {{expected key of width 52 (kv_heads times head_dim of the cache), got 26}}
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : tensor<?x26xf32>, tensor<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @cache_write_c1_value_width(%k: memref<?x52xf32>,
                                      %v: memref<?x104xf32>,
                                      %batch: !transformer.batch,
                                      %cache: !cache, %layer: index) {
  // expected-error @below {{expected value of width 52 (kv_heads times head_dim of the cache), got 104}}
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : memref<?x52xf32>, memref<?x104xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c1_heads(%q: tensor<?x78xf32>, %scale: f32,
                                    %batch: !transformer.batch, %cache: !cache,
                                    %layer: index) {
  // expected-error @below {{expected a positive multiple of 2 heads (kv_heads of the cache), got 3}}
  %0 = transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
         heads 3 outs(%q : tensor<?x78xf32>)
         : tensor<?x78xf32>, !cache -> tensor<?x78xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c2_query_width(%q: memref<?x52xf32>,
                                          %y: memref<?x104xf32>, %scale: f32,
                                          %batch: !transformer.batch,
                                          %cache: !cache, %layer: index) {
  // expected-error @below {{expected query of width 104 (num_heads times head_dim), got 52}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 4 outs(%y : memref<?x104xf32>) : memref<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c2_init_width(%q: memref<?x104xf32>,
                                         %y: memref<?x52xf32>, %scale: f32,
                                         %batch: !transformer.batch,
                                         %cache: !cache, %layer: index) {
  // expected-error @below {{expected init of width 104 (num_heads times head_dim), got 52}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 4 outs(%y : memref<?x52xf32>) : memref<?x104xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c3_bias_rows(%q: memref<?x52xf32>,
                                        %bias: memref<4x9xf32>, %scale: f32,
                                        %batch: !transformer.batch,
                                        %cache: !cache, %layer: index) {
  // expected-error @below {{expected bias with rows 2 (num_heads), got 4}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bias %bias
    causal heads 2 outs(%q : memref<?x52xf32>)
    : memref<?x52xf32>, !cache, memref<4x9xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c4_window_mask(%q: memref<?x52xf32>, %scale: f32,
                                          %batch: !transformer.batch,
                                          %cache: !cache, %layer: index) {
  // expected-error @below {{expected a window of at least 0 and causal attention with it, got 5 and bidirectional}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 window 5 outs(%q : memref<?x52xf32>) : memref<?x52xf32>, !cache
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c5_mask(%q: memref<?x52xf32>, %scale: f32,
                                   %batch: !transformer.batch, %cross: !cross,
                                   %layer: index) {
  // expected-error @below {{expected bidirectional attention without bias over a cross cache, got causal}}
  transformer.paged_attention %q, %scale, %cross[%layer], %batch causal
    heads 2 outs(%q : memref<?x52xf32>) : memref<?x52xf32>, !cross
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c5_bias(%q: memref<?x52xf32>, %bias: memref<2x9xf32>,
                                   %scale: f32, %batch: !transformer.batch,
                                   %cross: !cross, %layer: index) {
  // expected-error @below {{expected bidirectional attention without bias over a cross cache, got bidirectional with bias}}
  transformer.paged_attention %q, %scale, %cross[%layer], %batch bias %bias
    bidirectional heads 2 outs(%q : memref<?x52xf32>)
    : memref<?x52xf32>, !cross, memref<2x9xf32>
  return
}

// -----

func.func @output_c1_terminator(%x: tensor<?x2xf32>) {
  // expected-error @below {{expected the region to end with transformer.yield}}
  transformer.output "y" tokens take all {
    %0 = transformer.add %x, %x : tensor<?x2xf32>, tensor<?x2xf32>
  }
  return
}

// -----

func.func @output_c2_squeezed_width(%x: tensor<?x2xf32>) {
  // expected-error @below {{expected a value of width 1 (the output is squeezed), got 2}}
  transformer.output "y" tokens take all squeezed {
    transformer.yield %x : tensor<?x2xf32>
  }
  return
}

// -----

func.func @output_c3_parent(%x: tensor<?x2xf32>, %n: index) {
  scf.for %i = %n to %n step %n {
    // expected-error @below {{expected to be directly in an entry function}}
    transformer.output "y" tokens take all {
      transformer.yield %x : tensor<?x2xf32>
    }
  }
  return
}

// -----

func.func @output_c3_same_name(%x: tensor<?x2xf32>) {
  // expected-error @below {{expected one output named "y", got another}}
  transformer.output "y" tokens take all {
    transformer.yield %x : tensor<?x2xf32>
  }
  transformer.output "y" tokens take all {
    transformer.yield %x : tensor<?x2xf32>
  }
  return
}
