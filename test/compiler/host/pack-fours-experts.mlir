// Experts of four bits: what a layer's groups have lies expert by expert, too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize | FileCheck %s

// A panel of 4 rows of 64 columns is 128 bytes an expert, its scales 32.
// CHECK: @w : tensor<3x64xi4> layers 2 experts 3 {{.*}} at 0 stride 384
// CHECK: @w.scales : tensor<3x2xf32> layers 2 experts 3 {{.*}} at 768 stride 128
transformer.parameter @w : tensor<3x64xi4> layers 2 experts 3
  from <["{i}.{e}.w"], stored_rows = 3> packed<panel = 4, word = 8> rounds
transformer.parameter @w.scales : tensor<3x2xf32> layers 2 experts 3 companion<scales of @w> packed<panel = 4>

// CHECK: func.func @pack(
// CHECK: %[[EXPERT:.*]] = arith.remui
// CHECK: %[[LAYER:.*]] = arith.divui
// The numbers of an expert, four bytes each, times the expert's number.
// CHECK: %[[BYTES:.*]] = arith.muli %[[COUNT:.*]], %{{c4.*}} : index
// CHECK: %[[BEFORE:.*]] = arith.muli %[[EXPERT]], %[[BYTES]] : index
// CHECK: %[[FIRST:.*]] = arith.addi %{{.*}}, %[[BEFORE]] : index
// CHECK: memref.view %{{.*}}[%[[FIRST]]][%[[COUNT]]] : memref<?xi8> to memref<?xf32>
