// Round trip of the structured ops, on tensors and on memrefs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

!cache = !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>

// CHECK-LABEL: @on_tensors
// CHECK-SAME: %[[Q:.*]]: tensor<?x104xf32>, %[[K:.*]]: tensor<?x52xf32>, %[[V:.*]]: tensor<?x52xf32>, %[[BATCH:.*]]: !transformer.batch, %[[CACHE:.*]]: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 26>, %[[LAYER:.*]]: index, %[[SCALE:.*]]: f32
func.func @on_tensors(%q: tensor<?x104xf32>, %k: tensor<?x52xf32>,
                      %v: tensor<?x52xf32>, %batch: !transformer.batch,
                      %cache: !cache, %layer: index, %scale: f32) {
  // CHECK: transformer.cache_write %[[K]], %[[V]] into %[[CACHE]][%[[LAYER]]], %[[BATCH]] : tensor<?x52xf32>, tensor<?x52xf32>, <layers = 2, kv_heads = 2, head_dim = 26>
  transformer.cache_write %k, %v into %cache[%layer], %batch
    : tensor<?x52xf32>, tensor<?x52xf32>, !cache
  // CHECK: transformer.paged_attention %[[Q]], %[[SCALE]], %[[CACHE]][%[[LAYER]]], %[[BATCH]] causal heads 4 outs(%[[Q]] : tensor<?x104xf32>) : tensor<?x104xf32>, <layers = 2, kv_heads = 2, head_dim = 26> -> tensor<?x104xf32>
  %0 = transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
         heads 4 outs(%q : tensor<?x104xf32>)
         : tensor<?x104xf32>, !cache -> tensor<?x104xf32>
  // CHECK: transformer.tap "a:b" layer %[[LAYER]] %[[Q]] : tensor<?x104xf32>
  transformer.tap "a:b" layer %layer %q : tensor<?x104xf32>
  // CHECK: transformer.tap "outside" %[[Q]] : tensor<?x104xf32>
  transformer.tap "outside" %q : tensor<?x104xf32>
  return
}

// CHECK-LABEL: @on_memrefs
// CHECK-SAME: %[[Q:.*]]: memref<?x104xf32>, %[[K:.*]]: memref<?x52xf32>, %[[BATCH:.*]]: !transformer.batch
func.func @on_memrefs(%q: memref<?x104xf32>, %k: memref<?x52xf32>,
                      %batch: !transformer.batch, %cache: !cache,
                      %layer: index, %scale: f32) {
  // CHECK: transformer.cache_write %[[K]], %[[K]] into {{.*}} : memref<?x52xf32>, memref<?x52xf32>, <layers
  transformer.cache_write %k, %k into %cache[%layer], %batch
    : memref<?x52xf32>, memref<?x52xf32>, !cache
  // CHECK: transformer.paged_attention {{.*}} bidirectional heads 4 outs(%[[Q]] : memref<?x104xf32>) : memref<?x104xf32>, <layers = 2, kv_heads = 2, head_dim = 26>{{$}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 4 outs(%q : memref<?x104xf32>) : memref<?x104xf32>, !cache
  // CHECK: transformer.tap "a:b" %[[Q]] : memref<?x104xf32>
  transformer.tap "a:b" %q : memref<?x104xf32>
  return
}

