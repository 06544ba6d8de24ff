// config.json of a GGUF file, from its metadata and tensors.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/gguf/GgufFile.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tfc::rt {

namespace {

struct Architecture {
  const char *name, *className;
};
constexpr Architecture architectures[] = {{"llama", "LlamaForCausalLM"},
                                          {"qwen2", "Qwen2ForCausalLM"},
                                          {"qwen3", "Qwen3ForCausalLM"}};

class ConfigMaker {
public:
  explicit ConfigMaker(const GgufFile &file)
      : file(file), name(file.text("general.architecture").value_or("")) {}

  Result<std::string> run() {
    auto known =
        std::find_if(std::begin(architectures), std::end(architectures),
                     [&](const Architecture &one) { return name == one.name; });
    if (known == std::end(architectures)) {
      return makeError(Code::Unsupported, file.path(),
                       ": expected general.architecture llama, qwen2 or "
                       "qwen3, got ",
                       quoteName(name));
    }
    config["model_type"] = name;
    config["architectures"] = {known->className};
    config["hidden_act"] = "silu";
    addSizes();
    addRotation();
    addTokens();
    refuseOthers();
    Status status = faults.take();
    if (!status) {
      return std::move(status.error());
    }
    return config.dump(2);
  }

private:
  const GgufFile &file;
  std::string name;
  nlohmann::ordered_json config;
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
    config["num_hidden_layers"] = size("block_count");
    config["intermediate_size"] = size("feed_forward_length");
    config["max_position_embeddings"] = size("context_length");
    config["num_attention_heads"] = heads;
    config["num_key_value_heads"] = size("attention.head_count_kv", heads);
    int64_t head =
        size("attention.key_length", hidden / std::max<int64_t>(heads, 1));
    config["head_dim"] = head;
    if (size("attention.value_length", head) != head ||
        size("rope.dimension_count", head) != head) {
      fault(Code::Unsupported,
            "expected keys, values and rotations of one width, got others");
    }
    double epsilon =
        file.number(name + ".attention.layer_norm_rms_epsilon").value_or(0);
    // What somebody wrote, not what f32 made of it.
    config["rms_norm_eps"] = shortest(epsilon);
    const GgufTensor *table = file.find("token_embd.weight");
    if (!table || table->shape.size() != 2) {
      fault(Code::NotFound, "expected tensor \"token_embd.weight\" of two "
                            "axes, got none");
    } else {
      config["vocab_size"] = table->shape[0];
    }
    config["tie_word_embeddings"] = !file.find("output.weight");
    if (name != "qwen2") {
      config["attention_bias"] = file.find("blk.0.attn_q.bias") != nullptr;
    }
    if (name == "llama") {
      config["mlp_bias"] = file.find("blk.0.ffn_up.bias") != nullptr;
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
    double base = file.number(name + ".rope.freq_base").value_or(10000);
    config["rope_theta"] = shortest(base);
    std::string type = file.text(name + ".rope.scaling.type").value_or("none");
    if (type == "linear") {
      config["rope_scaling"] = {
          {"rope_type", "linear"},
          {"factor",
           shortest(file.number(name + ".rope.scaling.factor").value_or(1))}};
    } else if (type != "none") {
      fault(Code::Unsupported, "expected ", name,
            ".rope.scaling.type none or linear, got ", quoteName(type));
    }
    if (const GgufTensor *factors = file.find("rope_freqs.weight")) {
      addFactors(*factors, base);
    }
  }

  /// The converter divides frequencies by numbers that it makes of LLaMA 3's
  /// rule. Those of its usual settings are found again; others are refused.
  void addFactors(const GgufTensor &tensor, double base) {
    auto half = static_cast<size_t>(tensor.shape.back());
    int64_t head = config["head_dim"].get<int64_t>();
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

  /// What would change the numbers.
  void refuseOthers() {
    for (const char *key :
         {"expert_count", "attention.sliding_window", "attn_logit_softcapping",
          "final_logit_softcapping", "attention.scale", "logit_scale",
          "embedding_scale", "residual_scale", "rope.scaling.attn_factor"}) {
      double value = file.number(concat(name, ".", key)).value_or(0);
      if (value != 0 && value != 1) {
        fault(Code::Unsupported, "expected no ", name, ".", key,
              " (of this architecture tfc reads none from GGUF), got ", value,
              "; import the model's Hugging Face folder");
      }
    }
  }
};

} // namespace

Result<std::string> makeGgufConfig(const GgufFile &file) {
  return ConfigMaker(file).run();
}

} // namespace tfc::rt
