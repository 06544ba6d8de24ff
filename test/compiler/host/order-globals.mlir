// Constants come first, in the order in which the functions use them, however
// bufferization numbered them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-order-globals | FileCheck %s

// CHECK: module
// CHECK-NEXT: memref.global "private" constant @constant_0 : memref<2xi32> = dense<[1, 2]>
// CHECK-NEXT: memref.global "private" constant @constant_1 : memref<2xi32> = dense<[3, 4]>
// CHECK-NEXT: memref.global "private" constant @constant_2 : memref<2xi32> = dense<[5, 6]>
// CHECK-NEXT: func.func @encode
memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<[3, 4]>
memref.global "private" constant @constant_0 : memref<2xi32> = dense<[5, 6]>

// CHECK: memref.get_global @constant_0
// CHECK: memref.get_global @constant_1
func.func @encode() -> (memref<2xi32>, memref<2xi32>) {
  %0 = memref.get_global @__constant_2xi32_0 : memref<2xi32>
  %1 = memref.get_global @__constant_2xi32 : memref<2xi32>
  return %0, %1 : memref<2xi32>, memref<2xi32>
}

// CHECK-LABEL: func.func @step
// CHECK: memref.get_global @constant_1
// CHECK: memref.get_global @constant_2
func.func @step() -> (memref<2xi32>, memref<2xi32>) {
  %0 = memref.get_global @__constant_2xi32 : memref<2xi32>
  %1 = memref.get_global @constant_0 : memref<2xi32>
  return %0, %1 : memref<2xi32>, memref<2xi32>
}

memref.global "private" constant @__constant_2xi32_0 : memref<2xi32> = dense<[1, 2]>

// A module of kernels has constants of its own, whatever their names.
// CHECK-LABEL: gpu.module @kernels
// CHECK-NEXT: memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<[7, 8]>
// CHECK: memref.get_global @__constant_2xi32
gpu.module @kernels {
  memref.global "private" constant @__constant_2xi32 : memref<2xi32> = dense<[7, 8]>
  func.func @table() -> memref<2xi32> {
    %0 = memref.get_global @__constant_2xi32 : memref<2xi32>
    return %0 : memref<2xi32>
  }
}
