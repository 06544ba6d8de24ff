// Matrices of experts: of integers where they have groups, whose rows are
// quantised once for all products that read them; of bf16 without, and beside
// rows of 16 bits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 zeros" | FileCheck %s
// RUN: tfc-opt %s --tfc-choose-precision="weights=int8 group=32" | FileCheck %s --check-prefix=BYTES
// RUN: tfc-opt %s --tfc-choose-precision="weights=int8" | FileCheck %s --check-prefix=WIDE
// RUN: tfc-opt %s --tfc-choose-precision="weights=int4 group=32 values=bf16" | FileCheck %s --check-prefix=WIDE

// CHECK: @up : tensor<8x64xi4> layers 2 experts 5
// CHECK-NEXT: @up.zeros : tensor<8x2xi8> layers 2 experts 5 companion<zeros of @up>
// CHECK-NEXT: @up.scales : tensor<8x2xf32> layers 2 experts 5 companion<scales of @up>
// BYTES: @up : tensor<8x64xi8>
// BYTES-NEXT: @up.scales : tensor<8x2xf32>
// WIDE: @up : tensor<8x64xbf16>
// WIDE-NOT: scales
transformer.parameter @up : tensor<8x64xf32> layers 2 experts 5 from <["{i}.{e}"], stored_rows = 8>
transformer.parameter @gate : tensor<8x64xf32> layers 2 experts 5 from <["g{i}.{e}"], stored_rows = 8>
// Eight columns are no group.
// CHECK: @down : tensor<64x8xbf16>
transformer.parameter @down : tensor<64x8xf32> layers 2 experts 5 from <["d{i}.{e}"], stored_rows = 64>

// CHECK-LABEL: func.func @layer
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x64xf32>
func.func @layer(%x: tensor<?x64xf32>, %e: tensor<?xi32>, %layer: index) -> tensor<?x64xf32> {
  // CHECK: %[[W:.*]] = transformer.weight @up[%[[LAYER:.*]]] : tensor<5x8x64xi4>
  // CHECK-DAG: %[[S:.*]] = transformer.weight @up.scales[%[[LAYER]]] : tensor<5x8x2xf32>
  // CHECK-DAG: %[[Z:.*]] = transformer.weight @up.zeros[%[[LAYER]]] : tensor<5x8x2xi8>
  %u = transformer.weight @up[%layer] : tensor<5x8x64xf32>
  %g = transformer.weight @gate[%layer] : tensor<5x8x64xf32>
  %d = transformer.weight @down[%layer] : tensor<5x64x8xf32>
  // CHECK: %[[Q:.*]], %[[R:.*]] = transformer.quantize_rows %[[X]]
  // CHECK: transformer.expert_linear %[[Q]] of %{{.*}}, %[[W]] scales %[[R]], %[[S]] zeros %[[Z]] act silu
  %a = transformer.expert_linear %x of %e, %u act silu
      : (tensor<?x64xf32>, tensor<?xi32>, tensor<5x8x64xf32>) -> tensor<?x8xf32>
  // CHECK-NOT: quantize_rows
  // CHECK: transformer.expert_linear %[[Q]] of %{{.*}} scales %[[R]], %{{.*}} factor
  %b = transformer.expert_linear %x of %e, %g factor %a
      : (tensor<?x64xf32>, tensor<?xi32>, tensor<5x8x64xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.expert_linear {{.*}} tensor<5x64x8xbf16>
  %y = transformer.expert_linear %b of %e, %d
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x64x8xf32>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
