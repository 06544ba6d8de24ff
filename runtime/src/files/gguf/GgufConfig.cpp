// config.json of a GGUF file, from its metadata and tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufArchitecture.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tfc::rt {

namespace {

/// Of which a list says something.
constexpr int64_t kMostLayers = int64_t(1) << 16;

class ConfigMaker {
public:
  ConfigMaker(const GgufFile &file, const GgufArchitecture &of)
      : file(file), of(of), name(of.name) {}

  Result<std::string> run() {
    config = nlohmann::ordered_json::parse(of.constants);
    config["model_type"] = of.modelType;
    config["architectures"] = {of.className};
    addSizes();
    addKeys();
    addRotation();
    addWindows();
    addStates();
    addTokens();
    refuseOthers();
    rename();
    Status status = faults.take();
    if (!status) {
      return std::move(status.error());
    }
    return config.dump(2);
  }

private:
  const GgufFile &file;
  const GgufArchitecture &of;
  std::string name;
  nlohmann::ordered_json config;
  int64_t head = 0; // its width
  Faults faults;

  template <typename... Ts> void fault(Code code, const Ts &...parts) {
    faults.add(makeError(code, file.path(), ": ", parts...));
  }

  /// An integer of the model, or one for all layers of an array; an error where
  /// there is none and nothing stands for it.
  int64_t size(const std::string &key, std::optional<int64_t> otherwise = {}) {
    std::vector<double> all = file.numbers(name + "." + key);
    bool isOne =
        !all.empty() && all[0] >= 0 && all[0] < 0x1p40 &&
        std::floor(all[0]) == all[0] &&
        std::all_of(
            all.begin(), all.end(), [&](double x) { return x == all[0]; });
    if (isOne) {
      return static_cast<int64_t>(all[0]);
    }
    if (!all.empty() || !otherwise) {
      fault(all.size() > 1 ? Code::Unsupported : Code::InvalidArgument,
            "expected ", name, ".", key,
            ", an integer that is the same for all layers, got ",
            all.empty() ? "none" : "another value");
    }
    return otherwise.value_or(1);
  }

  void addSizes() {
    int64_t hidden = size("embedding_length"),
            heads = size("attention.head_count");
    config["hidden_size"] = hidden;
    // Layers that guess further tokens are none of the model's.
    config["num_hidden_layers"] =
        size("block_count") - size("nextn_predict_layers", 0);
    if (of.hasTwoHeads) {
      addTwoHeads();
      addEpsilon();
      addVocabulary();
      return;
    }
    // Where all layers are of experts there may be none.
    bool isSaid = !file.numbers(name + ".feed_forward_length").empty() ||
                  !file.integer(name + ".expert_feed_forward_length");
    OfLayers parts = isSaid ? sizes("feed_forward_length") : OfLayers();
    if (parts.most > 0) {
      config["intermediate_size"] = parts.most;
    }
    if (heads == 0 && of.states == GgufStates::Mamba) {
      addEpsilon();
      addVocabulary();
      return; // no layer has keys
    }
    config["max_position_embeddings"] = size("context_length");
    config["num_attention_heads"] = heads;
    OfLayers keys = sizes("attention.head_count_kv", heads);
    config["num_key_value_heads"] = keys.most;
    addKinds(keys, parts);
    if (of.splitsLatents) {
      addLatents();
      addEpsilon();
      addVocabulary();
      return;
    }
    head = size("attention.key_length", hidden / std::max<int64_t>(heads, 1));
    if (file.integer(name + ".attention.key_length")) {
      config["head_dim"] = head;
    }
    if (size("attention.value_length", head) != head) {
      fault(Code::Unsupported,
            "expected keys and values of one width, got others");
    }
    addEpsilon();
    addVocabulary();
    if (of.scaledByShare > 0) {
      bool isLarge = config["num_hidden_layers"] == of.scaledByShare;
      config["query_pre_attn_scalar"] =
          isLarge ? hidden / std::max<int64_t>(heads, 1) : head;
    }
  }

