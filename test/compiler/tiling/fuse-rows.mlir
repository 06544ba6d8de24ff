// What sums along rows and maps them becomes one loop over rows.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --pass-pipeline='builtin.module(tfc-lower-to-linalg,canonicalize,func.func(tfc-fuse-rows),canonicalize)' | FileCheck %s
// RUN: tfc-opt %s --pass-pipeline='builtin.module(tfc-lower-to-linalg,canonicalize,func.func(tfc-fuse-rows{width=7}))' | FileCheck %s --check-prefix=NARROW
// RUN: not tfc-opt %s --pass-pipeline='builtin.module(func.func(tfc-fuse-rows{width=0}))' 2>&1 | FileCheck %s --check-prefix=ZERO
// NARROW-NOT: scf.forall
// ZERO: option width of tfc-fuse-rows: expected at least 1, got 0

// The addition before a norm that nobody else reads, the sum and the map.
// CHECK-LABEL: @one_loop
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%[[T:.*]]) in (%{{.*}})
// CHECK: %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x8xf32>)
// CHECK: %[[S:.*]] = linalg.generic {{.*}}"reduction"]} ins(%[[X]] : tensor<1x8xf32>)
// CHECK: linalg.generic {{.*}}%[[X]]
// CHECK: tensor.parallel_insert_slice
// CHECK-NOT: linalg.generic
func.func @one_loop(%x: tensor<?x8xf32>, %r: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %s = transformer.add %x, %r : tensor<?x8xf32>, tensor<?x8xf32>
  %y = transformer.rms_norm %s, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// A sum that is read afterwards has memory of its own.
// CHECK-LABEL: @read_elsewhere
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<?x8xf32>)
// CHECK: %[[Y:.*]] = scf.forall
// CHECK: tensor.extract_slice %[[SUM]]
// CHECK: return %[[Y]], %[[SUM]]
func.func @read_elsewhere(%x: tensor<?x8xf32>, %r: tensor<?x8xf32>, %w: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %s = transformer.add %x, %r : tensor<?x8xf32>, tensor<?x8xf32>
  %y = transformer.rms_norm %s, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return %y, %s : tensor<?x8xf32>, tensor<?x8xf32>
}

// A row that is overwritten is read where it is written: no copy follows.
// CHECK-LABEL: @in_place
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<?x8xf32>
// CHECK: scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %[[X]])
// CHECK-NOT: %[[X]][
// CHECK: tensor.extract_slice %[[OUT]]
func.func @in_place(%x: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = transformer.rms_norm %x, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// Maps without a sum, gathers and products are as well off an element at a time.
// CHECK-LABEL: @stay
// CHECK-NOT: scf.forall
func.func @stay(%x: tensor<?x8xf32>, %rows: tensor<?xi32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %a = transformer.activation relu %x : tensor<?x8xf32>
  %g = transformer.gather_rows %a, %rows : tensor<?x8xf32>, tensor<?xi32>
  %y = transformer.linear %g, %w : tensor<?x8xf32>, tensor<8x8xf32>
  return %y : tensor<?x8xf32>
}

// What a loop carries is computed where it is carried.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CHECK: %[[Y:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[CARRIED]])
// CHECK-NOT: linalg.copy
// CHECK: scf.yield %[[Y]]
func.func @carried(%x: tensor<?x8xbf16>, %w: tensor<8xf32>, %n: index) -> tensor<?x8xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<?x8xbf16>) {
    %s = transformer.add %h, %h : tensor<?x8xbf16>, tensor<?x8xbf16>
    %y = transformer.rms_norm %s, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32> -> tensor<?x8xbf16>
    scf.yield %y : tensor<?x8xbf16>
  }
  return %z : tensor<?x8xbf16>
}

// A row of one column is no vector.
// CHECK-LABEL: @one_column
// CHECK-NOT: scf.forall
func.func @one_column(%x: tensor<?x1xf32>, %w: tensor<1xf32>) -> tensor<?x1xf32> {
  %y = transformer.rms_norm %x, %w {eps = 1.0 : f64} : tensor<?x1xf32>, tensor<1xf32>
  return %y : tensor<?x1xf32>
}

// A chain of maps in one place ends where it began.
// CHECK-LABEL: @chain_in_place
// CHECK: scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CHECK: %[[Y:.*]] = scf.forall {{.*}} shared_outs(%{{.*}} = %[[CARRIED]])
// CHECK: scf.yield %[[Y]]
func.func @chain_in_place(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %s: tensor<8xf32>, %n: index) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%h = %x) -> (tensor<?x8xf32>) {
    %y = transformer.rms_norm %h, %w {eps = 1.0 : f64} : tensor<?x8xf32>, tensor<8xf32>
    %sum = transformer.add %h, %y : tensor<?x8xf32>, tensor<?x8xf32>
    %scaled = transformer.layer_scale %sum, %s : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    scf.yield %scaled : tensor<?x8xf32>
  }
  return %z : tensor<?x8xf32>
}
