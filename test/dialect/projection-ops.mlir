// Round trip of the products with weights and the row-wise ops.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s | tfc-opt | FileCheck %s
// RUN: tfc-opt %s --mlir-print-op-generic | tfc-opt | FileCheck %s

// CHECK-LABEL: @linear
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>, %[[W:.*]]: tensor<150x104xf32>, %[[B:.*]]: tensor<150xf32>
func.func @linear(%x: tensor<?x104xf32>, %w: tensor<150x104xf32>,
                  %b: tensor<150xf32>) {
  // CHECK: transformer.linear %[[X]], %[[W]] : tensor<?x104xf32>, tensor<150x104xf32>{{$}}
  %0 = transformer.linear %x, %w : tensor<?x104xf32>, tensor<150x104xf32>
  // CHECK: transformer.linear %[[X]], %[[W]] bias %[[B]] : tensor<?x104xf32>, tensor<150x104xf32>, tensor<150xf32>
  %1 = transformer.linear %x, %w bias %b
         : tensor<?x104xf32>, tensor<150x104xf32>, tensor<150xf32>
  // CHECK: transformer.linear %[[X]], %[[W]] factor %[[F:.*]] residual %[[F]] : tensor<?x104xf32>, tensor<150x104xf32>, tensor<?x150xf32>, tensor<?x150xf32>{{$}}
  %3 = transformer.linear %x, %w factor %1 residual %1
         : tensor<?x104xf32>, tensor<150x104xf32>, tensor<?x150xf32>,
           tensor<?x150xf32>
  // CHECK: transformer.linear %[[X]], %[[W]] residual %{{.*}} act tanh : tensor<?x104xf32>, tensor<150x104xf32>, tensor<?x150xf32>{{$}}
  %2 = transformer.linear %x, %w residual %1 act tanh
         : tensor<?x104xf32>, tensor<150x104xf32>, tensor<?x150xf32>
  return
}

// CHECK-LABEL: @ffn
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[U:.*]]: tensor<12x8xf32>, %[[G:.*]]: tensor<12x8xf32>, %[[D:.*]]: tensor<8x12xf32>, %[[UB:.*]]: tensor<12xf32>, %[[GB:.*]]: tensor<12xf32>, %[[DB:.*]]: tensor<8xf32>
func.func @ffn(%x: tensor<?x8xf32>, %u: tensor<12x8xf32>, %g: tensor<12x8xf32>,
               %d: tensor<8x12xf32>, %ub: tensor<12xf32>, %gb: tensor<12xf32>,
               %db: tensor<8xf32>) {
  // CHECK: transformer.ffn %[[X]] up %[[U]] down %[[D]] act gelu :
  %0 = transformer.ffn %x up %u down %d act gelu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>
  // CHECK: transformer.ffn %[[X]] up %[[U]] down %[[D]] up_bias %[[UB]] down_bias %[[DB]] act gelu_new :
  %1 = transformer.ffn %x up %u down %d up_bias %ub down_bias %db act gelu_new
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12xf32>,
           tensor<8xf32>
  // CHECK: transformer.ffn %[[X]] up %[[U]] down %[[D]] gate %[[G]] act silu :
  %2 = transformer.ffn %x up %u down %d gate %g act silu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>, tensor<12x8xf32>
  // CHECK: transformer.ffn %[[X]] up %[[U]] down %[[D]] gate %[[G]] up_bias %[[UB]] gate_bias %[[GB]] down_bias %[[DB]] act relu :
  %3 = transformer.ffn %x up %u down %d gate %g up_bias %ub gate_bias %gb
         down_bias %db act relu
         : tensor<?x8xf32>, tensor<12x8xf32>, tensor<8x12xf32>,
           tensor<12x8xf32>, tensor<12xf32>, tensor<12xf32>, tensor<8xf32>
  return
}

// CHECK-LABEL: @activation
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @activation(%x: tensor<?x8xf32>) {
  // CHECK: transformer.activation identity %[[X]] : tensor<?x8xf32>
  %0 = transformer.activation identity %x : tensor<?x8xf32>
  // CHECK: transformer.activation gelu %[[X]]
  %1 = transformer.activation gelu %x : tensor<?x8xf32>
  // CHECK: transformer.activation gelu_new %[[X]]
  %2 = transformer.activation gelu_new %x : tensor<?x8xf32>
  // CHECK: transformer.activation relu %[[X]]
  %3 = transformer.activation relu %x : tensor<?x8xf32>
  // CHECK: transformer.activation silu %[[X]]
  %4 = transformer.activation silu %x : tensor<?x8xf32>
  // CHECK: transformer.activation tanh %[[X]]
  %5 = transformer.activation tanh %x : tensor<?x8xf32>
  return
}