  /// The least of a list of integers, or one; the greatest by `most`.
  int64_t extreme(const std::string &key, bool most) {
    std::vector<double> all = file.numbers(name + "." + key);
    bool areSizes = !all.empty();
    double found = areSizes ? all[0] : 0;
    for (double each : all) {
      areSizes =
          areSizes && each >= 0 && each < 0x1p40 && std::floor(each) == each;
      found = (most ? each > found : each < found) ? each : found;
    }
    if (!areSizes) {
      fault(Code::InvalidArgument, "expected ", name, ".", key,
            ", an integer or one for each layer, got others");
      return 1;
    }
    return static_cast<int64_t>(found);
  }

  /// Gemma 4's: of the layers with a window, and of the others.
  void addTwoHeads() {
    config["max_position_embeddings"] = size("context_length");
    config["num_attention_heads"] = size("attention.head_count");
    config["num_kv_shared_layers"] = size("attention.shared_kv_layers", 0);
    config["hidden_size_per_layer_input"] =
        size("embedding_length_per_layer_input", 0);
    int64_t width = extreme("feed_forward_length", false),
            wide = extreme("feed_forward_length", true);
    config["intermediate_size"] = width;
    config["use_double_wide_mlp"] = wide != width;
    if (wide != width && wide != 2 * width) {
      fault(Code::Unsupported, "expected ", name,
            ".feed_forward_length of one size, or of twice as much in layers "
            "that share keys, got others");
    }
    head = size("attention.key_length");
    int64_t ofWindows = size("attention.key_length_swa");
    config["global_head_dim"] = head;
    config["head_dim"] = ofWindows;
    addTwoCounts();
    // Factors of frequencies that nobody has are those of what is not turned.
    int64_t turned = 0;
    if (const GgufTensor *factors = file.find("rope_freqs.weight")) {
      std::vector<float> values(factors->type->code == 0
                                    ? static_cast<size_t>(factors->bytes / 4)
                                    : 0);
      std::copy_n(factors->data, values.size() * sizeof(float),
                  reinterpret_cast<uint8_t *>(values.data()));
      turned = 2 * std::count(values.begin(), values.end(), 1.0F);
    }
    if (turned < 1 || turned > head ||
        size("rope.dimension_count_swa", ofWindows) != ofWindows) {
      fault(Code::Unsupported,
            "expected tensor \"rope_freqs.weight\" with 1 for each of some "
            "pairs of columns, and ",
            name, ".rope.dimension_count_swa of whole heads, got others");
    }
    config["rope_parameters"] = {
        {"full_attention",
         {{"rope_type", "proportional"},
          {"rope_theta",
           shortest(file.number(name + ".rope.freq_base").value_or(10000))},
          {"partial_rotary_factor",
           static_cast<double>(turned) /
               static_cast<double>(std::max<int64_t>(head, 1))}}},
        {"sliding_attention",
         {{"rope_type", "default"},
          {"rope_theta",
           shortest(
               file.number(name + ".rope.freq_base_swa").value_or(10000))}}}};
  }

  /// Heads of keys, of which a file may have a list.
  void addTwoCounts() {
    std::vector<double> keys = file.numbers(name + ".attention.head_count_kv"),
                        windows = file.numbers(
                            name + ".attention.sliding_window_pattern");
    int64_t most = extreme("attention.head_count_kv", true);
    int64_t counts[2] = {most, most}; // without a window, with one
    for (size_t i = 0; keys.size() > 1 && i < keys.size(); ++i) {
      bool hasWindow = i < windows.size() && windows[i] != 0;
      counts[hasWindow] = static_cast<int64_t>(keys[i]);
    }
    config["num_key_value_heads"] = counts[1];
    config["num_global_key_value_heads"] = counts[0];
    // Values of layers without a window are their keys where these have none.
    bool hasValues = true;
    for (size_t i = 0; i < windows.size(); ++i) {
      std::string layer = concat("blk.", i, ".");
      hasValues = hasValues && (!file.find(layer + "attn_k.weight") ||
                                file.find(layer + "attn_v.weight"));
    }
    config["attention_k_eq_v"] = !hasValues;
  }

