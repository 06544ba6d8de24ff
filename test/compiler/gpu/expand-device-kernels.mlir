// Attention and the cache become the work of warps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 40>
!narrow = !transformer.cache<layers = 3, kv_heads = 1, head_dim = 64, bf16>
!cross = !transformer.cache<cross, layers = 3, kv_heads = 1, head_dim = 6>

// Of f32, in tiles where an item has more than 8 queries: the host knows when there
// is no item of fewer, and none of more.
// CHECK-LABEL: func.func @causal
// CHECK-SAME: transformer.cache = #transformer.cache_layout<block_tokens = 64, layers = 3, block_bytes = 122880, layer_bytes = 40960, query_rows = 128>
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[C40:.*]] = arith.constant 40 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: %[[LAST:.*]] = arith.remui %{{.*}}, %c128
// CHECK: %[[ARE_MORE:.*]] = arith.cmpi sgt, %{{.*}}, %c1
// CHECK: %[[IS_REST:.*]] = arith.cmpi slt, %[[LAST]], %[[C8]]
// CHECK: %[[MAY_BE:.*]] = arith.ori %[[ARE_MORE]], %[[IS_REST]]
// CHECK: scf.if %[[MAY_BE]] {
// Lane 31 of a head of 40 has one column, which others share for a while.
// CHECK: scf.parallel (%[[ITEM:.*]], %[[ROW:.*]], %[[HEAD:.*]], %[[LANE:.*]]) = {{.*}} to (%{{.*}}, %{{.*}}, %c4, %[[C32]])
// CHECK: %[[IS_ROW:.*]] = arith.cmpi slt, %[[ROW]], %[[ROWS:.*]] : index
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[ROWS]], %[[C8]]
// CHECK: %[[IS_OWN:.*]] = arith.andi %[[IS_ROW]], %[[IS_FEW]]
// CHECK: scf.if %[[IS_OWN]] {
// CHECK: %[[KV_HEAD:.*]] = arith.divui %[[HEAD]], %c2
// CHECK: %[[ALL:.*]]:4 = scf.for %[[BEGIN:.*]] = %c0 to %[[END:.*]] step %[[C64]] iter_args(%[[MAX:.*]] = %[[LOWEST]], %[[TOTAL:.*]] = %{{.*}}, %[[X0:.*]] = %{{.*}}, %[[X1:.*]] = %{{.*}})
// CHECK: %[[OWN:.*]] = arith.addi %[[BEGIN]], %[[LANE]]
// CHECK: %[[IS_SEEN:.*]] = arith.cmpi slt, %[[OWN]], %[[END]]
// A lane beyond the last position looks at that one.
// CHECK: arith.minsi %[[OWN]],
// CHECK: scf.for %{{.*}} = %c0 to %[[C40]] step %[[C8]] iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK-COUNT-8: math.fma
// CHECK: %[[SCORE:.*]] = arith.select %[[IS_SEEN]], %{{.*}}, %[[LOWEST]]
// CHECK: scf.for %{{.*}} = %c0 to %[[C40]] step %[[C8]]
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: %[[HIGHEST:.*]] = arith.maximumf %[[MAX]],
// CHECK: %[[OLD:.*]] = arith.subf %[[MAX]], %[[HIGHEST]]
// CHECK: %[[DECAY:.*]] = math.exp %[[OLD]]
// CHECK: %[[WEIGHT:.*]] = arith.select %[[IS_SEEN]], %{{.*}}, %{{.*}} : f32
// Weights 32 positions apart, then 16, then 8.
// CHECK: arith.addf %[[WEIGHT]],
// CHECK-COUNT-2: gpu.shuffle xor
// CHECK: scf.for
// CHECK-COUNT-4: gpu.shuffle idx %[[WEIGHT]]
// CHECK: scf.for
// CHECK-COUNT-4: gpu.shuffle idx
// CHECK: math.fma %[[TOTAL]], %[[DECAY]],
// CHECK: gpu.shuffle xor %[[ALL]]#1
// CHECK: memref.store
// CHECK: %[[IS_COLUMN:.*]] = arith.cmpi slt, %{{.*}}, %[[C40]]
// CHECK: scf.if %[[IS_COLUMN]] {
// CHECK: memref.store
// CHECK: %[[MAY_BE_MANY:.*]] = arith.cmpi sgt, %{{.*}}, %[[C8]]
// CHECK: scf.if %[[MAY_BE_MANY]] {
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) = {{.*}} to (%{{.*}}, %c4, %c128)
// Queries, keys, values, and weights of 16 positions: rows of 44 floats, and of 24.
// CHECK: memref.alloca() {alignment = 128 : i64} : memref<57344xi8, 3>
// CHECK: %[[IS_MANY:.*]] = arith.cmpi sgt, %{{.*}}, %[[C8]]
// CHECK: scf.if %[[IS_MANY]] {
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK-COUNT-256: llvm.intr.fma
// CHECK: gpu.shuffle xor
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.for
// CHECK-COUNT-256: llvm.intr.fma
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.bar.warp.sync
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<?x160xf32>, vector<4xf32>
func.func @causal(%q: memref<?x160xf32>, %y: memref<?x160xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x160xf32>) : memref<?x160xf32>, !cache
  return
}

