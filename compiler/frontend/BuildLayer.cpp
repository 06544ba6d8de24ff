// One layer, from its ordered sublayers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/BuildLayer.h"

#include "compiler/frontend/BuildFeedForward.h"
#include "compiler/frontend/BuildRecurrent.h"
#include "compiler/frontend/BuildStreams.h"
#include "compiler/spec/Visit.h"
#include "dialect/ShapeUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <cmath>

using namespace mlir;
using namespace tfc;

transformer::Activation tfc::toDialect(spec::Activation act) {
  switch (act) {
  case spec::Activation::Identity:
    return transformer::Activation::Identity;
  case spec::Activation::Gelu:
    return transformer::Activation::Gelu;
  case spec::Activation::GeluNew:
    return transformer::Activation::GeluNew;
  case spec::Activation::Relu:
    return transformer::Activation::Relu;
  case spec::Activation::Silu:
    return transformer::Activation::Silu;
  case spec::Activation::Tanh:
    return transformer::Activation::Tanh;
  case spec::Activation::Relu2:
    return transformer::Activation::Relu2;
  case spec::Activation::Sigmoid:
    return transformer::Activation::Sigmoid;
  case spec::Activation::QuickGelu:
    return transformer::Activation::QuickGelu;
  }
  llvm_unreachable("all activations are listed");
}

Location PathBuilder::loc(const std::string &path) {
  return NameLoc::get(builder.getStringAttr(path));
}

Value PathBuilder::weight(const std::string &name, Value layer) {
  auto parameter = module.lookupSymbol<transformer::ParameterOp>(name);
  assert(parameter && "the spec reader resolved every parameter");
  return transformer::WeightOp::create(builder, loc(name),
                                       parameter.getLayerType(), name, layer);
}

Value PathBuilder::norm(Value x, const spec::Norm &norm,
                        const std::string &path, Value layer, int64_t parts) {
  Value scale = norm.weight ? weight(path + ".weight", layer) : Value();
  APFloat eps(norm.eps), offset(norm.offset);
  if (norm.kind == spec::Norm::Kind::RmsNorm) {
    return transformer::RmsNormOp::create(builder, loc(path), x, scale, eps,
                                          parts, offset);
  }
  Value bias = norm.bias ? weight(path + ".bias", layer) : Value();
  return transformer::LayerNormOp::create(builder, loc(path), x, scale, bias,
                                          eps, parts, offset, norm.unbiasedStd);
}

Value PathBuilder::linear(Value x, const std::string &path, bool bias,
                          Value layer) {
  Value matrix = weight(path + ".weight", layer);
  Value vector = bias ? weight(path + ".bias", layer) : Value();
  return transformer::LinearOp::create(builder, loc(path), x, matrix, vector);
}

Value PathBuilder::activation(Value x, spec::Activation act,
                              const std::string &path) {
  if (act == spec::Activation::Identity) {
    return x;
  }
  return transformer::ActivationOp::create(builder, loc(path), toDialect(act),
                                           x);
}

Value PathBuilder::scale(Value x, double factor, const std::string &path) {
  return transformer::ScaleOp::create(builder, loc(path), x, APFloat(factor));
}

Value LayerContext::cacheOf(const spec::Attention &attn) const {
  for (Value cache : caches) {
    auto type = cast<transformer::CacheType>(cache.getType());
    if (type.getKvHeads() == attn.numKvHeads &&
        type.getHeadDim() == attn.headDim) {
      return cache;
    }
  }
  llvm_unreachable("every attention has a part of the cache");
}

Value LayerContext::unfoldedFor(int64_t kernel) const {
  for (const auto &[size, rows] : unfolded) {
    if (size == kernel) {
      return rows;
    }
  }
  return {};
}

Value LayerContext::angles(ArrayRef<spec::Rotary> kinds) const {
  for (const Rotation &rotation : rotations) {
    if (ArrayRef<spec::Rotary>(rotation.kinds) == kinds) {
      return rotation.angles;
    }
  }
  return {};
}

