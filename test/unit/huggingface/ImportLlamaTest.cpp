// LLaMA, Mistral and Qwen2 directories: sizes, keys of both generations of
// transformers, windows, heads, and what is refused.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::test;

namespace {

/// Hidden 4, two heads of 2 columns, one for keys and values, ffn 3, 7 tokens.
TinyTensors llamaTensors(const std::string &prefix = "", int64_t layers = 1,
                         bool biases = false) {
  TinyTensors tensors;
  for (int64_t i = 0; i < layers; ++i) {
    std::string layer = prefix + "layers." + std::to_string(i) + ".";
    tensors[layer + "input_layernorm.weight"] = {{4}};
    tensors[layer + "post_attention_layernorm.weight"] = {{4}};
    tensors[layer + "self_attn.q_proj.weight"] = {{4, 4}};
    tensors[layer + "self_attn.k_proj.weight"] = {{2, 4}};
    tensors[layer + "self_attn.v_proj.weight"] = {{2, 4}};
    tensors[layer + "self_attn.o_proj.weight"] = {{4, 4}};
    tensors[layer + "mlp.gate_proj.weight"] = {{3, 4}};
    tensors[layer + "mlp.up_proj.weight"] = {{3, 4}};
    tensors[layer + "mlp.down_proj.weight"] = {{4, 3}};
    if (biases) {
      tensors[layer + "self_attn.q_proj.bias"] = {{4}};
      tensors[layer + "self_attn.k_proj.bias"] = {{2}};
      tensors[layer + "self_attn.v_proj.bias"] = {{2}};
    }
  }
  tensors[prefix + "embed_tokens.weight"] = {{7, 4}};
  tensors[prefix + "norm.weight"] = {{4}};
  return tensors;
}

std::string configOf(const std::string &more = "",
                     const std::string &type = "llama",
                     const std::string &layers = "1") {
  return "{" + more + "\"model_type\": \"" + type +
         "\", \"hidden_size\": 4, \"num_hidden_layers\": " + layers +
         ", \"num_attention_heads\": 2, \"num_key_value_heads\": 1, "
         "\"intermediate_size\": 3, \"vocab_size\": 7, "
         "\"max_position_embeddings\": 64}";
}

std::string ofClass(const std::string &name, const std::string &more = "") {
  return "\"architectures\": [\"" + name + "\"], " + more;
}

const spec::Attention &attentionOf(const spec::ModelSpec &model,
                                   size_t run = 0) {
  return std::get<spec::Attention>(model.decoder->runs.at(run).sublayers[0].f);
}

const spec::Rotary &rotaryOf(const spec::ModelSpec &model) {
  return *attentionOf(model).rotary;
}

/// The diagnostics of a bare model with these keys.
std::string messagesOf(const std::string &more) {
  return importTiny(configOf(more), llamaTensors()).messages;
}

} // namespace

