// What the verifiers of heads' ops refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @weigh_rows_c1_width(%x: tensor<?x8xf32>, %w: tensor<?x2xf32>,
                               %rows: tensor<?xi32>,
                               %batch: !transformer.batch) {
  // expected-error @below {{expected weights of width 1 (a number a row), got 2}}
  %0 = transformer.weigh_rows last %x by %w, %rows, %batch
         : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<?xi32>,
            !transformer.batch) -> tensor<?x16xf32>
  return
}

// -----

func.func @ragged_pairs_c1_width(%x: memref<?x8xf32>, %to: memref<?x24xf32>,
                                 %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 32 (four times the width of the input), got 24}}
  transformer.ragged_pairs last %x, %batch outs(%to : memref<?x24xf32>)
    : memref<?x8xf32>
  return
}

// -----

func.func @ragged_weights_c1_width(%x: memref<?x8xf32>, %w: memref<?x8xf32>,
                                   %rows: memref<?xi32>,
                                   %to: memref<?x16xf32>,
                                   %batch: !transformer.batch) {
  // expected-error @below {{expected weights of width 1 (a number a row), got 8}}
  transformer.ragged_weights last %x by %w, %rows, %batch
    outs(%to : memref<?x16xf32>)
    : memref<?x8xf32>, memref<?x8xf32>, memref<?xi32>
  return
}

// -----

func.func @ragged_weights_c2_width(%x: memref<?x8xf32>, %w: memref<?x1xf32>,
                                   %rows: memref<?xi32>, %to: memref<?x8xf32>,
                                   %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 16 (twice the width of the input), got 8}}
  transformer.ragged_weights last %x by %w, %rows, %batch
    outs(%to : memref<?x8xf32>)
    : memref<?x8xf32>, memref<?x1xf32>, memref<?xi32>
  return
}

// -----

func.func @log_softmax_c1_gates(%x: tensor<?x8xf32>, %g: tensor<?x2xf32>,
                                %a: tensor<?x5xf32>) {
  // expected-error @below {{expected gates of width 1 (a column a cluster), got 2}}
  %0 = transformer.log_softmax %x gates %g clusters %a
         : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<?x5xf32>)
           -> tensor<?x13xf32>
  return
}

// -----

func.func @clustered_log_softmax_c1_no_gates(%x: memref<?x8xf32>,
                                             %a: memref<?x5xf32>,
                                             %to: memref<?x13xf32>) {
  // expected-error @below {{expected gates of width 1 (a column a cluster), got 0}}
  transformer.clustered_log_softmax %x clusters %a
    outs(%to : memref<?x13xf32>) : memref<?x8xf32> clusters memref<?x5xf32>
  return
}

// -----

func.func @clustered_log_softmax_c2_width(%x: memref<?x8xf32>,
                                          %to: memref<?x9xf32>) {
  // expected-error @below {{expected init of width 8 (the columns of the input and of clusters), got 9}}
  transformer.clustered_log_softmax %x outs(%to : memref<?x9xf32>)
    : memref<?x8xf32>
  return
}

// -----

func.func @memory_sinks_c1_heads(%q: tensor<?x24xf32>, %a: tensor<17x24xf32>,
                                 %left: index, %batch: !transformer.batch) {
  // expected-error @below {{expected num_heads to divide 24 (the width of the query), got 5}}
  %0 = transformer.memory_sinks %q, %a, %batch left %left heads 5 span 9
         {scale = 0.5 : f64}
         : (tensor<?x24xf32>, tensor<17x24xf32>, !transformer.batch, index)
           -> tensor<?x5xf32>
  return
}

// -----

func.func @memory_sinks_c2_rows(%q: tensor<?x24xf32>, %a: tensor<7x24xf32>,
                                %left: index, %batch: !transformer.batch) {
  // expected-error @below {{expected span in [1, 2^30) and as many relative_keys at least, got 9}}
  %0 = transformer.memory_sinks %q, %a, %batch left %left heads 4 span 9
         {scale = 0.5 : f64}
         : (tensor<?x24xf32>, tensor<7x24xf32>, !transformer.batch, index)
           -> tensor<?x4xf32>
  return
}