/// The queries and keys of `layers`, turned.
static std::pair<Value, Value>
buildRotary(PathBuilder &path, const AttentionOfLayers &layers,
            const std::string &name, const LayerContext &context,
            const LayerPosition &position, Value q, Value k) {
  RotaryKinds rotations = listRotations(layers);
  auto style = rotations.kinds.front().interleaved
                   ? transformer::RotaryStyle::Interleaved
                   : transformer::RotaryStyle::Half;
  Value angles = context.angles(rotations.kinds), kind;
  if (rotations.kinds.size() > 1) {
    ImplicitLocOpBuilder b(path.loc(name + ".rotary"), path.getBuilder());
    kind = buildLayerIndex(b, position.index, rotations.ofLayers);
  }
  auto rotate = [&](Value rows, const char *part, int64_t heads) -> Value {
    if (!rows) {
      return rows;
    }
    return transformer::RotaryOp::create(
        path.getBuilder(), path.loc(name + part), style, rows, angles, kind,
        rotations.kinds.size(), heads);
  };
  return {rotate(q, ".q.rotary", layers.front()->numHeads),
          rotate(k, ".k.rotary", layers.front()->numKvHeads)};
}

/// Rows whose numbers are from -`most` to `most`.
static Value buildClip(PathBuilder &path, Value rows, double most,
                       const std::string &name) {
  // What is too great is too small the other way round.
  for (int side = 0; side < 2; ++side) {
    rows = transformer::ClampOp::create(path.getBuilder(), path.loc(name), rows,
                                        APFloat(-most));
    rows = path.scale(rows, -1, name);
  }
  return rows;
}

/// Queries and keys as the attention compares them: normed, clipped and turned,
/// in the order that the spec says. `k` is null where it has no keys of its
/// own.
static std::pair<Value, Value>
buildQueriesAndKeys(PathBuilder &path, const spec::Attention &attn,
                    const AttentionOfLayers &layers, const std::string &name,
                    const LayerContext &context, const LayerPosition &position,
                    Value q, Value k) {
  auto norm = [&] {
    const spec::QkNorm &own = *attn.qkNorm;
    auto parts = [&](int64_t heads) { return own.overRow ? 1 : heads; };
    q = path.norm(q, own.norm, name + ".q_norm", position.weights,
                  parts(attn.numHeads));
    k = k ? path.norm(k, own.norm, name + ".k_norm", position.weights,
                      parts(attn.numKvHeads))
          : k;
  };
  if (attn.qkNorm && !attn.qkNorm->afterRotary) {
    norm();
  }
  if (attn.clip) {
    q = buildClip(path, q, *attn.clip, name + ".q.clip");
    k = k ? buildClip(path, k, *attn.clip, name + ".k.clip") : k;
  }
  if (attn.rotary) {
    std::tie(q, k) = buildRotary(path, layers, name, context, position, q, k);
  }
  if (attn.qkNorm && attn.qkNorm->afterRotary) {
    norm();
  }
  return {q, k};
}

Value tfc::buildPositionBias(PathBuilder &path, const spec::PositionBias &bias,
                             const std::string &name, Value layer) {
  return transformer::DistanceBiasOp::create(
      path.getBuilder(), path.loc(name), path.weight(name + ".weight", layer),
      bias.bidirectional ? transformer::Mask::Bidirectional
                         : transformer::Mask::Causal,
      bias.maxDistance);
}

/// The rows of a computed table of distances: sine and cosine in turns of their
/// number, counted from the last one, or the sines of the distance and then its
/// cosines.
static Value buildSinusoids(ImplicitLocOpBuilder &b,
                            const spec::RelativeTable &table, int64_t width) {
  spec::Sinusoid sinusoid;
  std::vector<double> frequencies = sinusoid.frequencies(width);
  SmallVector<float> numbers;
  for (int64_t row = 0; row < table.rows(); ++row) {
    if (!table.ofHidden) {
      for (double frequency : frequencies) {
        double angle = double(table.rows() - 1 - row) * frequency;
        numbers.append({float(std::sin(angle)), float(std::cos(angle))});
      }
      continue;
    }
    auto distance = double(row - (table.span - 1));
    for (double frequency : frequencies) {
      numbers.push_back(float(std::sin(distance * frequency)));
    }
    for (double frequency : frequencies) {
      numbers.push_back(float(std::cos(distance * frequency)));
    }
  }
  auto type = RankedTensorType::get({table.rows(), width}, b.getF32Type());
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<float>(numbers)));
}

namespace {

/// What an attention has of its stack's table of distances.
struct Distances {
  Value keys, queries, values;
  Value queryBias, relativeBias, segments, segmentBias, types;
  IntegerAttr span, maxDistance;
  bool odd = false;
};

} // namespace

