// All arrows, to the LLVM dialect: the entry and pack are functions of one
// pointer, loops are bodies that the host runs, and nothing is imported.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-set-target --tfc-model-to-fused --tfc-fused-to-linalg \
// RUN:   --tfc-linalg-to-buffer --tfc-buffer-to-llvm > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=NOTHING < %t
// RUN: tfc-opt %t --tfc-verify-stage=stage=llvm
// RUN: mlir-translate %t --mlir-to-llvmir | FileCheck %s --check-prefix=IMPORTS

!cache = !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
#ids = #transformer.input<"input_ids", fill = required, limit = 9>

module attributes {
  transformer.model = #transformer.model<"tiny", kind = decoder, spec = "{}",
                                         max_positions = 64,
                                         eos = [], prefixes = [], aliases = []>} {

transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
transformer.parameter @n : tensor<8xf32> layers 2
  from <["n.{i}"], stored_rows = 8>

func.func @step(%ids: tensor<?xi32> {transformer.input = #ids},
                %rows: tensor<?xi32> {transformer.rows},
                %batch: !transformer.batch, %cache: !cache) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %table = transformer.weight @token : tensor<9x8xf32>
  %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<9x8xf32>
  %y = scf.for %layer = %c0 to %c2 step %c1 iter_args(%old = %x)
         -> (tensor<?x8xf32>) {
    %n = transformer.weight @n[%layer] : tensor<8xf32>
    %0 = transformer.attention %old, %old, %old, %cache[%layer], %batch causal
           heads 1 {scale = 0.5 : f64}
           : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !cache
    %1 = transformer.layer_norm %0, %n {eps = 1.0 : f64}
           : tensor<?x8xf32>, tensor<8xf32>
    %2 = transformer.activation gelu %1 : tensor<?x8xf32>
    %3 = transformer.add %old, %2 : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %3 : tensor<?x8xf32>
  }
  transformer.output "logits" wanted take all {
    %r = transformer.gather_rows %y, %rows : tensor<?x8xf32>, tensor<?xi32>
    %logits = transformer.linear %r, %table : tensor<?x8xf32>, tensor<9x8xf32>
    transformer.yield %logits : tensor<?x9xf32>
  }
  return
}
}

// CHECK-DAG: llvm.func internal @step_body_0(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i32)
// CHECK-DAG: llvm.func @step(%{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @step_workspace_bytes(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: i64) -> i64
// CHECK-DAG: llvm.func @pack(%{{.*}}: !llvm.ptr) -> i32
// CHECK-DAG: llvm.func @tfc_module_query(%{{.*}}: i32) -> !llvm.ptr

// NOTHING-NOT: transformer
// NOTHING-NOT: memref
// NOTHING-NOT: unrealized_conversion_cast
// NOTHING: llvm.func @tfc_module_query
// NOTHING-NOT: transformer

// Intrinsics are instructions; anything else would be a symbol to import.
// IMPORTS-NOT: declare {{.*}}@{{[^l]}}
// IMPORTS: define ptr @tfc_module_query
// IMPORTS-NOT: declare {{.*}}@{{[^l]}}