  /// Widths of heads whose keys and values are of a latent. Those of the latent
  /// itself, which the heads share, are no keys of config.json.
  void addLatents() {
    bool isAbsorbed =
        file.integer(name + ".attention.key_length_mla").has_value();
    int64_t keys = size(isAbsorbed ? "attention.key_length_mla"
                                   : "attention.key_length"),
            values = size(isAbsorbed ? "attention.value_length_mla"
                                     : "attention.value_length");
    head = size("rope.dimension_count"); // as much as is turned
    config["qk_rope_head_dim"] = head;
    config["qk_nope_head_dim"] = keys - head;
    config["v_head_dim"] = values;
    if (size("expert_group_count", 1) > 1) {
      config["topk_method"] = "group_limited_greedy";
    }
  }

  void addEpsilon() {
    double epsilon =
        file.number(name + ".attention.layer_norm_rms_epsilon")
            .value_or(file.number(name + ".attention.layer_norm_epsilon")
                          .value_or(0));
    // What somebody wrote, not what f32 made of it.
    config[of.epsilon] = shortest(epsilon);
  }

  void addVocabulary() {
    const GgufTensor *table = file.find("token_embd.weight");
    if (!table || table->shape.size() != 2) {
      fault(Code::NotFound, "expected tensor \"token_embd.weight\" of two "
                            "axes, got none");
    } else {
      config["vocab_size"] = table->shape[0];
    }
    config["tie_word_embeddings"] = !file.find("output.weight");
  }

  /// A size of layers, some of which may have none.
  struct OfLayers {
    int64_t most = 0;
    std::vector<bool> has; // by layer; empty where all have the same
  };

  /// One that all have, or none, in a file that says it of each layer.
  OfLayers sizes(const std::string &key,
                 std::optional<int64_t> otherwise = {}) {
    OfLayers result;
    std::vector<double> all = file.numbers(name + "." + key);
    if (all.size() < 2 || std::count(all.begin(), all.end(), 0.0) == 0) {
      result.most = size(key, otherwise);
      return result;
    }
    double most = *std::max_element(all.begin(), all.end());
    for (double each : all) {
      bool isSize = most < 0x1p40 && std::floor(most) == most;
      if (!isSize || (each != 0 && each != most)) {
        fault(Code::Unsupported, "expected ", name, ".", key,
              " to be one integer for all layers that have some, got others");
        return {};
      }
      result.has.push_back(each != 0);
    }
    result.most = static_cast<int64_t>(most);
    return result;
  }

  /// Which layers have keys, and which are a feed-forward part alone.
  void addKinds(const OfLayers &keys, const OfLayers &parts) {
    if (keys.has.empty()) {
      return;
    }
    nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
    // Behind the model's are those that guess.
    auto count = std::min<int64_t>(config["num_hidden_layers"].get<int64_t>(),
                                   keys.has.size());
    for (int64_t i = 0; i < count; ++i) {
      auto layer = static_cast<size_t>(i);
      bool isAlone = of.aloneKind && !keys.has[layer] &&
                     layer < parts.has.size() && parts.has[layer];
      kinds.push_back(isAlone           ? of.aloneKind
                      : keys.has[layer] ? "full_attention"
                                        : of.stateKind);
    }
    config[of.kinds] = std::move(kinds);
  }

  /// What the architecture has besides: numbers, and what tensors say.
  void addKeys() {
    for (const GgufName &key : of.keys) {
      std::string from = concat(name, ".", key.from);
      if (auto flag = file.boolean(from)) {
        at(key.to) = *flag;
      } else if (auto integer = file.integer(from)) {
        at(key.to) = *integer;
      } else if (auto number = file.number(from)) {
        at(key.to) = shortest(*number);
      } else if (auto text = file.text(from)) {
        at(key.to) = *text;
      }
    }
    for (const GgufName &flag : of.flags) {
      config[flag.to] = isInSomeLayer(file, flag.from);
    }
    for (const GgufName &row : of.rows) {
      if (const GgufTensor *tensor = file.find(row.from)) {
        config[row.to] = tensor->shape[0];
      }
    }
  }

