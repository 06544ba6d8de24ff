// What the importer says about directories that are wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include "compiler/huggingface/CheckTensors.h"

#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::test;

static std::string messagesOf(const std::string &config,
                              const TinyTensors &tensors = bertTensors()) {
  auto got = importTiny(config, tensors);
  EXPECT_FALSE(got.ok);
  return got.messages;
}

TEST(ImportErrors, NothingThere) {
  TinyDirectory directory;
  auto got = directory.import();
  EXPECT_FALSE(got.ok);
  EXPECT_NE(got.messages.find("DIR/config.json"), std::string::npos);
  EXPECT_NE(got.messages.find("safetensors"), std::string::npos);
}

TEST(ImportErrors, NoDirectory) {
  spec::Diagnostics diagnostics;
  EXPECT_FALSE(huggingface::importDirectory("/no/such", {}, diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(spec::formatDiagnostic(diagnostics[0]),
            "/no/such: expected a directory (with config.json and safetensors "
            "files) or a GGUF file, got nothing of this name");
}

TEST(ImportErrors, ConfigIsNoObject) {
  EXPECT_EQ(messagesOf("[1]"),
            "DIR/config.json:1:1: /: expected an object, got an array "
            "[TFC004]");
  EXPECT_NE(messagesOf("{").find("DIR/config.json:1:"), std::string::npos);
}

TEST(ImportErrors, UnknownModelType) {
  std::string start = "/model_type: expected a model type that tfc imports (";
  EXPECT_EQ(messagesOf("{\"model_type\": \"lama\"}"),
            "DIR/config.json:1:16: " + start +
                "did you mean \"llama\"?), got \"lama\"");
  std::string none = messagesOf("{}");
  EXPECT_EQ(none.find("DIR/config.json:1:1: " + start +
                      "afmoe, albert, apertus, arcee, "),
            0u);
  EXPECT_EQ(none.substr(none.size() - 11), "), got none");
}

TEST(ImportErrors, TextModelThatIsNotRun) {
  EXPECT_EQ(messagesOf("{\"model_type\": \"llava\", \"text_config\": "
                       "{\"model_type\": \"mamba\"}}"),
            "DIR/config.json:1:55: /text_config/model_type: expected a text "
            "model that tfc runs (llama, mistral, qwen2, gemma), got "
            "\"mamba\"");
  // Its keys are checked where they are.
  EXPECT_NE(messagesOf("{\"model_type\": \"voxtral\", \"architectures\": "
                       "[\"VoxtralForConditionalGeneration\"], "
                       "\"text_config\": {\"model_type\": \"llama\", "
                       "\"hidden_act\": \"swash\"}}")
                .find("DIR/config.json:1:134: /text_config/hidden_act: "),
            std::string::npos);
  EXPECT_EQ(
      messagesOf("{\"model_type\": \"llava\", \"architectures\": "
                 "[\"LlavaForReading\"], \"text_config\": {}}")
          .find("DIR/config.json:1:43: /architectures/0: expected a class "
                "that tfc imports (LlamaModel, "),
      0u);
}

TEST(ImportErrors, UnknownClass) {
  EXPECT_EQ(messagesOf(bertConfig("\"architectures\": "
                                  "[\"BertLMHeadModel\"], ")),
            "DIR/config.json:1:20: /architectures/0: expected a class that tfc "
            "imports (BertModel, BertForPreTraining, BertForMaskedLM, "
            "BertForNextSentencePrediction, BertForSequenceClassification, "
            "BertForTokenClassification, BertForMultipleChoice, "
            "BertForQuestionAnswering), got \"BertLMHeadModel\"");
  EXPECT_EQ(messagesOf(gpt2Config("\"architectures\": "
                                  "[\"GPT2DoubleHeadsModel\"], "),
                       gpt2Tensors()),
            "DIR/config.json:1:20: /architectures/0: expected a class that tfc "
            "imports (GPT2Model, GPT2LMHeadModel, "
            "GPT2ForSequenceClassification, GPT2ForTokenClassification, "
            "GPT2ForQuestionAnswering), got \"GPT2DoubleHeadsModel\"");
}

TEST(ImportErrors, ClassThatIsRefusedWithAReason) {
  EXPECT_EQ(messagesOf("{\"model_type\": \"splinter\", \"architectures\": "
                       "[\"SplinterForQuestionAnswering\"]}"),
            "DIR/config.json:1:46: /architectures/0: expected a class that tfc "
            "imports (tfc has no scores of all tokens by the row of a "
            "question's token), got \"SplinterForQuestionAnswering\"");
}

TEST(ImportErrors, AllFaultsOfTheConfigAtOnce) {
  EXPECT_EQ(
      messagesOf("{\"model_type\": \"bert\",\n"
                 "\"hidden_size\": \"4\",\n"
                 "\"num_attention_heads\": true,\n"
                 "\"hidden_act\": \"gelu_10\",\n"
                 "\"layer_norm_eps\": 0,\n"
                 "\"is_decoder\": true,\n"
                 "\"add_cross_attention\": true,\n"
                 "\"position_embedding_type\": \"relative\",\n"
                 "\"vocab_size\": 0}"),
      "DIR/config.json:2:16: /hidden_size: expected an integer from 1 to "
      "1048576, got \"4\" [TFC004]\n"
      "DIR/config.json:3:24: /num_attention_heads: expected an integer from 1 "
      "to 1048576, got true [TFC004]\n"
      "DIR/config.json:4:15: /hidden_act: expected an activation that tfc "
      "knows (gelu, gelu_python, gelu_new, quick_gelu, gelu_pytorch_tanh, "
      "gelu_python_tanh, relu, relu2, silu, swish, tanh), got \"gelu_10\"\n"
      "DIR/config.json:5:19: /layer_norm_eps: expected a number above 0, up "
      "to 0.01, got 0 [TFC027]\n"
      "DIR/config.json:6:15: /is_decoder: expected false (tfc runs this model "
      "type as an encoder), got true\n"
      "DIR/config.json:7:24: /add_cross_attention: expected false (tfc runs "
      "this model type without an encoder), got true\n"
      "DIR/config.json:8:28: /position_embedding_type: expected \"absolute\" "
      "or \"relative_key\" or \"relative_key_query\" (these are BERT's), got "
      "\"relative\"\n"
      "DIR/config.json:9:15: /vocab_size: expected an integer from 1 to "
      "268435456, got 0 [TFC004]");
}

TEST(ImportErrors, HeadsMustDivide) {
  EXPECT_EQ(messagesOf("{\"model_type\": \"bert\", \"hidden_size\": 26}"),
            "DIR/config.json:1:1: /num_attention_heads: expected a divisor of "
            "hidden (26) where no \"head_dim\" is given, got 12 [TFC011]");
  EXPECT_EQ(messagesOf("{\"model_type\": \"gpt2\", \"n_head\": 5}"),
            "DIR/config.json:1:34: /n_head: expected a divisor of hidden (768) "
            "where no \"head_dim\" is given, got 5 [TFC011]");
}

TEST(ImportErrors, UnknownKeysAreOneWarning) {
  std::string config = bertConfig("\"speed\": 3, \"_private\": 1, "
                                  "\"mode\": null, \"hidden_dropout_prob\": "
                                  "0.1, ");
  auto got = importTiny(config, bertTensors());
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/config.json:1:2: /: warning: expected only keys that tfc "
            "knows (others may change results), got \"speed\", \"_private\", "
            "\"mode\" [TFC002]");
  EXPECT_FALSE(importTiny(config, bertTensors(), "", true).ok);
}

TEST(ImportErrors, NotesOfTransformersSayNothing) {
  auto got = importTiny(bertConfig("\"_name_or_path\": \"x\", "
                                   "\"_attn_implementation\": \"sdpa\", "
                                   "\"_num_labels\": 2, "),
                        bertTensors());
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages, "");
}

