// T5 and mT5 directories: two stacks or the encoder alone, gates, ties and
// scales in files of all generations.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::test;

namespace {

/// Hidden 4, two heads of 3 columns, ffn 5, 8 buckets, 7 tokens, one layer a
/// stack.
TinyTensors t5Tensors(bool gated = false, bool decoder = true) {
  TinyTensors tensors;
  auto attention = [&](const std::string &name) {
    for (const char *part : {"q", "k", "v"}) {
      tensors[name + part + std::string(".weight")] = {{6, 4}};
    }
    tensors[name + "o.weight"] = {{4, 6}};
  };
  auto stack = [&](const std::string &name, bool cross) {
    std::string layer = name + ".block.0.layer.";
    std::string last = layer + (cross ? "2." : "1.");
    attention(layer + "0.SelfAttention.");
    tensors[layer + "0.SelfAttention.relative_attention_bias.weight"] = {
        {8, 2}};
    tensors[layer + "0.layer_norm.weight"] = {{4}};
    if (cross) {
      attention(layer + "1.EncDecAttention.");
      tensors[layer + "1.layer_norm.weight"] = {{4}};
    }
    tensors[last + "layer_norm.weight"] = {{4}};
    for (const char *up : {"wi_0", "wi_1"}) {
      if (gated) {
        tensors[last + "DenseReluDense." + up + ".weight"] = {{5, 4}};
      }
    }
    if (!gated) {
      tensors[last + "DenseReluDense.wi.weight"] = {{5, 4}};
    }
    tensors[last + "DenseReluDense.wo.weight"] = {{4, 5}};
    tensors[name + ".final_layer_norm.weight"] = {{4}};
  };
  tensors["shared.weight"] = {{7, 4}};
  stack("encoder", false);
  if (decoder) {
    stack("decoder", true);
  }
  return tensors;
}

std::string configOf(const std::string &more = "",
                     const std::string &name = "T5ForConditionalGeneration",
                     const std::string &type = "t5") {
  return "{" + more + "\"model_type\": \"" + type +
         "\", \"architectures\": [\"" + name +
         "\"], \"d_model\": 4, \"d_kv\": 3, \"num_heads\": 2, \"d_ff\": 5, "
         "\"num_layers\": 1, \"vocab_size\": 7, "
         "\"relative_attention_num_buckets\": 8, "
         "\"is_encoder_decoder\": true, \"decoder_start_token_id\": 0}";
}

const spec::Ffn &ffnOf(const spec::ModelSpec &model) {
  return std::get<spec::Ffn>(model.decoder->runs.at(0).sublayers.back().f);
}

/// Whether the language model's rows are scaled.
bool scales(const std::string &more, const std::string &type = "t5") {
  std::string name = type == "t5" ? "T5ForConditionalGeneration"
                                  : "MT5ForConditionalGeneration";
  auto got = importTiny(configOf(more, name, type), t5Tensors(type != "t5"));
  EXPECT_TRUE(got.ok) << got.messages;
  return got.ok && std::holds_alternative<spec::ScaleStep>(
                       got.model->heads.at(0).steps[0]);
}

} // namespace

