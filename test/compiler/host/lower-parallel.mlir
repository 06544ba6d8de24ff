// A parallel loop becomes a body function and a call of the host.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --allow-unregistered-dialect --tfc-lower-parallel --canonicalize | FileCheck %s

// CHECK: llvm.func internal @one_axis_body_0(%[[CAPTURES:.*]]: !llvm.ptr, %[[BEGIN:.*]]: i64, %[[END:.*]]: i64, %[[NUMBER:.*]]: i32)
// CHECK-DAG: %[[FIRST:.*]] = arith.index_castui %[[BEGIN]]
// CHECK-DAG: %[[LAST:.*]] = arith.index_castui %[[END]]
// CHECK-DAG: %[[WORKER:.*]] = arith.index_castui %[[NUMBER]]
// Of a buffer the body is told where it begins.
// CHECK: llvm.getelementptr %[[CAPTURES]][0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64)>
// CHECK: %[[POINTER:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.insertvalue %[[POINTER]], %{{.*}}[1]
// CHECK: llvm.getelementptr %[[CAPTURES]][0, 1]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// The worker picks its scratch, and is the host's.
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[WORKER]]]
// CHECK: llvm.return

// CHECK: func.func @one_axis(%[[STEP:.*]]: !llvm.ptr) -> i32
func.func @one_axis(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %x = arith.constant 2.0 : f32
  // In the entry block: a loop around it must not grow the stack.
  // CHECK-DAG: %[[FUNCTION:.*]] = llvm.mlir.addressof @one_axis_body_0
  // CHECK: %[[STRUCT:.*]] = llvm.alloca %{{.*}} x !llvm.array<16 x i8> {alignment = 8 : i64}
  // CHECK: scf.for
  // CHECK-NOT: llvm.alloca
  // CHECK: %[[FIELD:.*]] = llvm.getelementptr %[[STRUCT]][0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64)>
  // CHECK: llvm.store %{{.*}}, %[[FIELD]]
  // host->parallel_for(host->ctx, n, body, captures)
  // CHECK: llvm.getelementptr %[[STEP]][112]
  // CHECK: %[[HOST:.*]] = llvm.load
  // CHECK: llvm.getelementptr %[[HOST]][16]
  // CHECK: %[[PARALLEL_FOR:.*]] = llvm.load
  // CHECK: llvm.getelementptr %[[HOST]][8]
  // CHECK: %[[CONTEXT:.*]] = llvm.load
  // CHECK: llvm.call %[[PARALLEL_FOR]](%[[CONTEXT]], %{{.*}}, %[[FUNCTION]], %[[STRUCT]]) {transformer.status} : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> i32
  // CHECK-NOT: scf.parallel
  // CHECK: return
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  %pointer = llvm.load %step : !llvm.ptr -> !llvm.ptr
  %d0 = llvm.mlir.poison
    : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %buffer = builtin.unrealized_conversion_cast %d0
    : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
      to memref<?xf32>
  scf.for %layer = %c0 to %count step %c1 {
    scf.parallel (%i) = (%c0) to (%count) step (%c1) {
      %worker = transformer.worker
      memref.store %x, %buffer[%worker] : memref<?xf32>
      scf.reduce
    }
  }
  return %ok : i32
}

// The items of a space with two axes are numbered; an axis without extent has
// no items, and dividing by its count must be defined all the same.
// CHECK: llvm.func internal @two_axes_body_1(%{{.*}}: !llvm.ptr, %[[BEGIN:[a-z0-9]*]]: i64,
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[FIRST:.*]] = arith.index_castui %[[BEGIN]]
// CHECK-NOT: arith.{{div|rem}}
// CHECK: %[[ROWS:.*]] = arith.maxsi %{{.*}}, %[[ONE]]
// CHECK-NOT: arith.{{div|rem}}
// CHECK: %[[COLUMNS:.*]] = arith.maxsi %{{.*}}, %[[ONE]]
// CHECK: arith.remui %[[FIRST]], %[[COLUMNS]]
// CHECK: %[[REST:.*]] = arith.divui %[[FIRST]], %[[COLUMNS]]
// CHECK: arith.remui %[[REST]], %[[ROWS]]
// Once, before the loop: inside it the indices count up with carry.
// CHECK: scf.for
// CHECK-NOT: arith.{{div|rem}}
// CHECK: arith.cmpi eq, %{{.*}}, %[[COLUMNS]]
// CHECK: llvm.return

// CHECK: func.func @two_axes(
func.func @two_axes(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %rows = arith.index_cast %n : i64 to index
  %m = llvm.load %step : !llvm.ptr -> i64
  %columns = arith.index_cast %m : i64 to index
  // CHECK: %[[ITEMS:.*]] = arith.muli
  // CHECK: %[[N:.*]] = arith.index_cast %[[ITEMS]]
  // CHECK: llvm.call %{{.*}}(%{{.*}}, %[[N]],
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    llvm.store %n, %step : i64, !llvm.ptr
    scf.reduce
  }
  return %ok : i32
}

// CHECK: llvm.func internal @inner_loops_run_in_the_body_body_2
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: llvm.call
// CHECK: func.func @inner_loops_run_in_the_body(
func.func @inner_loops_run_in_the_body(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  // CHECK: llvm.call
  // CHECK-NOT: llvm.call
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    scf.parallel (%j, %k) = (%c0, %c0) to (%i, %count) step (%c1, %c1) {
      llvm.store %n, %step : i64, !llvm.ptr
      scf.reduce
    }
    scf.reduce
  }
  // CHECK: return
  return %ok : i32
}

