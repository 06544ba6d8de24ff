// Experts are chosen by warps, a row each, and rows sorted by a block.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-expand-device-experts --canonicalize --cse | FileCheck %s

// 40 experts are two for some lanes, whose numbers stay within the row. Eight
// experts are out of the question with their group; three are chosen, each by
// five exchanges of a choice and its number.
// CHECK-LABEL: func.func @choose
// CHECK-SAME: %[[Z:[a-z0-9]+]]: memref<?x40xf32>, %[[B:[a-z0-9]+]]: memref<40xf32>, %[[I:[a-z0-9]+]]: memref<?x3xi32>, %[[W:[a-z0-9]+]]: memref<?x3xf32>
// CHECK-DAG: %[[NEVER:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[LEAST:.*]] = arith.constant -3.40282347E+38 : f32
// CHECK: scf.parallel (%[[ROW:.*]], %[[LANE:.*]]) = (%c0, %c0) to (%{{.*}}, %c32)
// CHECK: memref.load %[[Z]][%[[ROW]], %{{.*}}]
// CHECK: memref.load %[[Z]][%[[ROW]], %{{.*}}]
// CHECK: math.exp
// CHECK: memref.load %[[B]]
// CHECK: arith.maxnumf %{{.*}}, %[[LEAST]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[NEVER]]
// Two groups, ranked by their best and second best choice.
// CHECK-COUNT-30: gpu.shuffle xor
// CHECK: arith.divui
// The choices, and the scores of the chosen.
// CHECK-COUNT-10: gpu.shuffle xor
// CHECK-NOT: gpu.shuffle xor
// CHECK: gpu.shuffle idx
// CHECK-COUNT-10: gpu.shuffle xor
// CHECK: gpu.shuffle idx
// CHECK-COUNT-10: gpu.shuffle xor
// CHECK: gpu.shuffle idx
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: arith.divf
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[I]]
// CHECK: memref.store %{{.*}}, %[[W]]
func.func @choose(%z: memref<?x40xf32>, %b: memref<40xf32>, %i: memref<?x3xi32>, %w: memref<?x3xf32>, %step: !llvm.ptr {transformer.step}) {
  transformer.choose_experts sigmoid %z bias %b take 3 renormalize sum
      outs(%i, %w) {group_by = #transformer<group_rank top2>, groups = 2 : i64, groups_used = 1 : i64}
      : (memref<?x40xf32>, memref<40xf32>, memref<?x3xi32>, memref<?x3xf32>)
        -> ()
  return
}

// CHECK-LABEL: func.func @best
func.func @best(%z: memref<?x37xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>, %step: !llvm.ptr {transformer.step}) {
  transformer.choose_experts softmax %z take 2 outs(%i, %w)
      : (memref<?x37xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// Logits choose; the sigmoid is of a lane's own choice.
// CHECK-LABEL: func.func @late
// CHECK-NOT: math.exp
// CHECK: gpu.shuffle
// CHECK: math.exp
// CHECK: memref.store
func.func @late(%z: memref<?x37xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>, %step: !llvm.ptr {transformer.step}) {
  transformer.choose_experts late_sigmoid %z take 2 outs(%i, %w)
      : (memref<?x37xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// What is left is done in plain loops.
// CHECK-LABEL: func.func private @left
// CHECK: transformer.choose_experts sparsemixer
func.func private @left(%z: memref<?x5xf32>, %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  transformer.choose_experts sparsemixer %z take 2 outs(%i, %w) {tolerance = 0.1 : f64}
      : (memref<?x5xf32>, memref<?x2xi32>, memref<?x2xf32>) -> ()
  return
}

// Of few pairs each expert looks for its own. Of more, four warps count a part
// each: a vote for each digit of an expert's number finds who has the same.
// CHECK-LABEL: func.func @sort
// CHECK-SAME: %[[I:[a-z0-9]+]]: memref<?x3xi32>, %[[R:[a-z0-9]+]]: memref<?xi32>, %[[E:[a-z0-9]+]]: memref<?xi32>, %[[P:[a-z0-9]+]]: memref<?x3xi32>
// CHECK: %[[PAIRS:.*]] = arith.muli %{{.*}}, %c3
// CHECK: %[[IS_FEW:.*]] = arith.cmpi ule, %[[PAIRS]], %c256
// CHECK: scf.if %[[IS_FEW]] {
// CHECK: scf.parallel (%{{.*}}) = (%c0) to (%c40)
// CHECK: } else {
// CHECK: scf.parallel (%{{.*}}) = (%c0) to (%c128)
// CHECK: %[[COUNTS:.*]] = memref.alloca() : memref<160xi32, 3>
// CHECK: memref.store %{{.*}}, %[[COUNTS]]
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-6: nvvm.vote.sync ballot
// CHECK: llvm.intr.ctpop
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[COUNTS]]
// CHECK: nvvm.bar.warp.sync
// CHECK: gpu.barrier
// CHECK-COUNT-5: gpu.shuffle up
// CHECK: nvvm.bar.warp.sync
// CHECK: gpu.barrier
// CHECK-COUNT-6: nvvm.vote.sync ballot
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK: memref.store %{{.*}}, %[[E]]
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK: nvvm.bar.warp.sync
// CHECK: memref.store %{{.*}}, %[[COUNTS]]
func.func @sort(%i: memref<?x3xi32>, %r: memref<?xi32>, %e: memref<?xi32>, %p: memref<?x3xi32>, %step: !llvm.ptr {transformer.step}) {
  transformer.sort_by_expert %i of 40 outs(%r, %e, %p)
      : (memref<?x3xi32>, memref<?xi32>, memref<?xi32>, memref<?x3xi32>) -> ()
  return
}
