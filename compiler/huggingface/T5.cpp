// The T5 and mT5 classes of transformers as specs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"
#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

/// What the two model types differ in.
struct Variant {
  int64_t vocab, width, layers, heads;
  const char *feedForward;
  /// The language model's rows are scaled before the logits unless the config
  /// says otherwise.
  bool scales;
  int64_t decoderStart; // where the config names none; -1: none
};

struct Sizes {
  int64_t hidden, vocab, headDim, heads, width, layers, decoderLayers, buckets,
      maxDistance;
  double eps;
  std::string act;
  bool gated;
};

constexpr std::string_view relativeBiasOfCross =
    "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";

/// "relu", "gated-gelu": the activation, and whether there is a gate.
/// dense_act_fn and is_gated_act, which files of transformers have beside it,
/// are stronger.
void readFeedForward(Config &config, const Variant &variant, Sizes &sizes) {
  std::string text = config.string("feed_forward_proj", variant.feedForward);
  constexpr std::string_view gate = "gated-";
  sizes.gated = text.rfind(gate, 0) == 0;
  std::string act = sizes.gated ? text.substr(gate.size()) : text;
  const char *key = "feed_forward_proj";
  if (text == "gated-gelu") {
    act = "gelu_new";
  }
  if (config.value("dense_act_fn")) {
    key = "dense_act_fn";
    act = config.string(key, act);
  }
  sizes.gated = config.boolean("is_gated_act", sizes.gated);
  sizes.act = findActivation(act);
  if (sizes.act.empty()) {
    config.fault(
        key,
        "expected an activation that tfc knows (" + knownActivations() +
            "), alone or after \"gated-\", "
            "got " +
            spec::describe(config.value(key) ? *config.value(key) : Json(act)));
    sizes.act = "identity";
  }
}

Sizes readSizes(Config &config, const Variant &variant) {
  Sizes sizes;
  sizes.hidden =
      config.integer("d_model", "hidden_size", 512, 1, spec::maxWidth);
  sizes.vocab = config.integer("vocab_size", variant.vocab, 1, spec::maxRows);
  sizes.headDim = config.integer("d_kv", "head_dim", 64, 1, spec::maxWidth);
  sizes.heads = config.integer("num_heads", "num_attention_heads",
                               variant.heads, 1, spec::maxWidth);
  sizes.width = config.integer("d_ff", variant.width, 1, spec::maxWidth);
  sizes.layers = config.integer("num_layers", "num_hidden_layers",
                                variant.layers, 0, spec::maxLayers);
  sizes.decoderLayers =
      config.integer("num_decoder_layers", sizes.layers, 0, spec::maxLayers);
  sizes.buckets =
      config.integer("relative_attention_num_buckets", 32, 1, spec::maxWidth);
  sizes.maxDistance =
      config.integer("relative_attention_max_distance", 128, 1, spec::maxWidth);
  sizes.eps = config.epsilon("layer_norm_epsilon", 1e-6);
  readFeedForward(config, variant, sizes);
  return sizes;
}

Json makeStack(const Sizes &sizes, bool decoder) {
  Json norm = makeObject({{"kind", "rmsnorm"}, {"eps", sizes.eps}});
  Json attention =
      makeObject({{"num_heads", sizes.heads}, {"head_dim", sizes.headDim}});
  Json block = makeObject({{"norm", norm}, {"attn", attention}});
  if (decoder) {
    block.set("cross", attention);
  }
  block.set("ffn", makeObject({{"width", sizes.width},
                               {"act", sizes.act},
                               {"gated", sizes.gated}}));
  Json bias = makeObject(
      {{"buckets", sizes.buckets}, {"max_distance", sizes.maxDistance}});
  return makeObject(
      {{"position_bias", std::move(bias)},
       {"layers",
        makeObject({{"repeat", decoder ? sizes.decoderLayers : sizes.layers},
                    {"block", std::move(block)}})},
       {"final_norm", norm}});
}

/// The names of a feed-forward with a gate.
void mapGates(Json &map, bool decoder) {
  std::string stack = decoder ? "decoder" : "encoder";
  std::string dense = stack + ".block.{i}.layer." + (decoder ? "2" : "1") +
                      ".DenseReluDense.wi_";
  map.set(stack + ".layers.ffn.gate", dense + "0");
  map.set(stack + ".layers.ffn.up", dense + "1");
}

/// Files of versions before 5 say by tie_word_embeddings whether rows are
/// scaled, whatever is tied.
bool readScale(Config &config, const Variant &variant) {
  bool tied = config.boolean("tie_word_embeddings", true);
  return variant.scales && config.boolean("scale_decoder_outputs", tied);
}