  /// A key of config.json, or of an object in it.
  nlohmann::ordered_json &at(const std::string &key) {
    size_t end = key.find('/');
    return end == key.npos ? config[key]
                           : config[key.substr(0, end)][key.substr(end + 1)];
  }

  /// Gives keys the names that the model type has for them.
  void rename() {
    for (const GgufName &name : of.renames) {
      if (config.contains(name.from)) {
        if (name.to) {
          at(name.to) = config[name.from];
        }
        config.erase(name.from);
      }
    }
  }

  /// The decimal number with the fewest digits that is this f32.
  static double shortest(double value) {
    for (int digits = 1; digits < 10; ++digits) {
      char text[32];
      std::snprintf(text, sizeof(text), "%.*e", digits - 1, value);
      if (static_cast<float>(std::atof(text)) == static_cast<float>(value)) {
        return std::atof(text);
      }
    }
    return value;
  }

  void addRotation() {
    if (of.positions == GgufArchitecture::TurnedIfSaid) {
      bool isTurned =
          file.boolean(name + ".rope.scaling.finetuned").value_or(true);
      config["position_embedding_type"] = isTurned ? "rope" : "nope";
    }
    if (of.positions == GgufArchitecture::NotTurned || of.hasTwoHeads) {
      return;
    }
    double base = file.number(name + ".rope.freq_base").value_or(10000);
    config["rope_theta"] = shortest(base);
    int64_t turned = size("rope.dimension_count", head);
    if (turned != head) {
      config["partial_rotary_factor"] =
          static_cast<double>(turned) / static_cast<double>(head);
    }
    std::string type = file.text(name + ".rope.scaling.type").value_or("none");
    if (type == "linear" || type == "yarn") {
      config["rope_scaling"] = {{"rope_type", type},
                                {"factor", scaling("factor").value_or(1)}};
      if (type == "yarn") {
        addYarn();
      }
    } else if (type != "none" && type != "longrope") {
      fault(Code::Unsupported, "expected ", name,
            ".rope.scaling.type none, linear, yarn or longrope, got ",
            quoteName(type));
    }
    if (const GgufTensor *factors = file.find("rope_freqs.weight")) {
      addFactors(*factors, base);
    }
    addLongFactors();
  }

  std::optional<double> scaling(const char *key) const {
    auto value = file.number(concat(name, ".rope.scaling.", key));
    return value ? std::optional(shortest(*value)) : std::nullopt;
  }

  /// An integer where it is one.
  static nlohmann::ordered_json numberOf(double value) {
    if (std::floor(value) == value && std::abs(value) < 0x1p53) {
      return static_cast<int64_t>(value);
    }
    return value;
  }

  /// Yarn (Peng et al. 2023, arXiv:2309.00071).
  void addYarn() {
    auto &made = config["rope_scaling"];
    constexpr GgufName keys[] = {
        {"original_context_length", "original_max_position_embeddings"},
        {"yarn_beta_fast", "beta_fast"},
        {"yarn_beta_slow", "beta_slow"}};
    for (const GgufName &key : keys) {
      if (auto value = scaling(key.from)) {
        made[key.to] = numberOf(*value);
      }
    }
    if (std::string_view(of.modelType) == "gpt_oss") {
      made["truncate"] = false;
    }
    auto multiplier = scaling("yarn_log_multiplier");
    if (multiplier) {
      // Of latents it is a tenth of what scores grow by. Nothing is said of the
      // other factor, which all models have alike.
      made["mscale_all_dim"] =
          shortest(*multiplier * (of.splitsLatents ? 10 : 1));
      made["mscale"] = made["mscale_all_dim"];
    }
    for (const char *key : {"yarn_log_multiplier", "yarn_ext_factor",
                            "yarn_attn_factor", "attn_factor"}) {
      double value = scaling(key).value_or(1);
      bool isKnown = key[5] == 'l';
      if (value != 1 && !isKnown) {
        fault(Code::Unsupported, "expected no ", name, ".rope.scaling.", key,
              ", got ", value, "; import the model's Hugging Face folder");
      }
    }
  }

