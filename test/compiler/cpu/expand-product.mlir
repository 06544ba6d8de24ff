// Products on buffers: items of tiles, whose inner loops all products share,
// and the body, row by row.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels --canonicalize --cse --split-input-file | FileCheck %s

#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// One function for each number of rows, with spare rows that repeat the last.
// CHECK: func.func private @product.4x16_ahead_next32(
// CHECK: func.func private @product.2x16_ahead(%[[X:.*]]: !llvm.ptr, %[[BYTES:.*]]: index, %[[LAST:.*]]: index, %[[PANEL:.*]]: !llvm.ptr, %[[WORDS:.*]]: index, %[[SUMS:.*]]: !llvm.ptr, %[[IS_FIRST:.*]]: i1, %{{.*}}: !llvm.ptr) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
// CHECK: %[[ROW:.*]] = arith.minsi %[[LAST]], %c1
// CHECK: arith.muli %[[ROW]], %[[BYTES]]
// CHECK: scf.if %[[IS_FIRST]] -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// Two steps a turn, then single ones; the pointer to the panel moves.
// CHECK: scf.for {{.*}} step %c2 iter_args(%{{.*}} = %[[PANEL]],
// CHECK-COUNT-2: llvm.intr.prefetch
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.for {{.*}} step %c1
// CHECK-COUNT-4: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-4: llvm.store
// CHECK: return
// One row is at the speed of memory: it asks for nothing.
// CHECK: func.func private @product.1x16(
// CHECK-NOT: prefetch
// CHECK: return
// CHECK: func.func private @product.4x16_next16(
// CHECK-NOT: func.func private

