// Queries that are hashed are as exact as they can be, for near ones would
// change places: their product multiplies f32, of weights that are no integers,
// and they are not rounded. Values and keys are as others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --tfc-choose-precision=values=bf16 | FileCheck %s --check-prefix=VALUES
// RUN: tfc-opt %s --tfc-choose-precision="weights=bf16 factors=bf16" | FileCheck %s --check-prefix=FACTORS
// RUN: tfc-opt %s --tfc-choose-precision=weights=int8 | FileCheck %s --check-prefix=BYTES

// BYTES: @q : tensor<8x8xbf16>
transformer.parameter @q : tensor<8x8xf32> from <["q"], stored_rows = 8>
// BYTES: @v : tensor<8x8xi8>
transformer.parameter @v : tensor<8x8xf32> from <["v"], stored_rows = 8>
transformer.parameter @o : tensor<8x8xf32> from <["o"], stored_rows = 8>

func.func @encode(%x: tensor<?x8xf32>, %batch: !transformer.batch)
    -> tensor<?x8xf32> {
  %r = arith.constant dense<1.0> : tensor<8x9xf32>
  %qw = transformer.weight @q : tensor<8x8xf32>
  %vw = transformer.weight @v : tensor<8x8xf32>
  %ow = transformer.weight @o : tensor<8x8xf32>
  // VALUES: %[[Q:.*]] = transformer.linear {{.*}} : tensor<?x8xf32>, tensor<8x8xf32>{{$}}
  // FACTORS: transformer.linear {{.*}} : tensor<?x8xf32>, tensor<8x8xbf16>{{$}}
  %q = transformer.linear %x, %qw : tensor<?x8xf32>, tensor<8x8xf32>
  // VALUES: transformer.linear {{.*}} -> tensor<?x8xbf16>
  // FACTORS: transformer.linear {{.*}} : tensor<?x8xbf16>, tensor<8x8xbf16>
  %v = transformer.linear %x, %vw : tensor<?x8xf32>, tensor<8x8xf32>
  // VALUES: transformer.rms_norm %[[Q]] {{.*}} -> tensor<?x8xbf16>
  %k = transformer.rms_norm %q parts 2 {eps = 1.0e-6 : f64} : tensor<?x8xf32>
  // VALUES: transformer.hashed_attention %[[Q]]
  // VALUES-SAME: (tensor<?x8xf32>, tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<8x9xf32>, !transformer.batch) -> tensor<?x8xbf16>
  %y = transformer.hashed_attention %q, %k, %v, %r, %batch heads 2
         {after = 0 : i64, before = 1 : i64, block = 8 : i64,
          buckets = array<i64: 2, 4>, hashes = 3 : i64, multiple = 8 : i64,
          scale = 0.5 : f64}
    : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8x9xf32>,
       !transformer.batch) -> tensor<?x8xf32>
  %z = transformer.linear %y, %ow : tensor<?x8xf32>, tensor<8x8xf32>
  return %z : tensor<?x8xf32>
}