// CHECK-LABEL: @biased_attention
// CHECK-SAME: %[[T:[a-z0-9]+]]: tensor<4x9xf32>, %[[M:[a-z0-9]+]]: memref<4x9xf32>, %[[LEFT:[a-z0-9]+]]: index, %[[RIGHT:[a-z0-9]+]]: index
func.func @biased_attention(%x: tensor<?x104xf32>, %q: memref<?x104xf32>,
                            %batch: !transformer.batch, %cache: !cache,
                            %layer: index, %scale: f32, %t: tensor<4x9xf32>,
                            %m: memref<4x9xf32>, %left: index,
                            %right: index) {
  // CHECK: transformer.paged_attention {{.*}} bias %[[T]] causal left %[[LEFT]] heads 4 outs({{.*}}) : tensor<?x104xf32>, <layers = 2, kv_heads = 2, head_dim = 26>, tensor<4x9xf32> -> tensor<?x104xf32>
  %0 = transformer.paged_attention %x, %scale, %cache[%layer], %batch bias %t
         causal left %left heads 4 outs(%x : tensor<?x104xf32>)
         : tensor<?x104xf32>, !cache, tensor<4x9xf32> -> tensor<?x104xf32>
  // CHECK: transformer.paged_attention {{.*}} bias %[[M]] bidirectional heads 4 outs({{.*}}) : memref<?x104xf32>, <layers = 2, kv_heads = 2, head_dim = 26>, memref<4x9xf32>{{$}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bias %m
    bidirectional heads 4 outs(%q : memref<?x104xf32>)
    : memref<?x104xf32>, !cache, memref<4x9xf32>
  // CHECK: transformer.paged_attention {{.*}} bidirectional left %[[LEFT]] right %[[RIGHT]] heads 4 outs
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    left %left right %right heads 4 outs(%q : memref<?x104xf32>)
    : memref<?x104xf32>, !cache
  return
}

// CHECK-LABEL: @outputs
// CHECK-SAME: %[[X:.*]]: tensor<?x2xf32>
func.func @outputs(%x: tensor<?x2xf32>, %rows: tensor<?xi32>) {
  // CHECK: transformer.output "last_hidden_state" tokens take all {
  // CHECK-NEXT: transformer.yield %[[X]] : tensor<?x2xf32>
  // CHECK-NEXT: }
  transformer.output "last_hidden_state" tokens take all {
    transformer.yield %x : tensor<?x2xf32>
  }
  // CHECK: transformer.output "pooled" wanted take first {
  transformer.output "pooled" wanted take first {
    %r = transformer.gather_rows %x, %rows : tensor<?x2xf32>, tensor<?xi32>
    transformer.yield %r : tensor<?x2xf32>
  }
  // CHECK: transformer.output "score" wanted take last_nonpad squeezed {
  transformer.output "score" wanted take last_nonpad squeezed {
    %r = transformer.gather_rows %x, %rows : tensor<?x2xf32>, tensor<?xi32>
    %s = transformer.slice_columns %r[1, 1] : tensor<?x2xf32>
    transformer.yield %s : tensor<?x1xf32>
  }
  // CHECK: transformer.output "choice" wanted take last_eos {
  transformer.output "choice" wanted take last_eos {
    transformer.yield %x : tensor<?x2xf32>
  }
  return
}

// CHECK-LABEL: @parts_of_an_output
// CHECK-SAME: %[[X:.*]]: tensor<?x2xf32>, %[[N:.*]]: index
func.func @parts_of_an_output(%x: tensor<?x2xf32>, %n: index) {
  // CHECK: scf.for %[[I:.*]] =
  scf.for %i = %n to %n step %n {
    // CHECK: transformer.output "hidden_states" tokens take all part %[[I]] of 3 {
    transformer.output "hidden_states" tokens take all part %i of 3 {
      transformer.yield %x : tensor<?x2xf32>
    }
  }
  // CHECK: transformer.output "hidden_states" tokens take all part %[[N]] of 3 {
  transformer.output "hidden_states" tokens take all part %n of 3 {
    transformer.yield %x : tensor<?x2xf32>
  }
  return
}

// CHECK-LABEL: @worker
func.func @worker() -> index {
  // CHECK: transformer.worker{{$}}
  %0 = transformer.worker
  return %0 : index
}

