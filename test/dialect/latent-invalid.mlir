// What the verifiers of latent attention refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @head_linear_c1_matrices(%x: tensor<?x30xf32>, %w: tensor<2x12x6xf32>) {
  // expected-error @below {{expected a weight with matrices 3 (one for each head), got 2}}
  %y = transformer.head_linear %x, %w heads 3
      : (tensor<?x30xf32>, tensor<2x12x6xf32>) -> tensor<?x48xf32>
  return
}

// -----

func.func @head_linear_c2_narrow(%x: tensor<?x15xf32>, %w: tensor<3x12x6xf32>) {
  // expected-error @below {{expected rows of 3 heads of at least 6 columns (the weight's), got 15}}
  // expected-error @below {{'transformer.head_linear' op failed to infer returned types}}
  %y = transformer.head_linear %x, %w heads 3
      : (tensor<?x15xf32>, tensor<3x12x6xf32>) -> tensor<?x48xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16>

func.func @latent_attention_c1_values_of_their_own(
    %q: tensor<?x48xf32>, %k: tensor<?x4xf32>, %c: tensor<?x12xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected a cache of latents, got '!transformer.cache<layers = 2, kv_heads = 1, head_dim = 16>'}}
  %0 = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch heads 3
      {scale = 0.5 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x0xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

func.func @latent_attention_c2_no_head(
    %q: tensor<?x48xf32>, %k: tensor<?x4xf32>, %c: tensor<?x12xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected at least one head, and num_heads times head_dim of less than 2^31, got 0 times 16}}
  %0 = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch heads 0
      {scale = 0.5 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x0xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

func.func @latent_attention_c3_query(
    %q: tensor<?x47xf32>, %k: tensor<?x4xf32>, %c: tensor<?x12xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected query of width 48 (num_heads times head_dim), got 47}}
  %0 = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch heads 3
      {scale = 0.5 : f64}
      : tensor<?x47xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x36xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

func.func @latent_attention_c4_scale(
    %q: tensor<?x48xf32>, %k: tensor<?x4xf32>, %c: tensor<?x12xf32>,
    %cache: !cache, %layer: index, %batch: !transformer.batch) {
  // expected-error @below {{expected a finite scale, got INF}}
  %0 = transformer.latent_attention %q, %k, %c, %cache[%layer], %batch heads 3
      {scale = 0x7FF0000000000000 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x36xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

func.func @latent_attention_c5_layer(
    %q: tensor<?x48xf32>, %k: tensor<?x4xf32>, %c: tensor<?x12xf32>,
    %cache: !cache, %batch: !transformer.batch) {
  %two = arith.constant 2 : index
  // expected-error @below {{expected a layer in [0, 2) (layers of the cache), got 2}}
  %0 = transformer.latent_attention %q, %k, %c, %cache[%two], %batch heads 3
      {scale = 0.5 : f64}
      : tensor<?x48xf32>, tensor<?x4xf32>, tensor<?x12xf32>, !cache,
        tensor<?x36xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

func.func @paged_latent_c1_init(
    %q: memref<?x48xf32>, %k: memref<?x4xf32>, %c: memref<?x12xf32>,
    %y: memref<?x12xf32>, %cache: !cache, %layer: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected a result of width 36 (num_heads times values), got 12}}
  transformer.paged_latent %q, %k, %c, %cache[%layer], %batch heads 3
      outs(%y : memref<?x12xf32>) {scale = 0.5 : f64}
      : memref<?x48xf32>, memref<?x4xf32>, memref<?x12xf32>, !cache
  return
}

// -----

func.func @cache_c5_heads(
    // expected-error @below {{expected values of at most 16 (head_dim), in a cache of one head that is neither scratch nor cross, got 12}}
    !transformer.cache<layers = 2, kv_heads = 2, head_dim = 16, values = 12>)

// -----

func.func @cache_c6_integers(
    // expected-error @below {{expected latents of f32, f16 or bf16 (one scale does not suit both parts of a key), got 'i8'}}
    !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12, i8>)

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>

func.func @cache_write_c1_latents(
    %k: tensor<?x16xf32>, %cache: !cache, %layer: index,
    %batch: !transformer.batch) {
  // expected-error @below {{expected a cache with values of their own (latents are those of latent_attention), got '!transformer.cache<layers = 2, kv_heads = 1, head_dim = 16, values = 12>'}}
  transformer.cache_write %k, %k into %cache[%layer], %batch
      : tensor<?x16xf32>, tensor<?x16xf32>, !cache
  return
}
