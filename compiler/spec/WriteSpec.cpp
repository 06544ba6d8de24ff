// A ModelSpec as canonical JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/WriteSpec.h"
#include "compiler/spec/SpecReader.h"

#include <cmath>

namespace tfc::spec {
namespace {

/// An object from its members, in the given order.
Json objectOf(std::vector<std::pair<const char *, Json>> members) {
  Json object = Json::object();
  for (auto &[key, value] : members) {
    object.set(key, std::move(value));
  }
  return object;
}

template <typename Strings> Json listOf(const Strings &strings) {
  Json list = Json::array();
  for (const std::string &text : strings) {
    list.items.push_back(text);
  }
  return list;
}

const char *nameOf(Kind kind) {
  return kind == Kind::Encoder   ? "encoder"
         : kind == Kind::Decoder ? "decoder"
                                 : "encoder_decoder";
}

const char *nameOf(Norm::Kind kind) {
  return kind == Norm::Kind::RmsNorm ? "rmsnorm" : "layernorm";
}

Json writeNorm(const std::optional<Norm> &norm) {
  if (!norm) {
    return "none";
  }
  return objectOf(
      {{"kind", nameOf(norm->kind)}, {"eps", norm->eps}, {"bias", norm->bias}});
}

Json writeTable(int64_t rows, int64_t hidden) {
  return objectOf({{"rows", rows}, {"dim", hidden}});
}

Json writeEmbeddings(const Embeddings &embeddings, int64_t hidden) {
  Json position = objectOf({{"kind", "none"}});
  if (embeddings.position) {
    position = objectOf({{"kind", "learned"},
                         {"rows", embeddings.position->rows},
                         {"offset", embeddings.position->offset},
                         {"ids", "arange"}});
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
                      : writeTable(embeddings.tokenRows, hidden);
  token.set("scale", embeddings.tokenScale);
  return objectOf({{"token", std::move(token)},
                   {"position", std::move(position)},
                   {"segments", std::move(segments)},
                   {"norm", writeNorm(embeddings.norm)}});
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
  }
  return "none";
}

Json writeRotary(const std::optional<Rotary> &rotary) {
  if (!rotary) {
    return "none";
  }
  return objectOf({{"style", rotary->interleaved ? "interleaved" : "half"},
                   {"dim", rotary->dim},
                   {"theta", rotary->theta},
                   {"scaling", writeScaling(*rotary)}});
}

Json writeAttention(const Attention &attn) {
  bool usual = attn.scale == 1 / std::sqrt(double(attn.headDim));
  Json window = "none";
  if (attn.window) {
    window = objectOf({{"left", *attn.window}, {"right", 0}});
  }
  return objectOf({{"num_heads", attn.numHeads},
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
}

Json writeFfn(const Ffn &ffn) {
  return objectOf({{"width", ffn.width},
                   {"act", nameOf(ffn.act)},
                   {"gated", ffn.gated},
                   {"bias", ffn.bias}});
}

Json writeStack(const Stack &stack, int64_t hidden) {
  Json layers = Json::array();
  for (const LayerRun &run : stack.runs) {
    Json sublayers = Json::array();
    for (const Sublayer &sublayer : run.sublayers) {
      const Attention *attn = std::get_if<Attention>(&sublayer.f);
      Json body =
          attn ? writeAttention(*attn) : writeFfn(std::get<Ffn>(sublayer.f));
      body.set("pre_norm", writeNorm(sublayer.preNorm));
      body.set("post_norm", writeNorm(sublayer.postNorm));
      sublayers.items.push_back(
          objectOf({{sublayer.name.c_str(), std::move(body)}}));
    }
    layers.items.push_back(
        objectOf({{"repeat", run.count},
                  {"block", objectOf({{"sublayers", std::move(sublayers)}})}}));
  }
  Json bias = "none";
  if (stack.positionBias) {
    bias = objectOf({{"kind", "bucket"},
                     {"buckets", stack.positionBias->buckets},
                     {"max_distance", stack.positionBias->maxDistance},
                     {"bidirectional", stack.positionBias->bidirectional}});
  }
  return objectOf({{"embeddings", writeEmbeddings(stack.embeddings, hidden)},
                   {"position_bias", std::move(bias)},
                   {"layers", std::move(layers)},
                   {"final_norm", writeNorm(stack.finalNorm)}});
}

/// The last part of a step's path.
Json nameIn(const std::string &path) {
  return path.substr(path.rfind('.') + 1);
}

struct StepWriter {
  Json operator()(const TakeStep &step) const {
    const char *at = step.at == TakeStep::At::First        ? "first"
                     : step.at == TakeStep::At::LastNonpad ? "last_nonpad"
                                                           : "last_eos";
    return objectOf({{"op", "take"}, {"at", at}});
  }
  Json operator()(const DenseStep &step) const {
    return objectOf({{"op", "dense"},
                     {"name", nameIn(step.path)},
                     {"out", step.width},
                     {"act", nameOf(step.act)},
                     {"bias", step.bias}});
  }
  Json operator()(const NormStep &step) const {
    return objectOf({{"op", "norm"},
                     {"name", nameIn(step.path)},
                     {"kind", nameOf(step.norm.kind)},
                     {"eps", step.norm.eps},
                     {"bias", step.norm.bias}});
  }
  Json operator()(const LogitsStep &step) const {
    Json result = objectOf({{"op", "logits"}, {"name", nameIn(step.path)}});
    if (step.weight == step.path + ".weight") {
      result.set("out", step.width);
    } else {
      result.set("tied", step.weight.substr(0, step.weight.rfind('.')));
    }
    result.set("bias", step.bias);
    return result;
  }
  Json operator()(const SplitStep &step) const {
    return objectOf({{"op", "split"}, {"names", listOf(step.names)}});
  }
  Json operator()(const ScaleStep &step) const {
    return objectOf({{"op", "scale"}, {"by", step.factor}});
  }
  Json operator()(const ActStep &step) const {
    return objectOf({{"op", "act"}, {"kind", nameOf(step.act)}});
  }
};

Json writeHeads(const std::vector<Head> &heads) {
  Json result = Json::object();
  for (const Head &head : heads) {
    Json steps = Json::array();
    for (const HeadStep &step : head.steps) {
      steps.items.push_back(std::visit(StepWriter(), step));
    }
    result.set(head.name,
               objectOf({{"from", head.from}, {"steps", std::move(steps)}}));
  }
  return result;
}

Json writeOutputs(const ModelSpec &model) {
  Json result = Json::object();
  for (const Output &output : model.outputs) {
    std::string value = output.value;
    if (output.part >= 0) {
      for (const Head &head : model.heads) {
        if (head.name == output.value) {
          value +=
              "." +
              std::get<SplitStep>(head.steps.back()).names[size_t(output.part)];
        }
      }
    }
    result.set(output.name, value);
  }
  return result;
}

Json writeWeights(const ModelSpec &model) {
  Json map = Json::object();
  for (const Parameter &parameter : model.parameters) {
    Json source = objectOf({{"tensor", listOf(parameter.patterns)}});
    if (parameter.inOut) {
      source.set("layout", "in_out");
    }
    if (parameter.storedRows != parameter.rows) {
      source.set("first_row", parameter.firstRow);
      source.set("stored_rows", parameter.storedRows);
    }
    if (parameter.fillZeros) {
      source.set("optional", "zeros");
    }
    // Names are all different; set() would search for them.
    map.members.push_back({parameter.name, {}, std::move(source)});
  }
  Json aliases = Json::array();
  for (const auto &[one, other] : model.aliases) {
    aliases.items.push_back(Json::array({one, other}));
  }
  return objectOf({{"prefix", listOf(model.prefixes)},
                   {"aliases", std::move(aliases)},
                   {"ignore", listOf(model.ignore)},
                   {"map", std::move(map)}});
}

} // namespace

std::string writeSpec(const ModelSpec &model, const KeptParts &kept) {
  Json dims = objectOf({{"hidden", model.hidden}, {"vocab", model.vocab}});
  if (model.maxPositions > 0) {
    dims.set("max_positions", model.maxPositions);
  }
  Json spec = objectOf({{"tfc", 1},
                        {"name", model.name},
                        {"kind", nameOf(model.kind)},
                        {"dims", std::move(dims)}});
  if (model.sharedRows > 0) {
    Json table = writeTable(model.sharedRows, model.hidden);
    spec.set("shared", objectOf({{"token", std::move(table)}}));
  }
  for (const Stack *stack : model.stacks()) {
    spec.set(stack->name, writeStack(*stack, model.hidden));
  }
  spec.set("heads", writeHeads(model.heads));
  spec.set("outputs", writeOutputs(model));
  spec.set("tokens", kept.tokens);
  if (kept.generation.isObject()) {
    spec.set("generation", kept.generation);
  }
  spec.set("precision", kept.precision);
  spec.set("weights", writeWeights(model));
  return writeJson(spec);
}

} // namespace tfc::spec