TEST(ImportErrors, LayersWithConfigurationsOfTheirOwn) {
  EXPECT_EQ(messagesOf(bertConfig("\"per_layer_config\": "
                                  "{\"0\": {\"intermediate_size\": 2}}, ")),
            "DIR/config.json:1:22: /per_layer_config: expected none (tfc reads "
            "one configuration for all layers), got an object");
}

TEST(ImportErrors, EncodersThatAreCausal) {
  EXPECT_EQ(messagesOf(bertConfig("\"is_causal\": true, ")),
            "DIR/config.json:1:15: /is_causal: expected false (tfc runs this "
            "model type as an encoder), got true");
  for (const char *value : {"false", "null"}) {
    auto got =
        importTiny(bertConfig("\"is_causal\": " + std::string(value) + ", "),
                   bertTensors());
    EXPECT_EQ(got.messages, "");
  }
}

/// What the masks of the model do not read, and its cache does.
TEST(ImportErrors, DecodersThatAreNone) {
  EXPECT_NE(messagesOf("{\"model_type\": \"bert-generation\", "
                       "\"architectures\": [\"BertGenerationDecoder\"]}")
                .find("/is_decoder: expected true (generation needs causal "
                      "attention), got false"),
            std::string::npos);
}

TEST(ImportErrors, WindowsOfTheCache) {
  EXPECT_EQ(
      messagesOf(gpt2Config("\n\"sliding_window\": 4,\n"
                            "\"attention_chunk_size\": 2,\n"
                            "\"kv_sharing_modes\": [\"reuse\"],\n"
                            "\"layer_types\": [\"full_attention\", "
                            "\"sliding_attention\"],\n"),
                 gpt2Tensors()),
      "DIR/config.json:2:19: /sliding_window: expected none (the layers of "
      "this model type see all positions), got 4\n"
      "DIR/config.json:3:25: /attention_chunk_size: expected none (this "
      "model type attends in no chunks), got 2\n"
      "DIR/config.json:4:21: /kv_sharing_modes: expected none (every layer has "
      "keys and values of its own), got an array\n"
      "DIR/config.json:5:35: /layer_types/1: expected \"full_attention\", got "
      "\"sliding_attention\"");
  EXPECT_EQ(importTiny(gpt2Config("\"sliding_window\": null, "
                                  "\"layer_types\": [\"full_attention\"], "),
                       gpt2Tensors())
                .messages,
            "");
  EXPECT_EQ(messagesOf(bertConfig("\"layer_types\": 3, ")),
            "DIR/config.json:1:17: /layer_types: expected a list with a type "
            "for each of the layers, got 3");
}

