// Attention in vectors: how it is cut into work, tiles and vectors, and what
// keeps its bits independent of all that.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// 3 layers of keys and values of 64 positions, 128 numbers each.
// CHECK-LABEL: @works_on_heads_then_items
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<?x128xf32>, %[[Y:[a-z0-9]*]]: memref<?x128xf32>
// CHECK-SAME: %[[WORKERS:[a-z0-9]*]]: index {transformer.workers}
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 64, layers = 3, block_bytes = 196608, layer_bytes = 65536, query_rows = 8>
func.func @works_on_heads_then_items(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
  // One scratch memory a worker, and nothing else.
  // CHECK: %[[SCRATCH:.*]] = memref.alloc(%[[WORKERS]]) : memref<?x[[SIZE:[0-9]+]]xf32>
  // CHECK-NOT: memref.alloc
  // CHECK: scf.parallel (%[[HEAD:.*]], %[[ITEM:.*]]) = (%[[ZERO]], %[[ZERO]]) to (%[[TWO]], %{{.*}})
  // What comes next: the next item or, after the last one, that of the next head.
  // CHECK: %[[AFTER:.*]] = arith.addi %[[ITEM]],
  // CHECK: %[[INNER:.*]] = arith.cmpi slt, %[[AFTER]],
  // CHECK: %[[NEXT:.*]] = arith.select %[[INNER]], %[[AFTER]], %[[ZERO]]
  // CHECK: %[[NEXT_HEAD:.*]] = arith.select %[[INNER]], %[[HEAD]],
  // CHECK: arith.muli %[[NEXT]], %c16
  // CHECK: %[[NEXT_ROWS:.*]] = arith.minsi
  // CHECK: %[[WORKER:.*]] = transformer.worker
  // CHECK: %[[NEXT_COLUMN:.*]] = arith.muli %[[NEXT_HEAD]], %c64
  // CHECK: %[[COLUMN:.*]] = arith.muli %[[HEAD]], %c64
  // The scale is in the query, once.
  // CHECK: %[[QUERY:.*]] = vector.load %{{.*}} : memref<?x128xf32>, vector<16xf32>
  // CHECK: %[[FACTOR:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[QUERY]], %[[FACTOR]]
  // CHECK: vector.store %[[SCALED]], %[[SCRATCH]][%[[WORKER]],
  // Between the two products, a row at a time: the queries of what comes next
  // while maxima are found, and where the result will be beside exponentials.
  // CHECK: %[[LAST:.*]] = arith.subi %[[NEXT_ROWS]],
  // CHECK: arith.minsi %{{.*}}, %[[LAST]]
  // CHECK: memref.prefetch %[[Q]][%{{.*}}, %[[NEXT_COLUMN]]], read, locality<2>, data
  // CHECK-COUNT-3: memref.prefetch %[[Q]]
  // CHECK: arith.cmpf ogt
  // CHECK: memref.prefetch %[[Y]][%{{.*}}, %[[COLUMN]]], read, locality<2>, data
  // CHECK-COUNT-3: memref.prefetch %[[Y]]
  // CHECK: math.exp
  // CHECK-NOT: memref.alloc
  // CHECK: return
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @tiles_have_one_two_four_or_eight_rows
func.func @tiles_have_one_two_four_or_eight_rows(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[STRETCH:.*]] = arith.constant 512 : index
  // Stretches begin at fixed positions, wherever the step began.
  // CHECK: scf.for %{{.*}} = %c0 to %{{.*}} step %[[STRETCH]] {
  // Scores: the sums, 4 vectors of keys for few rows, are carried, and pointers
  // to keys and to what is asked for.
  // CHECK: scf.index_switch %[[ROWS:.*]]
  // CHECK: case 1 {
  // CHECK: %{{.*}}:6 = scf.for {{.*}} -> (!llvm.ptr, !llvm.ptr, vector<16xf32>,
  // CHECK-COUNT-8: vector.fma
  // CHECK-NOT: vector.fma
  // CHECK: case 2 {
  // CHECK: %{{.*}}:10 = scf.for
  // CHECK: case 4 {
  // CHECK: %{{.*}}:18 = scf.for
  // CHECK: default {
  // CHECK: %{{.*}}:17 = scf.for
  // CHECK-COUNT-32: vector.fma
  // CHECK-NOT: vector.fma
  // Softmax, the same for all.
  // CHECK: math.exp
  // Sums of values: 64 columns at a time, 32 for eight rows.
  // CHECK: scf.index_switch %[[ROWS]]
  // CHECK: case 1 {
  // CHECK: %{{.*}}:4 = scf.for
  // CHECK: %{{.*}}:6 = scf.for
  // CHECK: case 2 {
  // CHECK: %{{.*}}:8 = scf.for
  // CHECK: %{{.*}}:10 = scf.for
  // CHECK: case 4 {
  // CHECK: %{{.*}}:18 = scf.for
  // CHECK: default {
  // CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
  // CHECK: %{{.*}}:17 = scf.for
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// Blocks may hold anything where a query does not look.
// CHECK-LABEL: @what_is_not_seen_meets_no_arithmetic
func.func @what_is_not_seen_meets_no_arithmetic(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-3.40282347E+38> : vector<16xf32>
  // CHECK-DAG: %[[NUMBERS:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
  // CHECK-DAG: %[[NONE:.*]] = arith.constant dense<0.000000e+00> : vector<16xf32>
  // The maximum.
  // CHECK: %[[SEEN:.*]] = arith.cmpi sgt, %{{.*}}, %[[NUMBERS]] : vector<16xi32>
  // CHECK: %[[SCORE:.*]] = arith.select %[[SEEN]], %{{.*}}, %[[LOWEST]]
  // CHECK: arith.cmpf ogt, %[[SCORE]]
  // The weights.
  // CHECK: %[[HIGHEST:.*]] = vector.broadcast %{{.*}} : f32 to vector<16xf32>
  // CHECK: %[[SEEN:.*]] = arith.cmpi sgt, %{{.*}}, %[[NUMBERS]] : vector<16xi32>
  // CHECK: %[[SCORE:.*]] = arith.select %[[SEEN]], %{{.*}}, %[[HIGHEST]]
  // CHECK: %[[DIFFERENCE:.*]] = arith.subf %[[SCORE]], %[[HIGHEST]]
  // CHECK: %[[EXP:.*]] = math.exp %[[DIFFERENCE]]
  // CHECK: %[[WEIGHT:.*]] = arith.select %[[SEEN]], %[[EXP]], %[[NONE]]
  // CHECK: vector.store %[[WEIGHT]]
  // Values that later rows see, but not this one: a row at a time, from the
  // second on, to its own end. No sum is chosen by position.
  // CHECK: scf.index_switch
  // CHECK-NOT: arith.select {{.*}} : vector
  // CHECK: default {
  // CHECK: vector.fma
  // CHECK: scf.for %{{.*}} = %c1 to
  // CHECK: %[[SEEN:.*]] = arith.subi
  // CHECK-NEXT: %[[OWN_END:.*]] = arith.minsi %[[SEEN]]
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[OWN_END]] step %c1 iter_args
  // CHECK-COUNT-4: vector.fma
  // CHECK-NOT: arith.select {{.*}} : vector
  // CHECK: return
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}

