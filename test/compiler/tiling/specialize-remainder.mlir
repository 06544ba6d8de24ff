// A row loop becomes full tiles and a switch over the rows that are left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(func.func(tfc-specialize-remainder),canonicalize)" | FileCheck %s

// CHECK-LABEL: @switches_over_what_is_left
// CHECK-SAME: %[[ROWS:.*]]: index
func.func @switches_over_what_is_left(%rows: index, %x: tensor<?x8xf32>)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // CHECK: %[[FULL:.*]] = affine.apply {{.*}}[%[[ROWS]]]
  // CHECK: scf.for {{.*}} to %[[FULL]] step %c3
  // CHECK: tensor.extract_slice %{{.*}}, 0] [3, 8] [1, 1]
  // CHECK: "tile"
  // CHECK-NOT: row_loop
  // CHECK: scf.index_switch
  // CHECK: case 1
  // CHECK: tensor.extract_slice %{{.*}}, 0] [1, 8] [1, 1]
  // CHECK: "tile"
  // CHECK: case 2
  // CHECK: tensor.extract_slice %{{.*}}, 0] [2, 8] [1, 1]
  // CHECK: "tile"
  // CHECK: default
  // CHECK-NOT: "tile"
  %y = scf.for %i = %c0 to %rows step %c3 iter_args(%t = %x)
      -> (tensor<?x8xf32>) {
    %n = affine.min affine_map<(d0)[s0] -> (3, s0 - d0)>(%i)[%rows]
    %s = tensor.extract_slice %t[%i, 0] [%n, 8] [1, 1]
        : tensor<?x8xf32> to tensor<?x8xf32>
    %r = "tile"(%s) : (tensor<?x8xf32>) -> tensor<?x8xf32>
    %u = tensor.insert_slice %r into %t[%i, 0] [%n, 8] [1, 1]
        : tensor<?x8xf32> into tensor<?x8xf32>
    scf.yield %u : tensor<?x8xf32>
  } {transformer.row_loop}
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @leaves_other_loops
func.func @leaves_other_loops(%rows: index) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  // CHECK: scf.for
  // CHECK-NOT: scf.index_switch
  scf.for %i = %c0 to %rows step %c3 {
    "use"(%i) : (index) -> ()
  }
  return
}

// CHECK-LABEL: @whole_tiles_leave_nothing
func.func @whole_tiles_leave_nothing() {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  // CHECK: scf.for
  // CHECK-NOT: scf.index_switch
  scf.for %i = %c0 to %c9 step %c3 {
    "use"(%i) : (index) -> ()
  } {transformer.row_loop}
  return
}
