// What layers compute of weights alone becomes an entry and weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --split-input-file --tfc-prepare-weights --verify-diagnostics | FileCheck %s

// Behind the other parameters, by the paths of what computes them; one of two
// that have a path gets another name.
// CHECK: transformer.parameter @own
// CHECK-NEXT: transformer.parameter @layers.k : tensor<16x8xf32> layers 3 prepared
// CHECK-NEXT: transformer.parameter @layers.k_0 : tensor<16x8xf32> layers 3 prepared
transformer.parameter @table : tensor<16x8xf32> from <["r"], stored_rows = 16>
transformer.parameter @norm : tensor<8xf32> from <["n"], stored_rows = 8>
transformer.parameter @w : tensor<8x8xf32> layers 6 from <["w.{i}"], stored_rows = 8>
transformer.parameter @own : tensor<8x8xf32> layers 3 from <["o.{i}"], stored_rows = 8>

// CHECK-LABEL: func.func @encode
func.func @encode(%x: tensor<?x8xf32>, %batch: !transformer.batch) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %r = transformer.weight @table : tensor<16x8xf32>
  %n = transformer.weight @norm : tensor<8xf32>
  // Nobody else reads the norm of the table.
  // CHECK-NOT: transformer.rms_norm
  %t = transformer.rms_norm %r, %n {eps = 1.0e-6 : f64}
    : tensor<16x8xf32>, tensor<8xf32>
  // CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[H:.*]] = %{{.*}})
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<?x8xf32> {
    // CHECK-NEXT: %[[A:.*]] = transformer.weight @layers.k[%[[I]]] : tensor<16x8xf32>
    // CHECK-NEXT: %[[B:.*]] = transformer.weight @layers.k_0[%[[I]]] : tensor<16x8xf32>
    %number = arith.muli %i, %c2 : index
    %w = transformer.weight @w[%number] : tensor<8x8xf32>
    %a = transformer.linear %t, %w
      : tensor<16x8xf32>, tensor<8x8xf32> loc("layers.k")
    %o = transformer.weight @own[%i] : tensor<8x8xf32>
    // What is between two products is not kept.
    %f = transformer.activation gelu %a : tensor<16x8xf32>
    %b = transformer.linear %f, %o
      : tensor<16x8xf32>, tensor<8x8xf32> loc("layers.k")
    // What has no product in it stays.
    // CHECK-NEXT: %[[W:.*]] = transformer.weight @own[%[[I]]] : tensor<8x8xf32>
    // CHECK-NEXT: transformer.linear %[[H]], %[[W]]
    %own = transformer.weight @own[%i] : tensor<8x8xf32>
    %q = transformer.linear %h, %own : tensor<?x8xf32>, tensor<8x8xf32>
    // CHECK-NEXT: "test.reads"(%{{.*}}, %[[A]], %[[B]])
    %z = "test.reads"(%q, %a, %b)
      : (tensor<?x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<?x8xf32>
    scf.yield %z : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @prepare(
// CHECK-SAME: tensor<?xi32> {transformer.rows}, %{{.*}}: !transformer.batch) attributes {transformer.prepare} {
// CHECK: %[[T:.*]] = transformer.rms_norm
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[THREE:.*]] = arith.constant 3 : index
// CHECK: scf.for %[[I:.*]] = %[[ZERO]] to %[[THREE]]
// CHECK-NEXT: %[[NUMBER:.*]] = arith.muli %[[I]]
// CHECK-NEXT: %[[W:.*]] = transformer.weight @w[%[[NUMBER]]]
// CHECK-NEXT: %[[A:.*]] = transformer.linear %[[T]], %[[W]]
// CHECK-NEXT: %[[O:.*]] = transformer.weight @own[%[[I]]]
// CHECK-NEXT: %[[F:.*]] = transformer.activation gelu %[[A]]
// CHECK-NEXT: %[[B:.*]] = transformer.linear %[[F]], %[[O]]
// CHECK-NEXT: transformer.keep %[[A]], @layers.k[%[[I]]]
// CHECK-NEXT: transformer.keep %[[B]], @layers.k_0[%[[I]]]
// CHECK-NEXT: }
// CHECK-NEXT: return

// -----

// Where there is nothing of that kind there is no such entry: a product of the
// step's rows, a table as it is stored, and one that a number of trips that
// nobody knows would make.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-2: transformer.linear
// CHECK-NOT: @prepare
transformer.parameter @table : tensor<16x8xf32> from <["r"], stored_rows = 16>
transformer.parameter @w : tensor<8x8xf32> layers 3 from <["w.{i}"], stored_rows = 8>
func.func @step(%x: tensor<?x8xf32>, %batch: !transformer.batch, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = transformer.weight @table : tensor<16x8xf32>
  scf.for %i = %c0 to %c3 step %c1 {
    %w = transformer.weight @w[%i] : tensor<8x8xf32>
    %y = transformer.linear %x, %w : tensor<?x8xf32>, tensor<8x8xf32>
    "test.reads"(%y, %r) : (tensor<?x8xf32>, tensor<16x8xf32>) -> ()
  }
  scf.for %i = %c0 to %n step %c1 {
    %w = transformer.weight @w[%i] : tensor<8x8xf32>
    %y = transformer.linear %r, %w : tensor<16x8xf32>, tensor<8x8xf32>
    "test.reads"(%y) : (tensor<16x8xf32>) -> ()
  }
  return
}

// -----

// expected-error @below {{expected a module without @prepare (the pass makes it), got one}}
func.func @prepare(%batch: !transformer.batch) {
  return
}
