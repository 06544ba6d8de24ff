// Experts of rows, rows sorted by expert, and products of them, as loops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s --check-prefix=PLAIN

#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// Scores and choices have a place each; rows are chosen for side by side. What
// is chosen becomes a number that is greater than none, twice: of the groups,
// and of the experts.
// CHECK-LABEL: func.func @choose
// CHECK-SAME: %[[Z:[a-z0-9]+]]: memref<?x12xf32>, %[[B:[a-z0-9]+]]: memref<12xf32>, %[[I:[a-z0-9]+]]: memref<?x3xi32>, %[[W:[a-z0-9]+]]: memref<?x3xf32>
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK-DAG: %[[NEVER:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[S:.*]] = memref.alloc({{.*}}) : memref<?x12xf32>
// CHECK: %[[C:.*]] = memref.alloc({{.*}}) : memref<?x12xf32>
// CHECK: scf.parallel (%[[ROW:.*]]) =
// CHECK: math.exp
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: arith.maxnumf %{{.*}}, %[[LEAST]]
// CHECK: memref.store %{{.*}}, %[[C]]
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1
// CHECK: memref.store %[[NAN]]
// CHECK: arith.cmpf uno
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NEVER]]
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: arith.cmpf ogt
// CHECK: memref.store %[[NAN]], %[[C]]
// CHECK: arith.cmpf uno
// CHECK: memref.store %{{.*}}, %[[I]]
// CHECK: memref.store %{{.*}}, %[[W]]
// CHECK: arith.divf
// CHECK-NOT: transformer.choose_experts
func.func @choose(%z: memref<?x12xf32>, %b: memref<12xf32>,
                  %i: memref<?x3xi32>, %w: memref<?x3xf32>,
                  %batch: !transformer.batch) {
  transformer.choose_experts sigmoid %z bias %b take 3 renormalize sum
      outs(%i, %w) {groups = 4 : i64, groups_used = 2 : i64}
      : (memref<?x12xf32>, memref<12xf32>, memref<?x3xi32>, memref<?x3xf32>)
        -> ()
  return
}

// What chooses is the logit; the sigmoid is of those that are taken.
// CHECK-LABEL: func.func @choose_late
// CHECK: scf.parallel
// CHECK-NOT: math.exp
// CHECK: arith.cmpf uno
// CHECK: scf.if
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: memref.store
func.func @choose_late(%z: memref<?x12xf32>, %i: memref<?x3xi32>,
                       %w: memref<?x3xf32>, %batch: !transformer.batch) {
  transformer.choose_experts late_sigmoid %z take 3 outs(%i, %w)
      : (memref<?x12xf32>, memref<?x3xi32>, memref<?x3xf32>) -> ()
  return
}

// Counts, beginnings, places: in the order of the rows, so that those of an
// expert stay in it.
// CHECK-LABEL: func.func @sort
// CHECK-SAME: %[[I:[a-z0-9]+]]: memref<?x3xi32>, %[[R:[a-z0-9]+]]: memref<?xi32>, %[[E:[a-z0-9]+]]: memref<?xi32>, %[[P:[a-z0-9]+]]: memref<?x3xi32>
// CHECK: memref.alloc() : memref<12xi32>
// CHECK-NOT: scf.parallel
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: memref.store %{{.*}}, %[[E]]
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK-NOT: transformer.sort_by_expert
// In plain loops each expert looks at all pairs: how many are of the experts
// before it, and which are its own.
// PLAIN-LABEL: func.func @sort
// PLAIN-SAME: %[[I:[a-z0-9]+]]: memref<?x3xi32>, %[[R:[a-z0-9]+]]: memref<?xi32>, %[[E:[a-z0-9]+]]: memref<?xi32>, %[[P:[a-z0-9]+]]: memref<?x3xi32>
// PLAIN-NOT: memref.alloc
// PLAIN: scf.parallel (%[[OWN:.*]]) = (%c0) to (%c12)
// PLAIN: %[[FIRST:.*]] = scf.for
// PLAIN: arith.cmpi slt, %{{.*}}, %[[OWN]]
// PLAIN: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// PLAIN: %[[IS_OWN:.*]] = arith.cmpi eq, %{{.*}}, %[[OWN]]
// PLAIN: scf.if %[[IS_OWN]]
// PLAIN: memref.store %{{.*}}, %[[R]]
// PLAIN: memref.store %{{.*}}, %[[E]]
// PLAIN: memref.store %{{.*}}, %[[P]]
func.func @sort(%i: memref<?x3xi32>, %r: memref<?xi32>, %e: memref<?xi32>,
                %p: memref<?x3xi32>, %batch: !transformer.batch) {
  transformer.sort_by_expert %i of 12 outs(%r, %e, %p)
      : (memref<?x3xi32>, memref<?xi32>, memref<?xi32>, memref<?x3xi32>) -> ()
  return
}

// The tiles of the experts that have rows are listed first; items are those of
// the list times the two panels of a matrix. The bias is the expert's.
// CHECK-LABEL: func.func @product
// CHECK-SAME: %{{[a-z0-9]+}}: memref<?x64xf32>, %{{[a-z0-9]+}}: memref<5x2x64x16xf32>, %[[BIAS:[a-z0-9]+]]: memref<5x32xf32>
// CHECK: memref.alloc() : memref<5xi32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x5xi32>
// CHECK: %[[ENDS:.*]]:2 = scf.for
// CHECK: %[[ITEMS:.*]] = arith.muli %[[ENDS]]#1, %c2
// CHECK: scf.parallel (%[[N:.*]]) = (%c0) to (%[[ITEMS]]) step (%c1)
// CHECK: arith.divui %[[N]], %c2
// CHECK: transformer.worker
// CHECK: func.call @product.4x16
// CHECK: vector.load %[[BIAS]][%{{.*}}, %{{.*}}] : memref<5x32xf32>, vector<8xf32>
func.func @product(%x: memref<?x64xf32>, %p: memref<5x2x64x16xf32>,
                   %b: memref<5x32xf32>, %e: memref<?xi32>,
                   %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %p columns(%b) experts(%e) outs(%y) {tile = #tile}
      : memref<?x64xf32>, memref<5x2x64x16xf32>, memref<5x32xf32>,
        memref<?xi32>, memref<?x32xf32> {
  ^bb0(%s: f32, %c: f32):
    %z = arith.addf %s, %c : f32
    transformer.yield %z : f32
  }
  return
}