  /// Longrope's (Ding et al. 2024, arXiv:2402.13753), two tensors.
  void addLongFactors() {
    const GgufTensor *far = file.find("rope_factors_long.weight"),
                     *near = file.find("rope_factors_short.weight");
    if (!far && !near) {
      return;
    }
    auto factors = [&](const GgufTensor *tensor) {
      bool isList =
          tensor && tensor->shape.size() == 1 && tensor->type->code == 0;
      std::vector<float> values(isList ? static_cast<size_t>(tensor->shape[0])
                                       : 0);
      if (isList) {
        std::copy_n(tensor->data, tensor->bytes,
                    reinterpret_cast<uint8_t *>(values.data()));
      } else {
        fault(Code::InvalidArgument,
              "expected tensors \"rope_factors_long.weight\" and "
              "\"rope_factors_short.weight\", F32 of one axis, got others");
      }
      nlohmann::ordered_json list = nlohmann::ordered_json::array();
      for (float value : values) {
        list.push_back(shortest(value));
      }
      return list;
    };
    config["rope_scaling"] = {{"rope_type", "longrope"},
                              {"long_factor", factors(far)},
                              {"short_factor", factors(near)}};
  }

  /// How wide the values of a state are, and which layers have one.
  void addStates() {
    if (of.states == GgufStates::None) {
      return;
    }
    int64_t inner = size("ssm.inner_size"), heads = size("ssm.time_step_rank");
    config[of.valueWidth] = inner / std::max<int64_t>(heads, 1);
    if (of.states != GgufStates::Mamba) {
      addIntervals();
    }
  }

  void addIntervals() {
    auto layers = config["num_hidden_layers"].get<int64_t>();
    std::vector<double> states =
        file.numbers(name + ".attention.recurrent_layers");
    int64_t every = std::max<int64_t>(size("full_attention_interval", 4), 1);
    if (layers < 0 || layers > kMostLayers ||
        (!states.empty() && static_cast<int64_t>(states.size()) < layers)) {
      fault(Code::InvalidArgument, "expected ", name,
            ".attention.recurrent_layers with a flag for each of ", layers,
            " layers, got ", states.size());
      return;
    }
    nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
    for (int64_t i = 0; i < layers; ++i) {
      bool hasState = states.empty() ? (i + 1) % every != 0
                                     : states[static_cast<size_t>(i)] != 0;
      kinds.push_back(hasState ? "linear_attention" : "full_attention");
    }
    config["layer_types"] = std::move(kinds);
  }

  /// Which layers see how far. A window of 0 is none.
  void addWindows() {
    bool mayHave =
        std::any_of(of.keys.begin(), of.keys.end(), [](const GgufName &key) {
          return std::string_view(key.to) == "sliding_window";
        });
    bool hasWindow = mayHave && config.contains("sliding_window") &&
                     config["sliding_window"] != 0;
    if (mayHave && !hasWindow) {
      config["sliding_window"] = nullptr;
    }
    if (of.windows == GgufWindows::None) {
      return;
    }
    auto layers = config["num_hidden_layers"].get<size_t>();
    if (layers > static_cast<size_t>(kMostLayers)) {
      fault(Code::InvalidArgument, "expected ", name, ".block_count up to ",
            kMostLayers, ", got ", layers);
      return;
    }
    std::vector<double> pattern =
        file.numbers(name + ".attention.sliding_window_pattern");
    bool isListed = of.windows == GgufWindows::ByPattern;
    if (isListed && hasWindow && pattern.size() != layers) {
      fault(Code::InvalidArgument, "expected ", name,
            ".attention.sliding_window_pattern with a flag for each of ",
            layers, " layers, got ", pattern.size());
      return;
    }
    size_t every = of.windows == GgufWindows::EverySecond   ? 2
                   : of.windows == GgufWindows::EveryFourth ? 4
                                                            : 6;
    nlohmann::ordered_json kinds = nlohmann::ordered_json::array();
    for (size_t i = 0; i < layers; ++i) {
      bool isFull =
          !hasWindow || (isListed ? pattern[i] == 0 : (i + 1) % every == 0);
      kinds.push_back(isFull ? "full_attention" : "sliding_attention");
    }
    config["layer_types"] = std::move(kinds);
  }