/// What keys (`part` is "k") or queries ("q") have at each distance; null
/// without such a term.
static Value buildRelative(PathBuilder &path, spec::RelativeTerms::Use use,
                           const std::string &name, const char *part,
                           bool ownBias, bool sharedBias, Value rows,
                           Value layer) {
  using Use = spec::RelativeTerms::Use;
  if (use == Use::None) {
    return {};
  }
  if (use == Use::Identity) {
    return rows;
  }
  std::string own = name + ".relative_" + part;
  std::string from = use == Use::Own ? own : name + "." + part;
  bool hasBias = use == Use::Own ? ownBias : sharedBias;
  Value matrix = path.weight(from + ".weight", layer);
  Value bias = hasBias ? path.weight(from + ".bias", layer) : Value();
  return transformer::LinearOp::create(path.getBuilder(), path.loc(own), rows,
                                       matrix, bias);
}

static Distances buildDistances(PathBuilder &path, const spec::Attention &attn,
                                const std::string &name,
                                const LayerContext &context,
                                const LayerPosition &position, int64_t hidden) {
  Distances distances;
  if (!attn.relative) {
    return distances;
  }
  // In each layer anew: of few tokens they are few rows, and cheap.
  const spec::RelativeTerms &terms = *attn.relative;
  const spec::RelativeTable &table = *context.distances;
  const std::string &from = context.distancesName;
  ImplicitLocOpBuilder b(path.loc(name + ".relative"), path.getBuilder());
  Value rows;
  if (table.sinusoid) {
    rows = buildSinusoids(b, table, table.ofHidden ? hidden : attn.headDim);
  } else if (table.perLayer) {
    rows = path.weight(name + ".relative.weight", position.weights);
  } else {
    rows = path.weight(from + ".weight");
  }
  if (table.norm) {
    rows = path.norm(rows, *table.norm, from + ".norm");
  }
  distances.keys = buildRelative(path, terms.keys, name, "k", terms.keysBias,
                                 attn.kBias, rows, position.weights);
  distances.queries =
      buildRelative(path, terms.queries, name, "q", terms.queriesBias,
                    attn.qBias, rows, position.weights);
  distances.values = terms.values ? rows : Value();
  distances.span = b.getI64IntegerAttr(table.span);
  distances.odd = table.isOdd();
  auto own = [&](const char *part) {
    return path.weight(name + part, position.weights);
  };
  if (attn.queryBias) {
    distances.queryBias = own(".query_bias.weight");
    distances.relativeBias = own(".relative_bias.weight");
  }
  if (attn.segments) {
    distances.segments = own(".segments.weight");
    distances.segmentBias = own(".segment_bias.weight");
    distances.types = context.types;
  }
  if (table.maxDistance) {
    distances.maxDistance = b.getI64IntegerAttr(*table.maxDistance);
  }
  return distances;
}

static Value buildOutputGate(PathBuilder &path, const spec::OutputGate &gate,
                             const std::string &name, Value x, Value by) {
  OpBuilder &b = path.getBuilder();
  auto act = gate.isSoftplus ? transformer::Activation::Softplus
                             : transformer::Activation::Sigmoid;
  if (gate.perHead) {
    return transformer::GateRowsOp::create(b, path.loc(name), x, by, act);
  }
  return transformer::MultiplyOp::create(b, path.loc(name), x, by, act);
}