TEST(ImportErrors, WhatIsNotOfThisModel) {
  EXPECT_EQ(
      messagesOf(bertConfig("\n\"text_config\": {\"hidden_size\": 2},\n"
                            "\"transformers_weights\": \"x.bin\",\n")),
      "DIR/config.json:2:16: /text_config: expected none (the configuration of "
      "this model type has no other one inside), got an object\n"
      "DIR/config.json:3:25: /transformers_weights: expected none (tfc reads "
      "model.safetensors or its shards), got \"x.bin\"");
}

TEST(ImportErrors, Tensors) {
  TinyTensors tensors = bertTensors();
  tensors.erase("encoder.layer.0.attention.self.key.bias");
  tensors["encoder.layer.0.intermediate.dense.weight"] = {{4, 3}};
  tensors["pooler.dense.bias"] = {{4}, 1, rt::DType::I32};
  EXPECT_EQ(messagesOf(bertConfig(), tensors),
            "DIR/model.safetensors: tensor "
            "\"encoder.layer.0.intermediate.dense.weight\": expected shape "
            "[3, 4] (weight encoder.layers.ffn.up.weight), got [4, 3]; the "
            "transposed layout would fit\n"
            "DIR/model.safetensors: tensor \"pooler.dense.bias\": expected "
            "dtype F32, F16 or BF16 (weight heads.pooler.dense.bias), got "
            "I32\n"
            "DIR: expected tensor "
            "\"encoder.layer.0.attention.self.key.bias\" (weight "
            "encoder.layers.attn.k.bias), got none; the closest name is "
            "\"encoder.layer.0.attention.self.query.bias\"");
}

