// A parallel loop becomes a kernel, a thread an item, and a launch of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-outline-threads --canonicalize --cse | FileCheck %s

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @kernels

// A constant table is copied to where the kernel can read it.
// CHECK: memref.global "private" constant @table : memref<3xf32>

// CHECK: gpu.func @two_axes_0_decoder_layers_attn_o(%[[X:.*]]: !llvm.ptr, %[[SCALE:.*]]: f32, %[[ROWS:.*]]: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>}
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[THREADS]]
// CHECK: %[[ITEM:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK: %[[COUNT:.*]] = arith.muli %[[ROWS]], %[[C5]]
// CHECK: %[[IS_ITEM:.*]] = arith.cmpi ult, %[[ITEM]], %[[COUNT]]
// CHECK: scf.if %[[IS_ITEM]] {
// The last axis is the fastest; an axis without extent divides by one.
// CHECK: %[[EXTENT:.*]] = arith.maxsi %[[ROWS]], %[[C1]]
// CHECK: %[[J:.*]] = arith.remui %[[ITEM]], %[[C5]]
// CHECK: %[[REST:.*]] = arith.divui %[[ITEM]], %[[C5]]
// CHECK: %[[I:.*]] = arith.remui %[[REST]], %[[EXTENT]]
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]] : memref<?x5xf32>
// CHECK: gpu.return

// The inner loop is one of the thread, the worker its item.
// CHECK: gpu.func @nested_1(%[[STEP:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr, %[[ROWS:.*]]: index) kernel
// CHECK: %[[ITEM:.*]] = arith.addi
// CHECK: scf.if
// CHECK: scf.for
// CHECK-NOT: transformer.worker
// CHECK: llvm.load %[[STEP]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[ITEM]], %{{.*}}] : memref<?x5xf32>
// CHECK-NOT: scf.parallel

// Of tables nothing is passed: each is made again.
// CHECK: gpu.func @tables_2(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: index) kernel
// CHECK: memref.get_global @table
// A copy is a loop over the elements.
// CHECK: gpu.func @copy_3(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: index, %{{[^,]*}}: index) kernel
// CHECK: memref.load
// CHECK: memref.store
// What does not lie row behind row is a descriptor.
// CHECK: gpu.func @strided_4(%{{[^,]*}}: memref<?x2xf32, strided<[5, 1], offset: 3>>, %{{[^,]*}}: index) kernel
// Two loops share the last: both launch it.
// CHECK: gpu.func @shared_5(
// CHECK-NOT: gpu.func @

memref.global "private" constant @table : memref<3xf32> = dense<[1.0, 2.0, 3.0]>

// CHECK: func.func @two_axes(%[[STEP:.*]]: !llvm.ptr {transformer.step}, %[[X:.*]]: memref<?x5xf32>, %[[ROWS:.*]]: index, %[[SCALE:.*]]: f32)
func.func @two_axes(%step: !llvm.ptr {transformer.step}, %x: memref<?x5xf32>,
                    %rows: index, %scale: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : index
  // CHECK: %[[ADDRESS:.*]] = llvm.inttoptr
  // CHECK: %[[COUNT:.*]] = arith.muli %[[ROWS]]
  // No items, no launch: a grid has at least one block.
  // CHECK: %[[IS_ANY:.*]] = arith.cmpi sgt, %[[COUNT]]
  // CHECK: scf.if %[[IS_ANY]] {
  // CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[COUNT]], %[[THREADS]]
  // CHECK: gpu.launch_func @kernels::@two_axes_0_decoder_layers_attn_o blocks in (%[[BLOCKS]], %[[C1]], %[[C1]]) threads in (%[[THREADS]], %[[C1]], %[[C1]]) args(%[[ADDRESS]] : !llvm.ptr, %[[SCALE]] : f32, %[[ROWS]] : index)
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %c5) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x5xf32>
    %y = arith.mulf %v, %scale : f32
    memref.store %y, %x[%i, %j] : memref<?x5xf32>
    scf.reduce
  } loc("decoder.layers.attn.o")
  return
}

// CHECK: func.func @nested(%[[STEP:.*]]: !llvm.ptr
func.func @nested(%step: !llvm.ptr {transformer.step}, %x: memref<?x5xf32>,
                  %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  // A kernel reads the step where it can: in the device's memory.
  // CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STEP]][120]
  // CHECK: %[[DEVICE_STEP:.*]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
  // CHECK: gpu.launch_func @kernels::@nested_1 {{.*}} args(%[[DEVICE_STEP]] : !llvm.ptr, %{{.*}} : !llvm.ptr, %{{.*}} : index)
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %worker = transformer.worker
    scf.parallel (%j) = (%c0) to (%c5) step (%c1) {
      %v = llvm.load %step : !llvm.ptr -> f32
      memref.store %v, %x[%worker, %j] : memref<?x5xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}

func.func @tables(%step: !llvm.ptr {transformer.step}, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %table = memref.get_global @table : memref<3xf32>
  %end = memref.subview %table[2] [1] [1]
    : memref<3xf32> to memref<1xf32, strided<[1], offset: 2>>
  %rows = memref.dim %x, %c0 : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %v = memref.load %end[%c0] : memref<1xf32, strided<[1], offset: 2>>
    memref.store %v, %x[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

func.func @copy(%step: !llvm.ptr {transformer.step}, %x: memref<?x5xf32>,
                %y: memref<?x5xf32>) {
  memref.copy %x, %y : memref<?x5xf32> to memref<?x5xf32>
  return
}

func.func @strided(%step: !llvm.ptr {transformer.step}, %x: memref<?x5xf32>,
                   %rows: index, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %right = memref.subview %x[0, 3] [%rows, 2] [1, 1]
    : memref<?x5xf32> to memref<?x2xf32, strided<[5, 1], offset: 3>>
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    memref.store %zero, %right[%i, %c1]
      : memref<?x2xf32, strided<[5, 1], offset: 3>>
    scf.reduce
  }
  return
}

// The length is asked for by the host, who knows it.
// CHECK: func.func @shared(
// CHECK-COUNT-2: gpu.launch_func @kernels::@shared_5
func.func @shared(%step: !llvm.ptr {transformer.step}, %x: memref<?xindex>,
                  %y: memref<?xindex>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %length = memref.dim %x, %c0 : memref<?xindex>
    memref.store %length, %x[%i] : memref<?xindex>
    scf.reduce
  }
  scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
    %length = memref.dim %y, %c0 : memref<?xindex>
    memref.store %length, %y[%i] : memref<?xindex>
    scf.reduce
  }
  return
}