// -----

!scratch = !transformer.cache<scratch, layers = 2, kv_heads = 2, head_dim = 26>

// CHECK-LABEL: @narrow_vectors_end_a_row
func.func @narrow_vectors_end_a_row(
    %q: memref<?x52xf32>, %y: memref<?x52xf32>, %scale: f32, %layer: index,
    %cache: !scratch, %batch: !transformer.batch) {
  // CHECK: vector.load {{.*}} : memref<?x52xf32>, vector<16xf32>
  // CHECK: vector.load {{.*}} : memref<?x52xf32>, vector<8xf32>
  // CHECK: vector.load {{.*}} : memref<?x52xf32>, vector<2xf32>
  // CHECK: math.exp
  // All queries see the same keys: no sum is chosen by position.
  // CHECK: scf.index_switch
  // CHECK: llvm.load {{.*}} -> vector<16xf32>
  // CHECK: llvm.load {{.*}} -> vector<8xf32>
  // CHECK: llvm.load {{.*}} -> vector<2xf32>
  // CHECK-NOT: arith.select {{.*}} : vector
  // CHECK: return
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    heads 2 outs(%y : memref<?x52xf32>) : memref<?x52xf32>, !scratch
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @a_bias_is_one_load_a_vector
// CHECK-SAME: %[[BIAS:[a-z0-9]*]]: memref<2x257xf32>
func.func @a_bias_is_one_load_a_vector(
    %bias: memref<2x257xf32>, %q: memref<?x128xf32>, %y: memref<?x128xf32>,
    %scale: f32, %layer: index, %cache: !cache, %batch: !transformer.batch) {
  // 16 of the first, all, 16 of the last.
  // CHECK-DAG: %[[LAST:.*]] = arith.constant 272 : index
  // CHECK: %[[SCRATCH:.*]] = memref.alloc
  // CHECK: scf.for %{{.*}} to %c256 step %c16
  // CHECK: vector.load %[[BIAS]]
  // CHECK: vector.load %[[BIAS]]{{.*}} vector<1xf32>
  // CHECK: memref.load %[[BIAS]]
  // CHECK: memref.load %[[BIAS]]
  // Added to the scores on the way to their maximum, once.
  // CHECK: %[[PLACE:.*]] = arith.minsi %{{.*}}, %[[LAST]]
  // CHECK: %[[FROM:.*]] = arith.addi %[[PLACE]]
  // CHECK: %[[OWN:.*]] = vector.load %[[SCRATCH]][%{{.*}}, %[[FROM]]]
  // CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[OWN]] : vector<16xf32>
  // CHECK: vector.store %[[SUM]], %[[SCRATCH]]
  // CHECK: arith.cmpf ogt, %[[SUM]]
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bias %bias
    bidirectional heads 2 outs(%y : memref<?x128xf32>)
    : memref<?x128xf32>, !cache, memref<2x257xf32>
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @a_window_begins_at_a_fixed_stretch
// CHECK-SAME: %[[LEFT:[a-z0-9]*]]: index {test.left}
func.func @a_window_begins_at_a_fixed_stretch(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %left: index {test.left}, %cache: !cache, %batch: !transformer.batch) {
  // CHECK-DAG: %[[STRETCH:.*]] = arith.constant 512 : index
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK: %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[LEFT]]
  // CHECK: %[[FIRST:.*]] = arith.maxsi %[[BEFORE]], %[[ZERO]]
  // CHECK: %[[NUMBER:.*]] = arith.divui %[[FIRST]], %[[STRETCH]]
  // CHECK: %[[BEGIN:.*]] = arith.muli %[[NUMBER]], %[[STRETCH]]
  // CHECK: scf.for %{{.*}} = %[[BEGIN]] to %{{.*}} step %[[STRETCH]]
  // A chunk with the beginning, whole ones, one with the end.
  // CHECK: arith.cmpi sle, %{{.*}} : vector<16xi32>
  // CHECK: arith.andi
  // CHECK: arith.cmpf ogt
  // CHECK: scf.for
  // CHECK: arith.cmpf ogt
  // CHECK: scf.for
  // CHECK: arith.andi
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal
    left %left heads 2 outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @a_window_has_two_sides
// CHECK-SAME: %[[LEFT:[a-z0-9]*]]: index {test.left}, %[[RIGHT:[a-z0-9]*]]: index {test.right}
func.func @a_window_has_two_sides(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %left: index {test.left}, %right: index {test.right}, %cache: !cache,
    %batch: !transformer.batch) {
  // What the last query of the item sees ends the stretches, what the first
  // sees begins them.
  // CHECK: %[[END:.*]] = arith.addi %{{.*}}, %[[RIGHT]] : index
  // CHECK: %[[LAST:.*]] = arith.minsi %[[END]], %{{.*}}
  // CHECK: arith.subi %{{.*}}, %[[LEFT]]
  // CHECK: scf.for %{{.*}} = %{{.*}} to %[[LAST]] step
  // Values that not all queries see, before the others and behind them. What
  // was there decays first.
  // CHECK: math.exp
  // CHECK: arith.mulf {{.*}} : vector<16xf32>
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: vector.fma
  // CHECK: scf.index_switch
  // CHECK-NOT: arith.mulf {{.*}} : vector
  // CHECK: scf.for %{{.*}} = %c1 to
  // CHECK: scf.for {{.*}} iter_args
  // CHECK: vector.fma
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional
    left %left right %right heads 2 outs(%y : memref<?x128xf32>)
    : memref<?x128xf32>, !cache
  return
}

// -----

!cross = !transformer.cache<cross, layers = 3, kv_heads = 2, head_dim = 64>

// CHECK-LABEL: @cross_attention_reads_the_cross_blocks
// CHECK-SAME: %[[STEP:[a-z0-9]*]]: !llvm.ptr {transformer.step}
// CHECK-SAME: transformer.cross_cache = #transformer.cache_layout<block_tokens = 64, layers = 3, block_bytes = 196608, layer_bytes = 65536, query_rows = 8>
func.func @cross_attention_reads_the_cross_blocks(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cross: !cross, %batch: !transformer.batch) {
  // cross_count of the sequence, its blocks in the second cache.
  // CHECK: scf.parallel
  // CHECK: %[[SEQUENCES:.*]] = llvm.load {{.*}} : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[SEQUENCES:.*]] = llvm.load {{.*}} : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[SEQUENCE:.*]] = llvm.getelementptr %[[SEQUENCES]][%{{.*}}] : (!llvm.ptr, i64)
  // CHECK: llvm.getelementptr %[[SEQUENCE]][16]
  // CHECK: llvm.getelementptr %[[STEP]][32]
  // CHECK: llvm.getelementptr %[[SEQUENCE]][36]
  // CHECK: llvm.getelementptr %[[STEP]][24]
  // CHECK: %[[CACHES:.*]] = llvm.load
  // CHECK: llvm.getelementptr %[[CACHES]][8]
  transformer.paged_attention %q, %scale, %cross[%layer], %batch bidirectional
    heads 2 outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cross
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>
!columns = memref<?x128xf32, strided<[384, 1]>>

// CHECK-LABEL: @queries_are_columns_of_wider_rows
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<?x128xf32, strided<[384, 1]>>
func.func @queries_are_columns_of_wider_rows(
    %q: !columns, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK: vector.load %[[Q]][%{{.*}}, %{{.*}}] : memref<?x128xf32, strided<[384, 1]>>, vector<16xf32>
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : !columns, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// Scores are capped in the step that finds the maximum, and kept so.
// CHECK-LABEL: @a_cap_is_part_of_the_softmax
func.func @a_cap_is_part_of_the_softmax(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK: %[[BENT:.*]] = math.tanh %{{.*}} : vector<16xf32>
  // CHECK: %[[SCORE:.*]] = arith.mulf %[[BENT]], %{{.*}} : vector<16xf32>
  // CHECK: vector.store %[[SCORE]]
  // CHECK: math.exp
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) {cap = 5.0 : f64} : memref<?x128xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64, i8>

// Bytes are widened as they are read; a score is scaled when its sum is there,
// and a weight before the sum of values begins.
// CHECK-LABEL: @bytes_are_scaled_once
// CHECK-SAME: block_tokens = 64, layers = 3, block_bytes = 52224, layer_bytes = 17408, query_rows = 8, storage = int8
func.func @bytes_are_scaled_once(
    %q: memref<?x128xf32>, %y: memref<?x128xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // CHECK: scf.index_switch %[[ROWS:.*]]
  // CHECK: case 1 {
  // CHECK: %[[SUMS:.*]]:6 = scf.for
  // CHECK: %[[BYTES:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<16xi8>
  // CHECK: arith.sitofp %[[BYTES]] : vector<16xi8> to vector<16xf32>
  // CHECK-COUNT-8: vector.fma
  // CHECK-NOT: arith.mulf
  // CHECK: scf.yield
  // CHECK: llvm.getelementptr %{{.*}}[-64]
  // CHECK: %[[SCALES:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: %[[SCORES:.*]] = arith.mulf %[[SUMS]]#{{[0-9]}}, %[[SCALES]]
  // CHECK: vector.store %[[SCORES]]
  // Softmax, and then its weights.
  // CHECK: math.exp
  // CHECK: llvm.getelementptr %{{.*}}[-256]
  // CHECK: %[[FACTORS:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: scf.for
  // CHECK: %[[WEIGHTS:.*]] = vector.load
  // CHECK: %[[SCALED:.*]] = arith.mulf %[[WEIGHTS]], %[[FACTORS]]
  // CHECK: vector.store %[[SCALED]]
  // CHECK: scf.index_switch %[[ROWS]]
  // CHECK: arith.sitofp
  // CHECK: vector.fma
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 2
    outs(%y : memref<?x128xf32>) : memref<?x128xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 64>

// Of a step of single tokens, four heads that share keys and values are a tile:
// a vector of those is loaded once for all of them.
// CHECK-LABEL: @heads_of_a_query_are_rows
// CHECK-SAME: %[[Q:[a-z0-9]*]]: memref<?x512xf32>
// CHECK-SAME: %[[WORKERS:[a-z0-9]*]]: index {transformer.workers}
func.func @heads_of_a_query_are_rows(
    %q: memref<?x512xf32>, %y: memref<?x512xf32>, %scale: f32, %layer: index,
    %cache: !cache, %batch: !transformer.batch) {
  // Items are as many as tokens, and tiles as many as workers.
  // CHECK: %[[SINGLE:.*]] = arith.cmpi eq
  // CHECK: %[[TILES:.*]] = arith.muli %{{.*}}, %c2
  // CHECK: %[[ENOUGH:.*]] = arith.cmpi sle, %[[WORKERS]], %[[TILES]]
  // CHECK: %[[SHARED:.*]] = arith.andi %{{.*}}, %[[ENOUGH]]
  // CHECK: scf.parallel (%[[HEAD:.*]], %{{.*}}) = (%c0, %c0) to (%c8, %{{.*}})
  // A head that another one takes along has nothing to do.
  // CHECK: %[[PLACE:.*]] = arith.remui %[[HEAD]], %c4
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0
  // CHECK: %[[OWN:.*]] = arith.select %[[SHARED]], %[[FIRST]], %true
  // CHECK: scf.if %[[OWN]] {
  // CHECK: %[[ROWS:.*]] = arith.select %[[SHARED]],
  // A row is a head of one token.
  // CHECK: scf.for %[[ROW:.*]] =
  // CHECK: arith.select %[[SHARED]], %c0, %[[NUMBER:.*]] : index
  // CHECK: arith.select %[[SHARED]], %[[NUMBER]], %c0 : index
  // CHECK: scf.index_switch
  // CHECK: case 4 {
  // CHECK: %{{.*}}:18 = scf.for
  // CHECK-COUNT-4: llvm.load {{.*}} vector<16xf32>
  // CHECK-COUNT-16: vector.fma
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 8
    outs(%y : memref<?x512xf32>) : memref<?x512xf32>, !cache
  return
}
