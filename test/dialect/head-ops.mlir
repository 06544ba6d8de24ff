// Round trip of what heads make of rows beyond products, and of memories of
// zeros.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @pairs
func.func @pairs(%x: tensor<?x8xf32>, %w: tensor<?x1xf32>, %rows: tensor<?xi32>,
                 %batch: !transformer.batch) {
  // CHECK: transformer.pair_rows last %{{.*}}, %{{.*}} : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x32xf32>
  %0 = transformer.pair_rows last %x, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x32xf32>
  // CHECK: transformer.weigh_rows first %{{.*}} by %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x8xf32>, tensor<?x1xf32>, tensor<?xi32>, !transformer.batch) -> tensor<?x16xf32>
  %1 = transformer.weigh_rows first %x by %w, %rows, %batch
         : (tensor<?x8xf32>, tensor<?x1xf32>, tensor<?xi32>,
            !transformer.batch) -> tensor<?x16xf32>
  return
}

// CHECK-LABEL: @ragged_pairs
func.func @ragged_pairs(%x: tensor<?x8xf32>, %wide: tensor<?x32xf32>,
                        %y: memref<?x8xf32>, %to: memref<?x32xf32>,
                        %w: memref<?x1xf32>, %rows: memref<?xi32>,
                        %sum: memref<?x16xf32>, %batch: !transformer.batch) {
  // CHECK: transformer.ragged_pairs last %{{.*}}, %{{.*}} outs(%{{.*}} : tensor<?x32xf32>) : tensor<?x8xf32> -> tensor<?x32xf32>
  %0 = transformer.ragged_pairs last %x, %batch
         outs(%wide : tensor<?x32xf32>) : tensor<?x8xf32> -> tensor<?x32xf32>
  // CHECK: transformer.ragged_pairs first %{{.*}}, %{{.*}} outs(%{{.*}} : memref<?x32xf32>) : memref<?x8xf32>{{$}}
  transformer.ragged_pairs first %y, %batch outs(%to : memref<?x32xf32>)
    : memref<?x8xf32>
  // CHECK: transformer.ragged_weights last %{{.*}} by %{{.*}}, %{{.*}}, %{{.*}} outs(%{{.*}} : memref<?x16xf32>) : memref<?x8xf32>, memref<?x1xf32>, memref<?xi32>{{$}}
  transformer.ragged_weights last %y by %w, %rows, %batch
    outs(%sum : memref<?x16xf32>)
    : memref<?x8xf32>, memref<?x1xf32>, memref<?xi32>
  return
}

// CHECK-LABEL: @log_softmax
func.func @log_softmax(%x: tensor<?x20xf32>, %g: tensor<?x2xf32>,
                       %a: tensor<?x30xf32>, %b: tensor<?x47xf32>,
                       %y: memref<?x20xf32>, %h: memref<?x1xf32>,
                       %c: memref<?x30xf32>, %to: memref<?x50xf32>) {
  // CHECK: transformer.log_softmax %{{.*}} : (tensor<?x20xf32>) -> tensor<?x20xf32>
  %0 = transformer.log_softmax %x : (tensor<?x20xf32>) -> tensor<?x20xf32>
  // CHECK: transformer.log_softmax %{{.*}} gates %{{.*}} clusters %{{.*}}, %{{.*}} : (tensor<?x20xf32>, tensor<?x2xf32>, tensor<?x30xf32>, tensor<?x47xf32>) -> tensor<?x97xf32>
  %1 = transformer.log_softmax %x gates %g clusters %a, %b
         : (tensor<?x20xf32>, tensor<?x2xf32>, tensor<?x30xf32>,
            tensor<?x47xf32>) -> tensor<?x97xf32>
  // CHECK: transformer.clustered_log_softmax %{{.*}} gates %{{.*}} clusters %{{.*}} outs(%{{.*}} : memref<?x50xf32>) : memref<?x20xf32> gates memref<?x1xf32> clusters memref<?x30xf32>{{$}}
  transformer.clustered_log_softmax %y gates %h clusters %c
    outs(%to : memref<?x50xf32>)
    : memref<?x20xf32> gates memref<?x1xf32> clusters memref<?x30xf32>
  return
}

// CHECK-LABEL: @memory_sinks
func.func @memory_sinks(%q: tensor<?x24xf32>, %a: tensor<17x24xf32>,
                        %v: tensor<24xf32>, %left: index,
                        %x: memref<?x24xf32>, %b: memref<?x24xf32>,
                        %to: memref<?x4xf32>, %batch: !transformer.batch) {
  // CHECK: transformer.memory_sinks %{{.*}}, %{{.*}}, %{{.*}} left %{{.*}} heads 4 span 9 bias %{{.*}} {scale = 5.000000e-01 : f64}
  %0 = transformer.memory_sinks %q, %a, %batch left %left heads 4 span 9 bias %v
         {scale = 0.5 : f64}
         : (tensor<?x24xf32>, tensor<17x24xf32>, !transformer.batch, index,
            tensor<24xf32>) -> tensor<?x4xf32>
  // CHECK: transformer.ragged_sinks %{{.*}}, %{{.*}}, %{{.*}} left %{{.*}} heads 4 span 9 outs(%{{.*}} : memref<?x4xf32>) {scale = 5.000000e-01 : f64} : memref<?x24xf32>, memref<?x24xf32>{{$}}
  transformer.ragged_sinks %x, %b, %batch left %left heads 4 span 9
    outs(%to : memref<?x4xf32>) {scale = 0.5 : f64}
    : memref<?x24xf32>, memref<?x24xf32>
  return
}
