// Integers as fragments have them: in words of 64 columns, of which the last one is
// whole, too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-pack-weights --canonicalize --cse | FileCheck %s

// Three rows of two words of bytes; of two words of fours, and eight rows of three
// scales. What is not in fragments, one column a word, keeps its place.
// CHECK: packed_bytes = 832 : i64, transformer.packed_layout = "int4-{{[0-9a-f]+}}"
// CHECK: @w : tensor<3x72xi8> {{.*}} at 0
// CHECK: @w.scales : tensor<3xf32> {{.*}} at 384
// CHECK: @f : tensor<3x96xi4> {{.*}} at 448
// CHECK: @f.scales : tensor<3x3xf32> {{.*}} at 640
// CHECK: @plain : tensor<3x8xbf16> {{.*}} at 768
transformer.parameter @w : tensor<3x72xi8> from <["w"], stored_rows = 3> packed<panel = 1, word = 64> rounds
transformer.parameter @w.scales : tensor<3xf32> companion<scales of @w>
transformer.parameter @f : tensor<3x96xi4> from <["f"], stored_rows = 3> packed<panel = 1, word = 64> rounds
transformer.parameter @f.scales : tensor<3x3xf32> companion<scales of @f> packed<panel = 8>
transformer.parameter @plain : tensor<3x8xbf16> from <["p"], stored_rows = 3> packed<panel = 1>
// CHECK: func.func @pack
// A place by its lane, half and column, or as it is.
// CHECK: %[[PLACE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
