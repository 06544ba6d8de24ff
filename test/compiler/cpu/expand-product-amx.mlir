// Products of words in registers of AMX's tiles: an item is a call, and what
// turns of 16 words leave is dots of vectors, as are few rows of bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels="dots=amx" --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 64,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 64,
    next_bytes = 65536>

// Six registers have sums. A turn reads x twice and the panel five times: the
// second row of registers begins with the column that the first ended with.
// CHECK: func.func private @product.32x48_amx_bf16_next(%[[X:.*]]: !llvm.ptr, %[[ROW_BYTES:.*]]: index, %[[ROWS:.*]]: index, %[[PANEL:.*]]: !llvm.ptr, %[[TURNS:.*]]: index, %[[SUMS:.*]]: !llvm.ptr)
// CHECK: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// CHECK: scf.if
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.for {{.*}} step %c32
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK-COUNT-24: llvm.intr.prefetch
// CHECK-NOT: llvm.intr.prefetch
// CHECK: tileloadd64"(%c6_i8
// CHECK-NEXT: tileloadd64"(%c7_i8
// CHECK-NEXT: tdpbf16ps"(%c0_i8, %c6_i8, %c7_i8)
// CHECK: tileloadd64"(%c7_i8
// CHECK-NEXT: tdpbf16ps"(%c1_i8, %c6_i8, %c7_i8)
// CHECK: tileloadd64"(%c7_i8
// CHECK-NEXT: tdpbf16ps"(%c2_i8, %c6_i8, %c7_i8)
// CHECK-NEXT: tileloadd64"(%c6_i8
// CHECK-NEXT: tdpbf16ps"(%c5_i8, %c6_i8, %c7_i8)
// CHECK: tileloadd64"(%c7_i8
// CHECK-NEXT: tdpbf16ps"(%c4_i8, %c6_i8, %c7_i8)
// CHECK-NEXT: tileloadd64"(%c7_i8
// CHECK-NEXT: tdpbf16ps"(%c3_i8, %c6_i8, %c7_i8)
// CHECK: scf.yield
// CHECK-COUNT-6: tilestored64"
// One row of them, for as many rows of x as there are.
// CHECK: scf.for {{.*}} step %c16
// CHECK: arith.minsi
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK-COUNT-48: llvm.intr.prefetch
// CHECK-COUNT-3: tdpbf16ps"
// CHECK-NOT: tdpbf16ps"
// CHECK-COUNT-3: tilestored64"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK-NEXT: return
// CHECK-NOT: @product.1x48

// CHECK-LABEL: func.func @whole
// CHECK: %[[COUNT:.*]] = arith.constant 2 : index
// CHECK: call @product.32x48_amx_bf16_next(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c2, %{{.*}})
// CHECK-NOT: call @
func.func @whole(%x: memref<?x64xbf16>, %w: memref<1x32x48x2xbf16>,
                 %y: memref<?x48xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xbf16>, memref<1x32x48x2xbf16>, memref<?x48xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 64,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 3, block_bytes = 64,
    next_bytes = 1024>

// A panel without room for another asks for its own words, where each is read
// once.
// CHECK: func.func private @product.32x16_amx_bf16_ahead(
// CHECK: scf.for {{.*}} step %c32
// CHECK-NOT: llvm.intr.prefetch
// CHECK: scf.for {{.*}} step %c16
// CHECK-COUNT-16: llvm.intr.prefetch
// CHECK-LABEL: func.func @odd
// CHECK: call @product.32x16_amx_bf16_ahead
// The words behind the first turn begin with its sums.
// CHECK: scf.for {{.*}} step %c2
// CHECK: call @product.2x16_dot_rest1{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c1{{.*}}, %{{.*}}, %false
func.func @odd(%x: memref<?x35xbf16>, %w: memref<1x18x16x2xbf16>,
               %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x35xbf16>, memref<1x18x16x2xbf16>, memref<?x16xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 64,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 3, block_bytes = 64,
    next_bytes = 65536>

// CHECK: func.func private @product.32x16_amx_i8_next(
// CHECK: tdpbusd"
// CHECK-LABEL: func.func @bytes
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %{{.*}}, %c8
// CHECK: scf.if %[[FEW]]
// CHECK: call @product.2x16_dot_i8{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c16{{.*}}, %{{.*}}, %true
// CHECK: call @product.32x16_amx_i8_next
func.func @bytes(%x: memref<?x64xi8>, %w: memref<1x16x16x4xi8>,
                 %y: memref<?x16xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xi8>, memref<1x16x16x4xi8>, memref<?x16xf32> {
  ^bb0(%s: i32):
    %f = arith.sitofp %s : i32 to f32
    transformer.yield %f : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<dot, rows = 2, lanes = 16, item = 64,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 3, block_bytes = 64,
    next_bytes = 65536>

func.func @wide(%x: memref<?x64xbf16>, %w: memref<1x32x64x2xbf16>,
                %y: memref<?x64xf32>, %batch: !transformer.batch) {
  // expected-error @+1 {{expected panels 16, 32 or 48 wide, and rows of bf16 or bytes, for tiles of AMX (dots=amx), got 'memref<1x32x64x2xbf16>' and 'memref<?x64xbf16>'}}
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xbf16>, memref<1x32x64x2xbf16>, memref<?x64xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
