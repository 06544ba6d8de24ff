// The layout's name: what `pack` does differently has another name, what it does
// not has the same.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s plain && cp %s again
// RUN: sed 's/"kernel"/"other name"/; s/functions_are_no_weights/other/' %s > alike
// RUN: sed 's/panel = 8/panel = 4/' %s > panel
// RUN: sed 's/panel = 8/panel = 8, word = 2/' %s > word
// RUN: sed '/^transformer.parameter @whole/d' %s > apart
// RUN: sed 's/parts .@q, @k./parts [@k, @q]/' %s > order
// RUN: sed 's/first_row = 8, //' %s > first-row
// RUN: sed 's/, in_out = true//' %s > transposed
// RUN: sed 's/layers 2/layers 3/' %s > layers
// RUN: sed 's/32x2xf32/16x4xf32/; s/stored_rows = 32/stored_rows = 16/' %s > shape
// RUN: sed 's/@gain/@bias/' %s > renamed
// RUN: sed 's/^func.func/transformer.parameter @made : tensor<8x4xf32> layers 2 prepared\n&/' %s > prepared
// RUN: sed 's/8x4xf32> layers 2 prepared/4x8xf32> layers 2 prepared/' prepared > made-shape
// RUN: sed 's/2 prepared/3 prepared/' prepared > made-layers
// RUN: sed 's/@made/@done/' prepared > made-name
// RUN: tfc-opt prepared --tfc-set-target="target=cpu:x86-64-v3" > made-v3
// RUN: tfc-opt prepared --tfc-set-target="target=cpu:x86-64-v4" > made-v4
// RUN: tfc-opt plain --tfc-set-target="target=cpu:x86-64-v3" > plain-v3
// RUN: tfc-opt prepared --tfc-set-target="target=cpu:znver4" > made-znver4
// RUN: for variant in plain again alike panel word apart order first-row transposed layers shape renamed prepared made-shape made-layers made-name made-v3 made-v4 made-znver4 plain-v3; do \
// RUN:   tfc-opt $variant --tfc-pack-weights > $variant.mlir || exit 1; \
// RUN:   sed -n 's/.*packed_layout = "\(f32-[0-9a-f]*\)".*/\1/p' $variant.mlir > $variant.tag; \
// RUN:   test $(wc -c < $variant.tag) = 21 || exit 1; \
// RUN: done
// RUN: cmp plain.tag again.tag && cmp plain.tag alike.tag && cmp plain.tag plain-v3.tag && cmp made-v4.tag made-znver4.tag
// RUN: test $(cat *.tag | sort -u | wc -l) = 16

transformer.parameter @gain : tensor<32x2xf32>
  from <["kernel"], stored_rows = 32>
transformer.parameter @q : tensor<8x4xf32> layers 2
  from <["q.{i}"], stored_rows = 8>
transformer.parameter @k : tensor<8x4xf32> layers 2
  from <["k.{i}"], first_row = 8, stored_rows = 16, in_out = true>
transformer.parameter @whole : tensor<16x4xf32> layers 2 parts [@q, @k] packed<panel = 8>
func.func @functions_are_no_weights() {
  return
}
