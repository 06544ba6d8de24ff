// Pairs, sums by weights, log probabilities and memories of zeros as loops, in
// vectors and one number at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s --check-prefix=SCALAR

// CHECK-LABEL: func.func @pairs
// CHECK: scf.parallel
// CHECK: %[[DIFFERENCE:.*]] = arith.subf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK-COUNT-4: vector.store %{{.*}} : memref<?x64xf32>, vector<16xf32>
// SCALAR-LABEL: func.func @pairs
// SCALAR: arith.subf
// SCALAR-COUNT-4: memref.store %{{.*}} : memref<?x64xf32>
func.func @pairs(%x: memref<?x16xf32>, %y: memref<?x64xf32>,
                 %batch: !transformer.batch) {
  transformer.ragged_pairs last %x, %batch outs(%y : memref<?x64xf32>)
    : memref<?x16xf32>
  return
}

// The sum is a multiply-add a token; the row that asks is behind it.
// CHECK-LABEL: func.func @weights
// CHECK: scf.parallel
// CHECK: %[[SUM:.*]] = scf.for {{.*}} -> (vector<16xf32>)
// CHECK: math.fma %{{.*}} : vector<16xf32>
// CHECK: vector.store %[[SUM]], %{{.*}} : memref<?x32xf32>, vector<16xf32>
// CHECK: vector.store %{{.*}} : memref<?x32xf32>, vector<16xf32>
// SCALAR-LABEL: func.func @weights
// SCALAR: scf.parallel (%{{.*}}, %{{.*}}) =
// SCALAR: math.fma %{{.*}} : f32
func.func @weights(%x: memref<?x16xf32>, %w: memref<?x1xf32>,
                   %rows: memref<?xi32>, %y: memref<?x32xf32>,
                   %batch: !transformer.batch) {
  transformer.ragged_weights first %x by %w, %rows, %batch
    outs(%y : memref<?x32xf32>)
    : memref<?x16xf32>, memref<?x1xf32>, memref<?xi32>
  return
}

// 16 columns at a time, folded, then the two that are left.
// CHECK-LABEL: func.func @log_softmax
// CHECK: scf.parallel
// CHECK: arith.maximumf %{{.*}} : vector<16xf32>
// CHECK: arith.maximumf %{{.*}} : vector<8xf32>
// CHECK: arith.maximumf %{{.*}} : f32
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK: arith.addf %{{.*}} : vector<8xf32>
// CHECK: math.exp %{{.*}} : f32
// CHECK: math.log
// SCALAR-LABEL: func.func @log_softmax
// SCALAR-NOT: vector
// SCALAR: math.log
func.func @log_softmax(%x: memref<?x18xf32>, %y: memref<?x18xf32>,
                       %batch: !transformer.batch) {
  transformer.clustered_log_softmax %x outs(%y : memref<?x18xf32>)
    : memref<?x18xf32>
  return
}

// Buckets, orders, rows.
// CHECK-LABEL: func.func @hashed
// CHECK: memref.alloc(%{{.*}}) : memref<?x6xi32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x6xi32>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: math.fma %{{.*}} : vector<2xf32>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: memref.store %{{.*}} : memref<?x6xi32>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: math.fma %{{.*}} : vector<16xf32>
// CHECK: math.exp
// SCALAR-LABEL: func.func @hashed
// SCALAR-NOT: vector
// SCALAR: math.exp
func.func @hashed(%q: memref<?x32xf32>, %k: memref<?x32xf32>,
                  %v: memref<?x32xf32>, %r: memref<32x9xf32>,
                  %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.ragged_hashed %q, %k, %v, %r, %batch heads 2
    outs(%y : memref<?x32xf32>)
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 16 : i64,
          scale = 0.5 : f64}
    : memref<?x32xf32>, memref<?x32xf32>, memref<?x32xf32>, memref<32x9xf32>
  return
}

// CHECK-LABEL: func.func @sinks
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: math.fma %{{.*}} : vector<16xf32>
// CHECK: math.exp
// CHECK: math.log
// CHECK: memref.store %{{.*}} : memref<?x2xf32>
// SCALAR-LABEL: func.func @sinks
// SCALAR: math.fma %{{.*}} : f32
// SCALAR: memref.store %{{.*}} : memref<?x2xf32>
func.func @sinks(%q: memref<?x32xf32>, %a: memref<?x32xf32>, %left: index,
                 %y: memref<?x2xf32>, %batch: !transformer.batch) {
  transformer.ragged_sinks %q, %a, %batch left %left heads 2 span 5
    outs(%y : memref<?x2xf32>) {scale = 0.5 : f64}
    : memref<?x32xf32>, memref<?x32xf32>
  return
}