/// `attn` is what `layers` have in common.
static Value buildAttention(PathBuilder &path, const spec::Attention &attn,
                            const AttentionOfLayers &layers,
                            const std::string &name,
                            const LayerContext &context,
                            const LayerPosition &position, Value x) {
  Value q = path.linear(x, name + ".q", attn.qBias, position.weights);
  Value k, v;
  if (!attn.sharedKeys) {
    k = path.linear(x, name + ".k", attn.kBias, position.weights);
    v = attn.valuesAreKeys
            ? k
            : path.linear(x, name + ".v", attn.vBias, position.weights);
  }
  if (v && attn.vNorm) {
    v = path.norm(v, *attn.vNorm, name + ".v_norm", position.weights,
                  attn.numKvHeads);
  }
  if (v && attn.clip) {
    v = buildClip(path, v, *attn.clip, name + ".v.clip");
  }
  std::tie(q, k) =
      buildQueriesAndKeys(path, attn, layers, name, context, position, q, k);
  auto mask = attn.causal ? transformer::Mask::Causal
                          : transformer::Mask::Bidirectional;
  ImplicitLocOpBuilder b(path.loc(name), path.getBuilder());
  WindowEnds window = buildWindow(b, position.index, layers);
  Value sinks = attn.sinks
                    ? path.weight(name + ".sinks.weight", position.weights)
                    : Value();
  LayerScale scale = buildLayerScale(b, position.index, layers);
  Value bias = attn.positionBias ? context.bias : Value();
  if (attn.positionBias && context.biasOfLayers) {
    bias = buildPositionBias(path, *context.biasOfLayers,
                             name + ".position_bias", position.weights);
  }
  Distances distances = buildDistances(path, attn, name, context, position,
                                       transformer::widthOf(x));
  if (attn.zeroMemory) {
    // The reader leaves such attentions the usual scale.
    sinks = transformer::MemorySinksOp::create(
        b, q, distances.keys, context.batch, window.left,
        distances.relativeBias, attn.numHeads, context.distances->span,
        APFloat(attn.scale));
  }
  auto sparse = [&](int64_t spec::Sparse::*number, bool isThere) {
    return attn.sparse && isThere ? b.getI64IntegerAttr(*attn.sparse.*number)
                                  : IntegerAttr();
  };
  bool isLocal = attn.sparse && attn.sparse->isLocal;
  Value y = transformer::AttentionOp::create(
      b, q, k, v, context.cacheOf(attn), position.cache, context.batch, bias,
      window.left, window.right, scale.factor, sinks, distances.keys,
      distances.queries, distances.values, distances.queryBias,
      distances.relativeBias, distances.segments, distances.segmentBias,
      distances.types, context.unseen, mask, attn.numHeads,
      APFloat(scale.scale), attn.scaleByInverseLayer,
      attn.cap ? b.getF64FloatAttr(*attn.cap) : FloatAttr(),
      attn.slopes.empty() ? DenseF64ArrayAttr()
                          : b.getDenseF64ArrayAttr(attn.slopes),
      attn.logBase ? b.getF64FloatAttr(*attn.logBase) : FloatAttr(),
      distances.span, distances.maxDistance, distances.odd, attn.roundedSlopes,
      sparse(&spec::Sparse::block, true),
      sparse(&spec::Sparse::random, !isLocal),
      sparse(&spec::Sparse::before, isLocal),
      sparse(&spec::Sparse::after, isLocal),
      /*factors=*/TypeAttr());
  if (attn.gate) {
    Value gate = path.linear(x, name + ".gate", attn.qBias, position.weights);
    y = buildOutputGate(path, *attn.gate, name + ".gated", y, gate);
  }
  if (attn.innerNorm) {
    y = path.norm(y, *attn.innerNorm, name + ".inner_norm", position.weights);
  }
  return path.linear(y, name + ".o", attn.oBias, position.weights);
}

/// Keys are the queries, each head divided by what its columns are on average.
static Value buildHashedAttention(PathBuilder &path,
                                  const spec::Attention &attn,
                                  const AttentionOfLayers &,
                                  const std::string &name,
                                  const LayerContext &context,
                                  const LayerPosition &position, Value x) {
  const spec::Sparse &sparse = *attn.sparse;
  const spec::Hashes &hashes = *sparse.hashes;
  Value q = path.linear(x, name + ".q", attn.qBias, position.weights);
  Value v = path.linear(x, name + ".v", attn.vBias, position.weights);
  ImplicitLocOpBuilder b(path.loc(name), path.getBuilder());
  spec::Norm norm;
  norm.kind = spec::Norm::Kind::RmsNorm;
  norm.eps = 1e-6;
  norm.weight = norm.bias = false;
  Value k = path.norm(q, norm, name + ".k", position.weights, attn.numHeads);
  int64_t columns = attn.numHeads * attn.headDim;
  auto type = RankedTensorType::get({columns, hashes.width()}, b.getF32Type());
  std::vector<float> numbers = hashes.rotations(columns);
  Value rotations = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef<float>(numbers)));
  Value y = transformer::HashedAttentionOp::create(
      b, q, k, v, rotations, context.batch, attn.numHeads, sparse.block,
      sparse.before, sparse.after, hashes.count, hashes.buckets,
      hashes.multiple, APFloat(attn.scale));
  return path.linear(y, name + ".o", attn.oBias, position.weights);
}