void addLanguageModel(Source &source, const Sizes &sizes,
                      const Variant &variant, Heads &out) {
  Json logits = makeObject({{"op", "logits"}, {"name", "proj"}});
  // A head that is not stored is tied, whatever the config says.
  if (storesOther(source, "lm_head.weight", "shared.weight")) {
    logits.set("out", sizes.vocab);
  } else {
    logits.set("tied", "shared.token");
  }
  out.map.set("heads.lm.proj.weight",
              makeObject({{"tensor", "lm_head.weight"}}));
  std::vector<Json> steps;
  if (readScale(source.config, variant)) {
    steps.push_back(makeObject({{"op", "scale"}, {"by", "rsqrt_hidden"}}));
  }
  steps.push_back(std::move(logits));
  out.add("lm", "decoder", std::move(steps));
}

void readOtherKeys(Config &config, bool encoderOnly) {
  config.refuseTrue("is_decoder", "tfc runs this model type with an encoder");
  if (encoderOnly) {
    config.expectBoolean("is_causal", false,
                         "tfc runs this class as an encoder");
  } else {
    config.refuseKey("is_causal",
                     "tfc runs an encoder that sees all tokens and "
                     "a decoder that sees those before");
  }
  refuseWindows(config);
  config.boolean("scale_decoder_outputs", true);
  config.ignore({"dropout_rate", "initializer_factor", "classifier_dropout",
                 // Of the training; positions have no end.
                 "n_positions"});
}

Json makeModel(Source &source, std::string_view className,
               const Variant &variant) {
  Sizes sizes = readSizes(source.config, variant);
  checkCopies(source, {"shared.weight", "decoder.embed_tokens.weight",
                       "encoder.embed_tokens.weight"});
  auto isClass = [&](std::string_view end) {
    return className.size() > end.size() &&
           className.substr(className.size() - end.size()) == end;
  };
  bool encoderOnly = isClass("EncoderModel");
  readOtherKeys(source.config, encoderOnly);
  bool generates = isClass("ForConditionalGeneration");
  Heads heads;
  heads.ignore = {"*.embed_tokens.weight"};
  Json made = Json::object();
  made.set("extends", encoderOnly ? "preset:t5_encoder" : "preset:t5");
  made.set("dims",
           makeObject({{"hidden", sizes.hidden}, {"vocab", sizes.vocab}}));
  made.set("encoder", makeStack(sizes, false));
  if (sizes.gated) {
    mapGates(heads.map, false);
  }
  if (encoderOnly) {
    heads.outputs.set("last_hidden_state", "encoder.hidden");
    heads.ignore.push_back("decoder.*");
  } else {
    made.set("decoder", makeStack(sizes, true));
    if (sizes.gated) {
      mapGates(heads.map, true);
    }
    heads.outputs.set("encoder_last_hidden_state", "encoder.hidden");
    heads.ignore.push_back(std::string(relativeBiasOfCross));
  }
  if (generates) {
    addLanguageModel(source, sizes, variant, heads);
  } else {
    heads.ignore.push_back("lm_head.weight");
  }
  if (!generates && !encoderOnly) {
    heads.outputs.set("last_hidden_state", "decoder.hidden");
  }
  TokenDefaults defaults;
  defaults.pad = 0;
  defaults.eos = 1;
  defaults.decoderStart = variant.decoderStart;
  addTokens(source, sizes.vocab, generates, defaults, {}, made);
  heads.addTo(made);
  return made;
}

/// The class whose tensors these are; a tied head is not stored, so that a file
/// with both stacks is taken for the language model.
std::string_view guess(const rt::TensorFiles &files,
                       const std::string_view (&classes)[3]) {
  return classes[storesTensor(files, "decoder.final_layer_norm.weight") ? 1
                                                                        : 2];
}

constexpr std::string_view t5Classes[] = {
    "T5Model", "T5ForConditionalGeneration", "T5EncoderModel"};
constexpr std::string_view mt5Classes[] = {
    "MT5Model", "MT5ForConditionalGeneration", "MT5EncoderModel"};

} // namespace

const Family &huggingface::t5Family() {
  static const Family family = {
      "t5",
      {std::begin(t5Classes), std::end(t5Classes)},
      [](const rt::TensorFiles &files) { return guess(files, t5Classes); },
      [](Source &source, std::string_view name) {
        return makeModel(source, name, {32128, 2048, 6, 8, "relu", true, -1});
      },
      true};
  return family;
}

const Family &huggingface::mt5Family() {
  static const Family family = {
      "mt5",
      {std::begin(mt5Classes), std::end(mt5Classes)},
      [](const rt::TensorFiles &files) { return guess(files, mt5Classes); },
      [](Source &source, std::string_view name) {
        return makeModel(source, name,
                         {250112, 1024, 8, 6, "gated-gelu", false, 0});
      },
      true};
  return family;
}
