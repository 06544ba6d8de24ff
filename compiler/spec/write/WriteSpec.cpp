// A ModelSpec as canonical JSON.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/write/WriteSpec.h"
#include "compiler/spec/read/SpecReader.h"

namespace tfc::spec {
namespace {

template <typename Strings> Json listOf(const Strings &strings) {
  Json list = Json::array();
  for (const std::string &text : strings) {
    list.items.push_back(text);
  }
  return list;
}

/// The last part of a step's path.
Json nameIn(const std::string &path) {
  return path.substr(path.rfind('.') + 1);
}

const char *nameOf(TakeStep::At at) {
  switch (at) {
  case TakeStep::At::First:
    break;
  case TakeStep::At::LastNonpad:
    return "last_nonpad";
  case TakeStep::At::LastEos:
    return "last_eos";
  case TakeStep::At::FirstEos:
    return "first_eos";
  case TakeStep::At::FirstVisible:
    return "first_visible";
  case TakeStep::At::LastVisible:
    return "last_visible";
  }
  return "first";
}

struct StepWriter {
  Json operator()(const TakeStep &step) const {
    return objectOf({{"op", "take"}, {"at", nameOf(step.at)}});
  }
  Json operator()(const PoolStep &step) const {
    const char *how = step.how == PoolStep::How::Mean  ? "mean"
                      : step.how == PoolStep::How::Max ? "max"
                                                       : "mean_sqrt_len";
    Json json = objectOf({{"op", "pool"}, {"how", how}});
    if (step.skip > 0) {
      json.set("skip", step.skip);
    }
    if (step.besideFirst) {
      json.set("beside", "first_visible");
    }
    return json;
  }
  Json operator()(const TruncateStep &step) const {
    return objectOf({{"op", "truncate"}, {"dims", step.width}});
  }
  Json operator()(const L2NormalizeStep &step) const {
    return objectOf({{"op", "l2_normalize"}, {"eps", step.eps}});
  }
  Json operator()(const DenseStep &step) const {
    return objectOf({{"op", "dense"},
                     {"name", nameIn(step.path)},
                     {"out", step.width},
                     {"act", nameOf(step.act)},
                     {"bias", step.bias}});
  }
  Json operator()(const NormStep &step) const {
    Json result = objectOf({{"op", "norm"}, {"name", nameIn(step.path)}});
    for (Member &member : writeNorm(step.norm).members) {
      result.set(member.key, std::move(member.value));
    }
    return result;
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
  Json operator()(const AdaptiveLogitsStep &step) const {
    Json result =
        objectOf({{"op", "adaptive_logits"}, {"name", nameIn(step.path)}});
    if (step.isTied()) {
      const std::string &table = step.weights.front();
      result.set("tied", table.substr(0, table.rfind(".0.weight")));
    } else {
      result.set("out", step.pieces.rows);
      for (Member &member : writePieces(step.pieces).members) {
        result.set(member.key, std::move(member.value));
      }
      result.set("dim", step.pieces.width);
    }
    result.set("bias", step.bias);
    return result;
  }
  Json operator()(const ActivationUnitStep &step) const {
    Json hidden = Json::array();
    for (int64_t width : step.hidden) {
      hidden.items.push_back(width);
    }
    return objectOf({{"op", "activation_unit"},
                     {"name", nameIn(step.path)},
                     {"query", step.first ? "first" : "last"},
                     {"hidden", std::move(hidden)},
                     {"act", nameOf(step.act)}});
  }
  Json operator()(const ProbeStep &step) const {
    return objectOf({{"op", "probe"},
                     {"name", nameIn(step.path)},
                     {"norm", writeNorm(step.norm)},
                     {"width", step.width},
                     {"act", nameOf(step.act)}});
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

/// Of a parameter that is stored in parts.
Json writeParts(const Parameter &parameter) {
  Json parts = Json::array();
  for (const StoredPart &part : parameter.parts) {
    Json json = Json::object();
    if (!part.patterns.empty()) {
      json.set("tensor", listOf(part.patterns));
    }
    json.set("rows", part.rows);
    if (part.storedRows != part.rows) {
      json.set("first_row", part.firstRow);
      json.set("stored_rows", part.storedRows);
    }
    parts.items.push_back(std::move(json));
  }
  return objectOf({{"parts", std::move(parts)}});
}

Json writeWeights(const ModelSpec &model) {
  Json map = Json::object();
  for (const Parameter &parameter : model.parameters) {
    if (!parameter.parts.empty()) {
      map.members.push_back({parameter.name, {}, writeParts(parameter)});
      continue;
    }
    Json source = objectOf({{"tensor", listOf(parameter.patterns)}});
    if (parameter.inOut) {
      source.set("layout", "in_out");
    }
    if (parameter.storedRows != parameter.rows) {
      source.set("first_row", parameter.firstRow);
      source.set("stored_rows", parameter.storedRows);
    }
    if (parameter.groups != 1 || parameter.rowStep != 1) {
      source.set("groups",
                 parameter.rowStep != 1 ? parameter.rows : parameter.groups);
    }
    if (parameter.storedCols != 0) {
      source.set("stored_cols", parameter.storedCols);
    }
    if (parameter.stacked) {
      source.set("stacked", true);
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

const char *nameOf(Kind kind) {
  return kind == Kind::Encoder   ? "encoder"
         : kind == Kind::Decoder ? "decoder"
                                 : "encoder_decoder";
}

std::string writeSpec(const ModelSpec &model, const KeptParts &kept) {
  Json dims = objectOf({{"hidden", model.hidden}});
  if (model.vocab > 0) { // where all tokens are rows of floats there is none
    dims.set("vocab", model.vocab);
  }
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
    spec.set(stack->name, writeStack(*stack));
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
