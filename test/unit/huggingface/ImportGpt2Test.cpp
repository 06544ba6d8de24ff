// GPT-2 directories: classes, ties, token ids, switches.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::test;

static std::string languageModel(const std::string &more = "") {
  return gpt2Config("\"architectures\": [\"GPT2LMHeadModel\"], " + more);
}

static const spec::LogitsStep &logitsOf(const spec::ModelSpec &model) {
  return std::get<spec::LogitsStep>(model.heads.at(0).steps.at(0));
}

static const spec::Attention &attentionOf(const spec::ModelSpec &model) {
  return std::get<spec::Attention>(model.decoder->runs.at(0).sublayers[0].f);
}

TEST(ImportGpt2, Model) {
  auto got = importTiny(gpt2Config("\"architectures\": [\"GPT2Model\"], "),
                        gpt2Tensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  EXPECT_EQ(got.model->name, "gpt2-GPT2Model");
  ASSERT_EQ(got.model->outputs.size(), 1u);
  EXPECT_EQ(got.model->outputs[0].name, "last_hidden_state");
  EXPECT_TRUE(got.model->heads.empty());
  EXPECT_TRUE(attentionOf(*got.model).causal);
  EXPECT_TRUE(got.model->decoder->finalNorm);
}

TEST(ImportGpt2, BuffersAndPrefix) {
  TinyTensors tensors = gpt2Tensors("transformer.");
  tensors["transformer.h.0.attn.bias"] = {{1, 1, 5, 5}, 1, rt::DType::U8};
  tensors["transformer.h.0.attn.masked_bias"] = {{}};
  tensors["lm_head.weight"] = {{7, 4}};
  auto got = importTiny(languageModel(), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  EXPECT_EQ(logitsOf(*got.model).weight, "decoder.embeddings.token.weight");
}

TEST(ImportGpt2, HeadIsTiedUnlessTheTensorsSayOtherwise) {
  TinyTensors tensors = gpt2Tensors("transformer.");
  auto absent = importTiny(languageModel(), tensors);
  ASSERT_TRUE(absent.ok) << absent.messages;
  EXPECT_EQ(logitsOf(*absent.model).weight, "decoder.embeddings.token.weight");
  tensors["lm_head.weight"] = {{7, 4}, 2};
  auto different =
      importTiny(languageModel("\"tie_word_embeddings\": true, "), tensors);
  ASSERT_TRUE(different.ok) << different.messages;
  EXPECT_EQ(logitsOf(*different.model).weight, "heads.lm.proj.weight");
}

TEST(ImportGpt2, SequenceClassification) {
  TinyTensors tensors = gpt2Tensors("transformer.");
  tensors["score.weight"] = {{3, 4}};
  auto got = importTiny(
      gpt2Config("\"architectures\": [\"GPT2ForSequenceClassification\"], "
                 "\"num_labels\": 3, \"pad_token_id\": 6, "),
      tensors, R"({"pad_token_id": 1})");
  ASSERT_TRUE(got.ok) << got.messages;
  const auto &steps = got.model->heads.at(0).steps;
  EXPECT_EQ(std::get<spec::TakeStep>(steps.at(0)).at,
            spec::TakeStep::At::LastNonpad);
  EXPECT_FALSE(std::get<spec::DenseStep>(steps.at(1)).bias);
  // A class that does not generate has its config's pad token.
  EXPECT_EQ(got.model->tokens.pad, 6);
}

TEST(ImportGpt2, Switches) {
  auto plain = importTiny(languageModel(), gpt2Tensors());
  EXPECT_DOUBLE_EQ(attentionOf(*plain.model).scale, 1 / std::sqrt(2.0));
  auto got =
      importTiny(languageModel("\"scale_attn_weights\": false, "
                               "\"scale_attn_by_inverse_layer_idx\": true, "
                               "\"reorder_and_upcast_attn\": true, "),
                 gpt2Tensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(attentionOf(*got.model).scale, 1);
  EXPECT_TRUE(attentionOf(*got.model).scaleByInverseLayer);
}

TEST(ImportGpt2, OtherNamesOfTheSameKeys) {
  auto got = importTiny(
      R"({"model_type": "gpt2", "hidden_size": 4, "num_hidden_layers": 1,
          "num_attention_heads": 2, "n_inner": 3, "vocab_size": 7,
          "max_position_embeddings": 5, "architectures": ["GPT2Model"]})",
      gpt2Tensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.model->hidden, 4);
}

TEST(ImportGpt2, InnerWidthIsFourTimesTheHidden) {
  TinyTensors tensors = gpt2Tensors();
  tensors["h.0.mlp.c_fc.weight"] = {{4, 16}};
  tensors["h.0.mlp.c_fc.bias"] = {{16}};
  tensors["h.0.mlp.c_proj.weight"] = {{16, 4}};
  auto got = importTiny(
      R"({"model_type": "gpt2", "n_embd": 4, "n_layer": 1, "n_head": 2,
          "vocab_size": 7, "n_positions": 5, "n_inner": null})",
      tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(
      std::get<spec::Ffn>(got.model->decoder->runs[0].sublayers[1].f).width,
      16);
}

