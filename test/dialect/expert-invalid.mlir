// What the verifiers of mixtures of experts refuse.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: tfc-opt %s --split-input-file --verify-diagnostics

func.func @route_c1_more_than_there_are(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected at most 4 experts for each row (the width of the logits), got 5}}
  %0:2 = transformer.route softmax %z take 5
      : (tensor<?x4xf32>) -> (tensor<?x5xi32>, tensor<?x5xf32>)
  return
}

// -----

func.func @route_c1_none(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected at least one expert for each row, got 0}}
  // expected-error @below {{'transformer.route' op failed to infer returned types}}
  %0:2 = transformer.route softmax %z take 0
      : (tensor<?x4xf32>) -> (tensor<?x0xi32>, tensor<?x0xf32>)
  return
}

// -----

func.func @route_c2_bias_length(%z: tensor<?x4xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{expected choice_bias of length 4 (the width of the logits), got 3}}
  %0:2 = transformer.route softmax %z bias %b take 2
      : (tensor<?x4xf32>, tensor<3xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @route_c3_groups_that_do_not_divide(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected groups that divide 4 experts, of which 1 or more are used, got 1 of 3}}
  %0:2 = transformer.route softmax %z take 2 {groups = 3 : i64}
      : (tensor<?x4xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @route_c4_groups_too_small(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected at most 2 experts for each row (those of the groups used), got 3}}
  %0:2 = transformer.route softmax %z take 3 {groups = 2 : i64}
      : (tensor<?x4xf32>) -> (tensor<?x3xi32>, tensor<?x3xf32>)
  return
}

// -----

func.func @route_c4_no_second(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected groups of at least 2 experts (their two best are added), got 1}}
  %0:2 = transformer.route softmax %z take 1
      {groups = 4 : i64, group_by = #transformer<group_rank top2>}
      : (tensor<?x4xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>)
  return
}

// -----

func.func @route_c5_factor(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected a finite factor above 0, got 0}}
  %0:2 = transformer.route softmax %z take 1 {factor = 0.0 : f64}
      : (tensor<?x4xf32>) -> (tensor<?x1xi32>, tensor<?x1xf32>)
  return
}

// -----

func.func @scale_experts_c1_width(%i: tensor<?x2xi32>, %w: tensor<?x3xf32>,
                            %s: tensor<5xf32>) {
  // expected-error @below {{expected weights of width 2 (the width of ids), got 3}}
  %0 = transformer.scale_experts %w, %i by %s
         : tensor<?x3xf32>, tensor<?x2xi32>, tensor<5xf32>
  return
}

// -----

