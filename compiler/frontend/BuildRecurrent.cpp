// Sublayers that keep a state: the gated convolution, the gated delta rule,
// Mamba-2 and Mamba.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildRecurrent.h"

#include "dialect/ShapeUtils.h"

#include <cmath>

using namespace mlir;
using namespace tfc;

// What is added to the sum of squares of queries and keys.
static constexpr double kUnitEps = 1e-6;

namespace {

/// Builds the parts of one sublayer.
class PartBuilder {
public:
  PartBuilder(PathBuilder &path, const std::string &name,
              const LayerContext &context, const LayerPosition &position,
              int64_t first, Value x)
      : path(path), name(name), context(context), position(position),
        next(first), x(x) {}

  Value linear(const char *part, bool bias = false) {
    return linear(x, part, bias);
  }
  Value linear(Value rows, const char *part, bool bias) {
    return path.linear(rows, stem(part), bias, position.weights);
  }
  /// scale * linear(x)
  Value scaled(const char *part, double scale) {
    Value y = linear(part);
    return scale == 1 ? y : path.scale(y, scale, stem(part) + ".scale");
  }
  Value weight(const char *part, const char *which = ".weight") {
    return path.weight(stem(part) + which, position.weights);
  }
  Value multiply(Value value, Value gate, transformer::Activation act) {
    return transformer::MultiplyOp::create(
        path.getBuilder(), path.loc(name + ".gated"), value, gate, act);
  }
  /// Takes the next numbers of the state.
  Value conv(Value rows, const char *part, bool bias) {
    Value matrix = weight(part),
          vector = bias ? weight(part, ".bias") : Value();
    int64_t taps = transformer::widthOf(matrix);
    Value y = transformer::CausalConvOp::create(
        path.getBuilder(), path.loc(stem(part)), rows, matrix, vector,
        context.state, position.state, context.batch, next);
    next += (taps - 1) * transformer::widthOf(rows);
    return y;
  }
  /// silu(conv(scale * linear(x)))
  Value project(const char *part, const char *convPart, bool bias,
                double scale) {
    return path.activation(conv(scaled(part, scale), convPart, bias),
                           spec::Activation::Silu, stem(convPart) + ".act");
  }
  /// A product of x, or, with a rank, of a product that is so wide.
  Value lowRank(const std::string &part, int64_t rank, bool bias) {
    if (rank == 0) {
      return linear(part.c_str(), bias);
    }
    return linear(linear((part + "_a").c_str()), (part + "_b").c_str(), bias);
  }
  /// The product of scale * x, to which the bias is added as it is.
  Value decay(double scale, int64_t rank) {
    if (scale == 1) {
      return lowRank("decay", rank, /*bias=*/true);
    }
    std::string name = stem("decay");
    return path.linear(path.scale(x, scale, name + ".scale"), name,
                       /*bias=*/true, position.weights);
  }
  /// Each head's columns of length `length`: x / sqrt(sum + eps), which is the
  /// root mean square's norm but for a factor.
  Value normalize(Value rows, const char *part, int64_t heads, double length) {
    double width = static_cast<double>(transformer::widthOf(rows) / heads);
    spec::Norm norm;
    norm.kind = spec::Norm::Kind::RmsNorm;
    norm.eps = kUnitEps / width;
    norm.weight = norm.bias = false;
    Value y = path.norm(rows, norm, stem(part) + "_unit", {}, heads);
    return path.scale(y, length / std::sqrt(width), stem(part) + "_unit.scale");
  }
  Value output(Value rows, bool bias) {
    return path.linear(rows, stem("o"), bias, position.weights);
  }
  std::string stem(const char *part) const { return name + "." + part; }

  PathBuilder &path;
  const std::string &name;
  const LayerContext &context;
  const LayerPosition &position;
  int64_t next; // number of the state
  Value x;
};

} // namespace

Value tfc::buildConv(PathBuilder &path, const spec::Conv &conv,
                     const std::string &name, const LayerContext &context,
                     const LayerPosition &position, int64_t first, Value x) {
  PartBuilder b(path, name, context, position, first, x);
  using transformer::Activation;
  Value inGate = b.linear("in_gate", conv.bias);
  Value outGate = b.linear("out_gate", conv.bias);
  Value value = b.linear("value", conv.bias);
  Value in = b.multiply(value, inGate, Activation::Identity);
  Value y = b.conv(in, "conv", conv.bias);
  return b.output(b.multiply(y, outGate, Activation::Identity), conv.bias);
}

