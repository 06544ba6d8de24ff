// The LLaMA, Mistral and Qwen2 classes of transformers as specs: one model
// with other numbers.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Family.h"
#include "compiler/huggingface/RotaryConfig.h"
#include "compiler/spec/SpecFields.h"

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

/// What the classes of a model type have where their config.json says nothing.
struct Defaults {
  int64_t vocab, width, positions, kvHeads; // kvHeads 0: as many as heads
  TokenDefaults tokens;
};

struct Sizes {
  int64_t hidden, vocab, positions, layers, heads, kvHeads, headDim, width;
  double eps;
  std::string act;
};

Sizes readSizes(Config &config, const Defaults &defaults) {
  Sizes sizes;
  size_t faults = config.faults();
  sizes.hidden = config.integer("hidden_size", 4096, 1, spec::maxWidth);
  sizes.vocab = config.integer("vocab_size", defaults.vocab, 1, spec::maxRows);
  sizes.positions = config.integer("max_position_embeddings",
                                   defaults.positions, 1, spec::maxRows);
  sizes.layers = config.integer("num_hidden_layers", 32, 0, spec::maxLayers);
  sizes.heads = config.integer("num_attention_heads", 32, 1, spec::maxWidth);
  int64_t kvHeads = defaults.kvHeads ? defaults.kvHeads : sizes.heads;
  // Without a value there are as many as heads, also where a class has another
  // default for a key that is missing.
  sizes.kvHeads =
      config.isNull("num_key_value_heads")
          ? sizes.heads
          : config.integer("num_key_value_heads", kvHeads, 1, spec::maxWidth);
  sizes.headDim = config.integer("head_dim", 0, 1, spec::maxWidth);
  sizes.width =
      config.integer("intermediate_size", defaults.width, 1, spec::maxWidth);
  sizes.eps = config.epsilon("rms_norm_eps", 1e-6);
  sizes.act = readActivation(config, "hidden_act", "silu");
  if (config.faults() == faults && !config.value("head_dim")) {
    sizes.headDim = sizes.hidden / sizes.heads;
    if (sizes.hidden % sizes.heads != 0) {
      config.fault("num_attention_heads",
                   "expected a divisor of hidden_size (" +
                       std::to_string(sizes.hidden) + "), got " +
                       std::to_string(sizes.heads));
    }
  }
  if (config.faults() == faults && sizes.heads % sizes.kvHeads != 0) {
    config.fault("num_key_value_heads",
                 "expected a divisor of num_attention_heads (" +
                     std::to_string(sizes.heads) + "), got " +
                     std::to_string(sizes.kvHeads));
  }
  return sizes;
}

/// Sees itself and the `size` - 1 positions before.
Json makeWindow(int64_t size) {
  return makeObject({{"left", size - 1}, {"right", 0}});
}

/// An error at the key that says that there is a window.
void refuseBothSides(Config &config, std::string_view key) {
  config.fault(key, "expected no window (\"is_causal\" is false; windows to "
                    "both sides are not supported by this tfc), got " +
                        spec::describe(config.value(key) ? *config.value(key)
                                                         : Json(4096)));
}

/// The window that all layers of a Mistral have; "none" for null.
Json readMistralWindow(Source &source) {
  Config &config = source.config;
  if (config.isNull("sliding_window")) {
    expectLayerTypes(config, "full_attention");
    return "none";
  }
  expectLayerTypes(config, "sliding_attention");
  if (source.bothSides) {
    refuseBothSides(config, "sliding_window");
  }
  return makeWindow(config.integer("sliding_window", 4096, 1, spec::maxRows));
}