// A chunk before the window is none of the query's; what is added to a score.
// CHECK-LABEL: func.func @terms
// CHECK: scf.parallel
// CHECK: %[[SINK:.*]] = memref.load %{{.*}}[%[[HEAD:.*]]] : memref<2xf32>
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %[[SINK]], %{{.*}} = %{{.*}},
// CHECK: memref.load %{{.*}} : memref<2x9xf32>
// CHECK: arith.addf
// CHECK: memref.load %{{.*}} : memref<2xf32>
// CHECK: math.tanh
func.func @terms(%q: memref<?x80xf32>, %y: memref<?x80xf32>, %bias: memref<2x9xf32>, %slopes: memref<2xf32>, %sinks: memref<2xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  %c4 = arith.constant 4 : index
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bias %bias causal left %c4 heads 2 slopes %slopes sinks %sinks outs(%y : memref<?x80xf32>) {cap = 30.0 : f64} : memref<?x80xf32>, !cache, memref<2x9xf32> slopes memref<2xf32> sinks memref<2xf32>
  return
}

// Rows of a part of a wider buffer are read a number at a time.
// CHECK-LABEL: func.func @cross
// CHECK-SAME: transformer.cross_cache = #transformer.cache_layout<block_tokens = 64, layers = 3, block_bytes = 9216, layer_bytes = 3072, query_rows = 1>
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK: vector.load %{{.*}} {alignment = 4 : i64}
func.func @cross(%q: memref<?x6xf32, strided<[9, 1], offset: ?>>, %y: memref<?x6xf32>, %batch: !transformer.batch, %cache: !cross, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional heads 1 outs(%y : memref<?x6xf32>) : memref<?x6xf32, strided<[9, 1], offset: ?>>, !cross
  return
}

// 8 elements of 16 bits a thread, keys and values.
// CHECK-LABEL: func.func @write
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = {{.*}} to (%{{.*}}, %c8)
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?x64xf32>, vector<8xf32>
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>
// CHECK: vector.load
// CHECK: llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>
func.func @write(%k: memref<?x64xf32>, %v: memref<?x64xf32>, %batch: !transformer.batch, %cache: !narrow, %layer: index) {
  transformer.cache_write %k, %v into %cache[%layer], %batch : memref<?x64xf32>, memref<?x64xf32>, !narrow
  return
}