/// What makes keys of latents is applied to the queries, what makes values to
/// the sums: the cache keeps a latent and a turned key a position, and a query
/// is [turned, made], as they are.
static Value buildLatentAttention(PathBuilder &path,
                                  const spec::Attention &attn,
                                  const AttentionOfLayers &layers,
                                  const std::string &name,
                                  const LayerContext &context,
                                  const LayerPosition &position, Value x) {
  const spec::Latent &latent = *attn.latent;
  Value index = position.weights;
  auto linear = [&](Value rows, const char *part, bool bias) {
    return path.linear(rows, name + part, bias, index);
  };
  auto multiplyHeads = [&](Value rows, const std::string &part) -> Value {
    return transformer::HeadLinearOp::create(
        path.getBuilder(), path.loc(part), rows,
        path.weight(part + ".weight", index), attn.numHeads);
  };
  Value q;
  if (latent.queryRank > 0) {
    Value rows = linear(x, ".q_a", latent.bias);
    rows = path.norm(rows, latent.norm, name + ".q_a_norm", index);
    q = linear(rows, ".q_b", /*bias=*/false);
  } else {
    q = linear(x, ".q", /*bias=*/false);
  }
  Value c = linear(x, ".latent", latent.bias);
  Value k = linear(x, ".k_rope", latent.bias);
  c = path.norm(c, latent.norm, name + ".latent_norm", index);
  q = multiplyHeads(q, name + ".k_up");
  if (attn.rotary) {
    std::tie(q, k) = buildRotary(path, layers, name, context, position, q, k);
  }
  Value y = transformer::LatentAttentionOp::create(
      path.getBuilder(), path.loc(name), q, k, c, context.cacheOf(attn),
      position.cache, context.batch, attn.numHeads, APFloat(attn.scale));
  return linear(multiplyHeads(y, name + ".v_up"), ".o", latent.bias);
}

/// Its keys and values are in the cross cache: buildCrossWrite put them there.
static Value buildCrossAttention(PathBuilder &path, const spec::Attention &attn,
                                 const std::string &name,
                                 const LayerContext &context,
                                 const LayerPosition &position, Value x) {
  Value q = path.linear(x, name + ".q", attn.qBias, position.weights);
  Value y = transformer::CrossAttentionOp::create(
      path.getBuilder(), path.loc(name), q, context.cross, position.layer,
      context.batch, attn.numHeads, APFloat(attn.scale),
      attn.scaleByInverseLayer,
      attn.cap ? path.getBuilder().getF64FloatAttr(*attn.cap) : FloatAttr(),
      /*factors=*/TypeAttr());
  return path.linear(y, name + ".o", attn.oBias, position.weights);
}

void tfc::buildCrossWrite(PathBuilder &path, const spec::Attention &attn,
                          const std::string &name, const Entry &entry,
                          const LayerPosition &position, Value hidden) {
  Value k = path.linear(hidden, name + ".k", attn.kBias, position.weights);
  Value v = path.linear(hidden, name + ".v", attn.vBias, position.weights);
  transformer::CacheWriteOp::create(path.getBuilder(), path.loc(name), k, v,
                                    entry.cross, position.layer, entry.batch);
}

static Value buildLayerInput(PathBuilder &path, const spec::LayerInput &own,
                             const std::string &name,
                             const LayerContext &context,
                             const LayerPosition &position, Value x) {
  OpBuilder &b = path.getBuilder();
  if (own.scaled) {
    x = transformer::LayerScaleOp::create(
        b, path.loc(name + ".in_scale"), x,
        path.weight(name + ".in_scale.weight", position.weights));
  }
  Value gate = path.linear(x, name + ".gate", false, position.weights);
  Value given = transformer::SliceColumnsOp::create(
      b, path.loc(name + ".given"), context.layerInputs, 0,
      transformer::widthOf(gate), position.layer);
  Value inner = transformer::MultiplyOp::create(
      b, path.loc(name + ".gated"), given, gate, toDialect(own.act));
  return path.linear(inner, name + ".o", false, position.weights);
}

