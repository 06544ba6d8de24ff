// Tile sizes by shape and target, written on the roots of tiling.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=48 --tfc-select-strategy | FileCheck %s --check-prefixes=CHECK,V4
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=16 --tfc-select-strategy="target=x86-64-v3" | FileCheck %s --check-prefixes=CHECK,V3
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=16 --tfc-select-strategy="target=armv8-a" | FileCheck %s --check-prefix=ARM
// RUN: tfc-opt %s --tfc-lower-to-linalg=panel=16 --tfc-select-strategy="target=rv64gcv+zvl256b" | FileCheck %s --check-prefix=RISCV
// RUN: tfc-opt %s --tfc-choose-precision="weights=bf16 factors=bf16" --tfc-lower-to-linalg="panel=48 bf16-word=2" --tfc-select-strategy="target=x86-64-v4+bf16" | FileCheck %s --check-prefix=DOTS

transformer.parameter @w : tensor<96x8xf32> from <["w"], stored_rows = 96>

// CHECK-LABEL: @product_gets_a_tile
func.func @product_gets_a_tile(%x: tensor<?x8xf32>, %b: tensor<96xf32>)
    -> tensor<?x96xf32> {
  // V4: transformer.product {{.*}} {tile = #transformer.product_tile<fma, rows = 8, lanes = 16, item = 64,
  // DOTS: transformer.product {{.*}} {tile = #transformer.product_tile<dot, rows = 8, lanes = 16, item = 64,
  // V3: transformer.product {{.*}} {tile = #transformer.product_tile<fma, rows = 6, lanes = 8, item = 60,
  // RISCV: transformer.product {{.*}} {tile = #transformer.product_tile<fma, rows = 12, lanes = 8, item = 60,
  // ARM: transformer.product {{.*}} {tile = #transformer.product_tile<lane_fma, rows = 5, lanes = 8, item = 60,
  %w = transformer.weight @w : tensor<96x8xf32>
  %y = transformer.linear %x, %w bias %b
         : tensor<?x8xf32>, tensor<96x8xf32>, tensor<96xf32>
  return %y : tensor<?x96xf32>
}

// CHECK-LABEL: @maps_and_sums_are_rows
func.func @maps_and_sums_are_rows(%x: tensor<?x8xf32>, %w: tensor<8xf32>)
    -> tensor<?x8xf32> {
  // CHECK-NOT: linalg.fill {{.*}}strategy
  // CHECK: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [1, 0], reduction = [0, 8]
  // CHECK: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [1, 0], reduction = [0, 8]
  // CHECK: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [1, 0], reduction = [0, 8]
  %y = transformer.layer_norm %x, %w {eps = 1.0e-5 : f64}
         : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// Tiles of a row's columns divide it; a row that nothing divides stays a loop.
// CHECK-LABEL: @columns
func.func @columns(%x: tensor<?x768xf32>, %y: tensor<?x509xf32>)
    -> (tensor<?x768xf32>, tensor<?x509xf32>) {
  // V4: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [1, 0], reduction = [0, 64]
  // V4: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [], reduction = []
  // V3: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [1, 0], reduction = [0, 32]
  // V3: linalg.generic {{.*}} attrs = {{.*}}parallel = [8, 0], rows = [], reduction = []
  %a = transformer.activation gelu %x : tensor<?x768xf32>
  %b = transformer.activation gelu %y : tensor<?x509xf32>
  return %a, %b : tensor<?x768xf32>, tensor<?x509xf32>
}