// Queries and cache of 16 bits: tensor cores. Of an item of few queries the warps
// share out the 64 positions of a tile, and the heads of a group are rows.
!tensor = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 32, bf16>
// CHECK-LABEL: func.func @tensor
// CHECK-SAME: block_tokens = 64, layers = 3, block_bytes = 49152, layer_bytes = 16384, query_rows = 64, storage = bf16>
// The host knows when there is no such item: 5 tokens of a group of 3 heads.
// CHECK: %[[LAST:.*]] = arith.remui %{{.*}}, %c64
// CHECK: %[[ARE_MORE:.*]] = arith.cmpi sgt, %[[SEQUENCES:.*]], %c1
// CHECK: %[[IS_REST:.*]] = arith.cmpi slt, %[[LAST]], %c5
// CHECK: %[[MAY_BE:.*]] = arith.ori %[[ARE_MORE]], %[[IS_REST]]
// CHECK: scf.if %[[MAY_BE]] {
// A sequence's parts: of each head of keys 16, of 15 rows.
// CHECK: %[[SCRATCH:.*]] = memref.alloc(%{{.*}}) : memref<?x2x16x15x36xf32>
// CHECK: %[[EACH:.*]] = arith.divui %c1024, %{{.*}} : index
// CHECK: %[[MOST:.*]] = arith.minsi %[[EACH]], %c16
// CHECK: %[[BLOCKS:.*]] = arith.maxsi %[[MOST]], %c1
// CHECK: scf.parallel (%{{.*}}, %[[HEAD:.*]], %[[FIRST:.*]], %[[THREAD:.*]]) = {{.*}} to (%{{.*}}, %c2, %[[BLOCKS]], %c128)
// CHECK: memref.alloca() {alignment = 128 : i64} : memref<10240xi8, 3>
// CHECK: %[[IS_FEW:.*]] = arith.cmpi slt, %[[ROWS:.*]], %c6 : index
// CHECK: %[[STRETCHES:.*]] = arith.maxsi %{{.*}}, %c1
// CHECK: %[[BEFORE:.*]] = arith.muli %[[FIRST]], %[[PER_PART:.*]] : index
// CHECK: %[[IS_SOME:.*]] = arith.cmpi slt, %[[BEFORE]], %[[STRETCHES]]
// CHECK: %[[IS_OWN:.*]] = arith.andi %[[IS_FEW]], %[[IS_SOME]]
// CHECK: scf.if %[[IS_OWN]] {
// CHECK: scf.for %[[PART:.*]] = %[[FIRST]] to %c16 step %[[BLOCKS]] {
// Keys of the first tile, then in turns: values, scores, the next keys, sums.
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-2: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.cp.async.commit.group
// CHECK-COUNT-2: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK: scf.yield
// CHECK: gpu.barrier
// What the warps have is put together in shared memory.
// CHECK: llvm.store %{{.*}} : vector<2xf32>, !llvm.ptr<3>
// CHECK: gpu.barrier
// CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> vector<2xf32>
// The one part there is writes the result, others what they have.
// CHECK: %[[IS_ALONE:.*]] = arith.cmpi sle, %[[STRETCHES]], %c1
// CHECK: scf.if %[[IS_ALONE]] {
// CHECK: vector.store %{{.*}} : memref<?x192xbf16>, vector<2xbf16>
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %[[SCRATCH]][%{{.*}}, %[[HEAD]], %[[PART]], %{{.*}}] {alignment = 8 : i64} : memref<?x2x16x15x36xf32>, vector<2xf32>
// A thread puts 4 columns of a row together.
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) = {{.*}} to (%{{.*}}, %c2, %c128)
// CHECK-COUNT-16: vector.load %[[SCRATCH]]{{.*}} {alignment = 16 : i64} : memref<?x2x16x15x36xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<?x192xbf16>, vector<4xbf16>
// The others: 16 queries of a head a warp.
// CHECK: %[[MAY_BE_MANY:.*]] = arith.cmpi sgt, %{{.*}}, %c5
// CHECK: scf.if %[[MAY_BE_MANY]] {
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) = {{.*}} to (%{{.*}}, %c6, %c128)
// CHECK: %[[IS_MANY:.*]] = arith.cmpi sge, %{{.*}}, %c6 : index
// CHECK: scf.if %[[IS_MANY]] {
// CHECK-COUNT-8: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<row>
// CHECK-COUNT-8: nvvm.ldmatrix {{.*}}layout = #nvvm.mma_layout<col>
// CHECK-NOT: llvm.store
// CHECK: vector.store %{{.*}} : memref<?x192xbf16>, vector<2xbf16>
func.func @tensor(%q: memref<?x192xbf16>, %y: memref<?x192xbf16>, %batch: !transformer.batch, %cache: !tensor, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 6 outs(%y : memref<?x192xbf16>) : memref<?x192xbf16>, !tensor
  return
}

// What is kept in f32 is not rounded for them.
// CHECK-LABEL: func.func @queries_of_f32
// CHECK-SAME: query_rows = 1, storage = bf16>
// CHECK-NOT: nvvm.mma.sync
func.func @queries_of_f32(%q: memref<?x192xf32>, %y: memref<?x192xf32>, %batch: !transformer.batch, %cache: !tensor, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 6 outs(%y : memref<?x192xf32>) : memref<?x192xf32>, !tensor
  return
}

// Terms of distances: a row of each table follows from how far the key is; biases
// of queries, and values that have a row of their own beside them.
// CHECK-LABEL: func.func @relative
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x24xf32>, %{{[a-z0-9]+}}: memref<?x24xf32>, %[[ROWS:[a-z0-9]+]]: memref<33xi32>, %[[KEYS:[a-z0-9]+]]: memref<?x24xf32>, %[[VALUES:[a-z0-9]+]]: memref<?x6xf32>, %[[BIAS:[a-z0-9]+]]: memref<24xf32>
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: vector.load %[[BIAS]]
// CHECK: memref.load %[[ROWS]]
// CHECK: scf.for
// CHECK: memref.load %[[KEYS]]
// CHECK: memref.load %[[Q]]
// CHECK: scf.for
// CHECK: memref.load %[[VALUES]]
// CHECK: gpu.shuffle idx
func.func @relative(%q: memref<?x24xf32>, %y: memref<?x24xf32>, %rows: memref<33xi32>, %keys: memref<?x24xf32>, %values: memref<?x6xf32>, %bias: memref<24xf32>, %batch: !transformer.batch, %cache: !transformer.cache<layers = 3, kv_heads = 4, head_dim = 6>, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch bidirectional heads 4 relative_keys %keys relative_values %values distance_rows %rows query_bias %bias outs(%y : memref<?x24xf32>) : memref<?x24xf32>, !transformer.cache<layers = 3, kv_heads = 4, head_dim = 6> relative_keys memref<?x24xf32> relative_values memref<?x6xf32> distance_rows memref<33xi32> query_bias memref<24xf32>
  return
}
