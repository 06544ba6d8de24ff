// A decoder's steps may ask for the greatest column of each row of logits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-find-greatest --canonicalize | FileCheck %s

#logits = #transformer.output_port<"logits", rows = wanted, take = all, width = 97>
#states = #transformer.output_port<"states", rows = tokens, take = all, width = 8>

// CHECK: gpu.module @kernels
// CHECK: gpu.func @greatest_column(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i32) kernel attributes {known_block_size = array<i32: 1024, 1, 1>, transformer.shared_bytes = 256 : i32}
// Eight columns are on their way before one is looked at.
// CHECK: scf.for
// CHECK-COUNT-8: llvm.load
// CHECK: arith.cmpf ogt
// CHECK: arith.cmpf uno
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: gpu.shuffle xor
// CHECK: llvm.store

// CHECK: func.func @step(%[[STEP:.*]]: !llvm.ptr {transformer.step}, %{{.*}}: memref<?x8xf32> {transformer.output = #transformer.output_port<"states", rows = tokens, take = all, width = 8>}, %[[ROWS:.*]]: memref<?x97xf32> {transformer.output = #transformer.output_port<"logits", rows = wanted, take = all, width = 97>}) attributes {transformer.greatest = 1 : i32}
func.func @step(%step: !llvm.ptr {transformer.step}, %states: memref<?x8xf32> {transformer.output = #states}, %rows: memref<?x97xf32> {transformer.output = #logits}) {
  // A shorter step is an older host's.
  // CHECK: %[[SIZE:.*]] = llvm.load %[[STEP]] : !llvm.ptr -> i64
  // CHECK: arith.cmpi uge
  // CHECK: %[[PLACE:.*]] = scf.if
  // CHECK: llvm.getelementptr %[[STEP]][160]
  // CHECK: } else {
  // CHECK: %[[COUNT:.*]] = memref.dim %[[ROWS]]
  // CHECK: scf.if
  // CHECK: gpu.launch_func @kernels::@greatest_column blocks in (%[[COUNT]], %{{.*}}, %{{.*}}) threads in {{.*}} args(%{{.*}} : !llvm.ptr, %[[PLACE]] : !llvm.ptr, %{{.*}} : i32)
  return
}

// What an encoder gives is not chosen from.
// CHECK: func.func @encode
// CHECK-NOT: transformer.greatest
// CHECK-NOT: gpu.launch_func
func.func @encode(%step: !llvm.ptr {transformer.step}, %rows: memref<?x97xf32> {transformer.output = #logits}) {
  return
}
