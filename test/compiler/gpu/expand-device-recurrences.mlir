// Recurrences by warps, whose lanes share out keys and columns; convolutions by
// stretches of tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-bind-weights --tfc-expand-device-recurrences --canonicalize --cse | FileCheck %s

// Of 100 keys eight lanes have 13 each, the last one fewer, of two columns: four
// times two are a warp's, so 20 are three stretches.
// CHECK-LABEL: func.func @delta
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x100xf32>, %[[K:[a-z0-9]+]]: memref<?x100xf32>, %[[V:[a-z0-9]+]]: memref<?x40xf32>
// CHECK: scf.parallel (%[[SEQUENCE:.*]], %[[HEAD:.*]], %[[STRETCH:.*]], %[[LANE:.*]]) = {{.*}} to (%{{.*}}, %c2, %c3, %c32)
// CHECK: %[[PART:.*]] = arith.remui %[[LANE]], %c8
// The matrix is read in front of the loop, and zeros where there is none, or no
// key.
// CHECK: %[[OLD:.*]] = llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr -> vector<2xf32>
// CHECK: %[[NUMBER:.*]] = vector.extract %[[OLD]][0]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NUMBER]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %cst
// CHECK-COUNT-12: llvm.load {{.*}} -> vector<2xf32>
// The rows of the first two tokens.
// CHECK-COUNT-13: vector.load %[[K]]
// CHECK-COUNT-13: vector.load %[[Q]]
// CHECK: vector.load %[[V]]
// CHECK-COUNT-13: vector.load %[[K]]
// CHECK: scf.for
// Those of the one after the next, and what the one before the last gave.
// CHECK-COUNT-13: vector.load %[[K]]
// CHECK: scf.if
// CHECK: vector.store {{.*}} : memref<?x40xf32>, vector<2xf32>
// Two chains of a sum, whose exchanges go with those of the token before.
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK-COUNT-11: math.fma
// CHECK: arith.addf
// CHECK-COUNT-4: gpu.shuffle xor {{.*}}, %c4_i32
// CHECK-COUNT-4: gpu.shuffle xor {{.*}}, %c2_i32
// CHECK-COUNT-4: gpu.shuffle xor {{.*}}, %c1_i32
// CHECK: arith.subf
// CHECK-NOT: llvm.store
// CHECK: scf.yield
// Who has no column, or no key, has read another's.
// CHECK: nvvm.bar.warp.sync
// CHECK: scf.if
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>
// CHECK-NOT: transformer.ragged_recurrence
func.func @delta(%q: memref<?x100xf32>, %k: memref<?x100xf32>,
                 %v: memref<?x40xf32>, %d: memref<?x2xf32>,
                 %e: memref<?x2xf32>, %y: memref<?x40xf32>,
                 %s: !transformer.state<layers = 2, width = 4000>,
                 %batch: !transformer.batch) {
  %c1 = arith.constant 1 : index
  transformer.ragged_recurrence %q, %k, %v, %d, %e, %s[%c1] at 0, %batch
      heads 2 key_heads 1 outs(%y : memref<?x40xf32>)
      : memref<?x100xf32>, memref<?x100xf32>, memref<?x40xf32>,
        memref<?x2xf32>, memref<?x2xf32>, <layers = 2, width = 4000>
  return
}

// Each key has a decay: of 50 keys eight lanes have seven each. The key that asks
// is times its decay, and what it finds is not.
// CHECK-LABEL: func.func @keys
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<?x100xbf16>, %[[K:[a-z0-9]+]]: memref<?x100xbf16>, %{{[a-z0-9]+}}: memref<?x40xbf16>, %[[D:[a-z0-9]+]]: memref<?x200xf32>
// CHECK: scf.parallel ({{.*}}) = {{.*}} to (%{{.*}}, %c4, %c2, %c32)
// CHECK: scf.for
// CHECK-COUNT-7: vector.load %[[K]]
// CHECK-COUNT-7: vector.load %[[Q]]
// CHECK-COUNT-7: vector.load %[[D]]
// CHECK: scf.if
// CHECK-COUNT-4: gpu.shuffle xor {{.*}}, %c4_i32
// CHECK: arith.subf
// CHECK: scf.yield
func.func @keys(%q: memref<?x100xbf16>, %k: memref<?x100xbf16>,
                %v: memref<?x40xbf16>, %d: memref<?x200xf32>,
                %e: memref<?x4xf32>, %y: memref<?x40xbf16>,
                %s: !transformer.state<layers = 2, width = 2000>,
                %batch: !transformer.batch) {
  %c1 = arith.constant 1 : index
  transformer.ragged_recurrence %q, %k, %v, %d, %e, %s[%c1] at 0, %batch
      heads 4 key_heads 2 outs(%y : memref<?x40xbf16>)
      : memref<?x100xbf16>, memref<?x100xbf16>, memref<?x40xbf16>,
        memref<?x200xf32>, memref<?x4xf32>, <layers = 2, width = 2000>
  return
}