// A body is named after the ops in its loop's location, each once, but not after
// what only holds one of them.
// CHECK: llvm.func internal @named_body_3.decoder.layers.attn.o(
// CHECK: llvm.func internal @"named_body_4.a.k+a.kv"(
// CHECK-LABEL: func.func @named(
func.func @named(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  // CHECK-DAG: llvm.mlir.addressof @named_body_3.decoder.layers.attn.o
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %n, %step : i64, !llvm.ptr
    scf.reduce
  } loc(fused["decoder.layers.attn.o", "decoder.layers.attn"])
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %ok, %step : i32, !llvm.ptr
    scf.reduce
  } loc(fused["a.k", fused["a.kv", "a.k"], "file.mlir":1:2])
  return %ok : i32
}

// CHECK: func.func @leaves_sequential_loops_alone
func.func @leaves_sequential_loops_alone(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %ok = arith.constant 0 : i32
  // CHECK-NOT: llvm.call
  // CHECK: scf.for
  scf.for %i = %c0 to %c9 step %c1 {
    llvm.store %ok, %step : i32, !llvm.ptr
  }
  return %ok : i32
}

// One body serves both loops, which differ in what they take from outside; a
// loop with another constant has its own.
// CHECK: llvm.func internal @"shared_body_5.a.q+a.k"(
// CHECK: llvm.func internal @shared_body_6.a.v(
// CHECK-NOT: llvm.func internal
// CHECK-LABEL: func.func @shared(
func.func @shared(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %m = arith.muli %n, %n : i64
  %count = arith.index_cast %n : i64 to index
  // CHECK-DAG: %[[BOTH:.*]] = llvm.mlir.addressof @"shared_body_5.a.q+a.k"
  // CHECK-DAG: %[[ALONE:.*]] = llvm.mlir.addressof @shared_body_6.a.v
  // CHECK: llvm.call {{.*}}, %[[BOTH]], %
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %n, %step : i64, !llvm.ptr
    scf.reduce
  } loc("a.q")
  // CHECK: llvm.call {{.*}}, %[[BOTH]], %
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %m, %step : i64, !llvm.ptr
    scf.reduce
  } loc("a.k")
  // CHECK: llvm.call {{.*}}, %[[ALONE]], %
  scf.parallel (%i) = (%c0) to (%count) step (%c2) {
    llvm.store %n, %step : i64, !llvm.ptr
    scf.reduce
  } loc("a.v")
  return %ok : i32
}

// One place holds what each loop of a function captures, which is the largest's;
// a buffer's length is asked for outside, and is an index like any other.
// CHECK-LABEL: func.func @takes_turns(
func.func @takes_turns(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  %pointer = llvm.load %step : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[FRAME:.*]] = llvm.alloca %{{.*}} x !llvm.array<24 x i8>
  // CHECK-NOT: llvm.alloca
  %bytes = "test.bytes"() : () -> memref<?xi8>
  %buffer = memref.view %bytes[%c0][%count] : memref<?xi8> to memref<?x3xi64>
  // CHECK: llvm.getelementptr %[[FRAME]][0, 2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i64, i64, ptr)>
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    %length = memref.dim %buffer, %c0 : memref<?x3xi64>
    %last = arith.subi %length, %i : index
    memref.store %n, %buffer[%last, %c0] : memref<?x3xi64>
    scf.reduce
  }
  // CHECK: llvm.getelementptr %[[FRAME]][0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, i64)>
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %pointer, %pointer : !llvm.ptr, !llvm.ptr
    scf.reduce
  }
  return %ok : i32
}

// Loops of an entry's layers share bodies, and are named after the entry; those
// of another entry do not.
// CHECK: llvm.func internal @"many_body_9.layers.0+layers.1"(
// CHECK: func.func private @many.layers.0(
// CHECK: llvm.mlir.addressof @"many_body_9.layers.0+layers.1"
func.func private @many.layers.0(%step: !llvm.ptr, %x: !llvm.ptr) -> i32
    attributes {transformer.layers_of = @many} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %n, %x : i64, !llvm.ptr
    scf.reduce
  } loc("layers.0")
  return %ok : i32
}
// CHECK: func.func private @many.layers.1(
// CHECK: llvm.mlir.addressof @"many_body_9.layers.0+layers.1"
func.func private @many.layers.1(%step: !llvm.ptr, %x: !llvm.ptr) -> i32
    attributes {transformer.layers_of = @many} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %n, %x : i64, !llvm.ptr
    scf.reduce
  } loc("layers.1")
  return %ok : i32
}
// CHECK: llvm.func internal @other_body_10.layers.2(
func.func private @other.layers.2(%step: !llvm.ptr, %x: !llvm.ptr) -> i32
    attributes {transformer.layers_of = @other} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ok = arith.constant 0 : i32
  %n = llvm.load %step : !llvm.ptr -> i64
  %count = arith.index_cast %n : i64 to index
  scf.parallel (%i) = (%c0) to (%count) step (%c1) {
    llvm.store %n, %x : i64, !llvm.ptr
    scf.reduce
  } loc("layers.2")
  return %ok : i32
}
