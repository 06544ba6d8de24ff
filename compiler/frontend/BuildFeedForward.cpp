// Feed-forward parts of layers, and experts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildFeedForward.h"

using namespace mlir;
using namespace tfc;

/// What the last product reads of a gated one, whose gate may be times a number
/// or cut in front of its activation.
static Value buildGated(PathBuilder &path, const spec::Ffn &ffn,
                        const std::string &name, Value index, Value x) {
  Value gate = path.linear(x, name + ".gate", ffn.bias, index);
  if (ffn.gateScale != 1) {
    gate = path.scale(gate, ffn.gateScale, name + ".gate.scale");
  }
  if (ffn.sparsity != 0) {
    gate = transformer::CutRowsOp::create(path.getBuilder(),
                                          path.loc(name + ".gate.cut"), gate,
                                          APFloat(ffn.deviations()));
  }
  Value up = path.linear(x, name + ".up", ffn.bias, index);
  return transformer::MultiplyOp::create(path.getBuilder(),
                                         path.loc(name + ".gated"), up, gate,
                                         toDialect(ffn.act));
}

/// The same of one whose activation has weights; its other numbers are those of
/// the paper.
static Value buildXielu(PathBuilder &path, const spec::Ffn &ffn,
                        const std::string &name, Value index, Value x) {
  Value up = path.linear(x, name + ".up", ffn.bias, index);
  return transformer::XieluOp::create(
      path.getBuilder(), path.loc(name + ".xielu"), up,
      path.weight(name + ".positive.weight", index),
      path.weight(name + ".negative.weight", index), APFloat(0.5),
      APFloat(-1e-6));
}

/// One that is more than a transformer.ffn.
static Value buildOpenFfn(PathBuilder &path, const spec::Ffn &ffn,
                          const std::string &name, Value index, Value x) {
  Value inner;
  if (ffn.xielu) {
    inner = buildXielu(path, ffn, name, index, x);
  } else if (ffn.gated) {
    inner = buildGated(path, ffn, name, index, x);
  } else {
    Value up = path.linear(x, name + ".up", ffn.bias, index);
    inner = path.activation(up, ffn.act, name + ".act");
  }
  if (ffn.innerNorm) {
    inner = path.norm(inner, *ffn.innerNorm, name + ".inner_norm", index);
  }
  return path.linear(inner, name + ".down", ffn.bias, index);
}

Value tfc::buildFfn(PathBuilder &path, const spec::Ffn &ffn,
                    const std::string &name, Value index, Value x) {
  if (ffn.xielu || ffn.innerNorm || ffn.gateScale != 1 || ffn.sparsity != 0) {
    return buildOpenFfn(path, ffn, name, index, x);
  }
  auto bias = [&](const char *part) {
    return ffn.bias ? path.weight(name + part, index) : Value();
  };
  Value up = path.weight(name + ".up.weight", index);
  Value down = path.weight(name + ".down.weight", index);
  Value gate = ffn.gated ? path.weight(name + ".gate.weight", index) : Value();
  Value upBias = bias(".up.bias");
  Value gateBias = ffn.gated ? bias(".gate.bias") : Value();
  return transformer::FfnOp::create(path.getBuilder(), path.loc(name), x, up,
                                    down, gate, upBias, gateBias,
                                    bias(".down.bias"), toDialect(ffn.act));
}

static transformer::RouteOp buildRoute(PathBuilder &path, const spec::Moe &moe,
                                       const std::string &name, Value index,
                                       Value logits) {
  const spec::Router &router = moe.router;
  Value choice = router.choiceBias
                     ? path.weight(name + ".choice_bias.weight", index)
                     : Value();
  // The words of both are in the same order.
  auto score = static_cast<transformer::RouterScore>(router.score);
  auto renormalize = static_cast<transformer::Renormalize>(router.renormalize);
  return transformer::RouteOp::create(
      path.getBuilder(), path.loc(name + ".route"), score, logits, choice,
      moe.perToken, router.groups, router.groupsUsed,
      router.groupByTwo ? transformer::GroupRank::Top2
                        : transformer::GroupRank::Max,
      renormalize, APFloat(router.plus), APFloat(router.floor),
      APFloat(router.factor), APFloat(router.tolerance));
}