/// The layers with a window that layer_types names, else those from
/// max_window_layers on.
std::vector<Json> readSlidingLayers(Config &config, int64_t layers,
                                    bool sliding) {
  std::vector<Json> selected;
  int64_t first = config.integer("max_window_layers", 28, 0, spec::maxRows);
  const Json *types = config.value("layer_types");
  if (!types) {
    for (int64_t layer = first; sliding && layer < layers; ++layer) {
      selected.push_back(layer);
    }
    return selected;
  }
  if (!types->isArray() || int64_t(types->items.size()) != layers) {
    config.fault("layer_types",
                 "expected a list with a type for each of the " +
                     std::to_string(layers) + " layers, got " +
                     (types->isArray() ? std::to_string(types->items.size())
                                       : spec::describe(*types)));
    return {};
  }
  for (int64_t layer = 0; layer < layers; ++layer) {
    const Json &type = types->items[size_t(layer)];
    if (type.isString("sliding_attention") && sliding) {
      selected.push_back(layer);
    } else if (!type.isString("full_attention")) {
      config.faultAt(type, std::string("expected \"full_attention\"") +
                               (sliding ? " or \"sliding_attention\""
                                        : " (there is no sliding window)") +
                               ", got " + spec::describe(type));
    }
  }
  return selected;
}

/// Qwen2's windows, as overrides of some layers.
Json readQwen2Windows(Source &source, int64_t layers) {
  Config &config = source.config;
  bool sliding = config.boolean("use_sliding_window", false);
  int64_t size = config.integer("sliding_window", 4096, 1, spec::maxRows);
  sliding &= !config.isNull("sliding_window");
  std::vector<Json> selected = readSlidingLayers(config, layers, sliding);
  Json overrides = Json::array();
  if (source.bothSides && !selected.empty()) {
    refuseBothSides(config, "use_sliding_window");
  } else if (!selected.empty()) {
    Json attention = makeObject({{"window", makeWindow(size)}});
    overrides.items.push_back(
        makeObject({{"layers", Json::array(std::move(selected))},
                    {"set", makeObject({{"attn", std::move(attention)}})}}));
  }
  return overrides;
}

Json makeBody(Source &source, const Sizes &sizes, std::string_view type) {
  Config &config = source.config;
  Json norm = makeObject({{"kind", "rmsnorm"}, {"eps", sizes.eps}});
  Json attention = makeObject({{"num_heads", sizes.heads},
                               {"num_kv_heads", sizes.kvHeads},
                               {"head_dim", sizes.headDim}});
  Json ffn = makeObject({{"width", sizes.width}, {"act", sizes.act}});
  if (type == "llama") {
    refuseWindows(config);
    attention.set("bias", config.boolean("attention_bias", false));
    ffn.set("bias", config.boolean("mlp_bias", false));
    // A way of computing: the weights in slices.
    config.ignore({"pretraining_tp"});
  } else if (type == "mistral") {
    attention.set("window", readMistralWindow(source));
  }
  attention.set("rotary", readRotary(source, sizes.positions));
  Json layers = makeObject(
      {{"repeat", sizes.layers},
       {"block",
        makeObject({{"norm", norm}, {"attn", attention}, {"ffn", ffn}})}});
  if (type == "qwen2") {
    Json overrides = readQwen2Windows(source, sizes.layers);
    if (!overrides.items.empty()) {
      layers.set("overrides", std::move(overrides));
    }
  }
  return makeObject({{"layers", std::move(layers)}, {"final_norm", norm}});
}

void addLanguageModel(Source &source, const Sizes &sizes, Heads &out) {
  std::optional<Json> logits =
      makeLogits(source,
                 {"proj", "lm_head.weight", "embed_tokens.weight",
                  "decoder.embeddings.token", /*tiedByDefault=*/false},
                 sizes.vocab);
  if (!logits) {
    return;
  }
  // Of a tied head too: other weights of this model must tie it as well.
  out.map.set("heads.lm.proj.weight",
              makeObject({{"tensor", "lm_head.weight"}}));
  out.add("lm", "decoder", {*logits});
}