  /// The converter divides frequencies by numbers that it makes of LLaMA 3's
  /// rule. Those of its usual settings are found again; others are refused.
  void addFactors(const GgufTensor &tensor, double base) {
    auto half = static_cast<size_t>(tensor.shape.back());
    if (tensor.shape.size() != 1 || tensor.type->code != 0 ||
        static_cast<int64_t>(half) * 2 != head) {
      fault(Code::InvalidArgument, "tensor \"rope_freqs.weight\": expected F32 "
                                   "of half a head, got others");
      return;
    }
    std::vector<float> factors(half);
    std::copy_n(tensor.data, half * sizeof(float),
                reinterpret_cast<uint8_t *>(factors.data()));
    double factor = factors.back();
    constexpr double low = 1, high = 4, original = 8192;
    for (size_t i = 0; i < half; ++i) {
      double frequency = std::pow(base, -2.0 * static_cast<double>(i) /
                                            static_cast<double>(head));
      double waves = original * frequency / (2 * 3.14159265358979323846);
      double smooth = std::clamp((waves - low) / (high - low), 0.0, 1.0);
      double expected = 1 / ((1 - smooth) / factor + smooth);
      if (!(std::abs(factors[i] - expected) <= 1e-3 * expected)) {
        fault(Code::Unsupported,
              "tensor \"rope_freqs.weight\": expected the factors of LLaMA 3's "
              "rule (of ",
              factor, " from 8192 positions on), got ", factors[i],
              " in place of ", expected, " at ", i,
              "; import the model's Hugging Face folder");
        return;
      }
    }
    config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", shortest(factor)},
                              {"low_freq_factor", low},
                              {"high_freq_factor", high},
                              {"original_max_position_embeddings", 8192}};
  }

  void addTokens() {
    for (auto [key, from] : {std::pair{"bos_token_id", "bos_token_id"},
                             {"eos_token_id", "eos_token_id"},
                             {"pad_token_id", "padding_token_id"}}) {
      if (auto id = file.integer(concat("tokenizer.ggml.", from))) {
        config[key] = *id;
      }
    }
  }

  /// What would change the numbers and is no key of the architecture's.
  void refuseOthers() {
    for (const char *key : {"expert_count",
                            "attention.sliding_window",
                            "attn_logit_softcapping",
                            "final_logit_softcapping",
                            "router_logit_softcapping",
                            "attention.scale",
                            "attention.output_scale",
                            "attention.value_scale",
                            "attention.temperature_scale",
                            "attention.max_alibi_bias",
                            "attention.clamp_kqv",
                            "attention.kv_lora_rank",
                            "attention.q_lora_rank",
                            "logit_scale",
                            "embedding_scale",
                            "residual_scale",
                            "rope.scaling.alpha",
                            "expert_shared_count",
                            "expert_weights_scale",
                            "expert_group_scale",
                            "ssm.state_size",
                            "swiglu_clamp_exp"}) {
      bool isKnown =
          std::any_of(of.keys.begin(), of.keys.end(), [&](const GgufName &own) {
            return std::string_view(own.from) == key;
          });
      double value = file.number(concat(name, ".", key)).value_or(0);
      if (!isKnown && value != 0 && value != 1) {
        fault(Code::Unsupported, "expected no ", name, ".", key,
              " (of this architecture tfc reads none from GGUF), got ", value,
              "; import the model's Hugging Face folder");
      }
    }
  }
};

} // namespace

Result<std::string> makeGgufConfig(const GgufFile &file) {
  Result<const GgufArchitecture *> of = findArchitecture(file);
  if (!of) {
    return std::move(of.error());
  }
  return ConfigMaker(file, **of).run();
}

std::string findGgufPooling(const GgufFile &file) {
  std::string name = file.text("general.architecture").value_or("");
  constexpr const char *words[] = {"", "mean", "cls", "lasttoken"};
  int64_t type = file.integer(name + ".pooling_type").value_or(0);
  return type > 0 && type < 4 ? words[type] : "";
}

} // namespace tfc::rt
