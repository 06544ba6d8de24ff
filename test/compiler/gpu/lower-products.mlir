// A product becomes the launch of a kernel that has room for its rows; products
// of one form share their kernels, whatever their sizes are.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-products=deterministic=true --canonicalize --cse | FileCheck %s --check-prefix=ORDER --implicit-check-not=128x128

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @kernels
// CHECK: llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>

// One for each number of rows: of 8 warps, which share out k.
// CHECK: gpu.func @product_8x16_bf16_0(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, transformer.shared_bytes = 5120 : i32}
// Operands do not go through shared memory; sums do.
// CHECK-NOT: nvvm.ldmatrix
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<bf16>{{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
// CHECK: gpu.barrier
// The body: a bias, a residual, and one rounding.
// CHECK: arith.addf
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: gpu.return
// CHECK: gpu.func @product_16x16_bf16_0(
// CHECK: gpu.func @product_32x32_bf16_0(
// CHECK: gpu.func @product_64x32_bf16_0(

// CHECK: gpu.func @product_64x64_bf16_0({{.*}} kernel attributes {known_block_size = array<i32: 128, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 49152 : i32}
// CHECK: gpu.func @product_128x128_bf16_0({{.*}} kernel attributes {known_block_size = array<i32: 128, 1, 1>, transformer.begins_alone, transformer.shared_bytes = 98304 : i32}
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %{{.*}} : !llvm.ptr<3>, !llvm.ptr<1>, i32
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.ldmatrix {{.*}}num = 4
// CHECK: nvvm.mma.sync
// Two columns at once.
// CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>

// Other types are other kernels; an odd width has its elements one by one.
// CHECK: gpu.func @product_8x16_f16_1(
// CHECK: nvvm.mma.sync {{.*}} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK: gpu.func @product_128x128_f16_1(
// CHECK-NOT: vector<2xf32>

// A product and its gate are one: half of a block's rows of weights are of each.
// Two sums of the same place, of which the gate's is rounded as it would be kept.
// CHECK: gpu.func @product_8x16_bf16_2(%[[X:[^:]*]]: !llvm.ptr, %[[UP:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[GATE:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32, %{{[^:]*}}: i32)
// CHECK: gpu.barrier
// CHECK: %[[KEPT:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: %[[FACTOR:.*]] = arith.extf %[[KEPT]] : bf16 to f32
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]] : f32
// CHECK: gpu.func @product_64x16_bf16_2(
// CHECK: gpu.func @product_128x64_bf16_2(
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : !llvm.ptr<1>
// CHECK-NOT: gpu.func @

// In place of tiles the last of those does more rows, 64 a block.
// ORDER: gpu.func @product_32x32_bf16_0(
// ORDER-NOT: nvvm.read.ptx.sreg.ctaid.y
// ORDER: gpu.func @product_64x32_bf16_0(
// ORDER: nvvm.read.ptx.sreg.ctaid.y

// CHECK: func.func @shared
// ORDER: func.func @shared
func.func @shared(%x: memref<?x64xbf16>, %w: memref<96x64x1xbf16>,
                  %bias: memref<96xf32>, %residual: memref<?x96xbf16>,
                  %y: memref<?x96xbf16>) {
  // CHECK: %[[ROWS:.*]] = memref.dim
  // CHECK: %[[IS_ANY:.*]] = arith.cmpi sgt, %[[ROWS]]
  // CHECK: scf.if %[[IS_ANY]] {
  // CHECK: %[[FITS:.*]] = arith.cmpi sle, %[[ROWS]], %c8
  // CHECK: scf.if %[[FITS]] {
  // CHECK: gpu.launch_func @kernels::@product_8x16_bf16_0 blocks in (%c6, %c1, %c1) threads in (%c256, %c1, %c1)
  // CHECK: arith.cmpi sle, %[[ROWS]], %c16
  // CHECK: gpu.launch_func @kernels::@product_64x32_bf16_0 blocks in (%c3, %c1, %c1)
  // Of 96 columns, up to 64 large tiles are few.
  // CHECK: arith.cmpi sle, %[[ROWS]], %c8192
  // CHECK: %[[SMALL:.*]] = arith.ceildivui %[[ROWS]], %c64
  // CHECK: gpu.launch_func @kernels::@product_64x64_bf16_0 blocks in (%c2, %[[SMALL]], %c1) threads in (%c128, %c1, %c1)
  // CHECK: %[[TILES:.*]] = arith.ceildivui %[[ROWS]], %c128
  // CHECK: gpu.launch_func @kernels::@product_128x128_bf16_0 blocks in (%c1, %[[TILES]], %c1) threads in (%c128, %c1, %c1)
  // ORDER: %[[STRIPES:.*]] = arith.ceildivui %{{.*}}, %c64
  // ORDER: gpu.launch_func @kernels::@product_64x32_bf16_0 blocks in (%c3, %[[STRIPES]], %c1) threads in (%c256, %c1, %c1)
  transformer.product %x, %w columns(%bias) rows(%residual) outs(%y)
      : memref<?x64xbf16>, memref<96x64x1xbf16>, memref<96xf32>,
        memref<?x96xbf16>, memref<?x96xbf16> {
  ^bb0(%s: f32, %b: f32, %r: f32):
    %biased = arith.addf %s, %b : f32
    %z = arith.addf %biased, %r : f32
    transformer.yield %z : f32
  }
  return
}

// CHECK: func.func @shares
func.func @shares(%x: memref<?x8xbf16, strided<[16, 1], offset: 8>>,
                  %w: memref<256x8x1xbf16>, %bias: memref<256xf32>,
                  %residual: memref<?x256xbf16>, %y: memref<?x256xbf16>) {
  // CHECK: gpu.launch_func @kernels::@product_128x128_bf16_0
  transformer.product %x, %w columns(%bias) rows(%residual) outs(%y)
      : memref<?x8xbf16, strided<[16, 1], offset: 8>>, memref<256x8x1xbf16>,
        memref<256xf32>, memref<?x256xbf16>, memref<?x256xbf16> {
  ^bb0(%s: f32, %b: f32, %r: f32):
    %biased = arith.addf %s, %b : f32
    %z = arith.addf %biased, %r : f32
    transformer.yield %z : f32
  }
  return
}

// CHECK: func.func @odd
func.func @odd(%x: memref<?x64xf16>, %w: memref<97x64x1xf16>,
               %y: memref<?x97xf32>) {
  // CHECK: gpu.launch_func @kernels::@product_8x16_f16_1
  transformer.product %x, %w outs(%y)
      : memref<?x64xf16>, memref<97x64x1xf16>, memref<?x97xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// CHECK: func.func @gated
// CHECK-COUNT-6: gpu.launch_func @kernels::@product_{{.*}}_2
// CHECK-NOT: gpu.launch_func
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
