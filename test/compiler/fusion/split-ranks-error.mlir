// Layers that ranks cannot share, and what is in the way.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-split-ranks=ranks=2 --split-input-file --verify-diagnostics

transformer.parameter @q : tensor<24x8xf32> layers 2 from <["q.{i}"], stored_rows = 24>

func.func @three_heads(%x: tensor<?x8xf32>, %batch: !transformer.batch,
                       %cache: !transformer.cache<layers = 2, kv_heads = 3, head_dim = 8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %qw = transformer.weight @q[%i] : tensor<24x8xf32>
    // expected-error @+1 {{expected a product that 2 ranks can share (--ranks), got one that they cannot: transformer.attention has 3 heads, which are not 2 equal parts}}
    %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<24x8xf32>
    %a = transformer.attention %q, %q, %q, %cache[%i], %batch causal heads 3 {scale = 0.35 : f64}
           : tensor<?x24xf32>, tensor<?x24xf32>, tensor<?x24xf32>,
             !transformer.cache<layers = 2, kv_heads = 3, head_dim = 8>
  }
  return
}

// -----

transformer.parameter @up : tensor<13x8xf32> layers 2 from <["u.{i}"], stored_rows = 13>
transformer.parameter @down : tensor<8x13xf32> layers 2 from <["d.{i}"], stored_rows = 8>

func.func @odd(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %uw = transformer.weight @up[%i] : tensor<13x8xf32>
    %dw = transformer.weight @down[%i] : tensor<8x13xf32>
    // expected-error @+1 {{got one that they cannot: it has 13 rows, which are not stored in 2 equal parts}}
    %u = transformer.linear %s, %uw act relu : tensor<?x8xf32>, tensor<13x8xf32>
    %d = transformer.linear %u, %dw : tensor<?x13xf32>, tensor<8x13xf32> loc("layers.ffn.down")
    scf.yield %d : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

// A matrix behind which nothing is shared.
transformer.parameter @w : tensor<8x8xf32> layers 2 from <["w.{i}"], stored_rows = 8>

func.func @alone(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %w = transformer.weight @w[%i] : tensor<8x8xf32>
    // expected-error @+1 {{got one that they cannot: all of it goes on to the next layer}}
    %y = transformer.linear %s, %w : tensor<?x8xf32>, tensor<8x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

transformer.parameter @route : tensor<4x8xf32> layers 2 from <["r.{i}"], stored_rows = 4>
transformer.parameter @up : tensor<12x8xf32> layers 2 experts 4 from <["u.{i}.{e}"], stored_rows = 12>
transformer.parameter @down : tensor<8x12xf32> layers 2 experts 4 from <["d.{i}.{e}"], stored_rows = 8>

func.func @experts(%x: tensor<?x8xf32>, %ids: tensor<?x2xi32>,
                   %weights: tensor<?x2xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %uw = transformer.weight @up[%i] : tensor<4x12x8xf32>
    %dw = transformer.weight @down[%i] : tensor<4x8x12xf32>
    // expected-error @+1 {{expected layers whose matrices 2 ranks can share (--ranks), got transformer.experts, which reads all of up}}
    %y = transformer.experts %s, %ids, %weights up %uw down %dw act relu
           : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>, tensor<4x12x8xf32>, tensor<4x8x12xf32>) -> tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}

// -----

transformer.parameter @up : tensor<12x8xf32> from <["u"], stored_rows = 12>
transformer.parameter @down : tensor<8x12xf32> layers 2 from <["d.{i}"], stored_rows = 8>

func.func @read_elsewhere(%x: tensor<?x8xf32>) -> tensor<?x12xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> (tensor<?x8xf32>) {
    %uw = transformer.weight @up : tensor<12x8xf32>
    %dw = transformer.weight @down[%i] : tensor<8x12xf32>
    %u = transformer.linear %s, %uw act relu : tensor<?x8xf32>, tensor<12x8xf32>
    %d = transformer.linear %u, %dw : tensor<?x12xf32>, tensor<8x12xf32>
    scf.yield %d : tensor<?x8xf32>
  }
  // expected-error @+1 {{expected a weight that ranks have parts of alone, got one that is also read whole}}
  %uw = transformer.weight @up : tensor<12x8xf32>
  %y = transformer.linear %r, %uw : tensor<?x8xf32>, tensor<12x8xf32>
  return %y : tensor<?x12xf32>
}
