// Attention in registers of AMX's tiles: what is packed, in which steps it is
// multiplied, and what keeps rows apart.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-cpu-kernels="dots=amx" --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

!cache = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 40, bf16>

// Items have as many queries as two registers.
// CHECK-LABEL: func.func @packs
// CHECK-SAME: query_rows = 32
// CHECK: scf.parallel
// CHECK: call_intrinsic "llvm.x86.ldtilecfg"
// A query is rounded, and has zeros behind its 40 columns, up to 64.
// CHECK: "llvm.x86.avx512bf16.cvtneps2bf16.512"
// CHECK: llvm.store %{{.*}} : vector<8xbf16>, !llvm.ptr
// CHECK: llvm.store %cst{{.*}} : vector<16xbf16>, !llvm.ptr
// CHECK: llvm.store %cst{{.*}} : vector<8xbf16>, !llvm.ptr
// A row that is alone is dots of vectors, for 64 positions a sum of even columns
// and a sum of odd ones: of 32 columns, and of the 8 that are left.
// CHECK: scf.if
// CHECK-COUNT-16: "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK: } else {
// Two groups of 16 positions, pairs of columns as words.
// CHECK: scf.for %{{.*}} = %c0 to %c20
// CHECK-COUNT-2: arith.extui %{{.*}} : vector<16xi16> to vector<16xi32>
// CHECK: llvm.store %{{.*}} : vector<16xi32>
// CHECK: scf.for %{{.*}} = %c0 to %c20
// Two rows of registers, two steps of 32 columns.
// CHECK-COUNT-4: tilezero
// CHECK-COUNT-8: tdpbf16ps
// CHECK-COUNT-4: tilestored64
// And one.
// CHECK-COUNT-4: tdpbf16ps
// CHECK-NOT: tdpbf16ps
// The scale comes behind the products; weights are stored rounded, and zeros
// where others see more.
// CHECK: arith.mulf %{{.*}} : vector<16xf32>
// CHECK: math.exp %{{.*}} : vector<16xf32>
// CHECK: "llvm.x86.avx512bf16.cvtneps2bf16.512"
// CHECK: scf.for {{.*}} step %c32
// CHECK-NEXT: arith.
// Sums decay, and are no denormals.
// CHECK: arith.cmpf uge
// Values are pairs of positions; what is none of the stretch's is zero.
// CHECK: arith.andi %{{.*}} : vector<16xi32>
// CHECK: vector.reduction <maxsi>
// CHECK: scf.if
// CHECK-COUNT-9: tdpbf16ps
// Where one is no number, and where a row is alone, rows go one by one: three
// vectors of columns, of an odd position, of pairs, and of an even position.
// CHECK: } else {
// CHECK-NOT: tdpbf16ps
// CHECK-COUNT-12: "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK: arith.addf %{{.*}} : vector<16xf32>
// CHECK: call_intrinsic "llvm.x86.tilerelease"
// CHECK: arith.cmpf uge
// CHECK: return
func.func @packs(%q: memref<?x40xf32>, %y: memref<?x40xf32>, %scale: f32,
                 %batch: !transformer.batch, %cache: !cache) {
  %layer = arith.constant 0 : index
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 1
      outs(%y : memref<?x40xf32>) {factors = bf16} : memref<?x40xf32>, !cache
  return
}

// -----

!cache = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8>

func.func @some(%q: memref<?x8xf32>, %y: memref<?x8xf32>, %scale: f32,
                %batch: !transformer.batch, %cache: !cache) {
  %layer = arith.constant 0 : index
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 1
      outs(%y : memref<?x8xf32>) {factors = bf16} : memref<?x8xf32>, !cache
  // expected-error @below {{expected dots=amx and factors of all attention, or of none}}
  transformer.paged_attention %q, %scale, %cache[%layer], %batch causal heads 1
      outs(%y : memref<?x8xf32>) : memref<?x8xf32>, !cache
  return
}