// CHECK-LABEL: @row_wise
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[Y:.*]]: tensor<?x8xf32>, %[[ROWS:.*]]: tensor<?xi32>
func.func @row_wise(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>,
                    %rows: tensor<?xi32>) {
  // CHECK: transformer.add %[[X]], %[[Y]] : tensor<?x8xf32>, tensor<?x8xf32>
  %0 = transformer.add %x, %y : tensor<?x8xf32>, tensor<?x8xf32>
  // CHECK: transformer.gather_rows %[[X]], %[[ROWS]] : tensor<?x8xf32>, tensor<?xi32>
  %1 = transformer.gather_rows %x, %rows : tensor<?x8xf32>, tensor<?xi32>
  // CHECK: transformer.slice_columns %[[X]][3, 5] : tensor<?x8xf32>
  %2 = transformer.slice_columns %x[3, 5] : tensor<?x8xf32>
  return
}

// CHECK-LABEL: @scale
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @scale(%x: tensor<?x8xf32>) {
  // CHECK: transformer.scale %[[X]] by 2.500000e-01 : tensor<?x8xf32>
  %0 = transformer.scale %x by 0.25 : tensor<?x8xf32>
  return
}

// CHECK-LABEL: @clamp
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
func.func @clamp(%x: tensor<?x8xf32>) {
  // CHECK: transformer.clamp %[[X]] least -6.500000e+00 : tensor<?x8xf32>
  %0 = transformer.clamp %x least -6.5 : tensor<?x8xf32>
  return
}