/// x + norm(out(in(x)))
static Value buildLowRank(PathBuilder &path, const spec::LowRank &own,
                          const std::string &name, Value index, Value x) {
  Value y = path.linear(x, name + ".in", false, index);
  y = path.linear(y, name + ".out", false, index);
  if (own.norm) {
    y = path.norm(y, *own.norm, name + ".norm", index);
  }
  return transformer::AddOp::create(path.getBuilder(), path.loc(name + ".sum"),
                                    x, y);
}

static Value buildNgram(PathBuilder &path, const spec::Ngram &ngram,
                        const std::string &name, const LayerContext &context,
                        const LayerPosition &position) {
  Value y = path.linear(context.unfoldedFor(ngram.kernel), name + ".conv", true,
                        position.weights);
  return path.activation(y, ngram.act, name + ".act");
}

/// (1 - z) x + z tanh(W y + U (r x)), with r and z the sigmoids of projections
/// of both (Parisotto et al. 2019, arXiv:1910.06764; the bias of z is what the
/// paper subtracts, negated).
static Value buildGruGate(PathBuilder &path, const std::string &name,
                          Value index, Value x, Value y) {
  OpBuilder &b = path.getBuilder();
  auto sum = [&](const std::string &part, Value ofX, bool bias) -> Value {
    Value first = path.linear(y, part, bias, index);
    Value second = path.linear(ofX, part + "_x", false, index);
    return transformer::AddOp::create(b, path.loc(part + "_sum"), first,
                                      second);
  };
  auto gated = [&](const std::string &part, Value rows, Value gate) -> Value {
    return transformer::MultiplyOp::create(b, path.loc(part), rows, gate,
                                           transformer::Activation::Sigmoid);
  };
  Value reset = sum(name + ".reset", x, /*bias=*/false);
  Value update = sum(name + ".update", x, /*bias=*/true);
  Value kept = gated(name + ".kept", x, reset);
  Value state = path.activation(sum(name + ".state", kept, /*bias=*/false),
                                spec::Activation::Tanh, name + ".tanh");
  Value change =
      transformer::AddOp::create(b, path.loc(name + ".change"), state,
                                 path.scale(x, -1, name + ".negated"));
  return transformer::AddOp::create(b, path.loc(name), x,
                                    gated(name + ".updated", change, update));
}

namespace {

/// The sublayers of a layer, one after the other.
class SublayerBuilder {
public:
  SublayerBuilder(PathBuilder &path, const spec::LayerRun &run,
                  const LayerContext &context, const LayerPosition &position)
      : path(path), run(run), context(context), position(position) {}

  /// What sublayer `number` of the run makes of x, to be added to it.
  Value buildTerm(size_t number, Value x);
  /// What becomes of x, or of `sum` where that is what it is added to.
  Value build(size_t number, Value x, Value sum = {});

private:
  Value buildFunction(size_t number);
  Value buildEnd(const spec::Sublayer &sublayer, const std::string &name,
                 Value x);
  std::string nameOf(const spec::Sublayer &sublayer) const {
    return run.prefix + "." + sublayer.name;
  }

  PathBuilder &path;
  const spec::LayerRun &run;
  const LayerContext &context;
  const LayerPosition &position;
  /// Where the sublayer begins, and what its f reads.
  Value start, input;
  /// The first number of its state, behind those of the sublayers before.
  int64_t stateFirst = 0;
};

} // namespace

Value SublayerBuilder::buildFunction(size_t number) {
  const spec::Sublayer &sublayer = run.sublayers[number];
  std::string name = nameOf(sublayer);
  return spec::visit(
      sublayer.f,
      [&](const spec::Attention &attn) {
        if (attn.cross) {
          return buildCrossAttention(path, attn, name, context, position,
                                     input);
        }
        bool isHashed = attn.sparse && attn.sparse->hashes;
        auto build = attn.latent ? buildLatentAttention
                     : isHashed  ? buildHashedAttention
                                 : buildAttention;
        return build(path, attn, listAttentions(run, number), name, context,
                     position, input);
      },
      [&](const spec::Ffn &ffn) {
        return buildFfn(path, ffn, name, position.weights, input);
      },
      [&](const spec::Moe &moe) {
        return buildMoe(path, moe, name, position.weights, input);
      },
      [&](const spec::Conv &conv) {
        return buildConv(path, conv, name, context, position, stateFirst,
                         input);
      },
      [&](const spec::Recurrent &recurrent) {
        return buildRecurrent(path, recurrent, name, context, position,
                              stateFirst, input);
      },
      [&](const spec::LayerInput &own) {
        return buildLayerInput(path, own, name, context, position, input);
      },
      [&](const spec::LowRank &own) {
        return buildLowRank(path, own, name, position.weights, input);
      },
      [&](const spec::Ngram &ngram) {
        return buildNgram(path, ngram, name, context, position);
      });
}

