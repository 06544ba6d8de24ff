// Rows that are sorted by expert: a block looks for the rows of one expert that
// are its own, and multiplies them as those of any product.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-products --canonicalize --cse | FileCheck %s
// RUN: tfc-opt %s --tfc-lower-products=deterministic=true --canonicalize --cse | FileCheck %s

// Behind the addresses of matrices and biases that of the rows' experts, and how
// many experts there are. There is no kernel for few rows.
// CHECK-NOT: gpu.func @product_8x16
// CHECK: gpu.func @product_64x64_bf16_experts_0(%{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %[[SORTED:[^:]*]]: !llvm.ptr, %[[EXPERTS:[^:]*]]: i32, %[[PAIRS:[^:]*]]: i32, %[[WIDTH:[^:]*]]: i32, %[[DEPTH:[^:]*]]: i32,
// CHECK: %[[TILE:.*]] = nvvm.read.ptx.sreg.ctaid.y
// 32 experts at a time, a lane each: where they begin, by halves, and how many
// tiles there are up to theirs.
// CHECK: %[[FOUND:.*]]:4 = scf.for %{{.*}} = %c0_i32 to %[[EXPERTS]] step %c32_i32
// CHECK: "llvm.intr.ctlz"(%[[PAIRS]])
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK-COUNT-5: gpu.shuffle up
// CHECK: arith.subi %[[TILE]],
// CHECK: gpu.shuffle idx
// The lane that found it tells the others; none did where there is none.
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: %[[EXPERT:.*]], %{{.*}} = gpu.shuffle idx %[[FOUND]]#1
// CHECK: %[[ROW:.*]], %{{.*}} = gpu.shuffle idx %[[FOUND]]#2
// CHECK: %[[ROWS:.*]], %{{.*}} = gpu.shuffle idx %[[FOUND]]#3
// CHECK: scf.if
// Its matrix, its bias, its rows.
// CHECK: %[[SIZE:.*]] = arith.muli %[[WIDTH]], %[[DEPTH]] : i32
// CHECK: arith.extsi %[[EXPERT]] : i32 to i64
// CHECK: arith.extsi %[[SIZE]] : i32 to i64
// CHECK: arith.extsi %[[ROW]] : i32 to i64
// CHECK: nvvm.mma.sync
// CHECK: gpu.return
// CHECK: gpu.func @product_128x128_bf16_experts_0(

// Each expert that is there may have a tile that is not whole. Small ones are for
// rows of which an expert has one on average.
// CHECK-LABEL: func.func @product
// CHECK: %[[N:.*]] = memref.dim
// CHECK: %[[IS_FEW:.*]] = arith.cmpi sle, %[[N]], %c320 : index
// CHECK: scf.if %[[IS_FEW]] {
// CHECK: %[[WHOLE:.*]] = arith.divui %[[N]], %c64 : index
// CHECK: %[[REST:.*]] = arith.minui %[[N]], %c5 : index
// CHECK: %[[TILES:.*]] = arith.addi %[[WHOLE]], %[[REST]] : index
// CHECK: gpu.launch_func @kernels::@product_64x64_bf16_experts_0 blocks in (%c1, %[[TILES]], %c1)
// CHECK: @product_128x128_bf16_experts_0
func.func @product(%x: memref<?x64xbf16>, %p: memref<5x32x64x1xbf16>,
                   %b: memref<5x32xf32>, %e: memref<?xi32>,
                   %y: memref<?x32xbf16>, %step: !llvm.ptr {transformer.step}) {
  transformer.product %x, %p columns(%b) experts(%e) outs(%y)
      : memref<?x64xbf16>, memref<5x32x64x1xbf16>, memref<5x32xf32>,
        memref<?xi32>, memref<?x32xbf16> {
  ^bb0(%s: f32, %c: f32):
    %z = arith.addf %s, %c : f32
    transformer.yield %z : f32
  }
  return
}