/// Mamba: what decays, and how a token changes and reads it, are products of
/// its values.
static Value buildSelective(PathBuilder &path, const spec::Recurrent &recurrent,
                            const std::string &name,
                            const LayerContext &context,
                            const LayerPosition &position, int64_t first,
                            Value x) {
  int64_t matrix = recurrent.keyDim * recurrent.valueWidth();
  PartBuilder b(path, name, context, position, first + matrix, x);
  Value gate = b.linear("gate", recurrent.bias);
  Value v = path.activation(
      b.conv(b.linear("v", recurrent.bias), "v_conv", recurrent.convBias),
      spec::Activation::Silu, name + ".v_conv.act");
  auto project = [&](const char *part) {
    Value y = b.linear(v, part, /*bias=*/false);
    return recurrent.norm ? path.norm(y, *recurrent.norm,
                                      b.stem(part) + "_norm", position.weights)
                          : y;
  };
  Value time = project("time"), k = project("k"), q = project("q");
  using transformer::Activation;
  OpBuilder &builder = path.getBuilder();
  time = transformer::ActivationOp::create(
      builder, path.loc(name + ".decay.act"), Activation::Softplus,
      b.linear(time, "decay", /*bias=*/true));
  Value y = transformer::RecurrenceOp::create(
      builder, path.loc(name), q, k, v, time, time, b.weight("skip"),
      b.weight("log_rate"), context.state, position.state, context.batch, first,
      /*heads=*/1, /*key_heads=*/1, transformer::RecurrenceRule::Add);
  return b.linear(b.multiply(y, gate, Activation::Silu), "o", recurrent.bias);
}

Value tfc::buildRecurrent(PathBuilder &path, const spec::Recurrent &recurrent,
                          const std::string &name, const LayerContext &context,
                          const LayerPosition &position, int64_t first,
                          Value x) {
  if (recurrent.kind == spec::Recurrent::Kind::Mamba) {
    return buildSelective(path, recurrent, name, context, position, first, x);
  }
  // The matrices come first in the state, then what convolutions keep.
  int64_t matrices = recurrent.keyDim * recurrent.valueWidth();
  PartBuilder b(path, name, context, position, first + matrices, x);
  bool isMamba = recurrent.kind == spec::Recurrent::Kind::Mamba2;
  const spec::Recurrent::Scales &scales = recurrent.scales;
  Value q = b.project("q", "q_conv", recurrent.convBias, scales.query);
  Value k = b.project("k", "k_conv", recurrent.convBias, scales.key);
  Value v = b.project("v", "v_conv", recurrent.convBias, scales.value);
  int64_t keyHeads = recurrent.keyHeads, heads = recurrent.valueHeads;
  if (!isMamba) {
    // Scores are scaled as those of an attention.
    q = b.normalize(q, "q", keyHeads,
                    1 / std::sqrt(static_cast<double>(recurrent.keyDim)));
    k = b.normalize(k, "k", keyHeads, 1);
  }
  OpBuilder &builder = path.getBuilder();
  Value lost = b.decay(scales.decay, recurrent.decayRank),
        rate = b.weight("log_rate");
  if (recurrent.stepFloor > 0) {
    // What softplus makes the floor of: greater numbers give greater ones.
    double floor = recurrent.stepFloor;
    lost = transformer::ClampOp::create(
        builder, path.loc(name + ".decay.clamp"), lost,
        APFloat(floor + std::log(-std::expm1(-floor))));
  }
  Value decay = transformer::DecayOp::create(
      builder, path.loc(name + ".decayed"), lost, rate);
  // Of Mamba-2 it is the time that a token takes, of which the decay is made.
  using transformer::Activation;
  Value beta = transformer::ActivationOp::create(
      builder, path.loc(name + ".beta.act"),
      isMamba ? Activation::Softplus : Activation::Sigmoid,
      isMamba ? lost : b.linear("beta"));
  if (recurrent.betaScale != 1) {
    beta = path.scale(beta, recurrent.betaScale, name + ".beta.scale");
  }
  using transformer::RecurrenceRule;
  Value y = transformer::RecurrenceOp::create(
      builder, path.loc(name), q, k, v, decay, beta,
      isMamba ? b.weight("skip") : Value(), /*log_rate=*/Value(), context.state,
      position.state, context.batch, first, heads, keyHeads,
      isMamba ? RecurrenceRule::Add : RecurrenceRule::Delta);
  auto normed = [&](int64_t parts) {
    return recurrent.norm ? path.norm(y, *recurrent.norm, name + ".norm",
                                      position.weights, parts)
                          : y;
  };
  int64_t parts = isMamba ? recurrent.normGroups : heads;
  bool isNormFirst = !isMamba || recurrent.normBeforeGate;
  y = isNormFirst ? normed(parts) : y;
  Value gate = isMamba ? b.scaled("gate", scales.gate)
                       : b.lowRank("gate", recurrent.gateRank, /*bias=*/false);
  y = b.multiply(y, gate, toDialect(recurrent.gateAct));
  y = isNormFirst ? y : normed(parts);
  return b.output(y, /*bias=*/false);
}