// Nobody asks for what a key would find. 16 keys of 16 bits are two accesses.
// CHECK-LABEL: func.func @add
// CHECK: scf.parallel ({{.*}}) = {{.*}} to (%{{.*}}, %c4, %c32)
// CHECK: vector.load {{.*}} : memref<?x64xbf16>, vector<8xbf16>
// CHECK: scf.for
// CHECK-COUNT-2: gpu.shuffle xor {{.*}}, %c1_i32
// CHECK-NOT: gpu.shuffle
// CHECK: math.fma
// CHECK-NOT: arith.subf
// CHECK: scf.yield
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>
func.func @add(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>,
               %v: memref<?x48xbf16>, %d: memref<?x4xf32>,
               %e: memref<?x4xf32>, %skip: memref<4xf32>,
               %y: memref<?x48xbf16>,
               %s: !transformer.state<layers = 1, width = 1544>,
               %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %k, %v, %d, %e, %s[%c0] at 8, %batch
      heads 4 key_heads 2 rule add skip %skip outs(%y : memref<?x48xbf16>)
      : memref<?x64xbf16>, memref<?x64xbf16>, memref<?x48xbf16>,
        memref<?x4xf32>, memref<?x4xf32>, <layers = 1, width = 1544>,
        memref<4xf32>
  return
}

// 66 vectors of columns are three warps. They count the stretches of 32
// sequences at a time, and tell each other whose theirs is.
// CHECK-LABEL: func.func @conv
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x264xf32>, %[[W:[a-z0-9]+]]: memref<264x4xf32>, %[[B:[a-z0-9]+]]: memref<264xf32>, %[[Y:[a-z0-9]+]]: memref<?x264xf32>
// CHECK: %[[WHOLE:.*]] = arith.divui %{{.*}}, %c8
// CHECK: %[[MOST:.*]] = arith.addi %[[WHOLE]], %[[SEQUENCES:.*]] : index
// CHECK: scf.parallel ({{.*}}) = {{.*}} to (%[[MOST]], %c3, %c32)
// CHECK: scf.for {{.*}} to %[[SEQUENCES]] step %c32
// CHECK-COUNT-5: gpu.shuffle up
// CHECK: gpu.shuffle idx
// CHECK: scf.yield
// CHECK-COUNT-10: gpu.shuffle xor
// CHECK: scf.if
// All rows are asked for at once; the first stretch reads what was kept, and
// writes what is.
// CHECK-COUNT-4: vector.load %[[W]]{{.*}} {alignment = 16 : i64} {{.*}} vector<4xf32>
// CHECK: vector.load %[[B]]
// CHECK-COUNT-8: vector.load %[[X]]
// CHECK: scf.if {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>) {
// CHECK-COUNT-3: llvm.load {{.*}} -> vector<4xf32>
// CHECK: vector.load %[[X]]
// CHECK: arith.select
// CHECK: llvm.store
// CHECK: } else {
// CHECK-COUNT-3: vector.load %[[X]]
// CHECK: scf.if
// CHECK-COUNT-4: math.fma
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: scf.if
// CHECK-NOT: transformer.ragged_conv
func.func @conv(%x: memref<?x264xf32>, %w: memref<264x4xf32>,
                %bias: memref<264xf32>, %y: memref<?x264xf32>,
                %s: !transformer.state<layers = 1, width = 792>,
                %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_conv %x, %w, %s[%c0] at 0, %batch bias %bias
      outs(%y : memref<?x264xf32>)
      : memref<?x264xf32>, memref<264x4xf32>, <layers = 1, width = 792>,
        memref<264xf32>
  return
}

// What is left is done in plain loops: more keys than lanes hold, more taps than
// a stretch has tokens before it.
// CHECK-LABEL: func.func @left
// CHECK: transformer.ragged_recurrence
// CHECK: transformer.ragged_conv
func.func @left(%q: memref<?x520xf32>, %v: memref<?x2xf32>,
                %e: memref<?x1xf32>, %w: memref<2x10xf32>,
                %y: memref<?x2xf32>,
                %s: !transformer.state<layers = 1, width = 1058>,
                %batch: !transformer.batch) {
  %c0 = arith.constant 0 : index
  transformer.ragged_recurrence %q, %q, %v, %e, %e, %s[%c0] at 0, %batch
      heads 1 key_heads 1 outs(%y : memref<?x2xf32>)
      : memref<?x520xf32>, memref<?x520xf32>, memref<?x2xf32>,
        memref<?x1xf32>, memref<?x1xf32>, <layers = 1, width = 1058>
  transformer.ragged_conv %v, %w, %s[%c0] at 1040, %batch
      outs(%y : memref<?x2xf32>)
      : memref<?x2xf32>, memref<2x10xf32>, <layers = 1, width = 1058>
  return
}
