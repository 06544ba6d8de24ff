// A launch becomes a call of the host with the kernel's number, its grid and
// pointers to its arguments.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-launches --canonicalize | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-launches --tfc-convert-to-llvm --tfc-return-status | FileCheck %s --check-prefix=LLVM

module attributes {gpu.container_module} {
gpu.binary @kernels [
  #gpu.object<#nvvm.target<chip = "sm_80">,
    kernels = <[#gpu.kernel_metadata<"a", !llvm.func<void (ptr, f32)>>,
                #gpu.kernel_metadata<"b", !llvm.func<void (ptr, ptr, i64, i64, i64)>>]>,
    "">]

// What the host says is returned, from within the loop.
// LLVM: llvm.func @step
// LLVM: %[[STATUS:.*]] = llvm.call
// LLVM: %[[STOPS:.*]] = llvm.icmp "ne" %[[STATUS]]
// LLVM: llvm.cond_br %[[STOPS]] weights([1, 2000]), ^[[STOP:.*]](%[[STATUS]] : i32)
// LLVM: ^[[STOP]](%[[SAID:.*]]: i32):
// LLVM-NEXT: llvm.return %[[SAID]]

// CHECK: func.func @step(%[[STEP:.*]]: !llvm.ptr) -> i32
func.func @step(%step: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c128 = arith.constant 128 : index
  %ok = arith.constant 0 : i32
  %scale = arith.constant 2.0 : f32
  // One place on the stack for all launches: five slots, pointers to them, and
  // the record, of which size and args do not change.
  // CHECK-DAG: %[[FIVE:.*]] = llvm.mlir.constant(5 : i64)
  // CHECK-DAG: %[[SIZE:.*]] = llvm.mlir.constant(40 : i32)
  // CHECK-DAG: %[[PLAIN:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK-DAG: %[[OVERLAPS:.*]] = llvm.mlir.constant(1 : i64)
  // CHECK-DAG: %[[NUMBER_A:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK-DAG: %[[NUMBER_B:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK-DAG: %[[TWO:.*]] = llvm.mlir.constant(2 : i32)
  // CHECK: %[[SLOTS:.*]] = llvm.alloca %[[FIVE]] x i64
  // CHECK: %[[ARGS:.*]] = llvm.alloca %[[FIVE]] x !llvm.ptr
  // CHECK: %[[RECORD:.*]] = llvm.alloca %[[FIVE]] x i64
  // CHECK: llvm.store %[[SLOTS]], %[[ARGS]]
  // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[SLOTS]][8]
  // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[ARGS]][8]
  // CHECK: llvm.store %[[SECOND]], %[[PLACE]]
  // CHECK: llvm.store %[[SIZE]], %[[RECORD]]
  // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][24]
  // CHECK: llvm.store %[[ARGS]], %[[PLACE]]
  // CHECK-NOT: llvm.alloca
  %x = llvm.load %step : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %step : !llvm.ptr -> i64
  %blocks = arith.index_cast %n : i64 to index
  scf.for %layer = %c0 to %c3 step %c1 {
    // CHECK: scf.for
    // CHECK-DAG: llvm.store %{{.*}}, %[[SLOTS]] : !llvm.ptr, !llvm.ptr
    // CHECK-DAG: %[[PLACE:.*]] = llvm.getelementptr %[[SLOTS]][8]
    // CHECK-DAG: llvm.store %{{.*}}, %[[PLACE]] : f32, !llvm.ptr
    // The kernel is the first of the table, the grid as the launch has it.
    // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][4]
    // CHECK: llvm.store %[[NUMBER_A]], %[[PLACE]] : i32
    // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][20]
    // CHECK: llvm.store %[[TWO]], %[[PLACE]] : i32
    // It does not overlap with the one in front.
    // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][32]
    // CHECK: llvm.store %[[PLAIN]], %[[PLACE]] : i64
    // CHECK: %[[BLOCKS:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][8]
    // CHECK: llvm.store %[[BLOCKS]], %[[PLACE]] : i32
    // CHECK: llvm.getelementptr %[[RECORD]][12]
    // CHECK: llvm.getelementptr %[[RECORD]][16]
    // host->launch(host->ctx, record)
    // CHECK: llvm.getelementptr %[[STEP]][112]
    // CHECK: %[[HOST:.*]] = llvm.load
    // CHECK: llvm.getelementptr %[[HOST]][32]
    // CHECK: %[[LAUNCH:.*]] = llvm.load
    // CHECK: llvm.getelementptr %[[HOST]][8]
    // CHECK: %[[CONTEXT:.*]] = llvm.load
    // CHECK: llvm.call %[[LAUNCH]](%[[CONTEXT]], %[[RECORD]]) {transformer.status} : !llvm.ptr, (!llvm.ptr, !llvm.ptr) -> i32
    gpu.launch_func @kernels::@a blocks in (%blocks, %c1, %c1)
        threads in (%c128, %c1, %c1) args(%x : !llvm.ptr, %scale : f32)
  }
  %descriptor = llvm.load %step
    : !llvm.ptr -> !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
  %buffer = builtin.unrealized_conversion_cast %descriptor
    : !llvm.struct<(ptr, ptr, i64, array<1 x i64>, array<1 x i64>)>
      to memref<?xf32, strided<[1], offset: 7>>
  // A descriptor is its fields.
  // CHECK: llvm.extractvalue %{{.*}}[0]
  // CHECK: llvm.extractvalue %{{.*}}[1]
  // CHECK: llvm.extractvalue %{{.*}}[2]
  // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][4]
  // CHECK: llvm.store %[[NUMBER_B]], %[[PLACE]] : i32
  // CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[RECORD]][32]
  // CHECK: llvm.store %[[OVERLAPS]], %[[PLACE]] : i64
  // CHECK-NOT: gpu.launch_func
  gpu.launch_func @kernels::@b blocks in (%blocks, %c1, %c1)
      threads in (%c128, %c1, %c1)
      args(%buffer : memref<?xf32, strided<[1], offset: 7>>) {transformer.overlaps}
  return %ok : i32
}

// A function without launches is left alone.
// CHECK: func.func @step_workspace_bytes(%{{.*}}: index) -> index {
// CHECK-NEXT: return
func.func @step_workspace_bytes(%n: index) -> index {
  return %n : index
}
}