func.func @experts_c1_weights_width(
    %x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x3xf32>,
    %u: tensor<5x6x8xf32>, %d: tensor<5x8x6xf32>) {
  // expected-error @below {{expected weights of width 2 (the width of ids), got 3}}
  %0 = transformer.experts %x, %i, %w up %u down %d act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x3xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_c2_up_columns(
    %x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %u: tensor<5x6x7xf32>, %d: tensor<5x8x6xf32>) {
  // expected-error @below {{expected up with columns 8 (the width of the input), got 7}}
  %0 = transformer.experts %x, %i, %w up %u down %d act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x7xf32>, tensor<5x8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_c3_down_of_others(
    %x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %u: tensor<5x6x8xf32>, %d: tensor<4x8x6xf32>) {
  // expected-error @below {{expected down of 5 x 8 x 6 (up turned), got 'tensor<4x8x6xf32>'}}
  %0 = transformer.experts %x, %i, %w up %u down %d act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<4x8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_c4_bias_of_others(
    %x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %u: tensor<5x6x8xf32>, %d: tensor<5x8x6xf32>, %b: tensor<4x6xf32>) {
  // expected-error @below {{expected up_bias of 5 x 6, got 'tensor<4x6xf32>'}}
  %0 = transformer.experts %x, %i, %w up %u down %d up_bias %b act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>, tensor<4x6xf32>)
        -> tensor<?x8xf32>
  return
}

// -----

func.func @experts_c5_bias_of_no_gate(
    %x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %u: tensor<5x6x8xf32>, %d: tensor<5x8x6xf32>, %b: tensor<5x6xf32>) {
  // expected-error @below {{expected no gate bias (there is no gate)}}
  %0 = transformer.experts %x, %i, %w up %u down %d gate_bias %b act relu
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>, tensor<5x6xf32>)
        -> tensor<?x8xf32>
  return
}

// -----

func.func @group_by_c1_no_expert(%i: tensor<?x2xi32>) {
  // expected-error @below {{expected at least one expert, got 0}}
  %r, %e, %p = transformer.group_by %i of 0 : tensor<?x2xi32>
  return
}

// -----

func.func @expert_linear_c1_columns(%x: tensor<?x8xf32>, %e: tensor<?xi32>,
                                    %w: tensor<5x6x7xf32>) {
  // expected-error @below {{expected weight with columns 8 (the width of the input), got 7}}
  %0 = transformer.expert_linear %x of %e, %w
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x6x7xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @expert_linear_c2_bias(%x: tensor<?x8xf32>, %e: tensor<?xi32>,
                                 %w: tensor<5x6x8xf32>, %b: tensor<5x8xf32>) {
  // expected-error @below {{expected bias of 5 x 6 (the rows of the weight), got 'tensor<5x8xf32>'}}
  %0 = transformer.expert_linear %x of %e, %w bias %b
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x6x8xf32>, tensor<5x8xf32>)
        -> tensor<?x6xf32>
  return
}

// -----

func.func @expert_linear_c4_rows(%x: tensor<?x64xf32>, %e: tensor<?xi32>,
                                   %w: tensor<4x6x64xi4>) {
  // expected-error @below {{expected rows of i8 and a weight of integers, both with scales, or neither, got 'tensor<?x64xf32>' and 'tensor<4x6x64xi4>'}}
  %0 = transformer.expert_linear %x of %e, %w
         : (tensor<?x64xf32>, tensor<?xi32>, tensor<4x6x64xi4>) -> tensor<?x6xf32>
  return
}

// -----

func.func @expert_linear_c4_scales(%x: tensor<?x64xi8>, %e: tensor<?xi32>, %s: tensor<?xf32>,
                                   %w: tensor<4x6x64xi4>, %ws: tensor<4x6x3xf32>) {
  // expected-error @below {{expected weight_scales of 4 x 6 rows and a number of groups that divides 64, got 'tensor<4x6x3xf32>'}}
  %0 = transformer.expert_linear %x of %e, %w scales %s, %ws
         : (tensor<?x64xi8>, tensor<?xi32>, tensor<4x6x64xi4>, tensor<?xf32>, tensor<4x6x3xf32>)
           -> tensor<?x6xf32>
  return
}

// -----

func.func @expert_linear_c4_zeros(%x: tensor<?x64xi8>, %e: tensor<?xi32>, %s: tensor<?xf32>,
                                  %w: tensor<4x6x64xi8>, %ws: tensor<4x6x2xf32>, %z: tensor<4x6x2xi8>) {
  // expected-error @below {{expected weight_zeros of a weight of i4, one for each of its weight_scales, got 'tensor<4x6x2xi8>'}}
  %0 = transformer.expert_linear %x of %e, %w scales %s, %ws zeros %z
         : (tensor<?x64xi8>, tensor<?xi32>, tensor<4x6x64xi8>, tensor<?xf32>, tensor<4x6x2xf32>, tensor<4x6x2xi8>)
           -> tensor<?x6xf32>
  return
}

// -----

func.func @expert_linear_c3_factor(%x: tensor<?x8xf32>, %e: tensor<?xi32>,
                                   %w: tensor<5x6x8xf32>) {
  // expected-error @below {{expected factor of width 6 (the rows of the weight), got 8}}
  %0 = transformer.expert_linear %x of %e, %w factor %x
      : (tensor<?x8xf32>, tensor<?xi32>, tensor<5x6x8xf32>, tensor<?x8xf32>)
        -> tensor<?x6xf32>
  return
}

// -----

func.func @combine_c1_weights(%x: tensor<?x8xf32>, %p: tensor<?x2xi32>,
                              %w: tensor<?x3xf32>) {
  // expected-error @below {{expected weights of width 2 (the width of places), got 3}}
  %0 = transformer.combine %x, %p, %w
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x3xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gate_rows_c1_parts(%x: tensor<?x8xf32>, %g: tensor<?x3xf32>) {
  // expected-error @below {{expected a gate whose width divides 8 (the width of the input), got 3}}
  %0 = transformer.gate_rows %x by %g act sigmoid
      : (tensor<?x8xf32>, tensor<?x3xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @choose_experts_c1_width(%z: memref<?x4xf32>, %i: memref<?x2xi32>,
                                   %w: memref<?x3xf32>) {
  // expected-error @below {{expected weights of width 2 (the experts for each row), got 3}}
  transformer.choose_experts softmax %z take 2 outs(%i, %w)
      : (memref<?x4xf32>, memref<?x2xi32>, memref<?x3xf32>) -> ()
  return
}

// -----

func.func @choose_experts_c2_bias(%z: memref<?x4xf32>, %b: memref<3xf32>,
                                  %i: memref<?x2xi32>, %w: memref<?x2xf32>) {
  // expected-error @below {{expected choice_bias of length 4 (the width of the logits), got 3}}
  transformer.choose_experts softmax %z bias %b take 2 outs(%i, %w)
      : (memref<?x4xf32>, memref<3xf32>, memref<?x2xi32>, memref<?x2xf32>)
        -> ()
  return
}

// -----

func.func @sort_by_expert_c1_width(%i: memref<?x2xi32>, %n: memref<?xi32>,
                                   %p: memref<?x3xi32>) {
  // expected-error @below {{expected places of width 2 (the width of ids), got 3}}
  transformer.sort_by_expert %i of 4 outs(%n, %n, %p)
      : (memref<?x2xi32>, memref<?xi32>, memref<?xi32>, memref<?x3xi32>) -> ()
  return
}

// -----

func.func @product_c7_panels_of_no_experts(
    %x: memref<?x8xf32>, %p: memref<2x8x48xf32>, %e: memref<?xi32>,
    %y: memref<?x90xf32>) {
  // expected-error @below {{expected panels of floats of experts, or with groups, got 'memref<2x8x48xf32>'}}
  transformer.product %x, %p experts(%e) outs(%y)
      : memref<?x8xf32>, memref<2x8x48xf32>, memref<?xi32>, memref<?x90xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c8_groups_of_experts(
    %x: memref<?x64xi8>, %p: memref<5x2x8x48x4xi8>, %g: memref<4x2x2x48xf32>,
    %e: memref<?xi32>, %y: memref<?x90xf32>) {
  // expected-error @below {{expected groups of as many experts, beside rows of i8, got 'memref<4x2x2x48xf32>'}}
  transformer.product %x, %p groups(%g) experts(%e) outs(%y)
      : memref<?x64xi8>, memref<5x2x8x48x4xi8>, memref<4x2x2x48xf32>,
        memref<?xi32>, memref<?x90xf32> {
  ^bb0(%s: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

func.func @product_c7_columns_of_others(
    %x: memref<?x8xf32>, %p: memref<5x2x8x48xf32>, %b: memref<4x90xf32>,
    %e: memref<?xi32>, %y: memref<?x90xf32>) {
  // expected-error @below {{expected columns of each expert, got 'memref<4x90xf32>'}}
  transformer.product %x, %p columns(%b) experts(%e) outs(%y)
      : memref<?x8xf32>, memref<5x2x8x48xf32>, memref<4x90xf32>,
        memref<?xi32>, memref<?x90xf32> {
  ^bb0(%s: f32, %c: f32):
    transformer.yield %s : f32
  }
  return
}

// -----

// expected-error @below {{expected at least one expert, with a source and a value of its own or what groups have, got 0 of}}
transformer.parameter @parameter_c14_no_expert : tensor<6x8xf32> experts 0
  from <["{e}.up"], stored_rows = 6>

// -----

// expected-error @below {{expected experts (the source is stacked)}}
transformer.parameter @parameter_c14_stacked : tensor<6x8xf32>
  from <["up"], stored_rows = 6, stacked = true>

// -----

func.func @route_c6_mixer_renormalized(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected no choice_bias, groups or renormalize (sparsemixer says which, and their weights)}}
  %0:2 = transformer.route sparsemixer %z take 2 renormalize sum
      : (tensor<?x4xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @route_c6_tolerance(%z: tensor<?x4xf32>) {
  // expected-error @below {{expected no tolerance (it is of sparsemixer), got 5.000000e-01}}
  %0:2 = transformer.route softmax %z take 2 {tolerance = 0.5 : f64}
      : (tensor<?x4xf32>) -> (tensor<?x2xi32>, tensor<?x2xf32>)
  return
}

// -----

func.func @experts_c6_clamped_without_gate(
    %x: tensor<?x8xf32>, %i: tensor<?x2xi32>, %w: tensor<?x2xf32>,
    %u: tensor<5x6x8xf32>, %d: tensor<5x8x6xf32>) {
  // expected-error @below {{expected alpha and limit together, with a gate and the activation silu}}
  %0 = transformer.experts %x, %i, %w up %u down %d act silu
      {alpha = 1.5 : f64, limit = 7.0 : f64}
      : (tensor<?x8xf32>, tensor<?x2xi32>, tensor<?x2xf32>,
         tensor<5x6x8xf32>, tensor<5x8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @clamped_gate_c1_width(%x: tensor<?x8xf32>, %g: tensor<?x6xf32>) {
  // expected-error @below {{expected a gate of width 8 (the width of the input), got 6}}
  %0 = transformer.clamped_gate %x by %g {alpha = 1.5 : f64, limit = 7.0 : f64}
      : (tensor<?x8xf32>, tensor<?x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @clamped_gate_c2_limit(%x: tensor<?x8xf32>) {
  // expected-error @below {{expected a positive and finite limit, got 0.000000e+00}}
  %0 = transformer.clamped_gate %x by %x {alpha = 1.5 : f64, limit = 0.0 : f64}
      : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
