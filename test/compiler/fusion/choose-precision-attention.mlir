// What attention multiplies is bf16, of all or of none, and so is what a step
// alone keeps of keys and values.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision="attention=bf16" --split-input-file | FileCheck %s

!self = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8>
!cross = !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 8>
!scratch = !transformer.cache<scratch, layers = 1, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: func.func @all
// CHECK-SAME: !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8>
// CHECK-SAME: !transformer.cache<cross, layers = 1, kv_heads = 1, head_dim = 8>
// CHECK-SAME: !transformer.cache<scratch, layers = 1, kv_heads = 1, head_dim = 8, bf16>
func.func @all(%x: tensor<?x8xf32>, %self: !self, %cross: !cross,
               %scratch: !scratch, %batch: !transformer.batch) -> tensor<?x8xf32> {
  %layer = arith.constant 0 : index
  // CHECK: transformer.attention {{.*}} {factors = bf16, scale = 5.000000e-01 : f64}
  %0 = transformer.attention %x, %x, %x, %self[%layer], %batch causal heads 1
      {scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !self
  // CHECK: transformer.cross_attention {{.*}} {factors = bf16, scale = 5.000000e-01 : f64}
  %1 = transformer.cross_attention %0, %cross[%layer], %batch heads 1
      {scale = 0.5 : f64} : tensor<?x8xf32>, !cross
  // CHECK: transformer.attention {{.*}} {factors = bf16, scale = 5.000000e-01 : f64}
  %2 = transformer.attention %1, %1, %1, %scratch[%layer], %batch bidirectional
      heads 1 {scale = 0.5 : f64}
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !scratch
  return %2 : tensor<?x8xf32>
}

// -----

!self = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8>
!bytes = !transformer.cache<scratch, layers = 1, kv_heads = 1, head_dim = 8, i8>

// CHECK-LABEL: func.func @integers
// CHECK-NOT: factors
func.func @integers(%x: tensor<?x8xf32>, %self: !self, %bytes: !bytes,
                    %batch: !transformer.batch) -> tensor<?x8xf32> {
  %layer = arith.constant 0 : index
  %0 = transformer.attention %x, %x, %x, %self[%layer], %batch causal heads 1
      {scale = 0.5 : f64} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !self
  %1 = transformer.attention %0, %0, %0, %bytes[%layer], %batch bidirectional
      heads 1 {scale = 0.5 : f64}
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !bytes
  return %1 : tensor<?x8xf32>
}

// -----

!self = !transformer.cache<layers = 1, kv_heads = 1, head_dim = 8>

// CHECK-LABEL: func.func @distances
// CHECK-NOT: factors
func.func @distances(%x: tensor<?x8xf32>, %a: tensor<16x8xf32>, %self: !self,
                     %batch: !transformer.batch) -> tensor<?x8xf32> {
  %layer = arith.constant 0 : index
  %0 = transformer.attention %x, %x, %x, %self[%layer], %batch bidirectional
      heads 1 relative_keys %a span 8 {scale = 0.5 : f64}
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !self
      relative_keys tensor<16x8xf32>
  return %0 : tensor<?x8xf32>
}