// -----

func.func @memory_sinks_c3_length(%q: tensor<?x24xf32>, %a: tensor<17x24xf32>,
                                  %v: tensor<4xf32>, %left: index,
                                  %batch: !transformer.batch) {
  // expected-error @below {{expected relative_bias of length 24 (the width of the query), got 4}}
  %0 = transformer.memory_sinks %q, %a, %batch left %left heads 4 span 9 bias %v
         {scale = 0.5 : f64}
         : (tensor<?x24xf32>, tensor<17x24xf32>, !transformer.batch, index,
            tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @memory_sinks_c4_scale(%q: tensor<?x24xf32>, %a: tensor<17x24xf32>,
                                 %left: index, %batch: !transformer.batch) {
  // expected-error @below {{expected a finite scale, got INF}}
  %0 = transformer.memory_sinks %q, %a, %batch left %left heads 4 span 9
         {scale = 0x7FF0000000000000 : f64}
         : (tensor<?x24xf32>, tensor<17x24xf32>, !transformer.batch, index)
           -> tensor<?x4xf32>
  return
}

// -----

func.func @ragged_sinks_c1_heads(%q: memref<?x24xf32>, %a: memref<?x24xf32>,
                                 %left: index, %to: memref<?x5xf32>,
                                 %batch: !transformer.batch) {
  // expected-error @below {{expected num_heads to divide 24 (the width of the query), got 5}}
  transformer.ragged_sinks %q, %a, %batch left %left heads 5 span 9
    outs(%to : memref<?x5xf32>) {scale = 0.5 : f64}
    : memref<?x24xf32>, memref<?x24xf32>
  return
}

// -----

func.func @ragged_sinks_c2_width(%q: memref<?x24xf32>, %a: memref<?x12xf32>,
                                 %left: index, %to: memref<?x4xf32>,
                                 %batch: !transformer.batch) {
  // expected-error @below {{expected relative_keys of width 24 (the width of the query), got 12}}
  transformer.ragged_sinks %q, %a, %batch left %left heads 4 span 9
    outs(%to : memref<?x4xf32>) {scale = 0.5 : f64}
    : memref<?x24xf32>, memref<?x12xf32>
  return
}

// -----

func.func @ragged_sinks_c3_length(%q: memref<?x24xf32>, %a: memref<?x24xf32>,
                                  %v: memref<4xf32>, %left: index,
                                  %to: memref<?x4xf32>,
                                  %batch: !transformer.batch) {
  // expected-error @below {{expected relative_bias of length 24 (the width of the query), got 4}}
  transformer.ragged_sinks %q, %a, %batch left %left heads 4 span 9 bias %v
    outs(%to : memref<?x4xf32>) {scale = 0.5 : f64}
    : memref<?x24xf32>, memref<?x24xf32> bias memref<4xf32>
  return
}

// -----

func.func @ragged_sinks_c4_width(%q: memref<?x24xf32>, %a: memref<?x24xf32>,
                                 %left: index, %to: memref<?x5xf32>,
                                 %batch: !transformer.batch) {
  // expected-error @below {{expected init of width 4 (num_heads), got 5}}
  transformer.ragged_sinks %q, %a, %batch left %left heads 4 span 9
    outs(%to : memref<?x5xf32>) {scale = 0.5 : f64}
    : memref<?x24xf32>, memref<?x24xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>
func.func @sinks_of_tokens_alone(%x: tensor<?x52xf32>, %cache: !cache,
                                 %layer: index, %batch: !transformer.batch,
                                 %sinks: tensor<?x2xf32>) {
  // expected-error @below {{expected relative_keys beside sinks of tokens, got none}}
  %0 = transformer.attention %x, %x, %x, %cache[%layer], %batch causal heads 2
         sinks %sinks {scale = 1.0 : f64}
         : tensor<?x52xf32>, tensor<?x52xf32>, tensor<?x52xf32>, !cache
         sinks tensor<?x2xf32>
  return
}
