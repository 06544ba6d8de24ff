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
func.func @paged_attention_c4_right_of_causal(%q: memref<?x52xf32>, %scale: f32,
                                              %batch: !transformer.batch,
                                              %cache: !cache, %layer: index) {
  // expected-error @below {{expected no right end of the window (causal attention does not look to the right), got one}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    right %layer heads 2 outs(%q : memref<?x52xf32>) : memref<?x52xf32>, !cache
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c5_window(%q: memref<?x52xf32>, %scale: f32,
                                     %batch: !transformer.batch, %cross: !cross,
                                     %layer: index) {
  // expected-error @below {{expected bidirectional attention without bias and window over a cross cache, got bidirectional with a window}}
  transformer.paged_attention %q, %scale, %cross[%layer], %batch bidirectional
    left %layer heads 2 outs(%q : memref<?x52xf32>) : memref<?x52xf32>, !cross
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c5_mask(%q: memref<?x52xf32>, %scale: f32,
                                   %batch: !transformer.batch, %cross: !cross,
                                   %layer: index) {
  // expected-error @below {{expected bidirectional attention without bias and window over a cross cache, got causal}}
  transformer.paged_attention %q, %scale, %cross[%layer], %batch causal
    heads 2 outs(%q : memref<?x52xf32>) : memref<?x52xf32>, !cross
  return
}

// -----

!cross = !transformer.cache<cross, layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c5_bias(%q: memref<?x52xf32>, %bias: memref<2x9xf32>,
                                   %scale: f32, %batch: !transformer.batch,
                                   %cross: !cross, %layer: index) {
  // expected-error @below {{expected bidirectional attention without bias and window over a cross cache, got bidirectional with bias}}
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

// -----

func.func @output_c3_other_parts(%x: tensor<?x2xf32>, %i: index) {
  // expected-error @below {{expected one output named "y", got another}}
  transformer.output "y" tokens take all part %i of 2 {
    transformer.yield %x : tensor<?x2xf32>
  }
  transformer.output "y" tokens take all part %i of 3 {
    transformer.yield %x : tensor<?x2xf32>
  }
  return
}

// -----

func.func @output_c4_part_alone(%x: tensor<?x2xf32>, %i: index) {
  // expected-error @below {{expected a part and the number of parts, or neither}}
  "transformer.output"() <{name = "y", rows = #transformer<row_kind tokens>, take = #transformer<take all>, parts = 2 : i64}> ({
    transformer.yield %x : tensor<?x2xf32>
  }) : () -> ()
  return
}

// -----

func.func @product_c1_width(%x: tensor<?x9xf32>, %w: tensor<2x8x48xf32>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected an input of width 8 (the panels' columns), got 9}}
  %0 = transformer.product %x, %w outs(%y)
      : tensor<?x9xf32>, tensor<2x8x48xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c2_panels(%x: tensor<?x8xf32>, %w: tensor<3x8x48xf32>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected a number of panels 2 (the width of init), got 3}}
  %0 = transformer.product %x, %w outs(%y)
      : tensor<?x8xf32>, tensor<3x8x48xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c3_columns(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>, %b: tensor<72xf32>,
    %y: tensor<?x73xf32>) {
  // expected-error @below {{expected columns of length 73 (the width of init), got 72}}
  %0 = transformer.product %x, %w columns(%b) outs(%y)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<72xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%s: f32, %c: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c4_rows(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>, %r: tensor<?x74xf32>,
    %y: tensor<?x73xf32>) {
  // expected-error @below {{expected rows of width 73 (the width of init), got 74}}
  %0 = transformer.product %x, %w rows(%r) outs(%y)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<?x74xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%s: f32, %c: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c5_arguments(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>, %b: tensor<73xf32>,
    %y: tensor<?x73xf32>) {
  // expected-error @below {{expected a body of 2 arguments (the sum, then an element of each of columns, rows and scales), of the types 'f32', 'f32', got 'f32'}}
  %0 = transformer.product %x, %w columns(%b) outs(%y)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<73xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c5_body(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>,
                           %y: tensor<?x73xf32>, %m: memref<f32>) {
  %0 = transformer.product %x, %w outs(%y)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<?x73xf32>
      -> tensor<?x73xf32> {
  ^bb0(%s: f32):
    // expected-error @below {{is not allowed in the body of a product: expected ops that work element by element}}
    %l = memref.load %m[] : memref<f32>
    transformer.yield %l : f32
  }
  return
}

// -----

func.func @product_c5_scales(%x: tensor<?x8xi8>, %w: tensor<2x2x48x4xi8>, %c: tensor<73xi32>,
                             %s: tensor<?xf32>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected a body of 3 arguments (the sum, then an element of each of columns, rows and scales), of the types 'i32', 'i32', 'f32', got 'i32', 'i32'}}
  %0 = transformer.product %x, %w columns(%c) scales(%s) outs(%y)
      : tensor<?x8xi8>, tensor<2x2x48x4xi8>, tensor<73xi32>, tensor<?xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%sum: i32, %excess: i32):
    %f = arith.sitofp %sum : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

func.func @product_c6_floats(%x: tensor<?x8xi16>, %w: tensor<2x8x48xf32>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected panels of i8 (what the input is of), got 'tensor<2x8x48xf32>'}}
  %0 = transformer.product %x, %w outs(%y)
      : tensor<?x8xi16>, tensor<2x8x48xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

func.func @product_c8_elements(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>, %y: tensor<?x73xf16>) {
  // expected-error @below {{expected an init of f32 and no experts (with head_rows), got 'tensor<?x73xf16>'}}
  %0 = transformer.product %x, %w outs(%y) {head_rows}
    : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<?x73xf16> -> tensor<?x73xf16> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

// expected-error @below {{expected an item of whole tiles (a multiple of 8 rows), got 60}}
#tile = #transformer.product_tile<fma, rows = 8, lanes = 16, item = 60,
    unroll = 4, turn_rows = 32, ahead = 64, ahead_rows = 2, block_bytes = 1,
    next_bytes = 1>

// -----

// expected-error @below {{expected lanes of at least 1, got 0}}
#tile = #transformer.product_tile<fma, rows = 8, lanes = 0, item = 64,
    unroll = 4, turn_rows = 32, ahead = 64, ahead_rows = 2, block_bytes = 1,
    next_bytes = 1>

// -----

func.func @output_yields_rows(%x: f32) {
  // expected-error @below {{expected the region to yield rows, got 'f32'}}
  transformer.output "y" tokens take all {
    transformer.yield %x : f32
  }
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @cache_write_c2_layer(%k: memref<?x52xf32>,
                                %batch: !transformer.batch, %cache: !cache) {
  %layer = arith.constant 7 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the cache), got 7}}
  transformer.cache_write %k, %k into %cache[%layer], %batch
    : memref<?x52xf32>, memref<?x52xf32>, !cache
  return
}

// -----

!one = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 4>
func.func @paged_attention_c1_product(%q: memref<?x4xf32>, %scale: f32,
                                      %batch: !transformer.batch, %cache: !one,
                                      %layer: index) {
  // expected-error @below {{expected num_heads times head_dim of less than 2^63, got 4611686018427387904 times 4}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 4611686018427387904 outs(%q : memref<?x4xf32>) : memref<?x4xf32>, !one
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @paged_attention_c6_layer(%q: memref<?x52xf32>, %y: memref<?x52xf32>,
                                    %scale: f32, %batch: !transformer.batch,
                                    %cache: !cache) {
  %layer = arith.constant 2 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the cache), got 2}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 2 outs(%y : memref<?x52xf32>) : memref<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c7_cap(%q: memref<?x52xf32>, %y: memref<?x52xf32>,
                                  %scale: f32, %batch: !transformer.batch,
                                  %cache: !cache, %layer: index) {
  // expected-error @below {{expected cap to be positive and finite, got -1}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 2 outs(%y : memref<?x52xf32>) {cap = -1.0 : f64}
    : memref<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c8_slopes(%q: memref<?x52xf32>, %y: memref<?x52xf32>,
    %scale: f32, %batch: !transformer.batch, %cache: !cache, %layer: index,
    %slopes: memref<3xf32>) {
  // expected-error @below {{expected slopes of length 2 (num_heads), got 3}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 2 slopes %slopes outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache slopes memref<3xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c9_log_base(%q: memref<?x52xf32>,
    %y: memref<?x52xf32>, %scale: f32, %batch: !transformer.batch,
    %cache: !cache, %layer: index) {
  // expected-error @below {{expected log_base to be more than 1 and finite, got 1}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 2 outs(%y : memref<?x52xf32>) {log_base = 1.0 : f64}
    : memref<?x52xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c10_no_rows(%q: memref<?x52xf32>,
    %y: memref<?x52xf32>, %z: memref<?x104xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %a: memref<16x52xf32>, %w: memref<16x27xf32>, %wide: memref<16x104xf32>,
    %few: memref<31xi32>, %rows: memref<33xi32>) {
  // expected-error @below {{expected distance_rows, of odd number and at least 33, exactly if there are relative_keys, relative_queries or relative_values}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 relative_keys %a outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache relative_keys memref<16x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c10_few_rows(%q: memref<?x52xf32>,
    %y: memref<?x52xf32>, %z: memref<?x104xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %a: memref<16x52xf32>, %w: memref<16x27xf32>, %wide: memref<16x104xf32>,
    %few: memref<31xi32>, %rows: memref<33xi32>) {
  // expected-error @below {{expected distance_rows, of odd number and at least 33, exactly if there are relative_keys, relative_queries or relative_values}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 relative_keys %a distance_rows %few outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache relative_keys memref<16x52xf32> distance_rows memref<31xi32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c10_width(%q: memref<?x52xf32>,
    %y: memref<?x52xf32>, %z: memref<?x104xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %a: memref<16x52xf32>, %w: memref<16x27xf32>, %wide: memref<16x104xf32>,
    %few: memref<31xi32>, %rows: memref<33xi32>) {
  // expected-error @below {{expected relative_queries of width 52 (num_heads times head_dim), got 27}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 relative_queries %w distance_rows %rows outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache relative_queries memref<16x27xf32> distance_rows memref<33xi32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c10_kv_heads(%q: memref<?x52xf32>,
    %y: memref<?x52xf32>, %z: memref<?x104xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %a: memref<16x52xf32>, %w: memref<16x27xf32>, %wide: memref<16x104xf32>,
    %few: memref<31xi32>, %rows: memref<33xi32>) {
  // expected-error @below {{expected a cache with a number of kv_heads 4 (num_heads, with relative terms), got 2}}
  transformer.paged_attention %z, %scale, %cache[%layer], %batch bidirectional
    heads 4 relative_keys %wide distance_rows %rows outs(%z : memref<?x104xf32>)
    : memref<?x104xf32>, !cache relative_keys memref<16x104xf32> distance_rows memref<33xi32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c11_cap(%q: memref<?x52xf32>,
    %y: memref<?x52xf32>, %scale: f32, %batch: !transformer.batch,
    %cache: !cache, %layer: index) {
  // expected-error @below {{expected attention without window and cap with a sparse_block, bidirectional with random_blocks or blocks_after, got another}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 outs(%y : memref<?x52xf32>)
    {cap = 2.0 : f64, sparse_block = 4, random_blocks = 1}
    : memref<?x52xf32>, !cache
  return
}

// -----

func.func @ragged_pool_c1_width(%x: memref<?x8xf32>, %y: memref<?x7xf32>,
                                %rows: memref<?xi32>,
                                %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 8 (the width of the input), got 7}}
  transformer.ragged_pool mean %x, %rows, %batch outs(%y : memref<?x7xf32>)
    : memref<?x8xf32>, memref<?xi32>
  return
}

// -----

func.func @ragged_pool_c2_skip(%x: memref<?x8xf32>, %rows: memref<?xi32>,
                               %batch: !transformer.batch) {
  // expected-error @below {{expected skip from 0 to 2^20, got -1}}
  transformer.ragged_pool mean %x, %rows, %batch outs(%x : memref<?x8xf32>)
    {skip = -1} : memref<?x8xf32>, memref<?xi32>
  return
}

// -----

// Groups of 20 columns are no whole words of 8.
func.func @product_c8_words(%x: tensor<?x80xi8>, %w: tensor<2x10x48x4xi8>, %g: tensor<2x4x48xf32>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected rows of i8, and scales of 2 panels 48 wide for groups of whole words of 8 columns, got 'tensor<?x80xi8>' and 'tensor<2x4x48xf32>'}}
  %0 = transformer.product %x, %w groups(%g) outs(%y)
      : tensor<?x80xi8>, tensor<2x10x48x4xi8>, tensor<2x4x48xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

func.func @product_c8_panels(%x: tensor<?x64xf32>, %w: tensor<73x1x1x32xi8>, %g: tensor<9x2x8xf32>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected panels of i8, and scales of panels that end with 73 rows for groups that divide 64 columns, got 'tensor<73x1x1x32xi8>' and 'tensor<9x2x8xf32>'}}
  %0 = transformer.product %x, %w groups(%g) outs(%y)
      : tensor<?x64xf32>, tensor<73x1x1x32xi8>, tensor<9x2x8xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

func.func @product_c8_zeros(%x: tensor<?x64xi8>, %w: tensor<2x8x48x4xi8>, %g: tensor<2x2x48xf32>, %z: tensor<2x4x48xi8>, %y: tensor<?x73xf32>) {
  // expected-error @below {{expected zeros of groups, of their shape, got 'tensor<2x4x48xi8>'}}
  %0 = transformer.product %x, %w groups(%g) zeros(%z) outs(%y)
      : tensor<?x64xi8>, tensor<2x8x48x4xi8>, tensor<2x2x48xf32>, tensor<2x4x48xi8>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c12_length(%q: memref<?x52xf32>, %y: memref<?x52xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %short: memref<51xf32>, %e: memref<2x52xf32>, %types: memref<?xi32>) {
  // expected-error @below {{expected segment_bias of length 52 (num_heads times head_dim), got 51}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 segments %e segment_bias %short types %types outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache segments memref<2x52xf32> segment_bias memref<51xf32> types memref<?xi32>
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c13_types(%q: memref<?x52xf32>, %y: memref<?x52xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %short: memref<51xf32>, %e: memref<2x52xf32>, %types: memref<?xi32>) {
  // expected-error @below {{expected types exactly if there are segments, got segments alone}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 segments %e outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache segments memref<2x52xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26, i8>

func.func @paged_attention_c14_cache(%q: memref<?x52xf32>, %y: memref<?x52xf32>,
    %scale: f32, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  // expected-error @below {{expected a cache of floats and no relative terms with factors, got a cache of integers}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x52xf32>) {factors = bf16} : memref<?x52xf32>, !cache
  return
}

// -----

func.func @ragged_unfold_c1_width(%x: memref<?x8xf32>, %y: memref<?x16xf32>,
                                  %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 24 (taps times the width of a frame), got 16}}
  transformer.ragged_unfold %x taps 3, %batch outs(%y : memref<?x16xf32>)
    : memref<?x8xf32>
  return
}

// -----

func.func @ragged_unfold_frames(%x: memref<?x8xf32>, %y: memref<?x6xf32>,
                                %batch: !transformer.batch) {
  // expected-error @below {{expected inputs of 3 whole frames, got 8 columns}}
  transformer.ragged_unfold %x taps 3 frames 3, %batch
    outs(%y : memref<?x6xf32>) : memref<?x8xf32>
  return
}

// -----

func.func @ragged_unfold_taps(%x: memref<?x8xf32>, %y: memref<?x16xf32>,
                              %batch: !transformer.batch) {
  // expected-error @below {{expected odd taps in [1, 1023], got 2}}
  transformer.ragged_unfold %x taps 2, %batch outs(%y : memref<?x16xf32>)
    : memref<?x8xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

func.func @paged_attention_c15_cache(%q: memref<?x52xf32>, %y: memref<?x52xf32>, %scale: f32,
    %batch: !transformer.batch, %cache: !cache, %layer: index,
    %unseen: memref<?xi32>) {
  // expected-error @below {{expected a scratch cache, a bidirectional mask and neither window, cap, log_base nor sparse_block with unseen (it is of this step's rows), got others}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 unseen %unseen outs(%y : memref<?x52xf32>)
    : memref<?x52xf32>, !cache unseen memref<?xi32>
  return
}

// -----

func.func @ragged_hashed_c1_width(%x: memref<?x8xf32>, %r: memref<8x9xf32>,
                                  %y: memref<?x4xf32>,
                                  %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 8 (the width of the query), got 4}}
  transformer.ragged_hashed %x, %x, %x, %r, %batch heads 2
    outs(%y : memref<?x4xf32>)
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 16 : i64,
          scale = 0.5 : f64}
    : memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>, memref<8x9xf32>
  return
}
