// Whatever the stage `buffer` may contain becomes the LLVM dialect at once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-convert-to-llvm --split-input-file > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=NOTHING < %t

// NOTHING-NOT: {{(affine|arith|cf|func|math|memref|scf|ub|vector)\.[a-z]}}
// NOTHING-NOT: unrealized_conversion_cast

// A loop is blocks, its counter an i64; a row is read where its view begins.
// CHECK-LABEL: llvm.func @loop(
// CHECK: llvm.br ^[[HEAD:.*]](%{{.*}} : i64, vector<8xf32>)
// CHECK: ^[[HEAD]](%[[I:.*]]: i64, %[[SUM:.*]]: vector<8xf32>):
// CHECK: %[[MORE:.*]] = llvm.icmp "slt" %[[I]], %{{.*}} : i64
// CHECK: llvm.cond_br %[[MORE]]
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.intr.fma(%{{.*}}, %{{.*}}, %[[SUM]]) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
func.func @loop(%pointer: !llvm.ptr, %steps: index, %row: index,
                %x: f32) -> vector<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %0 = llvm.mlir.poison
    : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %1 = llvm.insertvalue %pointer, %0[1]
    : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
  %buffer = builtin.unrealized_conversion_cast %1
    : !llvm.struct<(ptr, ptr, i64, array<2 x i64>, array<2 x i64>)>
      to memref<?x64xf32>
  %view = memref.subview %buffer[%row, 8] [1, 48] [1, 1]
    : memref<?x64xf32> to memref<48xf32, strided<[1], offset: ?>>
  %factor = vector.broadcast %x : f32 to vector<8xf32>
  %sum = scf.for %i = %c0 to %steps step %c1
      iter_args(%old = %zero) -> (vector<8xf32>) {
    %place = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
    %y = vector.load %view[%place]
      : memref<48xf32, strided<[1], offset: ?>>, vector<8xf32>
    %new = math.fma %factor, %y, %old : vector<8xf32>
    scf.yield %new : vector<8xf32>
  }
  return %sum : vector<8xf32>
}

// -----

// Bodies of loops are functions of the LLVM dialect already.
// CHECK-LABEL: llvm.func internal @body(
// CHECK: llvm.cond_br
// CHECK: llvm.store
// CHECK: llvm.return
llvm.func internal @body(%pointer: !llvm.ptr, %begin: i64, %end: i64) {
  %c1 = arith.constant 1 : index
  %first = arith.index_cast %begin : i64 to index
  %last = arith.index_cast %end : i64 to index
  scf.for %i = %first to %last step %c1 {
    %half = arith.ceildivui %i, %last : index
    %word = arith.index_cast %half : index to i64
    llvm.store %word, %pointer : i64, !llvm.ptr
  }
  llvm.return
}

// -----

// A choice by comparison, not LLVM's maximum, which would order zeros.
// CHECK-LABEL: llvm.func @relu(
// CHECK-NOT: llvm.intr.maximum
// CHECK: %[[LARGER:.*]] = llvm.fcmp "ugt" %[[X:.*]], %[[Y:.*]] : vector<8xf32>
// CHECK: %[[CHOICE:.*]] = llvm.select %[[LARGER]], %[[X]], %[[Y]]
// CHECK: llvm.fcmp "uno" %[[Y]], %[[Y]]
func.func @relu(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.maximumf %x, %y : vector<8xf32>
  return %0 : vector<8xf32>
}

// -----

// Cases of rows and the smaller of two counts.
func.func @cases(%case: index, %x: index, %y: index) -> index {
  // CHECK-LABEL: llvm.func @cases(
  // CHECK: llvm.switch
  %0 = scf.index_switch %case -> index
  case 1 {
    scf.yield %x : index
  }
  default {
    %1 = affine.min affine_map<(d0, d1) -> (d0, d1)>(%x, %y)
    scf.yield %1 : index
  }
  return %0 : index
}