static Value buildShared(PathBuilder &path, const spec::Moe &moe,
                         const std::string &name, Value index, Value x) {
  spec::Ffn shared;
  shared.width = moe.shared->width;
  shared.act = moe.act;
  shared.gated = moe.gated;
  if (const auto &norm = moe.shared->preNorm) {
    x = path.norm(x, *norm, name + ".shared.pre_norm", index);
  }
  Value y = buildFfn(path, shared, name + ".shared", index, x);
  if (moe.shared->gate) {
    Value gate = path.linear(x, name + ".shared_gate", false, index);
    y = transformer::GateRowsOp::create(path.getBuilder(),
                                        path.loc(name + ".shared_gated"), y,
                                        gate, transformer::Activation::Sigmoid);
  }
  if (const auto &norm = moe.shared->outNorm) {
    y = path.norm(y, *norm, name + ".shared.out_norm", index);
  }
  return y;
}

/// scale * pre_norm(x)
static Value buildRouted(PathBuilder &path, const spec::Router &router,
                         const std::string &name, Value index, Value x) {
  if (router.preNorm) {
    x = path.norm(x, *router.preNorm, name + ".router_norm", index);
  }
  return router.scale == 1 ? x : path.scale(x, router.scale, name + ".routed");
}

/// Weights of 1: of one expert a row its share of itself.
static Value buildOnes(PathBuilder &path, const std::string &name,
                       Value logits) {
  return transformer::RouteOp::create(
             path.getBuilder(), path.loc(name + ".ones"),
             transformer::RouterScore::Softmax, logits, Value(),
             /*per_token=*/1, /*groups=*/1, /*groups_used=*/1,
             transformer::GroupRank::Max, transformer::Renormalize::Sum,
             APFloat(0.0), APFloat(0.0), APFloat(1.0), APFloat(0.0))
      .getWeights();
}

Value tfc::buildMoe(PathBuilder &path, const spec::Moe &moe,
                    const std::string &name, Value index, Value x) {
  Value routed = buildRouted(path, moe.router, name, index, x);
  Value logits = path.linear(routed, name + ".router", moe.router.bias, index);
  transformer::RouteOp route = buildRoute(path, moe, name, index, logits);
  Value weights = route.getWeights();
  if (moe.router.expertScale) {
    weights = transformer::ScaleExpertsOp::create(
        path.getBuilder(), path.loc(name + ".expert_scale"), weights,
        route.getIds(), path.weight(name + ".expert_scale.weight", index));
  }
  auto weight = [&](const char *part) {
    return path.weight(name + part, index);
  };
  auto bias = [&](const char *part) {
    return moe.bias ? weight(part) : Value();
  };
  auto number = [&](double value) {
    return value > 0 ? path.getBuilder().getF64FloatAttr(value) : FloatAttr();
  };
  Value up = weight(".up.weight"), down = weight(".down.weight");
  Value gate = moe.gated ? weight(".gate.weight") : Value();
  Value gateBias = moe.gated ? bias(".gate.bias") : Value();
  Value rows = x;
  if (moe.expertsPreNorm) {
    rows = path.norm(x, *moe.expertsPreNorm, name + ".experts_pre_norm", index);
  }
  if (moe.latent > 0) {
    rows = path.linear(rows, name + ".in", false, index);
  }
  if (moe.router.onInput) {
    rows = transformer::GateRowsOp::create(
        path.getBuilder(), path.loc(name + ".weighted"), rows, weights,
        transformer::Activation::Identity);
    weights = buildOnes(path, name, logits);
  }
  Value y = transformer::ExpertsOp::create(
      path.getBuilder(), path.loc(name), rows, route.getIds(), weights, up,
      down, gate, bias(".up.bias"), gateBias, bias(".down.bias"),
      toDialect(moe.act), number(moe.alpha), number(moe.limit));
  if (moe.latent > 0) {
    y = path.linear(y, name + ".out", false, index);
  }
  if (moe.expertsOutNorm) {
    y = path.norm(y, *moe.expertsOutNorm, name + ".experts_out_norm", index);
  }
  if (moe.shared) {
    Value shared = buildShared(path, moe, name, index, x);
    y = transformer::AddOp::create(path.getBuilder(), path.loc(name + ".sum"),
                                   y, shared);
  }
  return y;
}