Json makeModel(Source &source, std::string_view className,
               std::string_view type, const Defaults &defaults) {
  source.config.ignore({"attention_dropout"});
  auto isClass = [&](std::string_view end) {
    return className.size() > end.size() &&
           className.substr(className.size() - end.size()) == end;
  };
  bool generates = isClass("ForCausalLM");
  source.bothSides = !readCausal(source, generates);
  Sizes sizes = readSizes(source.config, defaults);
  Json body = makeBody(source, sizes, type);
  Heads heads;
  heads.ignore = {"*.rotary_emb.inv_freq"};
  if (generates) {
    addLanguageModel(source, sizes, heads);
  } else {
    heads.ignore.push_back("lm_head.weight");
  }
  if (isClass("ForSequenceClassification")) {
    Json take = makeObject({{"op", "take"}, {"at", "last_nonpad"}});
    Json dense = makeObject({{"op", "dense"},
                             {"name", "score"},
                             {"out", readLabels(source.config)},
                             {"bias", false}});
    heads.add("cls", "decoder", {take, dense});
    heads.map.set("heads.cls.score", "score");
  } else {
    heads.ignore.push_back("score.weight");
  }
  if (isClass("Model")) {
    heads.outputs.set("last_hidden_state", "decoder.hidden");
  }
  Json made =
      makeObject({{"dims", makeObject({{"hidden", sizes.hidden},
                                       {"vocab", sizes.vocab},
                                       {"max_positions", sizes.positions}})},
                  {"decoder", std::move(body)},
                  {"tokens", readTokens(source, sizes.vocab, generates,
                                        defaults.tokens)}});
  if (generates) {
    made.set("generation", readGeneration(source, "lm", sizes.vocab, {}));
  }
  heads.addTo(made);
  return made;
}

/// 0, 1, 2: the bare model, the language model, the classifier. Only classes
/// with a head write the prefix.
size_t guess(const rt::TensorFiles &files) {
  if (storesTensor(files, "score.weight")) {
    return 2;
  }
  bool head =
      files.find("lm_head.weight") || files.find("model.embed_tokens.weight");
  return head ? 1 : 0;
}

constexpr std::string_view llamaClasses[] = {"LlamaModel", "LlamaForCausalLM",
                                             "LlamaForSequenceClassification"};
constexpr std::string_view mistralClasses[] = {
    "MistralModel", "MistralForCausalLM", "MistralForSequenceClassification"};
constexpr std::string_view qwen2Classes[] = {"Qwen2Model", "Qwen2ForCausalLM",
                                             "Qwen2ForSequenceClassification"};

} // namespace

const Family &huggingface::llamaFamily() {
  static const Family family = {
      "llama",
      {std::begin(llamaClasses), std::end(llamaClasses)},
      [](const rt::TensorFiles &files) { return llamaClasses[guess(files)]; },
      [](Source &source, std::string_view name) {
        Defaults defaults = {32000, 11008, 2048, 0, {-1, 1, 2}};
        return makeModel(source, name, "llama", defaults);
      }};
  return family;
}

const Family &huggingface::mistralFamily() {
  static const Family family = {
      "mistral",
      {std::begin(mistralClasses), std::end(mistralClasses)},
      [](const rt::TensorFiles &files) { return mistralClasses[guess(files)]; },
      [](Source &source, std::string_view name) {
        Defaults defaults = {32000, 14336, 131072, 8, {-1, 1, 2}};
        return makeModel(source, name, "mistral", defaults);
      }};
  return family;
}

const Family &huggingface::qwen2Family() {
  static const Family family = {
      "qwen2",
      {std::begin(qwen2Classes), std::end(qwen2Classes)},
      [](const rt::TensorFiles &files) { return qwen2Classes[guess(files)]; },
      [](Source &source, std::string_view name) {
        Defaults defaults = {151936, 22016, 32768, 32, {}};
        return makeModel(source, name, "qwen2", defaults);
      }};
  return family;
}