TEST(ImportGpt2, TokenIds) {
  auto ids = [](const std::string &config, const std::string &generation) {
    auto got = importTiny(languageModel(config), gpt2Tensors(), generation);
    EXPECT_TRUE(got.ok) << got.messages;
    return got.ok ? got.model->tokens : spec::Tokens();
  };
  using Ends = std::vector<int64_t>;
  // The class's 50256 is no token of this vocabulary.
  EXPECT_EQ(ids("", "").eos, Ends());
  EXPECT_EQ(ids("\"eos_token_id\": 3, ", "").eos, Ends({3}));
  EXPECT_EQ(ids("\"eos_token_id\": [5, 3], ", "").eos, Ends({5, 3}));
  EXPECT_EQ(ids("\"eos_token_id\": null, ", "").eos, Ends());
  spec::Tokens other = ids("\"eos_token_id\": 3, \"pad_token_id\": 1, ",
                           R"({"eos_token_id": [4, 2], "bos_token_id": 6})");
  EXPECT_EQ(other.eos, Ends({4, 2}));
  EXPECT_EQ(other.bos, 6);
  EXPECT_FALSE(other.pad);
  EXPECT_EQ(ids("\"eos_token_id\": 3, ", R"({"eos_token_id": null})").eos,
            Ends());
}

TEST(ImportGpt2, ClassByTensorsWhenNoneIsNamed) {
  EXPECT_EQ(importTiny(gpt2Config(), gpt2Tensors()).model->name,
            "gpt2-GPT2Model");
  EXPECT_EQ(importTiny(gpt2Config(), gpt2Tensors("transformer.")).model->name,
            "gpt2-GPT2LMHeadModel");
  TinyTensors tensors = gpt2Tensors("transformer.");
  tensors["score.weight"] = {{2, 4}};
  EXPECT_EQ(importTiny(gpt2Config(), tensors).model->name,
            "gpt2-GPT2ForSequenceClassification");
}

TEST(ImportGpt2, SettingsOfGeneration) {
  const char *settings =
      "{\n  \"do_sample\": true, \"top_k\": 7, \"min_length\": 2,\n"
      "  \"repetition_penalty\": 1.3, \"bad_words_ids\": [[1]]\n}";
  auto got = importTiny(languageModel(), gpt2Tensors(), settings);
  ASSERT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/generation_config.json:3:47: /: warning: expected no such "
            "settings (tfc-run generates without them), got "
            "\"bad_words_ids\"");
  EXPECT_TRUE(got.model->generation.doSample);
  EXPECT_EQ(got.model->generation.topK, 7);
  EXPECT_EQ(got.model->generation.minLength, 2);
  EXPECT_EQ(got.model->generation.repetitionPenalty, 1.3);
  EXPECT_FALSE(importTiny(languageModel(), gpt2Tensors(), settings, true).ok);
}

TEST(ImportGpt2, BeamsAreNotSampled) {
  auto got = importTiny(languageModel(), gpt2Tensors(),
                        "{\"do_sample\": true, \"num_beams\": 3}");
  ASSERT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/generation_config.json:1:15: /do_sample: warning: expected "
            "false (num_beams is 3; tfc-run searches with beams without "
            "sampling), got true");
  EXPECT_FALSE(got.model->generation.doSample);
  EXPECT_EQ(got.model->generation.numBeams, 3);
}

TEST(ImportGpt2, BothSides) {
  auto got = importTiny(gpt2Config("\"is_causal\": false, "), gpt2Tensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  EXPECT_EQ(got.model->kind, spec::Kind::Encoder);
  EXPECT_EQ(got.model->encoder->embeddings.position->rows, 5);
  EXPECT_EQ(importTiny(gpt2Config("\"is_causal\": false, "),
                       gpt2Tensors("transformer."))
                .messages,
            "DIR/config.json:1:15: /is_causal: expected true (a language model "
            "generates causally; the class without its head runs), got false");
}
