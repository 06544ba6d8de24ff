// BART directories: its classes, the bias of its logits, the beginning and the
// end of what it generates.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tfc;
using namespace tfc::test;

namespace {

/// Hidden 4, ffn 5 and 6, 7 tokens, 9 positions, one layer a stack.
TinyTensors bartTensors(const std::string &prefix = "model.") {
  TinyTensors tensors;
  auto add = [&](const std::string &stem, std::vector<int64_t> weight) {
    tensors[stem + ".bias"] = {{weight[0]}};
    tensors[stem + ".weight"] = {std::move(weight)};
  };
  auto attention = [&](const std::string &stem) {
    for (const char *part : {"q_proj", "k_proj", "v_proj", "out_proj"}) {
      add(stem + "." + part, {4, 4});
    }
    add(stem + "_layer_norm", {4});
  };
  auto stack = [&](const std::string &name, int64_t width) {
    std::string layer = prefix + name + ".layers.0.";
    attention(layer + "self_attn");
    add(layer + "fc1", {width, 4});
    add(layer + "fc2", {4, width});
    add(layer + "final_layer_norm", {4});
    add(prefix + name + ".layernorm_embedding", {4});
    tensors[prefix + name + ".embed_positions.weight"] = {{11, 4}};
  };
  tensors[prefix + "shared.weight"] = {{7, 4}};
  stack("encoder", 5);
  stack("decoder", 6);
  attention(prefix + "decoder.layers.0.encoder_attn");
  return tensors;
}

std::string configOf(const std::string &more = "",
                     const std::string &name = "") {
  return "{" + more +
         (name.empty() ? "" : "\"architectures\": [\"" + name + "\"], ") +
         "\"model_type\": \"bart\", \"d_model\": 4, \"encoder_layers\": 1, "
         "\"decoder_layers\": 1, \"encoder_attention_heads\": 2, "
         "\"decoder_attention_heads\": 1, \"encoder_ffn_dim\": 5, "
         "\"decoder_ffn_dim\": 6, \"vocab_size\": 7, "
         "\"max_position_embeddings\": 9}";
}

constexpr const char *languageModel = "BartForConditionalGeneration";

} // namespace

