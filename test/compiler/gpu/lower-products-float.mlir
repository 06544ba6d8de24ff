// Products of f32 are chains of fused multiply-adds in tiles of three shapes: the
// larger one where there are blocks enough.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-products=deterministic=true --canonicalize --cse | FileCheck %s

// CHECK: gpu.func @product_16x64_f32_0({{.*}} kernel attributes {known_block_size = array<i32: 128, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 30720 : i32}
// CHECK: gpu.func @product_64x64_f32_0({{.*}} kernel attributes {known_block_size = array<i32: 128, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 49152 : i32}
// CHECK: gpu.func @product_128x128_f32_0({{.*}} kernel attributes {known_block_size = array<i32: 256, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 98304 : i32}
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: gpu.barrier
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
// CHECK: llvm.intr.fma
// CHECK-NOT: nvvm.mma
// CHECK: gpu.return

// Another body is another kernel.
// CHECK: gpu.func @product_16x64_f32_1(

// A product and its gate are one, in half as many columns.
// CHECK: gpu.func @product_16x32_f32_2(
// CHECK: gpu.func @product_64x32_f32_2(
// CHECK: gpu.func @product_128x64_f32_2(

// 1000 columns are 16 tiles of 64 and 8 of 128: up to 4 rows of the former are
// few, and up to 8 of the latter.
// CHECK: func.func @added
func.func @added(%x: memref<?x64xf32>, %w: memref<1000x64x1xf32>,
                 %bias: memref<1000xf32>, %residual: memref<?x1000xf32>,
                 %y: memref<?x1000xf32>) {
  // CHECK: %[[ROWS:.*]] = memref.dim
  // CHECK: arith.cmpi sle, %[[ROWS]], %c256
  // CHECK: %[[LEAST:.*]] = arith.ceildivui %[[ROWS]], %c16
  // CHECK: gpu.launch_func @kernels::@product_16x64_f32_0 blocks in (%c16, %[[LEAST]], %c1) threads in (%c128, %c1, %c1)
  // CHECK: arith.cmpi sle, %[[ROWS]], %c1024
  // CHECK: %[[SMALL:.*]] = arith.ceildivui %[[ROWS]], %c64
  // CHECK: gpu.launch_func @kernels::@product_64x64_f32_0 blocks in (%c16, %[[SMALL]], %c1)
  // CHECK: %[[LARGE:.*]] = arith.ceildivui %[[ROWS]], %c128
  // CHECK: gpu.launch_func @kernels::@product_128x128_f32_0 blocks in (%c8, %[[LARGE]], %c1) threads in (%c256, %c1, %c1)
  transformer.product %x, %w columns(%bias) rows(%residual) outs(%y)
      : memref<?x64xf32>, memref<1000x64x1xf32>, memref<1000xf32>,
        memref<?x1000xf32>, memref<?x1000xf32> {
  ^bb0(%s: f32, %b: f32, %r: f32):
    %biased = arith.addf %s, %b : f32
    %sum = arith.addf %biased, %r : f32
    transformer.yield %sum : f32
  }
  return
}

func.func @plain(%x: memref<?x64xf32>, %w: memref<97x64x1xf32>,
                 %y: memref<?x97xf32>) {
  transformer.product %x, %w outs(%y)
      : memref<?x64xf32>, memref<97x64x1xf32>, memref<?x97xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// 40000 columns are 625 large tiles: one row of them is many, but for rows that a
// small one has room for.
// CHECK: func.func @gated
func.func @gated(%x: memref<?x64xf32>, %w: memref<40000x64x1xf32>,
                 %v: memref<40000x64x1xf32>, %bias: memref<40000xf32>,
                 %gate: memref<?x40000xf32>, %y: memref<?x40000xf32>) {
  // CHECK: gpu.launch_func @kernels::@product_16x32_f32_2
  // CHECK: arith.cmpi sle, %{{.*}}, %c64
  // CHECK: gpu.launch_func @kernels::@product_64x32_f32_2
  // CHECK: gpu.launch_func @kernels::@product_128x64_f32_2 blocks in (%c625, %{{.*}}, %c1)
  transformer.product %x, %v columns(%bias) outs(%gate)
      : memref<?x64xf32>, memref<40000x64x1xf32>, memref<40000xf32>,
        memref<?x40000xf32> {
  ^bb0(%s: f32, %b: f32):
    %biased = arith.addf %s, %b : f32
    transformer.yield %biased : f32
  }
  transformer.product %x, %w rows(%gate) outs(%y)
      : memref<?x64xf32>, memref<40000x64x1xf32>, memref<?x40000xf32>,
        memref<?x40000xf32> {
  ^bb0(%s: f32, %g: f32):
    %both = arith.mulf %s, %g : f32
    transformer.yield %both : f32
  }
  return
}
