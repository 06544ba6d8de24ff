// Columns of bf16 lie in words where the kernels want them so, those of other
// types do not; a look-up finds them there.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16 bf16-word=2" --canonicalize | FileCheck %s --check-prefixes=CHECK,WORD
// RUN: tfc-opt %s --tfc-lower-to-linalg="panel=16" --canonicalize | FileCheck %s --check-prefixes=CHECK,ONE

// WORD: transformer.parameter @b : tensor<20x7xbf16> from{{.*}} packed<panel = 16, word = 2>
// ONE: transformer.parameter @b : tensor<20x7xbf16> from{{.*}} packed<panel = 16>{{$}}
transformer.parameter @b : tensor<20x7xbf16> from <["b"], stored_rows = 20>
// CHECK: transformer.parameter @h : tensor<20x7xf16> from{{.*}} packed<panel = 16>{{$}}
transformer.parameter @h : tensor<20x7xf16> from <["h"], stored_rows = 20>

// CHECK-LABEL: @products
func.func @products(%x: tensor<?x7xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>) {
  // WORD-DAG: transformer.weight @b : tensor<2x4x16x2xbf16>
  // ONE-DAG: transformer.weight @b : tensor<2x7x16xbf16>
  // CHECK-DAG: transformer.weight @h : tensor<2x7x16xf16>
  %b = transformer.weight @b : tensor<20x7xbf16>
  %h = transformer.weight @h : tensor<20x7xf16>
  %y = transformer.linear %x, %b : tensor<?x7xf32>, tensor<20x7xbf16>
  %z = transformer.linear %x, %h : tensor<?x7xf32>, tensor<20x7xf16>
  return %y, %z : tensor<?x20xf32>, tensor<?x20xf32>
}

// CHECK-LABEL: @look_up
func.func @look_up(%ids: tensor<?xi32>) -> tensor<?x7xf32> {
  // WORD: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : tensor<2x4x16x2xbf16>
  // ONE: tensor.extract %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] : tensor<2x7x16xbf16>
  %b = transformer.weight @b : tensor<20x7xbf16>
  %y = transformer.embedding %ids, %b : tensor<?xi32>, tensor<20x7xbf16>
  return %y : tensor<?x7xf32>
}
