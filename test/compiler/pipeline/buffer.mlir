// The arrow from linalg to buffer: in place wherever nobody needs the old
// value, and no memory but what the host lends.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-set-target --tfc-decompose-ffn --tfc-fused-to-linalg --tfc-linalg-to-buffer --split-input-file | FileCheck %s

!cache = !transformer.cache<scratch, layers = 2, kv_heads = 1, head_dim = 8>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
transformer.parameter @w : tensor<8x8xf32> layers 2
  from <["w.{i}"], stored_rows = 8>
transformer.parameter @n : tensor<8xf32> layers 2
  from <["n.{i}"], stored_rows = 8>

// A layer norm(x + f(x)), as in BERT.
// CHECK-LABEL: func.func @post_norm_layers_work_in_place
// CHECK-SAME: {transformer.workspace}
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
// The value is needed only for the output, and is stored there once.
// CHECK: scf.if
// CHECK-NEXT: memref.copy
// CHECK-NOT: memref.copy
// CHECK-LABEL: func.func @post_norm_layers_work_in_place_workspace_bytes
func.func @post_norm_layers_work_in_place(
    %ids: tensor<?xi32> {transformer.input = #ids},
    %rows: tensor<?xi32> {transformer.rows}, %batch: !transformer.batch,
    %cache: !cache) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %table = transformer.weight @token : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<9x8xf32>
  %y = scf.for %layer = %c0 to %c2 step %c1 iter_args(%old = %x)
         -> (tensor<?x8xf32>) {
    %w = transformer.weight @w[%layer] : tensor<8x8xf32>
    %n = transformer.weight @n[%layer] : tensor<8xf32>
    %0 = transformer.attention %old, %old, %old, %cache[%layer], %batch
           bidirectional heads 1 {scale = 0.5 : f64}
           : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
    %1 = transformer.add %old, %0 : tensor<?x8xf32>, tensor<?x8xf32>
    %2 = transformer.layer_norm %1, %n {eps = 1.0 : f64}
           : tensor<?x8xf32>, tensor<8xf32>
    %3 = transformer.ffn %2 up %w down %w act gelu
           : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    %4 = transformer.add %2, %3 : tensor<?x8xf32>, tensor<?x8xf32>
    %5 = transformer.layer_norm %4, %n {eps = 1.0 : f64}
           : tensor<?x8xf32>, tensor<8xf32>
    scf.yield %5 : tensor<?x8xf32>
  }
  transformer.output "last_hidden_state" tokens take all {
    transformer.yield %y : tensor<?x8xf32>
  }
  return
}

// -----

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
transformer.parameter @w : tensor<8x8xf32> layers 2
  from <["w.{i}"], stored_rows = 8>
transformer.parameter @n : tensor<8xf32> layers 2
  from <["n.{i}"], stored_rows = 8>

// A layer x + f(norm(x)), as in GPT-2, and a head that is computed where the
// caller wants it.
// CHECK-LABEL: func.func @pre_norm_layers_work_in_place
// CHECK-SAME: %[[LOGITS:[a-z0-9]*]]: memref<?x9xf32> {transformer.output
// CHECK-NOT: memref.copy
// CHECK-NOT: memref.alloc
// CHECK: scf.if
// CHECK-NOT: memref.copy
// CHECK: memref.store %{{.*}}, %[[LOGITS]]
// CHECK-NOT: memref.copy
// CHECK-LABEL: func.func @pre_norm_layers_work_in_place_workspace_bytes
func.func @pre_norm_layers_work_in_place(
    %ids: tensor<?xi32> {transformer.input = #ids},
    %rows: tensor<?xi32> {transformer.rows}, %batch: !transformer.batch,
    %cache: !cache) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %table = transformer.weight @token : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<9x8xf32>
  %y = scf.for %layer = %c0 to %c2 step %c1 iter_args(%old = %x)
         -> (tensor<?x8xf32>) {
    %w = transformer.weight @w[%layer] : tensor<8x8xf32>
    %n = transformer.weight @n[%layer] : tensor<8xf32>
    %0 = transformer.layer_norm %old, %n {eps = 1.0 : f64}
           : tensor<?x8xf32>, tensor<8xf32>
    %1 = transformer.attention %0, %0, %0, %cache[%layer], %batch causal
           heads 1 {scale = 0.5 : f64}
           : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
    %2 = transformer.add %old, %1 : tensor<?x8xf32>, tensor<?x8xf32>
    %3 = transformer.layer_norm %2, %n {eps = 1.0 : f64}
           : tensor<?x8xf32>, tensor<8xf32>
    %4 = transformer.ffn %3 up %w down %w act gelu_new
           : tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
    %5 = transformer.add %2, %4 : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %5 : tensor<?x8xf32>
  }
  transformer.output "logits" wanted take all {
    %r = transformer.gather_rows %y, %rows : tensor<?x8xf32>, tensor<?xi32>
    %t = transformer.weight @token : tensor<9x8xf32>
    %logits = transformer.linear %r, %t : tensor<?x8xf32>, tensor<9x8xf32>
    transformer.yield %logits : tensor<?x9xf32>
  }
  return
}

// -----

!cache = !transformer.cache<scratch, layers = 1, kv_heads = 1, head_dim = 8>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

transformer.parameter @token : tensor<9x24xf32> from <["t"], stored_rows = 9>

// Queries, turned, keys and values are columns of the same rows.
// CHECK-LABEL: func.func @columns_are_read_where_they_are
// CHECK-SAME: {transformer.workspace}
// CHECK-NOT: memref.copy
// CHECK: %[[K:.*]] = memref.subview %[[ROWS:.*]][0, 8] [%{{.*}}, 8] [1, 1]
// CHECK-NOT: memref.copy
// CHECK: %[[V:.*]] = memref.subview %[[ROWS]][0, 16] [%{{.*}}, 8] [1, 1]
// CHECK-NOT: memref.copy
// CHECK: memref.load %[[K]]{{.*}} strided<[24, 1], offset: 8>
// CHECK: memref.load %[[V]]{{.*}} strided<[24, 1], offset: 16>
// CHECK-NOT: memref.copy
// CHECK: scf.if
// CHECK-LABEL: func.func @columns_are_read_where_they_are_workspace_bytes
func.func @columns_are_read_where_they_are(
    %ids: tensor<?xi32> {transformer.input = #ids},
    %rows: tensor<?xi32> {transformer.rows}, %batch: !transformer.batch,
    %cache: !cache) {
  %c0 = arith.constant 0 : index
  %table = transformer.weight @token : tensor<9x24xf32>
  %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<9x24xf32>
  %angles = transformer.rotary_angles %ids times [1.0]
              factors [1.0] : tensor<?xi32>
  %q = transformer.slice_columns %x[0, 8] : tensor<?x24xf32>
  %turned = transformer.rotary half %q, %angles heads 1
              : tensor<?x8xf32>, tensor<?x2xf32>
  %k = transformer.slice_columns %x[8, 8] : tensor<?x24xf32>
  %v = transformer.slice_columns %x[16, 8] : tensor<?x24xf32>
  %y = transformer.attention %turned, %k, %v, %cache[%c0], %batch
         bidirectional heads 1 {scale = 0.5 : f64}
         : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
  transformer.output "last_hidden_state" tokens take all {
    transformer.yield %y : tensor<?x8xf32>
  }
  return
}