TEST(ImportBart, LanguageModel) {
  TinyTensors tensors = bartTensors();
  tensors["final_logits_bias"] = {{1, 7}};
  auto got = importTiny(configOf("", languageModel), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  const spec::ModelSpec &model = *got.model;
  EXPECT_EQ(model.maxPositions, 9);
  EXPECT_EQ(model.encoder->embeddings.position->rows, 11);
  EXPECT_EQ(model.encoder->embeddings.position->offset, 2);
  EXPECT_EQ(model.encoder->embeddings.tokenScale, 1);
  const std::vector<spec::Sublayer> &layer = model.decoder->runs[0].sublayers;
  ASSERT_EQ(layer.size(), 3u);
  EXPECT_TRUE(layer[1].postNorm && !layer[1].preNorm);
  const auto &cross = std::get<spec::Attention>(layer[1].f);
  EXPECT_TRUE(cross.cross && cross.qBias && cross.oBias);
  EXPECT_EQ(cross.numHeads, 1);
  EXPECT_EQ(std::get<spec::Ffn>(layer[2].f).width, 6);
  const auto &logits =
      std::get<spec::LogitsStep>(model.heads.at(0).steps.at(0));
  EXPECT_EQ(logits.weight, "shared.token.weight");
  EXPECT_TRUE(logits.bias);
  EXPECT_TRUE(model.parameters.back().fillZeros);
  EXPECT_EQ(model.tokens.decoderStart, 2);
  EXPECT_EQ(model.tokens.bos, 0);
  EXPECT_EQ(model.tokens.pad, 1);
  EXPECT_EQ(model.generation.forcedEos, 2);
  EXPECT_FALSE(model.generation.forcedBos);
}

TEST(ImportBart, BiasOfTheLogitsMayBeMissing) {
  auto got = importTiny(configOf("", languageModel), bartTensors());
  EXPECT_TRUE(got.ok) << got.messages;
}

TEST(ImportBart, ScaleOfEmbeddings) {
  auto got = importTiny(configOf("\"scale_embedding\": true, ", languageModel),
                        bartTensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.model->encoder->embeddings.tokenScale, 2);
  EXPECT_EQ(got.model->decoder->embeddings.tokenScale, 2);
}

TEST(ImportBart, Classifier) {
  TinyTensors tensors = bartTensors();
  tensors["classification_head.dense.weight"] = {{4, 4}};
  tensors["classification_head.dense.bias"] = {{4}};
  tensors["classification_head.out_proj.weight"] = {{3, 4}};
  tensors["classification_head.out_proj.bias"] = {{3}};
  auto got = importTiny(configOf("", "BartForSequenceClassification"), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  const spec::Head &head = got.model->heads.at(0);
  EXPECT_EQ(head.from, "decoder");
  EXPECT_EQ(std::get<spec::TakeStep>(head.steps[0]).at,
            spec::TakeStep::At::LastEos);
  EXPECT_EQ(std::get<spec::DenseStep>(head.steps[1]).act,
            spec::Activation::Tanh);
  EXPECT_EQ(std::get<spec::DenseStep>(head.steps[2]).width, 3);
  EXPECT_EQ(got.model->tokens.decoderStart, 2);
}

TEST(ImportBart, Questions) {
  TinyTensors tensors = bartTensors();
  tensors["qa_outputs.weight"] = {{2, 4}};
  tensors["qa_outputs.bias"] = {{2}};
  auto got = importTiny(configOf("", "BartForQuestionAnswering"), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  ASSERT_EQ(got.model->outputs.size(), 3u);
  EXPECT_EQ(got.model->outputs[1].name, "end_logits");
  EXPECT_EQ(got.model->outputs[1].part, 1);
}

TEST(ImportBart, ClassByTensorsWhenNoneIsNamed) {
  auto name = [](const TinyTensors &tensors) {
    auto got = importTiny(configOf(), tensors);
    EXPECT_TRUE(got.ok) << got.messages;
    return got.ok ? got.model->name : "";
  };
  EXPECT_EQ(name(bartTensors("")), "bart-BartModel");
  EXPECT_EQ(name(bartTensors()), "bart-BartForConditionalGeneration");
  TinyTensors tensors = bartTensors("");
  tensors["final_logits_bias"] = {{1, 7}};
  EXPECT_EQ(name(tensors), "bart-BartForConditionalGeneration");
}

TEST(ImportBart, GenerationConfigWins) {
  std::string config = configOf("\"num_beams\": 4, \"forced_bos_token_id\": 0, "
                                "\"early_stopping\": true, "
                                "\"no_repeat_ngram_size\": 3, "
                                "\"length_penalty\": 2.0, \"max_length\": 6, "
                                "\"min_length\": 1, ",
                                languageModel);
  auto got = importTiny(config, bartTensors());
  ASSERT_TRUE(got.ok) << got.messages;
  const spec::Generation &old = got.model->generation;
  EXPECT_EQ(old.numBeams, 4);
  EXPECT_EQ(old.forcedBos, 0);
  EXPECT_EQ(old.forcedEos, 2);
  EXPECT_EQ(old.earlyStopping, spec::Generation::EarlyStopping::Yes);
  EXPECT_EQ(old.noRepeatNgram, 3);
  EXPECT_EQ(old.lengthPenalty, 2);
  EXPECT_EQ(old.maxLength, 6);
  EXPECT_EQ(old.minLength, 1);
  auto other = importTiny(config, bartTensors(),
                          "{\"decoder_start_token_id\": 4, \"eos_token_id\": "
                          "[5, 6], \"early_stopping\": \"never\", "
                          "\"temperature\": 0.0}");
  ASSERT_TRUE(other.ok) << other.messages;
  EXPECT_EQ(other.model->generation.numBeams, 1);
  EXPECT_FALSE(other.model->generation.forcedEos);
  EXPECT_EQ(other.model->generation.earlyStopping,
            spec::Generation::EarlyStopping::Never);
  EXPECT_EQ(other.model->tokens.decoderStart, 4);
  EXPECT_EQ(other.model->tokens.eos, (std::vector<int64_t>{5, 6}));
}

TEST(ImportBart, GenerationThatIsRefused) {
  auto messages = [](const std::string &settings) {
    return importTiny(configOf("", languageModel), bartTensors(),
                      "{\"decoder_start_token_id\": 2, " + settings + "}")
        .messages;
  };
  EXPECT_EQ(messages("\n\"forced_eos_token_id\": [2, 3]"),
            "DIR/generation_config.json:2:24: /forced_eos_token_id: expected "
            "one token id below 7, got an array");
  EXPECT_EQ(messages("\n\"forced_bos_token_id\": 7"),
            "DIR/generation_config.json:2:24: /forced_bos_token_id: expected "
            "one token id below 7, got 7");
  EXPECT_EQ(messages("\n\"early_stopping\": \"soon\""),
            "DIR/generation_config.json:2:19: /early_stopping: expected true, "
            "false or \"never\", got \"soon\"");
  EXPECT_EQ(messages("\n\"num_beams\": 0"),
            "DIR/generation_config.json:2:14: /num_beams: expected an integer "
            "from 1 to 1024, got 0");
  EXPECT_EQ(messages("\n\"do_sample\": true, \"top_p\": 0"),
            "DIR/generation_config.json:2:29: /top_p: expected a number from "
            "1e-06 to 1, got 0");
}

TEST(ImportBart, HeadsMustDivide) {
  EXPECT_EQ(importTiny("{\"model_type\": \"bart\",\n\"d_model\": 10, "
                       "\"encoder_attention_heads\": 5,\n"
                       "\"decoder_attention_heads\": 4}",
                       bartTensors())
                .messages,
            "DIR/config.json:3:28: /decoder_attention_heads: expected a "
            "divisor of hidden (10) where no \"head_dim\" is given, got 4 "
            "[TFC011]");
}

TEST(ImportBart, WhatTheStacksSee) {
  EXPECT_EQ(
      importTiny(configOf("\"is_causal\": false, ", languageModel),
                 bartTensors())
          .messages,
      "DIR/config.json:1:15: /is_causal: expected none (tfc runs an encoder "
      "that sees all tokens and a decoder that sees those before), got false");
}
