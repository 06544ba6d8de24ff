// Matrices that are kept in 16 bits: words of two bf16, rows of f16, and a status
// for what would be rounded.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse --split-input-file | FileCheck %s

// One panel of 4 rows has two words of 2 columns: 32 bytes.
// CHECK: packed_bytes = 64 : i64, transformer.packed_layout = "bf16-{{[0-9a-f]+}}"
// CHECK: @words : tensor<3x3xbf16> {{.*}} packed<panel = 4, word = 2> at 0
transformer.parameter @words : tensor<3x3xbf16> from <["w"], stored_rows = 3> packed<panel = 4, word = 2>
// CHECK: func.func @pack
// CHECK: scf.index_switch %{{.*}} -> i32
// CHECK: case 0
// CHECK: %[[STORED:.*]] = memref.view %{{.*}} to memref<?xf32>
// CHECK: %[[KEPT:.*]] = memref.view %{{.*}} to memref<?xbf16>
// Column c of row r is at (c / 2 * 4 + r) * 2 + c % 2.
// CHECK: scf.for
// CHECK: scf.for %[[COLUMN:[a-z0-9]+]] =
// CHECK: %[[VALUE:.*]] = memref.load %[[STORED]]
// CHECK: arith.divui %[[COLUMN]], %[[WORD:.*]] : index
// CHECK: arith.remui %[[COLUMN]], %[[WORD]] : index
// To nearest even: half of what is cut, and one more where the rest is odd. A NaN
// stays one.
// CHECK: %[[BITS:.*]] = arith.bitcast %[[VALUE]] : f32 to i32
// CHECK: arith.shrui %[[BITS]], %c16_i32
// CHECK: arith.addi %{{.*}}, %c32767_i32
// CHECK: arith.cmpf uno, %[[VALUE]], %[[VALUE]]
// CHECK: %[[NARROW:.*]] = arith.bitcast %{{.*}} : i16 to bf16
// CHECK: memref.store %[[NARROW]], %[[KEPT]]
// CHECK: %[[WIDE:.*]] = arith.extf %[[NARROW]] : bf16 to f32
// CHECK: arith.cmpf one, %[[WIDE]], %[[VALUE]]
// CHECK: case 1
// CHECK: case 2
// CHECK: return

// -----

// As it is declared: no panel, no words. What is rounded is an error only where
// rounding was not asked for, by a field of the parameter.
// CHECK: packed_bytes = 64 : i64, transformer.packed_layout = "f16-{{[0-9a-f]+}}"
transformer.parameter @rows : tensor<3x3xf16> from <["r"], stored_rows = 3> rounds
// CHECK: func.func @pack
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.extui %{{.*}} : i1 to i32
// CHECK: %[[MAY_ROUND:.*]] = arith.cmpi ne, %{{.*}}, %c0 : index
// CHECK: %[[IS_ROUNDED:.*]] = arith.cmpi eq, %[[STATUS:.*]], %c1_i32 : i32
// CHECK: %[[IS_WANTED:.*]] = arith.andi %[[MAY_ROUND]], %[[IS_ROUNDED]] : i1
// CHECK: %[[RESULT:.*]] = arith.select %[[IS_WANTED]], %c0_i32, %[[STATUS]] : i32
// CHECK: return %[[RESULT]]