Value SublayerBuilder::buildTerm(size_t number, Value x) {
  const spec::Sublayer &sublayer = run.sublayers[number];
  std::string name = nameOf(sublayer);
  start = sublayer.parallel ? start : x;
  if (sublayer.preNorm) {
    input = path.norm(start, *sublayer.preNorm, name + ".pre_norm",
                      position.weights);
  } else if (!sublayer.parallel) {
    input = start;
  }
  Value f = buildFunction(number);
  stateFirst += spec::stateWidth(sublayer, transformer::widthOf(x));
  if (sublayer.outNorm) {
    f = path.norm(f, *sublayer.outNorm, name + ".out_norm", position.weights);
  }
  if (sublayer.outScale != 1) {
    f = path.scale(f, sublayer.outScale, name + ".out_scale");
  }
  if (sublayer.outScales) {
    f = transformer::LayerScaleOp::create(
        path.getBuilder(), path.loc(name + ".out_scale"), f,
        path.weight(name + ".out_scale.weight", position.weights));
  }
  return path.activation(f, sublayer.outAct, name + ".out_act");
}

/// What is done to the sum.
Value SublayerBuilder::buildEnd(const spec::Sublayer &sublayer,
                                const std::string &name, Value x) {
  if (sublayer.postNorm) {
    x = path.norm(x, *sublayer.postNorm, name + ".post_norm", position.weights);
  }
  if (sublayer.postScale) {
    x = transformer::LayerScaleOp::create(
        path.getBuilder(), path.loc(name + ".post_scale"), x,
        path.weight(name + ".post_scale.weight", position.weights));
  }
  return sublayer.postFactor == 1
             ? x
             : path.scale(x, sublayer.postFactor, name + ".post_scale");
}

Value SublayerBuilder::build(size_t number, Value x, Value sum) {
  const spec::Sublayer &sublayer = run.sublayers[number];
  std::string name = nameOf(sublayer);
  Value f = buildTerm(number, x);
  x = sum ? sum : x;
  x = sublayer.gruGate
          ? buildGruGate(path, name + ".gru", position.weights, x, f)
          : Value(transformer::AddOp::create(path.getBuilder(), path.loc(name),
                                             x, f));
  return buildEnd(sublayer, name, x);
}

SmallVector<Value> tfc::buildLayer(PathBuilder &path, const spec::LayerRun &run,
                                   const LayerContext &context,
                                   const LayerPosition &position,
                                   ValueRange rows) {
  SublayerBuilder sublayers(path, run, context, position);
  size_t count = run.sublayers.size();
  if (!context.streams) {
    Value x = rows.front();
    for (size_t number = 0; number < count; ++number) {
      x = sublayers.build(number, x);
    }
    return {x};
  }
  const spec::Streams &streams = *context.streams;
  if (streams.reversible) {
    SmallVector<Value> next(rows);
    for (size_t number = 0; number < count; ++number) {
      Value &sum = next[number % 2];
      sum = sublayers.build(number, next[1 - number % 2], sum);
    }
    return next;
  }
  StreamBuilder own(path, streams, run.prefix + ".streams", position.weights);
  SmallVector<Value> predicted = own.predict(rows);
  Value x = predicted[static_cast<size_t>(streams.active)];
  // The reader has put it last.
  bool hasInput =
      std::holds_alternative<spec::LayerInput>(run.sublayers.back().f);
  count -= hasInput ? 1 : 0;
  for (size_t number = 0; number < count; ++number) {
    x = sublayers.build(number, x);
  }
  SmallVector<Value> corrected = own.correct(predicted, x);
  if (hasInput) {
    Value term = sublayers.buildTerm(
        count, corrected[static_cast<size_t>(streams.active)]);
    for (Value &stream : MutableArrayRef(corrected).drop_front()) {
      stream = transformer::AddOp::create(path.getBuilder(),
                                          path.loc(run.prefix + ".layer_input"),
                                          stream, term);
    }
  }
  return corrected;
}
