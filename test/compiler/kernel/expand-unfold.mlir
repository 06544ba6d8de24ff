// Rows with their neighbours as loops over sequences and columns, in vectors
// and one column at a time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-scalar-kernels --canonicalize --cse | FileCheck %s --check-prefix=SCALAR

// Of 18 columns 16 are an item, and so are the two that are left. A row that is
// not seen is zeros; a column's three numbers lie together.
// CHECK-LABEL: func.func @unfold
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: scf.for
// CHECK-COUNT-3: arith.select %{{.*}}, %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK: scf.parallel (%{{.*}}) =
// CHECK: vector<2xf32>
// CHECK-NOT: transformer.ragged_unfold
// SCALAR-LABEL: func.func @unfold
// SCALAR: scf.parallel (%{{.*}}, %[[COLUMN:.*]]) =
// SCALAR: %[[FIRST:.*]] = arith.muli %[[COLUMN]], %c3
// SCALAR: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[FIRST]]] : memref<?x54xf32>
// SCALAR: %[[SECOND:.*]] = arith.addi %[[FIRST]], %c1
// SCALAR: memref.store %{{.*}}, %{{.*}}[%{{.*}}, %[[SECOND]]] : memref<?x54xf32>
// SCALAR-NOT: scf.parallel
func.func @unfold(%x: memref<?x18xf32>, %y: memref<?x54xf32>,
                  %batch: !transformer.batch) {
  transformer.ragged_unfold %x taps 3, %batch outs(%y : memref<?x54xf32>)
    : memref<?x18xf32>
  return
}

// Rows of two frames, each from an input of its own: tap 0 has the second frame
// of the row before.
// CHECK-LABEL: func.func @frames
// SCALAR-LABEL: func.func @frames(
// SCALAR-SAME: %[[EVEN:.*]]: memref<?x18xf32>, %[[ODD:.*]]: memref<?x18xf32>,
// SCALAR: memref.load %[[ODD]]
// SCALAR: memref.load %[[EVEN]]
// SCALAR: memref.load %[[ODD]]
// SCALAR-NOT: transformer.ragged_unfold
func.func @frames(%even: memref<?x18xf32>, %odd: memref<?x18xf32>,
                  %y: memref<?x54xf32>, %batch: !transformer.batch) {
  transformer.ragged_unfold %even, %odd taps 3 from -1 frames 2, %batch
    outs(%y : memref<?x54xf32>) : memref<?x18xf32>, memref<?x18xf32>
  return
}
