// Loops over layers of several structures become functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-outline-layers | FileCheck %s

// What the loop carries comes first, and rows are marked; bounds are made again
// inside, the number of the first layer is told.
// CHECK: func.func private @step.layers.0(%[[X:.*]]: tensor<?x8xf32> {transformer.tokens}, %[[NUMBER:.*]]: index, %[[RESIDUAL:.*]]: tensor<?x8xf32> {transformer.tokens}) -> tensor<?x8xf32> attributes {transformer.layers_of = @step} {
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[LOOP:.*]] = scf.for %[[I:.*]] = %[[ZERO]] to %[[TWO]] step %[[ONE]] iter_args(%[[H:.*]] = %[[X]])
// CHECK: %[[LAYER:.*]] = arith.addi %[[I]], %[[NUMBER]]
// CHECK: transformer.tap "a" layer %[[LAYER]] %[[H]]
// CHECK: transformer.add %[[H]], %[[RESIDUAL]]
// CHECK: return %[[LOOP]]

// A loop whose location says nothing, and one of several places.
// CHECK: func.func private @step.layers(%{{.*}}: tensor<?x8xf32> {transformer.tokens}, %{{.*}}: tensor<3xf32>, %{{.*}}: !transformer.batch) -> tensor<?x8xf32>
// CHECK: func.func private @"step.layers.1-3:2+layers.2-4:2"(

// CHECK: func.func @step(%[[X:.*]]: tensor<?x8xf32>, %[[VECTOR:.*]]: tensor<3xf32>, %[[BATCH:.*]]: !transformer.batch)
func.func @step(%x: tensor<?x8xf32>, %v: tensor<3xf32>,
                %batch: !transformer.batch) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[SEVEN:.*]] = arith.constant 7 : index
  %c7 = arith.constant 7 : index
  // CHECK: %[[SUM:.*]] = transformer.add
  %f = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
  // CHECK: %[[A:.*]] = call @step.layers.0(%[[X]], %[[SEVEN]], %[[SUM]])
  %a = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x)
      -> tensor<?x8xf32> {
    %layer = arith.addi %i, %c7 : index
    transformer.tap "a" layer %layer %h : tensor<?x8xf32>
    %y = transformer.add %h, %f : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  } loc("layers.0")
  // CHECK: %[[B:.*]] = call @step.layers(%[[A]], %[[VECTOR]], %[[BATCH]])
  %b = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %a)
      -> tensor<?x8xf32> {
    %y = "test.rows"(%h, %v, %batch)
      : (tensor<?x8xf32>, tensor<3xf32>, !transformer.batch) -> tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  // CHECK: %[[C:.*]] = call @"step.layers.1-3:2+layers.2-4:2"(%[[B]])
  %c = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %b)
      -> tensor<?x8xf32> {
    scf.yield %h : tensor<?x8xf32>
  } loc(fused["layers.1-3:2", "layers.2-4:2"])
  // CHECK-NOT: scf.for
  // CHECK: return %[[C]]
  return %c : tensor<?x8xf32>
}

// One loop over its own layers and one over those of another stack: the layers
// of each have one structure.
// CHECK-LABEL: func.func @one_of_each
func.func @one_of_each(%x: tensor<?x8xf32>, %batch: !transformer.batch)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: scf.for
  %a = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x)
      -> tensor<?x8xf32> {
    scf.yield %h : tensor<?x8xf32>
  }
  // CHECK: scf.for
  scf.for %i = %c0 to %c2 step %c1 {
    "test.use"(%a) : (tensor<?x8xf32>) -> ()
  }
  return %a : tensor<?x8xf32>
}

// Several loops that carry nothing: layers of several structures read what the
// encoder found.
// CHECK: func.func private @writes.layers(%{{.*}}: tensor<?x8xf32> {transformer.tokens}) attributes {transformer.layers_of = @writes}
// CHECK: func.func private @writes.layers_0(
// CHECK: func.func @writes(
func.func @writes(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: call @writes.layers(
  scf.for %i = %c0 to %c2 step %c1 {
    "test.use"(%x) : (tensor<?x8xf32>) -> ()
  }
  // CHECK: call @writes.layers_0(
  scf.for %i = %c0 to %c2 step %c1 {
    "test.use"(%x) : (tensor<?x8xf32>) -> ()
  }
  return
}

// CHECK-LABEL: func.func @no_entry
func.func @no_entry(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-COUNT-2: scf.for
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%i) : (index) -> ()
  }
  scf.for %i = %c0 to %n step %c1 {
    "test.use"(%n) : (index) -> ()
  }
  return
}

// Two results that begin as one value have a place each.
// CHECK: func.func private @twins.layers.0(%[[X:.*]]: tensor<?x8xf32> {transformer.tokens}, %[[Y:.*]]: tensor<?x8xf32> {transformer.tokens}) -> (tensor<?x8xf32>, tensor<?x8xf32>)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[X]], %{{.*}} = %[[Y]])
// CHECK: func.func @twins(%[[X:.*]]: tensor<?x8xf32>,
func.func @twins(%x: tensor<?x8xf32>, %batch: !transformer.batch)
    -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // CHECK: %[[A:.*]]:2 = call @twins.layers.0(%[[X]], %[[X]])
  %a:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%g = %x, %h = %x)
      -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %y = transformer.add %g, %h : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %y, %h : tensor<?x8xf32>, tensor<?x8xf32>
  } loc("layers.0")
  // CHECK: call @twins.layers.1(%[[A]]#0, %[[A]]#1)
  %b:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%g = %a#0, %h = %a#1)
      -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %y = transformer.add %g, %h : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %g, %y : tensor<?x8xf32>, tensor<?x8xf32>
  } loc("layers.1")
  return %b#1 : tensor<?x8xf32>
}
