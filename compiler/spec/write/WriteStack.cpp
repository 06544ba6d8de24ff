// A stack of a ModelSpec as canonical JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/Visit.h"
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/write/WriteSpec.h"

#include <algorithm>
#include <cmath>

namespace tfc::spec {

Json objectOf(std::vector<std::pair<const char *, Json>> members) {
  Json object = Json::object();
  for (auto &[key, value] : members) {
    object.set(key, std::move(value));
  }
  return object;
}

Json writeTable(int64_t rows, int64_t hidden) {
  return objectOf({{"rows", rows}, {"dim", hidden}});
}

Json writePatches(const Embeddings::Patches &patches) {
  Json json = objectOf({{"width", patches.width}});
  if (patches.convs.empty()) {
    json.set("bias", patches.bias);
    return json;
  }
  Json convs = Json::array();
  for (const Embeddings::Patches::Conv &conv : patches.convs) {
    convs.items.push_back(objectOf({{"kernel", conv.kernel},
                                    {"stride", conv.stride},
                                    {"bias", conv.bias},
                                    {"act", nameOf(conv.act)}}));
  }
  json.set("convs", std::move(convs));
  return json;
}

Json writePieces(const Pieces &pieces) {
  Json cutoffs = Json::array();
  for (int64_t cutoff : pieces.cutoffs) {
    cutoffs.items.push_back(cutoff);
  }
  return objectOf({{"cutoffs", std::move(cutoffs)}, {"div", pieces.div}});
}

const char *nameOf(Norm::Kind kind) {
  return kind == Norm::Kind::RmsNorm ? "rmsnorm" : "layernorm";
}

Json writeNorm(const std::optional<Norm> &norm) {
  if (!norm) {
    return "none";
  }
  Json json = objectOf(
      {{"kind", nameOf(norm->kind)}, {"eps", norm->eps}, {"bias", norm->bias}});
  // What few models have stands where it says something, here and below.
  if (!norm->weight) {
    json.set("affine", false);
  }
  if (norm->offset != 0) {
    json.set("offset", norm->offset);
  }
  if (norm->unbiasedStd) {
    json.set("form", "std_eps_unbiased");
  }
  return json;
}

namespace {

Json writeQkNorm(const QkNorm &qkNorm) {
  Json json = writeNorm(qkNorm.norm);
  json.set("over", qkNorm.overRow   ? "row"
                   : qkNorm.perHead ? "each_head"
                                    : "head");
  json.set("after_rotary", qkNorm.afterRotary);
  return json;
}

const char *nameOf(Position::Ids ids) {
  return ids == Position::Ids::FromPad    ? "from_pad"
         : ids == Position::Ids::FromMask ? "from_mask"
                                          : "arange";
}

void writeSinusoid(const Sinusoid &sinusoid, Json &position) {
  position.set("kind", "sinusoid");
  position.set("layout", sinusoid.interleaved ? "interleaved" : "concat");
  position.set("denominator", sinusoid.halfMinusOne ? "half_minus_1" : "dim");
  if (sinusoid.zeroRow) {
    position.set("zero_row", *sinusoid.zeroRow);
  }
  position.set("base", sinusoid.base);
}

Json writeAxes(const std::vector<Position::Axis> &axes) {
  Json shape = Json::array(), dims = Json::array();
  for (const Position::Axis &axis : axes) {
    shape.items.push_back(axis.rows);
    dims.items.push_back(axis.width);
  }
  return objectOf({{"kind", "axial"},
                   {"shape", std::move(shape)},
                   {"dims", std::move(dims)},
                   {"ids", "arange"}});
}

Json writeEmbeddings(const Embeddings &embeddings) {
  Json position = objectOf({{"kind", "none"}});
  if (embeddings.position) {
    position = objectOf({{"kind", "learned"},
                         {"rows", embeddings.position->rows},
                         {"offset", embeddings.position->offset},
                         {"ids", nameOf(embeddings.position->ids)}});
    if (embeddings.position->sinusoid) {
      writeSinusoid(*embeddings.position->sinusoid, position);
    } else if (!embeddings.position->axes.empty()) {
      position = writeAxes(embeddings.position->axes);
    }
  }
  Json segments = Json::array();
  for (const Segment &segment : embeddings.segments) {
    Json item = objectOf({{"name", segment.name}, {"input", segment.input}});
    if (segment.useToken) {
      item.set("use", "token");
    } else {
      item.set("rows", segment.rows);
    }
    if (segment.defaultId) {
      item.set("default", *segment.defaultId);
    }
    segments.items.push_back(std::move(item));
  }
  bool shared = embeddings.tokenTable == "shared.token.weight";
  Json token = shared ? objectOf({{"use", "shared.token"}})
                      : writeTable(embeddings.tokenRows, embeddings.width);
  token.set("scale", embeddings.tokenScale);
  if (embeddings.adaptive) {
    token.set("dim", embeddings.adaptive->width);
    token.set("adaptive", writePieces(*embeddings.adaptive));
  }
  if (embeddings.tokenTable.empty()) {
    token = "none";
  }
  Json json = objectOf({{"token", std::move(token)},
                        {"position", std::move(position)},
                        {"segments", std::move(segments)},
                        {"norm", writeNorm(embeddings.norm)}});
  if (embeddings.patches) {
    json.set("patches", writePatches(*embeddings.patches));
  }
  if (embeddings.normsToken) {
    json.set("norm_of", "token");
  }
  if (embeddings.projection) {
    using At = Embeddings::Projection::At;
    At at = embeddings.projection->at;
    json.set("projection", objectOf({{"at", at == At::Token ? "token"
                                            : at == At::Sum ? "sum"
                                                            : "after_norm"},
                                     {"bias", embeddings.projection->bias}}));
  }
  return json;
}

Json writeScaling(const Rotary &rotary) {
  const RotaryScaling &scaling = rotary.scaling;
  switch (scaling.kind) {
  case RotaryScaling::Kind::None:
    return "none";
  case RotaryScaling::Kind::Linear:
    return objectOf({{"kind", "linear"}, {"factor", scaling.factor}});
  case RotaryScaling::Kind::Dynamic:
    return objectOf({{"kind", "dynamic"}, {"factor", scaling.factor}});
  case RotaryScaling::Kind::Llama3:
    return objectOf({{"kind", "llama3"},
                     {"factor", scaling.factor},
                     {"low_freq_factor", scaling.lowFreqFactor},
                     {"high_freq_factor", scaling.highFreqFactor},
                     {"original_max", scaling.originalMax}});
  case RotaryScaling::Kind::Yarn:
    return objectOf({{"kind", "yarn"},
                     {"factor", scaling.factor},
                     {"original_max", scaling.originalMax},
                     {"attention_factor", rotary.factor},
                     {"beta_fast", scaling.betaFast},
                     {"beta_slow", scaling.betaSlow},
                     {"truncate", scaling.truncate}});
  case RotaryScaling::Kind::Longrope:
    Json factors = Json::array();
    for (double factor : scaling.shortFactors) {
      factors.items.push_back(factor);
    }
    return objectOf({{"kind", "longrope"},
                     {"factor", scaling.factor},
                     {"short_factor", std::move(factors)},
                     {"original_max", scaling.originalMax},
                     {"attention_factor", rotary.factor}});
  }
  return "none";
}

Json writeRotary(const std::optional<Rotary> &rotary) {
  if (!rotary) {
    return "none";
  }
  Json json = objectOf({{"style", rotary->interleaved ? "interleaved" : "half"},
                        {"dim", rotary->dim},
                        {"theta", rotary->theta},
                        {"scaling", writeScaling(*rotary)}});
  if (rotary->turned != rotary->dim) {
    json.set("turned", rotary->turned);
  }
  if (rotary->reverse) {
    json.set("reverse", true);
  }
  if (rotary->grid) {
    json.set("grid", objectOf({{"columns", rotary->grid->columns},
                               {"rows", rotary->grid->rows},
                               {"front", rotary->grid->front}}));
  }
  return json;
}

const char *nameOf(RelativeTerms::Use use) {
  switch (use) {
  case RelativeTerms::Use::Own:
    return "own";
  case RelativeTerms::Use::Shared:
    return "shared";
  case RelativeTerms::Use::Identity:
    return "identity";
  case RelativeTerms::Use::None:
    break;
  }
  return "none";
}

Json writeRelativeTerms(const Attention &attn) {
  const RelativeTerms &terms = *attn.relative;
  Json json = objectOf({{"keys", nameOf(terms.keys)},
                        {"queries", nameOf(terms.queries)},
                        {"bias", objectOf({{"keys", terms.keysBias},
                                           {"queries", terms.queriesBias}})}});
  if (terms.values) {
    json.set("values", true);
  }
  if (attn.queryBias) {
    json.set("query_bias", true);
  }
  if (attn.segments) {
    json.set("segments", true);
  }
  if (attn.zeroMemory) {
    json.set("zero_memory", true);
  }
  return json;
}

Json writeRelativeTable(const RelativeTable &table) {
  Json json = objectOf(
      {{"kind", table.sinusoid ? "sinusoid" : "table"}, {"span", table.span}});
  if (table.perLayer) {
    json.set("per_layer", true);
  }
  if (table.ofHidden) {
    json.set("width", "hidden");
  }
  if (table.maxDistance) {
    json.set("max_distance", *table.maxDistance);
  }
  json.set("norm", writeNorm(table.norm));
  return json;
}

Json writeLatent(const Attention &attn) {
  const Latent &latent = *attn.latent;
  return objectOf({{"num_heads", attn.numHeads},
                   {"latent", objectOf({{"rank", latent.rank},
                                        {"q_rank", latent.queryRank > 0
                                                       ? Json(latent.queryRank)
                                                       : Json("none")},
                                        {"nope_dim", latent.nopeDim},
                                        {"rope_dim", latent.ropeDim},
                                        {"value_dim", latent.valueDim},
                                        {"norm", writeNorm(latent.norm)},
                                        {"bias", latent.bias}})},
                   {"scale", attn.scale},
                   {"causal", attn.causal},
                   {"rotary", writeRotary(attn.rotary)}});
}

Json writeAttention(const Attention &attn) {
  if (attn.latent) {
    return writeLatent(attn);
  }
  bool usual = attn.scale == 1 / std::sqrt(double(attn.headDim));
  Json window = "none";
  if (attn.window) {
    window =
        objectOf({{"left", attn.window->left}, {"right", attn.window->right}});
  }
  Json json =
      objectOf({{"num_heads", attn.numHeads},
                {"num_kv_heads", attn.numKvHeads},
                {"head_dim", attn.headDim},
                {"bias", objectOf({{"q", attn.qBias},
                                   {"k", attn.kBias},
                                   {"v", attn.vBias},
                                   {"o", attn.oBias}})},
                {"scale", usual ? Json("rsqrt_head_dim") : Json(attn.scale)},
                {"scale_by_inverse_layer", attn.scaleByInverseLayer},
                {"causal", attn.causal},
                {"window", std::move(window)},
                {"rotary", writeRotary(attn.rotary)},
                {"use_position_bias", attn.positionBias}});
  if (attn.qkNorm) {
    json.set("qk_norm", writeQkNorm(*attn.qkNorm));
  }
  if (attn.vNorm) {
    json.set("v_norm", writeNorm(attn.vNorm));
  }
  if (attn.clip) {
    json.set("clip", *attn.clip);
  }
  if (attn.innerNorm) {
    json.set("inner_norm", writeNorm(attn.innerNorm));
  }
  if (attn.valuesAreKeys) {
    json.set("values_are_keys", true);
  }
  if (attn.sharedKeys) {
    json.set("shared_kv", true);
  }
  if (attn.cap) {
    json.set("softcap", *attn.cap);
  }
  if (!attn.slopes.empty()) {
    Json slopes = Json::array();
    for (double slope : attn.slopes) {
      slopes.items.push_back(slope);
    }
    json.set("slopes", std::move(slopes));
  }
  if (attn.roundedSlopes) {
    json.set("rounded_slopes", true);
  }
  if (attn.logBase) {
    json.set("log_scale_base", *attn.logBase);
  }
  if (attn.sinks) {
    json.set("sinks", true);
  }
  if (attn.gate) {
    json.set("gate", attn.gate->isSoftplus ? "softplus" : "sigmoid");
    if (attn.gate->perHead) {
      json.set("gate_per", "head");
    }
  }
  if (attn.relative) {
    json.set("relative", writeRelativeTerms(attn));
  }
  if (attn.sparse && attn.sparse->hashes) {
    const Hashes &hashes = *attn.sparse->hashes;
    Json buckets = Json::array();
    for (int64_t factor : hashes.buckets) {
      buckets.items.push_back(factor);
    }
    json.set("sparse", objectOf({{"kind", "lsh"},
                                 {"block", attn.sparse->block},
                                 {"before", attn.sparse->before},
                                 {"after", attn.sparse->after},
                                 {"hashes", hashes.count},
                                 {"buckets", buckets},
                                 {"seed", hashes.seed},
                                 {"multiple", hashes.multiple}}));
  } else if (attn.sparse && attn.sparse->isLocal) {
    json.set("sparse", objectOf({{"kind", "chunk_local"},
                                 {"block", attn.sparse->block},
                                 {"before", attn.sparse->before},
                                 {"after", attn.sparse->after}}));
  } else if (attn.sparse) {
    json.set("sparse", objectOf({{"kind", "block"},
                                 {"block", attn.sparse->block},
                                 {"random", attn.sparse->random}}));
  }
  return json;
}

Json writeFfn(const Ffn &ffn) {
  Json json = objectOf({{"width", ffn.width},
                        {"act", ffn.xielu ? "xielu" : nameOf(ffn.act)},
                        {"gated", ffn.gated},
                        {"bias", ffn.bias}});
  if (ffn.gateScale != 1) {
    json.set("gate_scale", ffn.gateScale);
  }
  if (ffn.sparsity != 0) {
    json.set("sparsity", ffn.sparsity);
  }
  if (ffn.innerNorm) {
    json.set("inner_norm", writeNorm(ffn.innerNorm));
  }
  return json;
}

Json writeRouter(const Router &router) {
  Json json = objectOf(
      {{"score", router.score == Router::Score::Softmax       ? "softmax"
                 : router.score == Router::Score::Sigmoid     ? "sigmoid"
                 : router.score == Router::Score::Logits      ? "logits"
                 : router.score == Router::Score::LateSigmoid ? "late_sigmoid"
                                                              : "sparsemixer"},
       {"bias", router.bias},
       {"choice_bias", router.choiceBias},
       {"renormalize", router.renormalize == Router::Renormalize::None ? "none"
                       : router.renormalize == Router::Renormalize::Sum
                           ? "sum"
                           : "softmax"},
       {"factor", router.factor},
       {"on_input", router.onInput}});
  if (router.groups > 1) {
    json.set("groups", router.groups);
    json.set("groups_used", router.groupsUsed);
    json.set("group_by", router.groupByTwo ? "top2" : "max");
  }
  if (router.plus != 0) {
    json.set("plus", router.plus);
  }
  if (router.floor != 0) {
    json.set("floor", router.floor);
  }
  if (router.tolerance != 0) {
    json.set("tolerance", router.tolerance);
  }
  if (router.preNorm) {
    json.set("pre_norm", writeNorm(router.preNorm));
  }
  if (router.scale != 1) {
    json.set("scale", router.scale);
  }
  if (router.expertScale) {
    json.set("expert_scale", true);
  }
  return json;
}

Json writeMoe(const Moe &moe) {
  Json json =
      objectOf({{"experts", moe.experts},
                {"per_token", moe.perToken},
                {"width", moe.width},
                {"act", nameOf(moe.act)},
                {"gated", moe.limit > 0 ? Json("clamped") : Json(moe.gated)},
                {"bias", moe.bias},
                {"router", writeRouter(moe.router)}});
  if (moe.latent > 0) {
    json.set("latent", moe.latent);
  }
  if (moe.limit > 0) {
    json.set("alpha", moe.alpha);
    json.set("limit", moe.limit);
  }
  auto setNorm = [](Json &of, const char *key,
                    const std::optional<Norm> &norm) {
    if (norm) {
      of.set(key, writeNorm(norm));
    }
  };
  setNorm(json, "experts_pre_norm", moe.expertsPreNorm);
  setNorm(json, "experts_out_norm", moe.expertsOutNorm);
  if (moe.shared) {
    Json shared =
        objectOf({{"width", moe.shared->width}, {"gate", moe.shared->gate}});
    setNorm(shared, "pre_norm", moe.shared->preNorm);
    setNorm(shared, "out_norm", moe.shared->outNorm);
    json.set("shared", std::move(shared));
  }
  return json;
}

Json writeMamba(const Recurrent &recurrent) {
  return objectOf({{"kind", "mamba"},
                   {"width", recurrent.valueWidth()},
                   {"state", recurrent.keyDim},
                   {"rank", recurrent.rank},
                   {"conv", recurrent.kernel},
                   {"conv_bias", recurrent.convBias},
                   {"norm", writeNorm(recurrent.norm)},
                   {"bias", recurrent.bias}});
}

Json writeMamba2(const Recurrent &recurrent) {
  Json json = objectOf({{"kind", "mamba2"},
                        {"heads", recurrent.valueHeads},
                        {"head_dim", recurrent.valueDim},
                        {"state", recurrent.keyDim},
                        {"groups", recurrent.keyHeads},
                        {"conv", recurrent.kernel},
                        {"conv_bias", recurrent.convBias},
                        {"norm", writeNorm(recurrent.norm)},
                        {"norm_groups", recurrent.normGroups}});
  if (recurrent.normBeforeGate) {
    json.set("norm_before_gate", true);
  }
  if (recurrent.stepFloor != 0) {
    json.set("step_floor", recurrent.stepFloor);
  }
  const Recurrent::Scales &scales = recurrent.scales;
  if (scales.all() != Recurrent::Scales().all()) {
    json.set("scales", objectOf({{"q", scales.query},
                                 {"k", scales.key},
                                 {"v", scales.value},
                                 {"gate", scales.gate},
                                 {"decay", scales.decay}}));
  }
  return json;
}

Json writeRecurrent(const Recurrent &recurrent) {
  if (recurrent.kind == Recurrent::Kind::Mamba) {
    return writeMamba(recurrent);
  }
  if (recurrent.kind == Recurrent::Kind::Mamba2) {
    return writeMamba2(recurrent);
  }
  Json json = objectOf({{"kind", "gated_delta"},
                        {"key_heads", recurrent.keyHeads},
                        {"value_heads", recurrent.valueHeads},
                        {"key_dim", recurrent.keyDim},
                        {"value_dim", recurrent.valueDim},
                        {"conv", recurrent.kernel},
                        {"norm", writeNorm(recurrent.norm)}});
  if (recurrent.betaScale != 1) {
    json.set("beta_scale", recurrent.betaScale);
  }
  if (recurrent.keyDecay) {
    json.set("key_decay", true);
  }
  if (recurrent.decayRank > 0) {
    json.set("decay_rank", recurrent.decayRank);
  }
  if (recurrent.gateRank > 0) {
    json.set("gate_rank", recurrent.gateRank);
  }
  if (recurrent.gateAct != Activation::Silu) {
    json.set("gate_act", nameOf(recurrent.gateAct));
  }
  return json;
}

Json writeConv(const Conv &conv) {
  return objectOf({{"kernel", conv.kernel}, {"bias", conv.bias}});
}

Json writeBlock(const std::vector<Sublayer> &layer) {
  Json sublayers = Json::array();
  for (const Sublayer &sublayer : layer) {
    Json body = visit(
        sublayer.f, [](const Attention &attn) { return writeAttention(attn); },
        [](const Ffn &ffn) { return writeFfn(ffn); },
        [](const Moe &moe) { return writeMoe(moe); },
        [](const Conv &conv) { return writeConv(conv); },
        [](const Recurrent &recurrent) { return writeRecurrent(recurrent); },
        [](const LayerInput &own) {
          Json json = objectOf({{"act", nameOf(own.act)}});
          if (own.scaled) {
            json.set("scaled", true);
          }
          return json;
        },
        [](const LowRank &own) {
          return objectOf({{"rank", own.rank}, {"norm", writeNorm(own.norm)}});
        },
        [](const Ngram &ngram) {
          return objectOf(
              {{"kernel", ngram.kernel}, {"act", nameOf(ngram.act)}});
        });
    body.set("pre_norm", writeNorm(sublayer.preNorm));
    if (sublayer.outNorm) {
      body.set("out_norm", writeNorm(sublayer.outNorm));
    }
    if (sublayer.outScale != 1) {
      body.set("out_scale", sublayer.outScale);
    }
    if (sublayer.outScales) {
      body.set("out_scale", "learned");
    }
    if (sublayer.outAct != Activation::Identity) {
      body.set("out_act", nameOf(sublayer.outAct));
    }
    if (sublayer.gruGate) {
      body.set("residual", "gru_gate");
    }
    if (sublayer.parallel) {
      body.set("parallel", true);
    }
    body.set("post_norm", writeNorm(sublayer.postNorm));
    if (sublayer.postScale) {
      body.set("post_scale", true);
    } else if (sublayer.postFactor != 1) {
      body.set("post_scale", sublayer.postFactor);
    }
    sublayers.items.push_back(
        objectOf({{sublayer.name.c_str(), std::move(body)}}));
  }
  return objectOf({{"sublayers", std::move(sublayers)}});
}

using Layers = std::vector<const std::vector<Sublayer> *>;

/// The least number of layers, more than one, that make up all but the last
/// ones by being repeated; 0 when there is none that a spec can say.
size_t periodOf(const Layers &layers) {
  size_t most = std::min(layers.size() / 2, size_t(maxPeriod));
  for (size_t period = 2; period <= most; ++period) {
    size_t same = period;
    while (same < layers.size() && *layers[same] == *layers[same - period]) {
      ++same;
    }
    if (same == layers.size()) {
      return period;
    }
  }
  return 0;
}

/// The layers of the `step` runs of one loop, from `first` on, in their order.
Layers listLayers(const LayerRun *first) {
  Layers layers(size_t(first->step * first->count));
  for (int64_t place = 0; place < first->step; ++place) {
    size_t next = size_t(place);
    for (const LayerGroup &group : first[place].groups) {
      for (int64_t i = 0; i < group.count; ++i) {
        layers[next] = &group.sublayers;
        next += size_t(first->step);
      }
    }
  }
  return layers;
}

/// Appends the layers of a loop: where they have a period, its blocks and how
/// often they are there; what it leaves, or all, as stretches of equal layers.
void writeLoop(const LayerRun &run, Json &out) {
  auto append = [&](size_t count, Json block) {
    out.items.push_back(
        objectOf({{"repeat", int64_t(count)}, {"block", std::move(block)}}));
  };
  if (run.numShared > 0) {
    append(size_t(run.count), writeBlock(run.sublayers));
    Json share = objectOf({{"groups", run.numShared}});
    if (run.step > 1) {
      share.set("inner", run.step);
    }
    out.items.back().set("share", std::move(share));
    return;
  }
  Layers layers = listLayers(&run);
  bool isOne = run.step == 1 && run.groups.size() == 1;
  size_t next = 0, period = isOne ? 0 : periodOf(layers);
  if (period != 0) {
    Json blocks = Json::array();
    for (size_t layer = 0; layer < period; ++layer) {
      blocks.items.push_back(writeBlock(*layers[layer]));
    }
    next = layers.size() / period * period;
    append(layers.size() / period, std::move(blocks));
  }
  while (next < layers.size()) {
    size_t first = next;
    while (next < layers.size() && *layers[next] == *layers[first]) {
      ++next;
    }
    append(next - first, writeBlock(*layers[first]));
  }
}

} // namespace

Json writeStack(const Stack &stack) {
  Json layers = Json::array();
  for (size_t run = 0; run < stack.runs.size();
       run += size_t(stack.runs[run].step)) {
    writeLoop(stack.runs[run], layers);
  }
  Json bias = "none";
  if (stack.positionBias) {
    bias = objectOf({{"kind", "bucket"},
                     {"buckets", stack.positionBias->buckets},
                     {"max_distance", stack.positionBias->maxDistance},
                     {"bidirectional", stack.positionBias->bidirectional}});
    if (stack.positionBias->perLayer) {
      bias.set("per_layer", true);
    }
  }
  Json json = objectOf({{"embeddings", writeEmbeddings(stack.embeddings)},
                        {"position_bias", std::move(bias)},
                        {"layers", std::move(layers)},
                        {"final_norm", writeNorm(stack.finalNorm)}});
  if (stack.relative) {
    json.set("relative", writeRelativeTable(*stack.relative));
  }
  if (const auto &inputs = stack.layerInputs) {
    json.set("layer_inputs",
             objectOf({{"width", inputs->width},
                       {"rows", inputs->rows},
                       {"scale", inputs->scale},
                       {"projection_scale", inputs->projectionScale},
                       {"out_scale", inputs->outScale},
                       {"norm", writeNorm(inputs->norm)}}));
  }
  if (stack.layerInputs && stack.layerInputs->beyond) {
    json.find("layer_inputs")->set("beyond", *stack.layerInputs->beyond);
  }
  if (stack.hasTargets) {
    json.set("streams", objectOf({{"kind", "two_stream"}}));
  } else if (stack.streams && stack.streams->reversible) {
    json.set("streams", objectOf({{"kind", "reversible"}}));
  } else if (const auto &streams = stack.streams) {
    json.set("streams", objectOf({{"kind", "altup"},
                                  {"count", streams->count},
                                  {"active", streams->active},
                                  {"norm", writeNorm(streams->norm)},
                                  {"router_scale", streams->routerScale},
                                  {"floor", streams->floor}}));
  }
  return json;
}

} // namespace tfc::spec
