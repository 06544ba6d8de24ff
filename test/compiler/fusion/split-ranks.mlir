// A layer as one of two ranks, or of four, computes it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-split-ranks=ranks=2 | FileCheck %s
// RUN: tfc-opt %s --tfc-split-ranks=ranks=4 | FileCheck %s --check-prefix=FOUR
// RUN: tfc-opt %s --tfc-split-ranks=ranks=1 | FileCheck %s --check-prefix=ALONE

// CHECK: module attributes {transformer.ranks = 2 : i64}
// ALONE-NOT: share
// ALONE-NOT: all_reduce

// Heads are rows, as they are stored; of keys there are two, which four ranks
// share.
// CHECK: @q : tensor<16x8xf32> layers 2 from<["q.{i}"], stored_rows = 32, share = <parts = 2, rows = 16>>
// CHECK: @k : tensor<8x8xf32> layers 2 from<["kv.{i}"], stored_rows = 32, in_out = true, share = <parts = 2, rows = 8>>
// CHECK: @v : tensor<8x8xf32> layers 2 from<["kv.{i}"], first_row = 16, stored_rows = 32, in_out = true, share = <parts = 2, rows = 8>>
// FOUR: @q : tensor<8x8xf32> layers 2 from<["q.{i}"], stored_rows = 32, share = <parts = 4, rows = 8>>
// FOUR: @k : tensor<8x8xf32> layers 2 from<["kv.{i}"], stored_rows = 32, in_out = true, share = <parts = 2, rows = 8>>
transformer.parameter @norm : tensor<8xf32> layers 2 from <["n.{i}"], stored_rows = 8>
transformer.parameter @q : tensor<32x8xf32> layers 2 from <["q.{i}"], stored_rows = 32>
transformer.parameter @k : tensor<16x8xf32> layers 2 from <["kv.{i}"], stored_rows = 32, in_out = true>
transformer.parameter @v : tensor<16x8xf32> layers 2 from <["kv.{i}"], first_row = 16, stored_rows = 32, in_out = true>
// The other half is of columns, and its bias the first rank's.
// CHECK: @o : tensor<8x16xf32> layers 2 from<["o.{i}"], stored_rows = 8, stored_cols = 32, share = <parts = 2, cols = 16>>
// CHECK: @o.bias : tensor<8xf32> layers 2 from<["b.{i}"], stored_rows = 8, share = <parts = 2, first_rank = true>>
transformer.parameter @o : tensor<8x32xf32> layers 2 from <["o.{i}"], stored_rows = 8>
transformer.parameter @o.bias : tensor<8xf32> layers 2 from <["b.{i}"], stored_rows = 8>
// CHECK: @gate : tensor<6x8xf32> {{.*}} share = <parts = 2, rows = 6>
// CHECK: @up : tensor<6x8xf32> {{.*}} share = <parts = 2, rows = 6>
// CHECK: @up.bias : tensor<6xf32> {{.*}} share = <parts = 2, rows = 6>
// CHECK: @down : tensor<8x6xf32> {{.*}} share = <parts = 2, cols = 6>
transformer.parameter @gate : tensor<12x8xf32> layers 2 from <["g.{i}"], stored_rows = 12>
transformer.parameter @up : tensor<12x8xf32> layers 2 from <["u.{i}"], stored_rows = 12>
transformer.parameter @up.bias : tensor<12xf32> layers 2 from <["ub.{i}"], stored_rows = 12>
transformer.parameter @down : tensor<8x12xf32> layers 2 from <["d.{i}"], stored_rows = 8>
// Behind the layers everything is whole.
// CHECK: @head : tensor<10x8xf32> from<["h"], stored_rows = 10>
transformer.parameter @head : tensor<10x8xf32> from <["h"], stored_rows = 10>