// CHECK-LABEL: @ports
// CHECK-SAME: tensor<?xi32> {transformer.input = #transformer.input<"input_ids", fill = required, limit = 97>}
// CHECK-SAME: tensor<?xi32> {transformer.input = #transformer.input<"token_type_ids", fill = absent, limit = 2>}
// CHECK-SAME: tensor<?xi32> {transformer.input = #transformer.input<"position_ids", fill = position, limit = 48>}
// CHECK-SAME: tensor<?xi32> {transformer.rows}
func.func private @ports(
    tensor<?xi32> {transformer.input =
      #transformer.input<"input_ids", fill = required, limit = 97>},
    tensor<?xi32> {transformer.input =
      #transformer.input<"token_type_ids", fill = absent, limit = 2>},
    tensor<?xi32> {transformer.input =
      #transformer.input<"position_ids", fill = position, limit = 48>},
    tensor<?xi32> {transformer.rows})

// CHECK-LABEL: @products
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xf32>, %[[W:[a-z0-9]+]]: tensor<2x8x48xf32>, %[[B:[a-z0-9]+]]: tensor<73xf32>, %[[R:[a-z0-9]+]]: tensor<?x73xf32>, %[[Y:[a-z0-9]+]]: tensor<?x73xf32>
func.func @products(%x: tensor<?x8xf32>, %w: tensor<2x8x48xf32>,
                    %b: tensor<73xf32>, %r: tensor<?x73xf32>,
                    %y: tensor<?x73xf32>, %mx: memref<?x8xf32>,
                    %mw: memref<2x8x48xf32>, %my: memref<?x96xf32>) {
  // CHECK: transformer.product %[[X]], %[[W]] columns(%[[B]]) rows(%[[R]]) outs(%[[Y]]) : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<73xf32>, tensor<?x73xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  // CHECK-NEXT: ^bb0(%[[S:.*]]: f32, %[[C:.*]]: f32, %[[E:.*]]: f32):
  // CHECK-NEXT: arith.addf %[[S]], %[[C]] : f32
  // CHECK: transformer.yield %{{.*}} : f32
  %0 = transformer.product %x, %w columns(%b) rows(%r) outs(%y)
      : tensor<?x8xf32>, tensor<2x8x48xf32>, tensor<73xf32>, tensor<?x73xf32>,
        tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%s: f32, %c: f32, %e: f32):
    %biased = arith.addf %s, %c : f32
    %z = arith.addf %biased, %e : f32
    transformer.yield %z : f32
  }
  // CHECK: transformer.product %{{.*}}, %{{.*}} outs(%{{.*}}) {tile = #transformer.product_tile<fma, rows = 8, lanes = 16, item = 64, unroll = 4, turn_rows = 32, ahead = 64, ahead_rows = 2, block_bytes = 786432, next_bytes = 786432>} : memref<?x8xf32>, memref<2x8x48xf32>, memref<?x96xf32> {
  transformer.product %mx, %mw outs(%my) {tile = #transformer.product_tile<fma,
      rows = 8, lanes = 16, item = 64, unroll = 4, turn_rows = 32, ahead = 64,
      ahead_rows = 2, block_bytes = 786432, next_bytes = 786432>}
      : memref<?x8xf32>, memref<2x8x48xf32>, memref<?x96xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// CHECK-LABEL: @scores
// CHECK-SAME: %[[Q:.*]]: memref<?x104xf32>, %[[NUMBERS:.*]]: memref<4xf32>
func.func @scores(%q: memref<?x104xf32>, %numbers: memref<4xf32>,
                  %batch: !transformer.batch, %cache: !cache, %layer: index,
                  %scale: f32) {
  // CHECK: transformer.paged_attention {{.*}} causal heads 4 slopes %[[NUMBERS]] sinks %[[NUMBERS]] outs(%[[Q]] : memref<?x104xf32>) {log_base = 5.120000e+02 : f64} : memref<?x104xf32>, <layers = 2, kv_heads = 2, head_dim = 26> slopes memref<4xf32> sinks memref<4xf32>{{$}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    heads 4 slopes %numbers sinks %numbers outs(%q : memref<?x104xf32>)
    {log_base = 512.0 : f64} : memref<?x104xf32>, !cache
    slopes memref<4xf32> sinks memref<4xf32>
  return
}

// CHECK-LABEL: @ragged_pool
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[ROWS:.*]]: tensor<?xi32>, %[[Y:.*]]: memref<?x8xf32>, %[[AT:.*]]: memref<?xi32>, %[[BATCH:.*]]: !transformer.batch
func.func @ragged_pool(%x: tensor<?x8xf32>, %rows: tensor<?xi32>,
                       %y: memref<?x8xf32>, %at: memref<?xi32>,
                       %batch: !transformer.batch) {
  // CHECK: transformer.ragged_pool mean %[[X]], %[[ROWS]], %[[BATCH]] outs(%[[X]] : tensor<?x8xf32>) : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
  %0 = transformer.ragged_pool mean %x, %rows, %batch
         outs(%x : tensor<?x8xf32>)
         : tensor<?x8xf32>, tensor<?xi32> -> tensor<?x8xf32>
  // CHECK: transformer.ragged_pool max %[[Y]], %[[AT]], %[[BATCH]] outs(%[[Y]] : memref<?x8xf32>) : memref<?x8xf32>, memref<?xi32>{{$}}
  transformer.ragged_pool max %y, %at, %batch outs(%y : memref<?x8xf32>)
    : memref<?x8xf32>, memref<?xi32>
  // CHECK: transformer.ragged_pool mean {{.*}} {skip = 3 : i64} : memref<?x8xf32>
  transformer.ragged_pool mean %y, %at, %batch outs(%y : memref<?x8xf32>)
    {skip = 3} : memref<?x8xf32>, memref<?xi32>
  return
}

// CHECK-LABEL: @product_of_integers
func.func @product_of_integers(%x: tensor<?x7xi8>, %w: tensor<2x2x48x4xi8>, %c: tensor<73xi32>,
                               %s: tensor<?xf32>, %y: tensor<?x73xf32>) {
  // CHECK: transformer.product %{{.*}}, %{{.*}} columns(%{{.*}}) scales(%{{.*}}) outs(%{{.*}}) : tensor<?x7xi8>, tensor<2x2x48x4xi8>, tensor<73xi32>, tensor<?xf32>, tensor<?x73xf32> -> tensor<?x73xf32>
  %0 = transformer.product %x, %w columns(%c) scales(%s) outs(%y)
      : tensor<?x7xi8>, tensor<2x2x48x4xi8>, tensor<73xi32>, tensor<?xf32>, tensor<?x73xf32> -> tensor<?x73xf32> {
  ^bb0(%sum: i32, %excess: i32, %scale: f32):
    %z = arith.subi %sum, %excess : i32
    %f = arith.sitofp %z : i32 to f32
    %r = arith.mulf %f, %scale : f32
    transformer.yield %r : f32
  }
  return
}

// CHECK-LABEL: @ragged_unfold
func.func @ragged_unfold(%x: tensor<?x8xf32>, %wide: tensor<?x24xf32>,
                         %y: memref<?x8xf32>, %to: memref<?x24xf32>,
                         %batch: !transformer.batch) {
  // CHECK: transformer.ragged_unfold %{{.*}} taps 3, %{{.*}} outs(%{{.*}} : tensor<?x24xf32>) : tensor<?x8xf32> -> tensor<?x24xf32>
  %0 = transformer.ragged_unfold %x taps 3, %batch
         outs(%wide : tensor<?x24xf32>) : tensor<?x8xf32> -> tensor<?x24xf32>
  // CHECK: transformer.ragged_unfold %{{.*}} taps 3, %{{.*}} outs(%{{.*}} : memref<?x24xf32>) : memref<?x8xf32>{{$}}
  transformer.ragged_unfold %y taps 3, %batch outs(%to : memref<?x24xf32>)
    : memref<?x8xf32>
  // CHECK: transformer.ragged_unfold %{{.*}}, %{{.*}} taps 3 from -1 frames 2, %{{.*}} outs(%{{.*}} : memref<?x24xf32>) : memref<?x8xf32>, memref<?x8xf32>{{$}}
  transformer.ragged_unfold %y, %y taps 3 from -1 frames 2, %batch
    outs(%to : memref<?x24xf32>) : memref<?x8xf32>, memref<?x8xf32>
  return
}

// CHECK-LABEL: @sums_of_ranks
func.func @sums_of_ranks(%x: tensor<?x8xf32>, %y: memref<?x8xf32>) {
  // CHECK: transformer.reduce_in_place outs(%{{.*}} : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = transformer.reduce_in_place outs(%x : tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.reduce_in_place outs(%{{.*}} : memref<?x8xf32>){{$}}
  transformer.reduce_in_place outs(%y : memref<?x8xf32>)
  return
}
