// Products of rows of 16 bits with matrices of integers: those come as narrow as
// they are as far as registers, and are widened there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products --canonicalize --cse | FileCheck %s

// A lane's 16 bytes of a row are 16 columns; 7 of the bits of an integer behind
// 2^7, minus 2^7 or 2^8 by its sign.
// CHECK: gpu.func @product_8x16_bf16_int8_0(
// CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: arith.subf %{{.*}}, %{{.*}} : vector<2xbf16>
// CHECK: nvvm.mma.sync
// The scale of a column is the body's.
// CHECK: arith.mulf
// A stage: 128 rows of 128 bytes, and 128 of 64.
// CHECK: gpu.func @product_128x128_bf16_int8_0({{.*}} transformer.shared_bytes = 73728 : i32}
// CHECK-NOT: nvvm.ldmatrix
// One half of a stage after the other: registers do not hold both.
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvvm.mma.sync

// Of four bits 8 bytes are as many. A group's sums begin at zero, and its scale
// is a multiply-add.
// CHECK: gpu.func @product_8x16_bf16_int4_1(
// CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<2xi32>
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
// CHECK: nvvm.mma.sync
// CHECK: llvm.intr.fma
// Scales are in a stage, too.
// CHECK: gpu.func @product_128x128_bf16_int4_1({{.*}} transformer.shared_bytes = 64512 : i32}

// CHECK: gpu.func @product_8x16_f16_int8_2(
// CHECK: arith.subf %{{.*}}, %{{.*}} : vector<2xf16>

// With zero points, and a gate, whose groups are its own.
// CHECK: gpu.func @product_8x16_bf16_int4_3(
// CHECK: llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK: gpu.func @product_128x64_bf16_int4_3(

// Scales of 16 bits are widened where they are used, and half as much of a stage.
// CHECK: gpu.func @product_8x16_bf16_int4_4(
// CHECK: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK: nvvm.mma.sync
// CHECK: arith.shli
// CHECK: llvm.intr.fma
// CHECK: gpu.func @product_128x128_bf16_int4_4({{.*}} transformer.shared_bytes = 62976 : i32}

// CHECK: func.func @bytes
func.func @bytes(%x: memref<?x72xbf16>, %w: memref<96x2x1x64xi8>,
                 %scales: memref<96xf32>, %bias: memref<96xf32>,
                 %residual: memref<?x96xbf16>, %y: memref<?x96xbf16>) {
  // CHECK-COUNT-5: gpu.launch_func @kernels::@product_{{.*}}_bf16_int8_0
  transformer.product %x, %w columns(%scales, %bias) rows(%residual) outs(%y)
      : memref<?x72xbf16>, memref<96x2x1x64xi8>, memref<96xf32>,
        memref<96xf32>, memref<?x96xbf16>, memref<?x96xbf16> {
  ^bb0(%s: f32, %c: f32, %b: f32, %r: f32):
    %scaled = arith.mulf %s, %c : f32
    %biased = arith.addf %scaled, %b : f32
    %z = arith.addf %biased, %r : f32
    transformer.yield %z : f32
  }
  return
}

// CHECK: func.func @fours
func.func @fours(%x: memref<?x96xbf16>, %w: memref<97x2x1x32xi8>,
                 %groups: memref<13x3x8xf32>, %y: memref<?x97xf32>) {
  // CHECK-COUNT-5: gpu.launch_func @kernels::@product_{{.*}}_bf16_int4_1
  transformer.product %x, %w groups(%groups) outs(%y)
      : memref<?x96xbf16>, memref<97x2x1x32xi8>, memref<13x3x8xf32>,
        memref<?x97xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// CHECK: func.func @halves
func.func @halves(%x: memref<?x72xf16>, %w: memref<97x2x1x64xi8>,
                  %y: memref<?x97xf32>) {
  // CHECK-COUNT-5: gpu.launch_func @kernels::@product_{{.*}}_f16_int8_2
  transformer.product %x, %w outs(%y)
      : memref<?x72xf16>, memref<97x2x1x64xi8>, memref<?x97xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// CHECK: func.func @gated
func.func @gated(%x: memref<?x128xbf16>, %gate: memref<96x2x1x32xi8>,
                 %gate_groups: memref<12x2x8xf16>,
                 %gate_zeros: memref<12x2x8xi8>, %up: memref<96x2x1x32xi8>,
                 %groups: memref<12x2x8xf16>, %zeros: memref<12x2x8xi8>,
                 %bias: memref<96xf32>, %g: memref<?x96xbf16>,
                 %y: memref<?x96xf32>) {
  // CHECK-COUNT-6: gpu.launch_func @kernels::@product_{{.*}}_bf16_int4_3
  // CHECK-NOT: gpu.launch_func
  transformer.product %x, %gate columns(%bias) groups(%gate_groups)
      zeros(%gate_zeros) outs(%g)
      : memref<?x128xbf16>, memref<96x2x1x32xi8>, memref<96xf32>,
        memref<12x2x8xf16>, memref<12x2x8xi8>, memref<?x96xbf16> {
  ^bb0(%s: f32, %b: f32):
    %z = arith.addf %s, %b : f32
    transformer.yield %z : f32
  }
  transformer.product %x, %up rows(%g) groups(%groups) zeros(%zeros) outs(%y)
      : memref<?x128xbf16>, memref<96x2x1x32xi8>, memref<?x96xbf16>,
        memref<12x2x8xf16>, memref<12x2x8xi8>, memref<?x96xf32> {
  ^bb0(%s: f32, %f: f32):
    %z = arith.mulf %s, %f : f32
    transformer.yield %z : f32
  }
  return
}

// CHECK: func.func @short_scales
func.func @short_scales(%x: memref<?x96xbf16>, %w: memref<97x2x1x32xi8>,
                        %groups: memref<13x3x8xbf16>, %y: memref<?x97xf32>) {
  // CHECK-COUNT-5: gpu.launch_func @kernels::@product_{{.*}}_bf16_int4_4
  transformer.product %x, %w groups(%groups) outs(%y)
      : memref<?x96xbf16>, memref<97x2x1x32xi8>, memref<13x3x8xbf16>,
        memref<?x97xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