TEST(ImportLlama, Model) {
  auto got = importTiny(configOf(ofClass("LlamaModel")), llamaTensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  const spec::ModelSpec &model = *got.model;
  EXPECT_EQ(model.kind, spec::Kind::Decoder);
  EXPECT_EQ(model.maxPositions, 64);
  const spec::Attention &attention = attentionOf(model);
  EXPECT_EQ(attention.numKvHeads, 1);
  EXPECT_EQ(attention.headDim, 2);
  EXPECT_FALSE(attention.qBias || attention.oBias || attention.window);
  EXPECT_FALSE(rotaryOf(model).interleaved);
  EXPECT_EQ(rotaryOf(model).theta, 10000);
  EXPECT_EQ(model.decoder->finalNorm->eps, 1e-6);
  EXPECT_EQ(model.decoder->finalNorm->kind, spec::Norm::Kind::RmsNorm);
  ASSERT_EQ(model.outputs.size(), 1u);
  EXPECT_EQ(model.outputs[0].name, "last_hidden_state");
  EXPECT_EQ(got.summary,
            "llama-LlamaModel: 1 layers, hidden 4, vocabulary 7, at most 64 "
            "tokens\noutputs: last_hidden_state\nparameters: 124 in 11 "
            "tensors (F32)\n");
}

TEST(ImportLlama, HeadWithWeightsOfItsOwn) {
  TinyTensors tensors = llamaTensors("model.");
  tensors["lm_head.weight"] = {{7, 4}, 2};
  auto got = importTiny(configOf(ofClass("LlamaForCausalLM")), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  const auto &logits =
      std::get<spec::LogitsStep>(got.model->heads.at(0).steps[0]);
  EXPECT_EQ(logits.weight, "heads.lm.proj.weight");
  EXPECT_EQ(got.model->tokens.bos, 1);
  EXPECT_EQ(got.model->tokens.eos, std::vector<int64_t>{2});
}

TEST(ImportLlama, HeadsAreNotTiedUnlessTheConfigSaysSo) {
  auto got =
      importTiny(configOf(ofClass("LlamaForCausalLM")), llamaTensors("model."));
  EXPECT_EQ(got.messages,
            "DIR/config.json:1:1: /tie_word_embeddings: expected true (no "
            "tensor \"lm_head.weight\" is stored that would be untied), got "
            "nothing");
  got = importTiny(
      configOf(ofClass("LlamaForCausalLM", "\"tie_word_embeddings\": true, ")),
      llamaTensors("model."));
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(std::get<spec::LogitsStep>(got.model->heads.at(0).steps[0]).weight,
            "decoder.embeddings.token.weight");
}

TEST(ImportLlama, Classifier) {
  TinyTensors tensors = llamaTensors("model.");
  tensors["score.weight"] = {{3, 4}};
  auto got = importTiny(configOf(ofClass("LlamaForSequenceClassification",
                                         "\"num_labels\": 3, "
                                         "\"pad_token_id\": 0, ")),
                        tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  const spec::Head &head = got.model->heads.at(0);
  EXPECT_EQ(std::get<spec::TakeStep>(head.steps[0]).at,
            spec::TakeStep::At::LastNonpad);
  EXPECT_EQ(std::get<spec::DenseStep>(head.steps[1]).width, 3);
  EXPECT_FALSE(std::get<spec::DenseStep>(head.steps[1]).bias);
  EXPECT_EQ(got.model->tokens.pad, 0);
}

TEST(ImportLlama, ClassByTensorsWhenNoneIsNamed) {
  auto name = [](const TinyTensors &tensors) {
    return importTiny(configOf("\"tie_word_embeddings\": true, "), tensors)
        .model->name;
  };
  EXPECT_EQ(name(llamaTensors()), "llama-LlamaModel");
  EXPECT_EQ(name(llamaTensors("model.")), "llama-LlamaForCausalLM");
  TinyTensors tensors = llamaTensors("model.");
  tensors["score.weight"] = {{2, 4}};
  EXPECT_EQ(name(tensors), "llama-LlamaForSequenceClassification");
}

TEST(ImportLlama, Biases) {
  TinyTensors tensors = llamaTensors("", 1, true);
  tensors["layers.0.self_attn.o_proj.bias"] = {{4}};
  tensors["layers.0.mlp.gate_proj.bias"] = {{3}};
  tensors["layers.0.mlp.up_proj.bias"] = {{3}};
  tensors["layers.0.mlp.down_proj.bias"] = {{4}};
  auto got = importTiny(
      configOf("\"attention_bias\": true, \"mlp_bias\": true, "), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_TRUE(attentionOf(*got.model).oBias);
}

TEST(ImportLlama, HeadsMayBeWiderThanTheHiddenState) {
  TinyTensors tensors = llamaTensors();
  tensors["layers.0.self_attn.q_proj.weight"] = {{12, 4}};
  tensors["layers.0.self_attn.k_proj.weight"] = {{6, 4}};
  tensors["layers.0.self_attn.v_proj.weight"] = {{6, 4}};
  tensors["layers.0.self_attn.o_proj.weight"] = {{4, 12}};
  auto got = importTiny(configOf("\"head_dim\": 6, "), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(rotaryOf(*got.model).dim, 6);
}

TEST(ImportLlama, RotaryInKeysOfBothGenerations) {
  const char *texts[] = {
      "\"rope_theta\": 500.0, \"rope_scaling\": {\"type\": \"linear\", "
      "\"factor\": 2.0}, ",
      "\"rope_parameters\": {\"rope_theta\": 500.0, \"rope_type\": \"linear\", "
      "\"factor\": 2.0}, ",
      "\"rope_theta\": 500.0, \"rope_scaling\": null, \"rope_parameters\": "
      "{\"rope_type\": \"linear\", \"factor\": 2.0}, "};
  for (const char *text : texts) {
    auto got = importTiny(configOf(text), llamaTensors());
    ASSERT_TRUE(got.ok) << got.messages;
    EXPECT_EQ(got.messages, "");
    EXPECT_EQ(rotaryOf(*got.model).theta, 500);
    EXPECT_EQ(rotaryOf(*got.model).scaling.kind,
              spec::RotaryScaling::Kind::Linear);
    EXPECT_EQ(rotaryOf(*got.model).frequencies, std::vector<double>{0.5});
  }
}

TEST(ImportLlama, LengthOfTheTraining) {
  auto original = [](const std::string &inside, const std::string &outside) {
    auto got = importTiny(
        configOf("\"rope_scaling\": {\"rope_type\": \"llama3\", " + inside +
                 "\"factor\": 8.0, \"low_freq_factor\": 1.0, "
                 "\"high_freq_factor\": 4.0}, " +
                 outside),
        llamaTensors());
    EXPECT_EQ(got.messages, "");
    return rotaryOf(*got.model).scaling.originalMax;
  };
  std::string key = "\"original_max_position_embeddings\": ";
  EXPECT_EQ(original("", ""), 64);
  EXPECT_EQ(original(key + "32, ", ""), 32);
  EXPECT_EQ(original(key + "32, ", key + "16, "), 16);
}

TEST(ImportLlama, Yarn) {
  auto got = importTiny(
      configOf("\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, "
               "\"beta_fast\": 0, \"beta_slow\": 2, \"truncate\": false, "
               "\"attention_factor\": 1.5, "
               "\"original_max_position_embeddings\": 16}, "),
      llamaTensors());
  ASSERT_TRUE(got.ok) << got.messages;
  const spec::Rotary &rotary = rotaryOf(*got.model);
  EXPECT_EQ(rotary.factor, 1.5);
  EXPECT_EQ(rotary.scaling.betaFast, 32);
  EXPECT_EQ(rotary.scaling.betaSlow, 2);
  EXPECT_FALSE(rotary.scaling.truncate);
}

TEST(ImportLlama, RotaryThatIsRefused) {
  EXPECT_EQ(messagesOf("\"rope_scaling\": {\"type\": \"longrope\", "
                       "\"factor\": 2},\n"),
            "DIR/config.json:1:27: /rope_scaling/type: expected default, "
            "linear, dynamic, llama3 or yarn (tfc has no other frequencies), "
            "got \"longrope\"");
  EXPECT_EQ(messagesOf("\"rope_scaling\": {\"type\": \"linear\"},\n"),
            "DIR/config.json:1:18: /rope_scaling/factor: expected a number "
            "(of the scaling), got nothing");
  EXPECT_EQ(messagesOf("\"partial_rotary_factor\": 0.5,\n"),
            "DIR/config.json:1:27: /partial_rotary_factor: expected 1 (this "
            "model type rotates whole heads), got 0.5");
  EXPECT_EQ(messagesOf("\"rope_parameters\": {\"full_attention\": {}},\n"),
            "DIR/config.json:1:40: /rope_parameters/full_attention: expected "
            "numbers for all layers together, got an object (of some of "
            "them)");
  EXPECT_EQ(messagesOf("\"rope_parameters\": 3,\n"),
            "DIR/config.json:1:21: /rope_parameters: expected an object, got "
            "3");
  EXPECT_EQ(messagesOf("\"rope_parameters\": {\"rope_theta\": 1e4, "
                       "\"mrope_section\": [1]},\n"),
            "DIR/config.json:1:41: /rope_parameters: warning: expected only "
            "keys that tfc knows (others may change results), got "
            "\"mrope_section\" [TFC002]");
}

TEST(ImportLlama, HeadsMustDivide) {
  EXPECT_EQ(importTiny("{\"model_type\": \"llama\", \"hidden_size\": 6,\n"
                       "\"num_attention_heads\": 4}",
                       llamaTensors())
                .messages,
            "DIR/config.json:2:24: /num_attention_heads: expected a divisor of "
            "hidden (6) where no \"head_dim\" is given, got 4 [TFC011]");
  EXPECT_EQ(
      importTiny("{\"model_type\": \"llama\", \"hidden_size\": 8,\n"
                 "\"num_attention_heads\": 4, \"num_key_value_heads\": 3}",
                 llamaTensors())
          .messages,
      "DIR/config.json:2:50: /num_key_value_heads: expected a divisor of "
      "num_heads (4), got 3 [TFC012]");
}

TEST(ImportMistral, WindowHasADefault) {
  auto window = [](const std::string &more) {
    auto got = importTiny(configOf(more, "mistral"), llamaTensors());
    EXPECT_EQ(got.messages, "");
    return attentionOf(*got.model).window;
  };
  EXPECT_EQ(window(""), (spec::Window{4095, 0}));
  EXPECT_EQ(window("\"sliding_window\": 16, "), (spec::Window{15, 0}));
  EXPECT_FALSE(window("\"sliding_window\": null, "));
}

TEST(ImportMistral, KeyHeadsHaveADefault) {
  auto heads = [](const std::string &more) {
    std::string config =
        "{" + more +
        "\"model_type\": \"mistral\", \"hidden_size\": 16, "
        "\"num_hidden_layers\": 0, \"num_attention_heads\": 16, "
        "\"vocab_size\": 7}";
    TinyTensors tensors;
    tensors["embed_tokens.weight"] = {{7, 16}};
    tensors["norm.weight"] = {{16}};
    auto got = importTiny(config, tensors);
    EXPECT_TRUE(got.ok) << got.messages;
    size_t at = got.spec.find("num_kv_heads");
    return got.spec.substr(at, got.spec.find(',', at) - at);
  };
  EXPECT_EQ(heads(""), "num_kv_heads\": 8");
  EXPECT_EQ(heads("\"num_key_value_heads\": null, "), "num_kv_heads\": 16");
}

TEST(ImportQwen2, Biases) {
  auto got =
      importTiny(configOf("", "qwen2"), llamaTensors("", 1, /*biases=*/true));
  ASSERT_TRUE(got.ok) << got.messages;
  const spec::Attention &attention = attentionOf(*got.model);
  EXPECT_TRUE(attention.qBias && attention.kBias && attention.vBias);
  EXPECT_FALSE(attention.oBias);
  EXPECT_FALSE(attention.window);
}

TEST(ImportQwen2, WindowsOfSomeLayers) {
  auto import = [](const std::string &more) {
    return importTiny(configOf(more, "qwen2", "3"),
                      llamaTensors("", 3, /*biases=*/true));
  };
  auto windows = [&](const std::string &more) {
    auto got = import(more);
    EXPECT_EQ(got.messages, "");
    std::vector<int64_t> result;
    EXPECT_EQ(got.model->decoder->runs.size(), 1u);
    for (const spec::LayerGroup &group : got.model->decoder->runs[0].groups) {
      const auto &attention = std::get<spec::Attention>(group.sublayers[0].f);
      result.insert(result.end(), size_t(group.count),
                    attention.window.value_or(spec::Window{-1, 0}).left);
    }
    return result;
  };
  using Windows = std::vector<int64_t>;
  std::string sliding = "\"use_sliding_window\": true, ";
  EXPECT_EQ(windows("\"sliding_window\": 5, "), (Windows{-1, -1, -1}));
  EXPECT_EQ(windows(sliding), (Windows{-1, -1, -1}));
  EXPECT_EQ(windows(sliding + "\"max_window_layers\": 1, "),
            (Windows{-1, 4095, 4095}));
  EXPECT_EQ(windows(sliding + "\"sliding_window\": null, "
                              "\"max_window_layers\": 1, "),
            (Windows{-1, -1, -1}));
  EXPECT_EQ(windows(sliding + "\"sliding_window\": 5, \"layer_types\": "
                              "[\"sliding_attention\", \"full_attention\", "
                              "\"sliding_attention\"], "),
            (Windows{4, -1, 4}));
  EXPECT_EQ(import("\"layer_types\": [\"full_attention\", "
                   "\"sliding_attention\", \"full_attention\"],\n")
                .messages,
            "DIR/config.json:1:36: /layer_types/1: expected "
            "\"full_attention\" (there is no sliding window), got "
            "\"sliding_attention\"");
  EXPECT_EQ(import("\"layer_types\": [\"full_attention\"],\n").messages,
            "DIR/config.json:1:17: /layer_types: expected a list with a type "
            "for each of the 3 layers, got 1");
}

/// To the spec such a decoder is an encoder.
TEST(ImportLlama, BothSides) {
  for (const char *value : {"false", "null"}) {
    auto got = importTiny(
        configOf(ofClass("LlamaModel",
                         "\"is_causal\": " + std::string(value) + ", ")),
        llamaTensors());
    ASSERT_TRUE(got.ok) << got.messages;
    EXPECT_EQ(got.messages, "");
    const spec::ModelSpec &model = *got.model;
    EXPECT_EQ(model.kind, spec::Kind::Encoder);
    const auto &attention =
        std::get<spec::Attention>(model.encoder->runs.at(0).sublayers[0].f);
    EXPECT_FALSE(attention.causal);
    EXPECT_EQ(attention.numKvHeads, 1);
    EXPECT_EQ(attention.rotary->theta, 10000);
    EXPECT_TRUE(model.encoder->finalNorm);
    EXPECT_EQ(model.outputs.at(0).value, "encoder.hidden");
  }
}

TEST(ImportLlama, ClassifierOfBothSides) {
  TinyTensors tensors = llamaTensors("model.");
  tensors["score.weight"] = {{2, 4}};
  auto got = importTiny(configOf(ofClass("LlamaForSequenceClassification",
                                         "\"is_causal\": false, ")),
                        tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.model->heads.at(0).from, "encoder");
}

TEST(ImportLlama, BothSidesDoNotGenerate) {
  for (const char *type : {"llama", "mistral", "qwen2"}) {
    std::string name = std::string(type) == "llama"     ? "Llama"
                       : std::string(type) == "mistral" ? "Mistral"
                                                        : "Qwen2";
    auto got = importTiny(
        configOf("\"is_causal\": false,\n\"tie_word_embeddings\": true, " +
                     ofClass(name + "ForCausalLM"),
                 type),
        llamaTensors("model.", 1, /*biases=*/std::string(type) == "qwen2"));
    EXPECT_FALSE(got.ok);
    EXPECT_EQ(got.messages,
              "DIR/config.json:1:15: /is_causal: expected true (a language "
              "model generates causally; the class without its head runs), got "
              "false");
  }
}

TEST(ImportMistral, WindowsOfBothSides) {
  auto messages = [](const std::string &type, const std::string &more) {
    return importTiny(configOf("\"is_causal\": false,\n" + more, type),
                      llamaTensors("", 1, /*biases=*/type == "qwen2"))
        .messages;
  };
  const char *expected =
      ": expected no window (\"is_causal\" is false; windows to both sides are "
      "not supported by this tfc), got ";
  EXPECT_EQ(messages("mistral", "\"sliding_window\": 5, "),
            std::string("DIR/config.json:2:19: /sliding_window") + expected +
                "5");
  EXPECT_EQ(messages("mistral", ""),
            std::string("DIR/config.json:1:1: /sliding_window") + expected +
                "4096");
  EXPECT_EQ(messages("mistral", "\"sliding_window\": null, "), "");
  EXPECT_EQ(messages("qwen2", "\"use_sliding_window\": true, "
                              "\"max_window_layers\": 0, "),
            std::string("DIR/config.json:2:23: /use_sliding_window") +
                expected + "true");
}

TEST(ImportMistral, TypesOfLayersAreThoseOfTheWindow) {
  auto messages = [](const std::string &more) {
    return importTiny(configOf(more, "mistral"), llamaTensors()).messages;
  };
  EXPECT_EQ(messages("\"layer_types\": [\"sliding_attention\"], "), "");
  EXPECT_EQ(messages("\"layer_types\": [\"full_attention\"], "),
            "DIR/config.json:1:18: /layer_types/0: expected "
            "\"sliding_attention\", got \"full_attention\"");
  EXPECT_EQ(messages("\"layer_types\": [\"full_attention\"], "
                     "\"sliding_window\": null, "),
            "");
}
