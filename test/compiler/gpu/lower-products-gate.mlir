// A product is done together with the one before it, which it is multiplied by,
// where nobody else reads that, and both have the same rows and sizes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products | FileCheck %s

// CHECK-LABEL: func.func @read
// CHECK-COUNT-10: gpu.launch_func
// CHECK: return
func.func @read(%x: memref<?x64xbf16>, %gate: memref<96x64x1xbf16>,
                %up: memref<96x64x1xbf16>, %g: memref<?x96xbf16>,
                %y: memref<?x96xbf16>) -> memref<?x96xbf16> {
  transformer.product %x, %gate outs(%g)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<?x96xbf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  transformer.product %x, %up rows(%g) outs(%y)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<?x96xbf16>,
        memref<?x96xbf16> {
  ^bb0(%s: f32, %f: f32):
    %z = arith.mulf %s, %f : f32
    transformer.yield %z : f32
  }
  return %g : memref<?x96xbf16>
}

// Of other rows.
// CHECK-LABEL: func.func @other
// CHECK-COUNT-10: gpu.launch_func
// CHECK: return
func.func @other(%x: memref<?x64xbf16>, %z: memref<?x64xbf16>,
                 %gate: memref<96x64x1xbf16>, %up: memref<96x64x1xbf16>,
                 %g: memref<?x96xbf16>, %y: memref<?x96xbf16>) {
  transformer.product %z, %gate outs(%g)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<?x96xbf16> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  transformer.product %x, %up rows(%g) outs(%y)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<?x96xbf16>,
        memref<?x96xbf16> {
  ^bb0(%s: f32, %f: f32):
    %p = arith.mulf %s, %f : f32
    transformer.yield %p : f32
  }
  return
}