TEST(ImportT5, LanguageModel) {
  auto got = importTiny(configOf(), t5Tensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  const spec::ModelSpec &model = *got.model;
  EXPECT_EQ(model.kind, spec::Kind::EncoderDecoder);
  EXPECT_EQ(model.maxPositions, 0);
  EXPECT_EQ(model.decoder->layers, 1);
  EXPECT_EQ(model.decoder->positionBias->buckets, 8);
  EXPECT_EQ(model.decoder->positionBias->maxDistance, 128);
  const auto &self =
      std::get<spec::Attention>(model.decoder->runs[0].sublayers[0].f);
  EXPECT_EQ(self.headDim, 3);
  EXPECT_EQ(self.scale, 1);
  EXPECT_TRUE(self.positionBias);
  EXPECT_EQ(ffnOf(model).act, spec::Activation::Relu);
  EXPECT_FALSE(ffnOf(model).gated);
  EXPECT_EQ(std::get<spec::ScaleStep>(model.heads.at(0).steps[0]).factor, 0.5);
  EXPECT_EQ(std::get<spec::LogitsStep>(model.heads[0].steps[1]).weight,
            "shared.token.weight");
  EXPECT_EQ(model.tokens.decoderStart, 0);
  EXPECT_EQ(model.tokens.pad, 0);
  EXPECT_EQ(model.tokens.eos, std::vector<int64_t>{1});
  ASSERT_EQ(model.outputs.size(), 2u);
  EXPECT_EQ(model.outputs[0].name, "encoder_last_hidden_state");
  EXPECT_EQ(model.outputs[1].name, "logits");
  EXPECT_EQ(got.summary.substr(0, got.summary.find(',')),
            "t5-T5ForConditionalGeneration: 1 + 1 layers");
}

TEST(ImportT5, FeedForward) {
  auto ffn = [](const std::string &more, bool gated) {
    auto got = importTiny(configOf(more), t5Tensors(gated));
    EXPECT_TRUE(got.ok) << got.messages;
    return got.ok ? ffnOf(*got.model) : spec::Ffn();
  };
  std::string key = "\"feed_forward_proj\": ";
  spec::Ffn gelu = ffn(key + "\"gated-gelu\", ", true);
  EXPECT_TRUE(gelu.gated);
  EXPECT_EQ(gelu.act, spec::Activation::GeluNew);
  EXPECT_EQ(ffn(key + "\"gated-silu\", ", true).act, spec::Activation::Silu);
  EXPECT_EQ(ffn(key + "\"gelu\", ", false).act, spec::Activation::Gelu);
  spec::Ffn derived = ffn("\"dense_act_fn\": \"gelu_new\", \"is_gated_act\": "
                          "true, " +
                              key + "\"relu\", ",
                          true);
  EXPECT_TRUE(derived.gated);
  EXPECT_EQ(derived.act, spec::Activation::GeluNew);
  EXPECT_EQ(
      importTiny(configOf(key + "\"gated-mish\",\n"), t5Tensors(true)).messages,
      "DIR/config.json:1:23: /feed_forward_proj: expected an activation "
      "that tfc knows (gelu, gelu_python, gelu_new, quick_gelu, "
      "gelu_pytorch_tanh, "
      "gelu_python_tanh, relu, relu2, silu, swish, tanh), alone or after "
      "\"gated-\", got \"gated-mish\"");
}

TEST(ImportT5, ScaleOfTheHead) {
  EXPECT_TRUE(scales(""));
  EXPECT_FALSE(scales("\"tie_word_embeddings\": false, "));
  EXPECT_FALSE(scales("\"tie_word_embeddings\": true, "
                      "\"scale_decoder_outputs\": false, "));
  EXPECT_TRUE(scales("\"tie_word_embeddings\": false, "
                     "\"scale_decoder_outputs\": true, "));
  EXPECT_FALSE(scales("", "mt5"));
  EXPECT_FALSE(scales("\"tie_word_embeddings\": true, ", "mt5"));
}

TEST(ImportT5, TensorsSayWhetherTheHeadIsTied) {
  auto weight = [](const TinyTensors &tensors, const std::string &more) {
    auto got = importTiny(configOf(more), tensors);
    EXPECT_TRUE(got.ok) << got.messages;
    return std::get<spec::LogitsStep>(got.model->heads.at(0).steps.back())
        .weight;
  };
  TinyTensors tensors = t5Tensors();
  EXPECT_EQ(weight(tensors, "\"tie_word_embeddings\": false, "),
            "shared.token.weight");
  tensors["lm_head.weight"] = {{7, 4}};
  EXPECT_EQ(weight(tensors, ""), "shared.token.weight");
  tensors["lm_head.weight"] = {{7, 4}, 2};
  EXPECT_EQ(weight(tensors, ""), "heads.lm.proj.weight");
}

TEST(ImportT5, Models) {
  auto got = importTiny(configOf("", "T5Model"), t5Tensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.model->outputs[1].value, "decoder.hidden");
  // The encoder, from a file of its own and from one of both stacks.
  for (bool decoder : {false, true}) {
    got = importTiny(configOf("", "T5EncoderModel"), t5Tensors(false, decoder));
    ASSERT_TRUE(got.ok) << got.messages;
    EXPECT_EQ(got.messages, "");
    EXPECT_EQ(got.model->kind, spec::Kind::Encoder);
    ASSERT_EQ(got.model->outputs.size(), 1u);
    EXPECT_EQ(got.model->outputs[0].name, "last_hidden_state");
    EXPECT_EQ(got.model->outputs[0].value, "encoder.hidden");
  }
  got = importTiny(configOf("", "MT5EncoderModel", "mt5"),
                   t5Tensors(true, false));
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_TRUE(
      std::get<spec::Ffn>(got.model->encoder->runs[0].sublayers[1].f).gated);
}

TEST(ImportT5, CopiesOfTheTable) {
  TinyTensors tensors = t5Tensors();
  tensors["encoder.embed_tokens.weight"] = tensors["shared.weight"];
  tensors["decoder.block.0.layer.1.EncDecAttention.relative_attention_bias."
          "weight"] = {{8, 2}};
  auto got = importTiny(configOf(), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  tensors.erase("shared.weight");
  EXPECT_TRUE(importTiny(configOf(), tensors).ok);
  tensors = t5Tensors();
  tensors["encoder.embed_tokens.weight"] = {{7, 4}, 3};
  EXPECT_EQ(importTiny(configOf(), tensors).messages,
            "DIR: expected one token table (tables that differ are not "
            "supported by this tfc), got \"shared.weight\" and another "
            "\"encoder.embed_tokens.weight\"");
}

TEST(ImportT5, GenerationBeginsSomewhere) {
  const char *settings = "{\"eos_token_id\": 1, \"bos_token_id\": 3}";
  auto got = importTiny(configOf(), t5Tensors(), settings);
  EXPECT_EQ(got.model->tokens.decoderStart, 3);
  // Without a beginning the model runs, and does not generate.
  got = importTiny(configOf(), t5Tensors(), "{\"eos_token_id\": 1}");
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_FALSE(got.model->tokens.decoderStart);
  EXPECT_EQ(got.spec.find("\"generation\""), std::string::npos);
}

/// As the classes of transformers have it where a file says nothing: mT5 begins
/// with the padding token, T5 nowhere.
TEST(ImportT5, BeginningByDefault) {
  auto without = [](const std::string &config) {
    const std::string key = ", \"decoder_start_token_id\": 0";
    return std::string(config).erase(config.find(key), key.size());
  };
  auto t5 = importTiny(without(configOf()), t5Tensors());
  ASSERT_TRUE(t5.ok) << t5.messages;
  EXPECT_FALSE(t5.model->tokens.decoderStart);
  auto mt5 =
      importTiny(without(configOf("", "MT5ForConditionalGeneration", "mt5")),
                 t5Tensors(true));
  ASSERT_TRUE(mt5.ok) << mt5.messages;
  EXPECT_EQ(mt5.model->tokens.decoderStart, 0);
}

/// Without a mask transformers lets the encoder see what "is_causal" says, with
/// one the decoder alone.
TEST(ImportT5, WhatTheStacksSee) {
  auto messages = [](const std::string &value, const std::string &name) {
    return importTiny(configOf("\"is_causal\": " + value + ", ", name),
                      t5Tensors())
        .messages;
  };
  for (const char *value : {"false", "true", "null"}) {
    EXPECT_EQ(messages(value, "T5ForConditionalGeneration"),
              "DIR/config.json:1:15: /is_causal: expected none (tfc runs an "
              "encoder that sees all tokens and a decoder that sees those "
              "before), got " +
                  std::string(value));
  }
  EXPECT_EQ(messages("true", "T5EncoderModel"),
            "DIR/config.json:1:15: /is_causal: expected false (tfc runs this "
            "class as an encoder), got true");
  EXPECT_EQ(messages("false", "T5EncoderModel"), "");
}