// CHECK-LABEL: func.func @step
// CHECK-SAME: !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
// FOUR-LABEL: func.func @step
// FOUR-SAME: !transformer.cache<layers = 2, kv_heads = 1, head_dim = 8>
func.func @step(%x: tensor<?x8xf32>, %angles: tensor<?x8xf32>,
                %batch: !transformer.batch,
                %cache: !transformer.cache<layers = 2, kv_heads = 2, head_dim = 8>)
    -> tensor<?x10xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %nw = transformer.weight @norm[%i] : tensor<8xf32>
    // CHECK: %[[N:.*]] = transformer.rms_norm {{.*}} : tensor<?x8xf32>, tensor<8xf32>
    %n = transformer.rms_norm %s, %nw {eps = 1.0e-6 : f64} : tensor<?x8xf32>, tensor<8xf32>
    %qw = transformer.weight @q[%i] : tensor<32x8xf32>
    %kw = transformer.weight @k[%i] : tensor<16x8xf32>
    %vw = transformer.weight @v[%i] : tensor<16x8xf32>
    // CHECK: transformer.linear %[[N]], {{.*}} : tensor<?x8xf32>, tensor<16x8xf32>
    %q = transformer.linear %n, %qw : tensor<?x8xf32>, tensor<32x8xf32>
    // CHECK: transformer.linear %[[N]], {{.*}} : tensor<?x8xf32>, tensor<8x8xf32>
    %k = transformer.linear %n, %kw : tensor<?x8xf32>, tensor<16x8xf32>
    %v = transformer.linear %n, %vw : tensor<?x8xf32>, tensor<16x8xf32>
    // CHECK: transformer.rotary half {{.*}} heads 2 : tensor<?x16xf32>
    // CHECK: transformer.rotary half {{.*}} heads 1 : tensor<?x8xf32>
    %qr = transformer.rotary half %q, %angles heads 4 : tensor<?x32xf32>, tensor<?x8xf32>
    %kr = transformer.rotary half %k, %angles heads 2 : tensor<?x16xf32>, tensor<?x8xf32>
    // CHECK: %[[A:.*]] = transformer.attention {{.*}} causal heads 2 {{.*}} : tensor<?x16xf32>, tensor<?x8xf32>, tensor<?x8xf32>, <layers = 2, kv_heads = 1, head_dim = 8>
    // FOUR: transformer.attention {{.*}} causal heads 1 {{.*}} : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, <layers = 2, kv_heads = 1, head_dim = 8>
    %a = transformer.attention %qr, %kr, %v, %cache[%i], %batch causal heads 4 {scale = 0.35 : f64}
           : tensor<?x32xf32>, tensor<?x16xf32>, tensor<?x16xf32>,
             !transformer.cache<layers = 2, kv_heads = 2, head_dim = 8>
    %ow = transformer.weight @o[%i] : tensor<8x32xf32>
    %ob = transformer.weight @o.bias[%i] : tensor<8xf32>
    // CHECK: %[[P:.*]] = transformer.linear %[[A]], {{.*}} bias {{.*}} : tensor<?x16xf32>, tensor<8x16xf32>, tensor<8xf32>
    // CHECK: %[[O:.*]] = transformer.all_reduce %[[P]] : tensor<?x8xf32>
    // CHECK: transformer.add %{{.*}}, %[[O]]
    %o = transformer.linear %a, %ow bias %ob : tensor<?x32xf32>, tensor<8x32xf32>, tensor<8xf32>
    %t = transformer.add %s, %o : tensor<?x8xf32>, tensor<?x8xf32>
    %gw = transformer.weight @gate[%i] : tensor<12x8xf32>
    %uw = transformer.weight @up[%i] : tensor<12x8xf32>
    %ub = transformer.weight @up.bias[%i] : tensor<12xf32>
    %dw = transformer.weight @down[%i] : tensor<8x12xf32>
    %g = transformer.linear %t, %gw act silu : tensor<?x8xf32>, tensor<12x8xf32>
    %u = transformer.linear %t, %uw bias %ub factor %g : tensor<?x8xf32>, tensor<12x8xf32>, tensor<12xf32>, tensor<?x12xf32>
    // CHECK: %[[D:.*]] = transformer.linear {{.*}} : tensor<?x6xf32>, tensor<8x6xf32>
    // CHECK: transformer.all_reduce %[[D]]
    %d = transformer.linear %u, %dw : tensor<?x12xf32>, tensor<8x12xf32>
    %y = transformer.add %t, %d : tensor<?x8xf32>, tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  %hw = transformer.weight @head : tensor<10x8xf32>
  // CHECK: transformer.linear {{.*}} : tensor<?x8xf32>, tensor<10x8xf32>
  // CHECK-NOT: all_reduce
  %h = transformer.linear %r, %hw : tensor<?x8xf32>, tensor<10x8xf32>
  return %h : tensor<?x10xf32>
}
