// Values between ops have 16 bits: who computes them rounds them, and who reads
// them reads them as they are; loops carry them so, caches keep keys and values
// so. Outputs and what is made of positions alone stay f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision=values=bf16 | FileCheck %s
// RUN: tfc-opt %s --tfc-choose-precision | FileCheck %s --check-prefix=SAME
// SAME-NOT: bf16

transformer.parameter @token : tensor<9x8xf32> from <["t"], stored_rows = 9>
transformer.parameter @norm : tensor<8xf32> layers 2 from <["n"], stored_rows = 8>
transformer.parameter @q : tensor<8x8xf32> layers 2 from <["q"], stored_rows = 8>

// CHECK-LABEL: func.func @step(
// CHECK-SAME: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 4, bf16>
func.func @step(%ids: tensor<?xi32>, %positions: tensor<?xi32>, %rows: tensor<?xi32>,
                %batch: !transformer.batch,
                %cache: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 4>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %token = transformer.weight @token : tensor<9x8xf32>
  // Of a table that is not narrowed here.
  // CHECK: %[[X:.*]] = transformer.embedding {{.*}} : tensor<?xi32>, tensor<9x8xf32> -> tensor<?x8xbf16>
  %x = transformer.embedding %ids, %token : tensor<?xi32>, tensor<9x8xf32>
  // CHECK: %[[ANGLES:.*]] = transformer.rotary_angles {{.*}} : tensor<?xi32>{{$}}
  %angles = transformer.rotary_angles %positions times [1.0, 0.01] factors [1.0] : tensor<?xi32>
  // CHECK: %[[LOOP:.*]] = scf.for {{.*}} iter_args(%[[CARRIED:.*]] = %[[X]]) -> (tensor<?x8xbf16>)
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%h = %x) -> (tensor<?x8xf32>) {
    %nw = transformer.weight @norm[%i] : tensor<8xf32>
    // CHECK: %[[N:.*]] = transformer.rms_norm %[[CARRIED]], {{.*}} : tensor<?x8xbf16>, tensor<8xf32> -> tensor<?x8xbf16>
    %n = transformer.rms_norm %h, %nw {eps = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<8xf32>
    %qw = transformer.weight @q[%i] : tensor<8x8xf32>
    // CHECK: %[[Q:.*]] = transformer.linear %[[N]], {{.*}} -> tensor<?x8xbf16>
    %q = transformer.linear %n, %qw : tensor<?x8xf32>, tensor<8x8xf32>
    // What is kept is what others read, so that is what a tap may change.
    // CHECK: transformer.tap "q" layer %{{.*}} %[[Q]] : tensor<?x8xbf16>
    transformer.tap "q" layer %i %q : tensor<?x8xf32>
    // CHECK: transformer.rotary half %[[Q]], %[[ANGLES]] {{.*}} : tensor<?x8xbf16>, tensor<?x4xf32> -> tensor<?x8xbf16>
    %r = transformer.rotary half %q, %angles heads 2 : tensor<?x8xf32>, tensor<?x4xf32>
    // CHECK: transformer.attention {{.*}}head_dim = 4, bf16> -> tensor<?x8xbf16>
    %a = transformer.attention %r, %q, %q, %cache[%i], %batch causal heads 2 {scale = 0.5 : f64}
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, !transformer.cache<layers = 2, kv_heads = 2, head_dim = 4>
    // CHECK: %[[S:.*]] = transformer.add %[[CARRIED]], {{.*}} -> tensor<?x8xbf16>
    %s = transformer.add %h, %a : tensor<?x8xf32>, tensor<?x8xf32>
    // CHECK-NEXT: scf.yield %[[S]] : tensor<?x8xbf16>
    scf.yield %s : tensor<?x8xf32>
  }
  // CHECK: transformer.output "logits"
  // CHECK: %[[ROWS:.*]] = transformer.gather_rows %[[LOOP]], {{.*}} -> tensor<?x8xbf16>
  // CHECK: %[[LOGITS:.*]] = transformer.linear %[[ROWS]], {{.*}} : tensor<?x8xbf16>, tensor<9x8xf32>{{$}}
  // CHECK-NEXT: transformer.tap "logits" %[[LOGITS]] : tensor<?x9xf32>
  // CHECK-NEXT: transformer.yield %[[LOGITS]] : tensor<?x9xf32>
  transformer.output "logits" wanted take all {
    %last = transformer.gather_rows %y, %rows : tensor<?x8xf32>, tensor<?xi32>
    %logits = transformer.linear %last, %token : tensor<?x8xf32>, tensor<9x8xf32>
    transformer.tap "logits" %logits : tensor<?x9xf32>
    transformer.yield %logits : tensor<?x9xf32>
  }
  // What others read too is an output of rows of 16 bits.
  // CHECK: transformer.output "last_hidden_state"
  // CHECK-NEXT: %[[WIDE:.*]] = transformer.activation identity %[[LOOP]] : tensor<?x8xbf16>{{$}}
  // CHECK-NEXT: transformer.yield %[[WIDE]] : tensor<?x8xf32>
  transformer.output "last_hidden_state" tokens take all {
    transformer.yield %y : tensor<?x8xf32>
  }
  return
}