// CHECK-LABEL: @xielu
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[P:.*]]: tensor<1xf32>, %[[N:.*]]: tensor<1xf32>
func.func @xielu(%x: tensor<?x8xf32>, %p: tensor<1xf32>, %n: tensor<1xf32>) {
  // CHECK: transformer.xielu %[[X]] positive %[[P]] negative %[[N]] {beta = 5.000000e-01 : f64, least = -1.000000e+00 : f64} :
  %0 = transformer.xielu %x positive %p negative %n
         {beta = 0.5 : f64, least = -1.0 : f64}
         : (tensor<?x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @pool_rows
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[ROWS:.*]]: tensor<?xi32>, %[[BATCH:.*]]: !transformer.batch
func.func @pool_rows(%x: tensor<?x8xf32>, %rows: tensor<?xi32>,
                     %batch: !transformer.batch) {
  // CHECK: transformer.pool_rows mean %[[X]], %[[ROWS]], %[[BATCH]] : tensor<?x8xf32>, tensor<?xi32>
  %0 = transformer.pool_rows mean %x, %rows, %batch
         : tensor<?x8xf32>, tensor<?xi32>
  // CHECK: transformer.pool_rows max %[[X]]
  %1 = transformer.pool_rows max %x, %rows, %batch
         : tensor<?x8xf32>, tensor<?xi32>
  // CHECK: transformer.pool_rows mean_sqrt_len %[[X]]
  %2 = transformer.pool_rows mean_sqrt_len %x, %rows, %batch
         : tensor<?x8xf32>, tensor<?xi32>
  // CHECK: transformer.pool_rows mean %[[X]], %[[ROWS]], %[[BATCH]] {skip = 1 : i64} : tensor<?x8xf32>
  %3 = transformer.pool_rows mean %x, %rows, %batch {skip = 1}
         : tensor<?x8xf32>, tensor<?xi32>
  return
}

// CHECK-LABEL: @integers
// CHECK-SAME: %[[X:.*]]: tensor<?x104xf32>
func.func @integers(%x: tensor<?x104xf32>, %w: tensor<150x104xi8>,
                    %ws: tensor<150xf32>, %b: tensor<150xf32>) {
  // CHECK: %[[Q:.*]], %[[S:.*]] = transformer.quantize_rows %[[X]] : tensor<?x104xf32>{{$}}
  %q, %s = transformer.quantize_rows %x : tensor<?x104xf32>
  // CHECK: transformer.linear %[[Q]], %{{.*}} scales %[[S]], %{{.*}} bias %{{.*}} : tensor<?x104xi8>, tensor<150x104xi8>, tensor<?xf32>, tensor<150xf32>, tensor<150xf32>{{$}}
  %0 = transformer.linear %q, %w scales %s, %ws bias %b
    : tensor<?x104xi8>, tensor<150x104xi8>, tensor<?xf32>, tensor<150xf32>, tensor<150xf32>
  return
}

// CHECK-LABEL: @widened
// CHECK-SAME: %[[X:.*]]: tensor<?x104xbf16>
func.func @widened(%x: tensor<?x104xbf16>, %w: tensor<150x104xi8>,
                   %ws: tensor<150xf32>, %f: tensor<150x104xi4>,
                   %fs: tensor<150x2xf32>, %z: tensor<150x2xi8>) {
  // CHECK: transformer.linear %[[X]], %{{.*}} scales %{{[^,]*}} : tensor<?x104xbf16>, tensor<150x104xi8>, tensor<150xf32> -> tensor<?x150xbf16>
  %0 = transformer.linear %x, %w scales %ws
    : tensor<?x104xbf16>, tensor<150x104xi8>, tensor<150xf32> -> tensor<?x150xbf16>
  // CHECK: transformer.linear %[[X]], %{{.*}} scales %{{[^,]*}} zeros %{{.*}} : tensor<?x104xbf16>, tensor<150x104xi4>, tensor<150x2xf32>, tensor<150x2xi8>{{$}}
  %1 = transformer.linear %x, %f scales %fs zeros %z
    : tensor<?x104xbf16>, tensor<150x104xi4>, tensor<150x2xf32>, tensor<150x2xi8>
  return
}

// CHECK-LABEL: @float_zeros
func.func @float_zeros(%q: tensor<?x104xi8>, %s: tensor<?xf32>, %f: tensor<150x104xi4>,
                       %fs: tensor<150x2xf32>, %z: tensor<150x2xf32>) {
  // CHECK: transformer.linear %{{.*}}, %{{.*}} scales %{{.*}}, %{{.*}} zeros %{{.*}} : tensor<?x104xi8>, tensor<150x104xi4>, tensor<?xf32>, tensor<150x2xf32>, tensor<150x2xf32>{{$}}
  %0 = transformer.linear %q, %f scales %s, %fs zeros %z
    : tensor<?x104xi8>, tensor<150x104xi4>, tensor<?xf32>, tensor<150x2xf32>, tensor<150x2xf32>
  return
}

// CHECK-LABEL: @layer_scale
func.func @layer_scale(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %n: tensor<1xf32>) {
  // CHECK: transformer.layer_scale %{{.*}}, %{{.*}} : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %0 = transformer.layer_scale %x, %w
         : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK: transformer.layer_scale %{{.*}}, %{{.*}} : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  %1 = transformer.layer_scale %x, %n
         : (tensor<?x8xf32>, tensor<1xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @unfold
func.func @unfold(%x: tensor<?x8xf32>, %batch: !transformer.batch) {
  // CHECK: transformer.unfold %{{.*}} taps 3, %{{.*}} : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x24xf32>
  %0 = transformer.unfold %x taps 3, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x24xf32>
  return
}

// CHECK-LABEL: @unfold_frames
func.func @unfold_frames(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %batch: !transformer.batch) {
  // CHECK: transformer.unfold %{{.*}} taps 3 from 0 frames 2, %{{.*}} : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x12xf32>
  %0 = transformer.unfold %x taps 3 from 0 frames 2, %batch
         : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x12xf32>
  // CHECK: transformer.unfold %{{.*}}, %{{.*}} taps 2 from -1 frames 4, %{{.*}} : (tensor<?x8xf32>, tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
  %1 = transformer.unfold %x, %y taps 2 from -1 frames 4, %batch
         : (tensor<?x8xf32>, tensor<?x8xf32>, !transformer.batch)
           -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @slice_of_a_layer
func.func @slice_of_a_layer(%x: tensor<?x24xf32>, %layer: index) {
  // CHECK: transformer.slice_columns %{{.*}}[0, 8] layer %{{.*}} : tensor<?x24xf32>
  %0 = transformer.slice_columns %x[0, 8] layer %layer : tensor<?x24xf32>
  return
}

// CHECK-LABEL: @all_reduce
func.func @all_reduce(%x: tensor<?x8xf32>) {
  // CHECK: transformer.all_reduce %{{.*}} : tensor<?x8xf32>{{$}}
  %0 = transformer.all_reduce %x : tensor<?x8xf32>
  return
}
