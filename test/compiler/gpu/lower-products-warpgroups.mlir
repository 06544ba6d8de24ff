// Where four warps multiply together, tiles are theirs; where kernels overlap,
// those for few rows ask for weights before they wait.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products="warpgroups=true overlap=true" --tfc-overlap-launches --canonicalize --cse | FileCheck %s

// A swizzled tile begins at a multiple of 1024 bytes.
// CHECK: llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// CHECK: gpu.func @product_8x16_bf16_0(
// CHECK: nvvm.griddepcontrol launch_dependents
// CHECK: nvvm.cp.async.bulk.prefetch
// CHECK: nvvm.griddepcontrol wait
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>

// CHECK: gpu.func @product_64x64_bf16_0({{.*}} kernel attributes {known_block_size = array<i32: 128, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 114688 : i32}
// Blocks of tiles begin when the kernel in front has ended.
// CHECK-NOT: nvvm.griddepcontrol
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 4
// CHECK-NEXT: nvvm.fence.proxy
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}}<m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: gpu.func @product_128x128_bf16_0({{.*}} kernel attributes {known_block_size = array<i32: 256, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 196608 : i32}
// CHECK: gpu.func @product_128x128_bf16_0_short({{.*}} kernel attributes {known_block_size = array<i32: 256, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 98304 : i32}
// CHECK: gpu.func @product_128x256_bf16_0({{.*}} kernel attributes {known_block_size = array<i32: 256, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 196608 : i32}

// CHECK: gpu.func @product_128x128_f16_1_short(
// CHECK: nvvm.wgmma.mma_async {{.*}}A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]

// Half of the rows of weights are the gate's.
// CHECK: gpu.func @product_128x64_bf16_2_short(
// CHECK: gpu.func @product_128x128_bf16_2(
// CHECK-NOT: gpu.func @

// CHECK: func.func @long
func.func @long(%x: memref<?x4096xbf16>, %w: memref<4096x4096x1xbf16>,
                %bias: memref<4096xf32>, %residual: memref<?x4096xbf16>,
                %y: memref<?x4096xbf16>) {
  // CHECK: gpu.launch_func @kernels::@product_8x16_bf16_0 {{.*}}{transformer.overlaps}
  // CHECK: gpu.launch_func @kernels::@product_64x64_bf16_0
  // CHECK-NOT: overlaps
  // CHECK: gpu.launch_func @kernels::@product_64x128_bf16_0
  // CHECK: arith.cmpi sle, %{{.*}}, %c512
  // CHECK: gpu.launch_func @kernels::@product_128x128_bf16_0 blocks in (%c32,
  // CHECK: gpu.launch_func @kernels::@product_128x256_bf16_0 blocks in (%c16,
  // CHECK: return
  transformer.product %x, %w columns(%bias) rows(%residual) outs(%y)
      : memref<?x4096xbf16>, memref<4096x4096x1xbf16>, memref<4096xf32>,
        memref<?x4096xbf16>, memref<?x4096xbf16> {
  ^bb0(%s: f32, %b: f32, %r: f32):
    %biased = arith.addf %s, %b : f32
    %z = arith.addf %biased, %r : f32
    transformer.yield %z : f32
  }
  return
}

// Blocks of short sums are two a multiprocessor, and as many as there are.
// CHECK: func.func @short
func.func @short(%x: memref<?x768xbf16>, %w: memref<768x768x1xbf16>,
                 %bias: memref<768xf32>, %residual: memref<?x768xbf16>,
                 %y: memref<?x768xbf16>) {
  // CHECK: gpu.launch_func @kernels::@product_64x64_bf16_0
  // CHECK: gpu.launch_func @kernels::@product_128x128_bf16_0_short blocks in (%c6,
  // CHECK: return
  transformer.product %x, %w columns(%bias) rows(%residual) outs(%y)
      : memref<?x768xbf16>, memref<768x768x1xbf16>, memref<768xf32>,
        memref<?x768xbf16>, memref<?x768xbf16> {
  ^bb0(%s: f32, %b: f32, %r: f32):
    %biased = arith.addf %s, %b : f32
    %z = arith.addf %biased, %r : f32
    transformer.yield %z : f32
  }
  return
}

func.func @odd(%x: memref<?x64xf16>, %w: memref<97x64x1xf16>,
               %y: memref<?x97xf32>) {
  transformer.product %x, %w outs(%y)
      : memref<?x64xf16>, memref<97x64x1xf16>, memref<?x97xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

func.func @gated(%x: memref<?x64xbf16>, %gate: memref<96x64x1xbf16>,
                 %up: memref<96x64x1xbf16>, %bias: memref<96xf32>,
                 %g: memref<?x96xbf16>, %y: memref<?x96xf32>) {
  transformer.product %x, %gate columns(%bias) outs(%g)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<96xf32>,
        memref<?x96xbf16> {
  ^bb0(%s: f32, %b: f32):
    %z = arith.addf %s, %b : f32
    transformer.yield %z : f32
  }
  transformer.product %x, %up rows(%g) outs(%y)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<?x96xbf16>,
        memref<?x96xf32> {
  ^bb0(%s: f32, %f: f32):
    %z = arith.mulf %s, %f : f32
    transformer.yield %z : f32
  }
  return
}

func.func @long_gated(%x: memref<?x4096xbf16>, %gate: memref<96x4096x1xbf16>,
                      %up: memref<96x4096x1xbf16>, %bias: memref<96xf32>,
                      %g: memref<?x96xbf16>, %y: memref<?x96xf32>) {
  transformer.product %x, %gate columns(%bias) outs(%g)
      : memref<?x4096xbf16>, memref<96x4096x1xbf16>, memref<96xf32>,
        memref<?x96xbf16> {
  ^bb0(%s: f32, %b: f32):
    %z = arith.addf %s, %b : f32
    transformer.yield %z : f32
  }
  transformer.product %x, %up rows(%g) outs(%y)
      : memref<?x4096xbf16>, memref<96x4096x1xbf16>, memref<?x96xbf16>,
        memref<?x96xf32> {
  ^bb0(%s: f32, %f: f32):
    %z = arith.mulf %s, %f : f32
    transformer.yield %z : f32
  }
  return
}
