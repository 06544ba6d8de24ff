// Convolutions and recurrences as loops over sequences and columns, in vectors
// and one column at a time; where the states lie.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s --check-prefix=SCALAR

// A layer begins a line. Of 40 columns 16 are an item, and so are the 8 that are
// left.
// CHECK-LABEL: func.func @conv
// CHECK-SAME: transformer.state = #transformer.cache_layout<block_tokens = 0, layers = 2, block_bytes = 640, layer_bytes = 320, query_rows = 1>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) =
// CHECK: vector.from_elements
// CHECK: %[[OLD:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK: %[[TAIL:.*]] = arith.select %[[NEW:.*]], %{{.*}}, %[[OLD]] : vector<16xf32>
// CHECK: scf.for %{{.*}} iter_args(%[[BEFORE:.*]] = %[[TAIL]])
// CHECK: %[[X:.*]] = vector.load
// CHECK: %[[FIRST:.*]] = math.fma %{{.*}}, %[[BEFORE]], %{{.*}}
// CHECK: %[[SUM:.*]] = math.fma %{{.*}}, %[[X]], %[[FIRST]]
// CHECK: vector.store %[[SUM]]
// CHECK: scf.yield %[[X]]
// CHECK: llvm.store %{{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: vector<8xf32>
// CHECK-NOT: transformer.ragged_conv
// SCALAR-LABEL: func.func @conv
// SCALAR: scf.parallel (%{{.*}}, %{{.*}}) =
// SCALAR: math.fma {{.*}} : f32
// SCALAR-NOT: scf.parallel
func.func @conv(%x: memref<?x40xf32>, %w: memref<40x2xf32>,
                %y: memref<?x40xf32>,
                %s: !transformer.state<layers = 2, width = 80>,
                %batch: !transformer.batch) {
  %c1 = arith.constant 1 : index
  transformer.ragged_conv %x, %w, %s[%c1] at 40, %batch
      outs(%y : memref<?x40xf32>)
      : memref<?x40xf32>, memref<40x2xf32>, <layers = 2, width = 80>
  return
}

// The matrix is read once where it was, and from then on where it is written;
// the sweep of a token makes what the next one finds.
// CHECK-LABEL: func.func @recurrence
// SCALAR-LABEL: func.func @recurrence
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) =
// CHECK: %[[FOUND:.*]]:4 = scf.for
// CHECK: llvm.load
// CHECK: arith.select
// CHECK: llvm.store
// CHECK: math.fma
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %[[FOUND]]#0,
// CHECK: arith.subf
// CHECK: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CHECK: llvm.load
// CHECK: arith.mulf
// CHECK: math.fma
// CHECK: llvm.store
// CHECK: vector.store
// CHECK-NOT: scf.parallel
func.func @recurrence(%q: memref<?x14xf32>, %v: memref<?x256xf32>,
                      %e: memref<?x2xf32>, %y: memref<?x256xf32>,
                      %s: !transformer.state<layers = 1, width = 3584>,
                      %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %e, %e, %s[%c0] at 0, %batch
      heads 2 key_heads 1 outs(%y : memref<?x256xf32>)
      : memref<?x14xf32>, memref<?x14xf32>, memref<?x256xf32>,
        memref<?x2xf32>, memref<?x2xf32>, <layers = 1, width = 3584>
  return
}

// Each key has a decay, which its row of the matrix and the key that asks are
// times, before it is read and before the next one asks.
// CHECK-LABEL: func.func @recurrence_of_keys
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x14xf32>, %{{[a-z0-9]+}}: memref<?x256xf32>, %[[D:[a-z0-9]+]]: memref<?x28xf32>
// SCALAR-LABEL: func.func @recurrence_of_keys
// CHECK: %[[FOUND:.*]]:4 = scf.for
// CHECK: %[[KEY:.*]] = memref.load %[[Q]]
// CHECK: %[[DECAY:.*]] = memref.load %[[D]]
// CHECK: %[[ASKING:.*]] = arith.mulf %[[DECAY]], %[[KEY]] : f32
// CHECK: vector.broadcast %[[ASKING]]
// CHECK: scf.for %{{.*}} iter_args(%[[KNOWN:.*]] = %[[FOUND]]#0,
// CHECK: arith.subf %{{.*}}, %[[KNOWN]] : vector<16xf32>
// CHECK: scf.for
// CHECK: %[[LEFT:.*]] = memref.load %[[D]]
// CHECK: %[[EACH:.*]] = vector.broadcast %[[LEFT]]
// CHECK: arith.mulf %[[EACH]], %{{.*}} : vector<16xf32>
// CHECK: math.fma
// CHECK: arith.mulf {{.*}} : f32
// CHECK-NOT: scf.parallel
func.func @recurrence_of_keys(%q: memref<?x14xf32>, %v: memref<?x256xf32>,
                              %d: memref<?x28xf32>, %e: memref<?x4xf32>,
                              %y: memref<?x256xf32>,
                              %s: !transformer.state<layers = 1, width = 1792>,
                              %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %d, %e, %s[%c0] at 0, %batch
      heads 4 key_heads 2 outs(%y : memref<?x256xf32>)
      : memref<?x14xf32>, memref<?x14xf32>, memref<?x256xf32>,
        memref<?x28xf32>, memref<?x4xf32>, <layers = 1, width = 1792>
  return
}