// Rows of angles that a loop carries on are rounded on their way into it; what
// is no op of the model gets f32, which has the values that it had.
// CHECK-LABEL: func.func @carried(
func.func @carried(%positions: tensor<?xi32>, %some: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[ANGLES:.*]] = transformer.rotary_angles {{.*}} : tensor<?xi32>{{$}}
  // CHECK: %[[INIT:.*]] = transformer.activation identity %[[ANGLES]] : tensor<?x4xf32> -> tensor<?x4xbf16>
  %angles = transformer.rotary_angles %positions times [1.0, 0.01] factors [1.0] : tensor<?xi32>
  // CHECK: %[[OUTER:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[INIT]]) -> (tensor<?x4xbf16>)
  %outer = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %angles) -> (tensor<?x4xf32>) {
    // CHECK-NEXT: scf.for {{.*}} iter_args(%{{.*}} = %[[A]]) -> (tensor<?x4xbf16>)
    %inner = scf.for %j = %c0 to %c1 step %c1 iter_args(%b = %a) -> (tensor<?x4xf32>) {
      // CHECK-NEXT: %[[LAST:.*]] = transformer.activation identity %{{.*}} : tensor<?x4xf32> -> tensor<?x4xbf16>
      // CHECK-NEXT: scf.yield %[[LAST]]
      scf.yield %some : tensor<?x4xf32>
    }
    scf.yield %inner : tensor<?x4xf32>
  }
  // CHECK: %[[WIDE:.*]] = transformer.activation identity %[[OUTER]] : tensor<?x4xbf16>{{$}}
  // CHECK-NEXT: return %[[WIDE]] : tensor<?x4xf32>
  return %outer : tensor<?x4xf32>
}

// Structured ops have the type of what they write to.
// CHECK-LABEL: func.func @written(
// CHECK: transformer.product {{.*}} -> tensor<?x16xf32>
func.func @written(%x: tensor<?x8xf32>, %panels: tensor<1x8x16xf32>,
                   %y: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = transformer.product %x, %panels outs(%y)
      : tensor<?x8xf32>, tensor<1x8x16xf32>, tensor<?x16xf32> -> tensor<?x16xf32> {
  ^bb0(%sum: f32):
    transformer.yield %sum : f32
  }
  return %0 : tensor<?x16xf32>
}

// What threads write to what they share is widened before.
// CHECK-LABEL: func.func @shared(
func.func @shared(%x: tensor<?x8xf32>, %y: tensor<?x8xf32>, %rows: index) -> tensor<?x8xf32> {
  %0 = scf.forall (%i) in (2) shared_outs(%o = %y) -> (tensor<?x8xf32>) {
    // CHECK: %[[TWICE:.*]] = transformer.add {{.*}} -> tensor<?x8xbf16>
    // CHECK-NEXT: %[[WIDE:.*]] = transformer.activation identity %[[TWICE]] : tensor<?x8xbf16>{{$}}
    // CHECK-NEXT: scf.forall.in_parallel
    // CHECK-NEXT: tensor.parallel_insert_slice %[[WIDE]]
    %twice = transformer.add %x, %x : tensor<?x8xf32>, tensor<?x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %twice into %o[%i, 0] [%rows, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
    }
  }
  return %0 : tensor<?x8xf32>
}

// Another library's function has no arguments here.
// CHECK: func.func private @declared(!transformer.cache<layers = 2, kv_heads = 2, head_dim = 4>)
func.func private @declared(!transformer.cache<layers = 2, kv_heads = 2, head_dim = 4>)
