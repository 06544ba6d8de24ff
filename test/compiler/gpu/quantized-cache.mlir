// Of a cache of bytes a warp multiplies scores and weights by scales; a thread
// writes a head of a token.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-kernels --canonicalize --cse | FileCheck %s

!cache = !transformer.cache<layers = 3, kv_heads = 2, head_dim = 40, i8>

// 64 positions of 2 heads, keys and values: 40 bytes and a scale each.
// CHECK-LABEL: func.func @attend
// CHECK-SAME: block_tokens = 64, layers = 3, block_bytes = 33792, layer_bytes = 11264, query_rows = 1, storage = int8
// A score is a sum of products, eight bytes at a time, times the key's scale,
// which lies behind the 64 keys of the head.
// CHECK: llvm.getelementptr {{.*}}[2560]
// CHECK: %[[SCALE:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: %[[DOT:.*]] = scf.for
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<8xi8>
// CHECK: arith.sitofp %{{.*}} : vector<8xi8> to vector<8xf32>
// CHECK-COUNT-8: math.fma
// CHECK: arith.mulf %[[DOT]], %[[SCALE]] : f32
// The total of weights has no scales; the lane's weight gets one before others
// see it.
// CHECK: %[[OWN:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: %[[WEIGHT:.*]] = arith.mulf %{{.*}}, %[[OWN]] : f32
// CHECK: arith.sitofp %{{.*}} : i8 to f32
// CHECK: gpu.shuffle idx %[[WEIGHT]]
func.func @attend(%q: memref<?x160xf32>, %y: memref<?x160xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  %scale = arith.constant 0.5 : f32
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 4 outs(%y : memref<?x160xf32>) : memref<?x160xf32>, !cache
  return
}

// The greatest element by size first; then integers to the nearest.
// CHECK-LABEL: func.func @write
// CHECK: scf.parallel
// CHECK: %[[GREATEST:.*]] = scf.for
// CHECK: vector.load %{{.*}} : memref<?x80xf32>, vector<8xf32>
// CHECK-COUNT-8: arith.maxsi
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK: scf.for
// CHECK: %[[KEPT:.*]] = arith.trunci %{{.*}} : vector<8xi32> to vector<8xi8>
// CHECK: llvm.store %[[KEPT]], %{{.*}} {alignment = 8 : i64} : vector<8xi8>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<8xi8>
func.func @write(%k: memref<?x80xf32>, %v: memref<?x80xf32>, %batch: !transformer.batch, %cache: !cache, %layer: index) {
  transformer.cache_write %k, %v into %cache[%layer], %batch : memref<?x80xf32>, memref<?x80xf32>, !cache
  return
}