// What the key would find is not asked for; what skips the state is added last.
// CHECK-LABEL: func.func @recurrence_of_sums
// SCALAR-LABEL: func.func @recurrence_of_sums
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %{{.*}}) =
// CHECK: scf.for
// CHECK: llvm.store
// CHECK-NOT: math.fma
// CHECK: scf.for
// CHECK-NOT: arith.subf
// CHECK: %[[SUM:.*]]:4 = scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {
// CHECK: llvm.store
// CHECK: memref.load %{{.*}} : memref<2xf32>
// CHECK: %[[Y:.*]] = math.fma %{{.*}}, %{{.*}}, %[[SUM]]#0
// CHECK: vector.store %[[Y]]
// CHECK-NOT: scf.parallel
func.func @recurrence_of_sums(%q: memref<?x14xf32>, %v: memref<?x256xf32>,
                      %e: memref<?x2xf32>, %d: memref<2xf32>,
                      %y: memref<?x256xf32>,
                      %s: !transformer.state<layers = 1, width = 3584>,
                      %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %e, %e, %s[%c0] at 0, %batch
      heads 2 key_heads 1 rule add skip %d outs(%y : memref<?x256xf32>)
      : memref<?x14xf32>, memref<?x14xf32>, memref<?x256xf32>,
        memref<?x2xf32>, memref<?x2xf32>, <layers = 1, width = 3584>,
        memref<2xf32>
  return
}

// A column's numbers stay in registers, as do their rates; each has an
// exponential a token, and the sum goes through them in order.
// CHECK-LABEL: func.func @selective
// SCALAR-LABEL: func.func @selective
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: %[[RAISED:.*]] = math.exp %{{.*}} : vector<16xf32>
// CHECK: %[[RATE:.*]] = arith.negf %[[RAISED]]
// CHECK: llvm.load
// CHECK: %[[OLD:.*]] = arith.select
// CHECK: math.exp
// CHECK: scf.for {{.*}} iter_args(%[[S:.*]] = %[[OLD]]
// CHECK: %[[LOST:.*]] = arith.mulf %[[RATE]], %[[TIME:.*]] : vector<16xf32>
// CHECK: %[[DECAY:.*]] = math.exp %[[LOST]]
// CHECK: %[[LEFT:.*]] = arith.mulf %[[DECAY]], %[[S]]
// CHECK: %[[NEW:.*]] = math.fma %{{.*}}, %{{.*}}, %[[LEFT]]
// CHECK: %[[SUM:.*]] = math.fma %{{.*}}, %[[NEW]], %{{.*}}
// CHECK: math.exp
// CHECK: math.fma %{{.*}}, %{{.*}}, %[[SUM]]
// CHECK: vector.store
// CHECK: scf.yield %[[NEW]]
// CHECK: llvm.store
// SCALAR: scf.for {{.*}} -> (f32, f32)
func.func @selective(%q: memref<?x2xf32>, %v: memref<?x64xf32>,
                     %d: memref<64xf32>, %r: memref<2x64xf32>,
                     %y: memref<?x64xf32>,
                     %s: !transformer.state<layers = 1, width = 128>,
                     %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %v, %v, %s[%c0] at 0, %batch
      heads 1 key_heads 1 rule add skip %d log_rate %r
      outs(%y : memref<?x64xf32>)
      : memref<?x2xf32>, memref<?x2xf32>, memref<?x64xf32>, memref<?x64xf32>,
        memref<?x64xf32>, <layers = 1, width = 128>, memref<64xf32>
        log_rate memref<2x64xf32>
  return
}

// Of more than 32 they go through memory.
// CHECK-LABEL: func.func @selective_long
// SCALAR-LABEL: func.func @selective_long
// CHECK: scf.for
// CHECK: llvm.store
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<16xf32>
// CHECK: math.exp
// CHECK: llvm.load
// CHECK: math.exp
// CHECK: llvm.store
// SCALAR: scf.for {{.*}} -> (f32) {
func.func @selective_long(%q: memref<?x33xf32>, %v: memref<?x64xf32>,
                          %r: memref<33x64xf32>, %y: memref<?x64xf32>,
                          %s: !transformer.state<layers = 1, width = 2112>,
                          %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %v, %v, %s[%c0] at 0, %batch
      heads 1 key_heads 1 rule add log_rate %r outs(%y : memref<?x64xf32>)
      : memref<?x33xf32>, memref<?x33xf32>, memref<?x64xf32>,
        memref<?x64xf32>, memref<?x64xf32>, <layers = 1, width = 2112>
        log_rate memref<33x64xf32>
  return
}