TEST(ImportErrors, UnclaimedTensors) {
  TinyTensors tensors = bertTensors();
  tensors["encoder.layer.1.output.dense.bias"] = {{4}};
  auto got = importTiny(bertConfig(), tensors);
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR: warning: expected only tensors of this model (others have "
            "no effect), got \"encoder.layer.1.output.dense.bias\" [TFC055]");
  EXPECT_FALSE(importTiny(bertConfig(), tensors, "", true).ok);
}

TEST(ImportErrors, TruncatedTensorFile) {
  TinyDirectory directory;
  directory.write("config.json", bertConfig());
  directory.write("model.safetensors", "\x10");
  auto got = directory.import();
  EXPECT_FALSE(got.ok);
  EXPECT_NE(got.messages.find("DIR/model.safetensors"), std::string::npos);
  EXPECT_EQ(got.messages.find('\n'), std::string::npos);
}

TEST(ImportErrors, LabelsOfQuestions) {
  TinyTensors tensors = bertTensors();
  EXPECT_EQ(messagesOf(bertConfig("\"architectures\": "
                                  "[\"BertForQuestionAnswering\"], "
                                  "\"num_labels\": 3, "),
                       tensors),
            "DIR/config.json:1:63: /num_labels: expected 2 labels (start and "
            "end), got 3");
}

TEST(ImportErrors, TokenIds) {
  auto got = importTiny(gpt2Config("\"eos_token_id\": \"x\", "),
                        gpt2Tensors("transformer."));
  EXPECT_EQ(got.messages,
            "DIR/config.json:1:18: /eos_token_id: expected a token id, a list "
            "of them or null, got \"x\" [TFC004]");
  got = importTiny(gpt2Config(), gpt2Tensors("transformer."),
                   "{\"eos_token_id\": [1, null], \"pad_token_id\": 1.5}");
  EXPECT_EQ(got.messages,
            "DIR/generation_config.json:1:22: /eos_token_id/1: expected a "
            "token id, a list of them or null, got null [TFC004]\n"
            "DIR/generation_config.json:1:45: /pad_token_id: expected a token "
            "id or null, got 1.5 [TFC004]");
}

TEST(ImportErrors, PadThatIsNoToken) {
  auto got = importTiny(gpt2Config("\"pad_token_id\": 7, "),
                        gpt2Tensors("transformer."));
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/config.json:1:18: /pad_token_id: warning: expected a token id "
            "below the vocabulary's size (7; generation fills with eos "
            "instead), got 7");
}

TEST(ImportErrors, KeysThatMustAgree) {
  EXPECT_EQ(messagesOf(gpt2Config("\"hidden_size\": 8, "), gpt2Tensors()),
            "DIR/config.json:1:17: /hidden_size: expected 4 (the value of "
            "n_embd, which means the same), got 8");
}

TEST(MatchesGlob, Stars) {
  using huggingface::matchesGlob;
  EXPECT_TRUE(matchesGlob("h.0.attn.bias", "*.attn.bias"));
  EXPECT_FALSE(matchesGlob("h.0.attn.c_attn.bias", "*.attn.bias"));
  EXPECT_TRUE(matchesGlob("a.b.b.c", "a*b.c"));
  EXPECT_TRUE(matchesGlob("abc", "abc*"));
  EXPECT_TRUE(matchesGlob("", "*"));
  EXPECT_FALSE(matchesGlob("abc", "ab"));
  EXPECT_FALSE(matchesGlob("ab", "abc"));
}