// CHECK-LABEL: func.func @whole_panels
// CHECK-SAME: %[[INPUT:[a-z0-9]+]]: memref<?x64xf32>, %[[WEIGHTS:[a-z0-9]+]]: memref<2x64x16xf32>, %[[BIAS:[a-z0-9]+]]: memref<32xf32>, %[[RESIDUAL:[a-z0-9]+]]: memref<?x32xf32>, %[[Y:[a-z0-9]+]]: memref<?x32xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x4x16xf32>
// CHECK: scf.parallel (%[[P:.*]], %{{.*}}) = (%c0, %c0) to (%c2, %{{.*}}) step (%c1, %c16)
// CHECK: transformer.worker
// CHECK: func.call @product.4x16_next16
// CHECK: func.call @product.1x16
// CHECK: func.call @product.2x16_ahead
// CHECK: func.call @product.4x16_ahead_next32
// The epilogue: what the next tile adds is asked for, then a row in two vectors.
// CHECK: scf.for
// CHECK: memref.prefetch %[[RESIDUAL]]
// CHECK: %[[SUM:.*]] = llvm.load
// CHECK: %[[B:.*]] = vector.load %[[BIAS]]
// CHECK: %[[R:.*]] = vector.load %[[RESIDUAL]]
// CHECK: %[[BIASED:.*]] = arith.addf %[[SUM]], %[[B]] : vector<8xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[BIASED]], %{{.*}} : vector<8xf32>
// CHECK: %[[ALL:.*]] = arith.addf %[[SCALED]], %[[R]] : vector<8xf32>
// CHECK: vector.store %[[ALL]], %[[Y]]
// CHECK: vector.store
// CHECK-NOT: vector.store
// CHECK-LABEL: func.func @last_panel_is_cut
func.func @whole_panels(
    %x: memref<?x64xf32>, %w: memref<2x64x16xf32>, %b: memref<32xf32>,
    %r: memref<?x32xf32>, %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w columns(%b) rows(%r) outs(%y) {tile = #tile}
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<32xf32>,
        memref<?x32xf32>, memref<?x32xf32> {
  ^bb0(%s: f32, %c: f32, %e: f32):
    %two = arith.constant 2.0 : f32
    %biased = arith.addf %s, %c : f32
    %scaled = arith.mulf %biased, %two : f32
    %z = arith.addf %scaled, %e : f32
    transformer.yield %z : f32
  }
  return
}

// 29 columns: of the second panel 13 are written, 8, 4 and 1.
// CHECK: arith.cmpi slt
// CHECK: scf.if
// CHECK: vector.store %{{.*}} : memref<?x29xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<?x29xf32>, vector<8xf32>
// CHECK: } else {
// CHECK: vector.store %{{.*}} : memref<?x29xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<?x29xf32>, vector<4xf32>
// CHECK: vector.store %{{.*}} : memref<?x29xf32>, vector<1xf32>
func.func @last_panel_is_cut(
    %x: memref<?x64xf32>, %w: memref<2x64x16xf32>, %y: memref<?x29xf32>,
    %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32>, memref<2x64x16xf32>, memref<?x29xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

// A panel larger than a block: its steps in blocks, the sums of all the item's
// rows between them. Rows that lie apart are read where they are.
#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 2048,
    next_bytes = 1024>

// A block too large to be asked for while the one before is used.
// CHECK: func.func private @product.4x16_ahead(
// CHECK-LABEL: func.func @in_blocks
// CHECK-DAG: %[[ROW_BYTES:.*]] = arith.constant 512 : index
// CHECK: memref.alloc(%{{.*}}) : memref<?x16x16xf32>
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c64 step %c32
// CHECK-DAG: arith.cmpi eq, %[[FIRST]], %c0
// CHECK-DAG: arith.cmpi eq, %[[FIRST]], %c32
// CHECK: func.call @product.4x16_ahead(%{{.*}}, %[[ROW_BYTES]],
func.func @in_blocks(
    %x: memref<?x64xf32, strided<[128, 1], offset: 64>>,
    %w: memref<2x64x16xf32>, %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32, strided<[128, 1], offset: 64>>,
        memref<2x64x16xf32>, memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<fma, rows = 1, lanes = 8, item = 1,
    unroll = 4, turn_rows = 8, ahead = 32, ahead_rows = 1, block_bytes = 65536,
    next_bytes = 1>

// A word is two bf16, the first in its lower half. Two words a turn; seven
// columns are three words and half of one, which reads one element of x.
// CHECK: func.func private @product.1x8_bf16_rest1_ahead(
// CHECK: scf.for {{.*}} step %c2
// CHECK: llvm.intr.prefetch
// CHECK: %[[BOTH:.*]] = llvm.load volatile {{.*}} -> vector<8xi32>
// CHECK: %[[LOWER:.*]] = arith.shli %[[BOTH]], %{{.*}} : vector<8xi32>
// CHECK: %[[FIRST:.*]] = arith.bitcast %[[LOWER]] : vector<8xi32> to vector<8xf32>
// CHECK: math.fma %{{.*}}, %[[FIRST]]
// CHECK: %[[AGAIN:.*]] = llvm.load volatile
// CHECK: %[[UPPER:.*]] = arith.andi %[[AGAIN]], %{{.*}} : vector<8xi32>
// CHECK: %[[SECOND:.*]] = arith.bitcast %[[UPPER]]
// CHECK: math.fma %{{.*}}, %[[SECOND]]
// CHECK-COUNT-2: math.fma
// CHECK: scf.for {{.*}} step %c1
// CHECK-COUNT-2: math.fma
// CHECK: scf.yield
// CHECK: arith.shli
// CHECK: math.fma
// CHECK-NOT: math.fma
// CHECK: llvm.store
// f16: a column a row of the panel.
// CHECK: func.func private @product.1x8_f16_ahead(
// CHECK: %[[HALVES:.*]] = llvm.load {{.*}} : !llvm.ptr -> vector<8xf16>
// CHECK: arith.extf %[[HALVES]] : vector<8xf16> to vector<8xf32>
func.func @sixteen_bits(
    %x: memref<?x7xf32>, %b: memref<1x4x8x2xbf16>, %h: memref<1x7x8xf16>,
    %y: memref<?x8xf32>, %batch: !transformer.batch) {
  transformer.product %x, %h outs(%y) {tile = #tile}
      : memref<?x7xf32>, memref<1x7x8xf16>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  transformer.product %x, %b outs(%y) {tile = #tile}
      : memref<?x7xf32>, memref<1x4x8x2xbf16>, memref<?x8xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

#tile = #transformer.product_tile<fma, rows = 2, lanes = 8, item = 8,
    unroll = 2, turn_rows = 4, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>

// More than two tiles of 16 bits: the first one leaves its panel as f32, nine
// rows for nine columns, the last of them half of a word. The others read that,
// and ask for as many bytes of the next panel a step as half a word is.
// CHECK: func.func private @product.2x8_next8(
// CHECK-NOT: bf16
// CHECK: return
// CHECK: func.func private @product.2x8_bf16_rest1_keep_ahead_next16({{.*}}, %{{.*}}: !llvm.ptr, %[[KEPT:.*]]: !llvm.ptr)
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %[[KEPT]],
// CHECK: %[[LOWER:.*]] = arith.shli
// CHECK: %[[FIRST:.*]] = arith.bitcast %[[LOWER]] : vector<8xi32> to vector<8xf32>
// CHECK: llvm.store %[[FIRST]]
// CHECK: %[[UPPER:.*]] = arith.andi
// CHECK: %[[SECOND:.*]] = arith.bitcast %[[UPPER]]
// CHECK: llvm.store %[[SECOND]]
// CHECK: scf.yield
// The last column.
// CHECK: %[[NINTH:.*]] = arith.bitcast
// CHECK: llvm.store %[[NINTH]]
// CHECK: func.func private @product.2x8_bf16_rest1_ahead_next16(
// CHECK: func.func private @product.1x8_bf16_rest1(
// CHECK: func.func private @product.2x8_next4(
// CHECK: func.func private @product.2x8_bf16_rest1_keep_next8(
// CHECK-LABEL: func.func @kept
// CHECK: memref.alloc(%{{.*}}) : memref<?x2x8xf32>
// CHECK: memref.alloc(%{{.*}}) : memref<?x9x8xf32>
// An item with all its rows has enough of them.
// CHECK: func.call @product.2x8_bf16_rest1_keep_next8
// CHECK: func.call @product.2x8_next4({{.*}}, %c9, {{.*}})
// CHECK: func.call @product.1x8_bf16_rest1(
// One of fewer may not.
// CHECK: arith.cmpi sle, %{{.*}}, %c4
// CHECK: func.call @product.2x8_bf16_rest1_ahead_next16(
// CHECK: func.call @product.2x8_bf16_rest1_keep_ahead_next16(
// CHECK: func.call @product.2x8_next8({{.*}}, %c9, {{.*}})
func.func @kept(
    %x: memref<?x9xf32>, %b: memref<2x5x8x2xbf16>, %y: memref<?x16xf32>,
    %batch: !transformer.batch) {
  transformer.product %x, %b outs(%y) {tile = #tile}
      : memref<?x9xf32>, memref<2x5x8x2xbf16>, memref<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return
}

// -----

// Where panels begin is counted in their own elements.
#tile = #transformer.product_tile<fma, rows = 4, lanes = 8, item = 16,
    unroll = 2, turn_rows = 8, ahead = 32, ahead_rows = 2, block_bytes = 65536,
    next_bytes = 65536>
// CHECK-LABEL: func.func @panels_of_16_bits_behind_others
// CHECK: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %{{.*}} : memref<2x64x16xf16
// CHECK: arith.addi %[[BASE]], %c4096
func.func @panels_of_16_bits_behind_others(
    %x: memref<?x64xf32>,
    %w: memref<2x64x16xf16, strided<[1024, 16, 1], offset: 2048>>,
    %y: memref<?x32xf32>, %batch: !transformer.batch) {
  transformer.product %x, %w outs(%y) {tile = #tile}
      : memref<?x64xf32>,
        memref<2x64x16xf16, strided<[1024, 16, 1], offset: 2048>>,
        memref<?x32xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}
