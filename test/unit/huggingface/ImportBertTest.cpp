// BERT directories: classes, heads, ways of storing.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/huggingface/TinyDirectory.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>

using namespace tfc;
using namespace tfc::test;

static std::string outputsOf(const spec::ModelSpec &model) {
  std::string text;
  for (const spec::Output &output : model.outputs) {
    text += (text.empty() ? "" : " ") + output.name + "=" + output.value;
  }
  return text;
}

static const spec::Parameter *find(const spec::ModelSpec &model,
                                   const std::string &name) {
  auto found = std::find_if(
      model.parameters.begin(), model.parameters.end(),
      [&](const spec::Parameter &parameter) { return parameter.name == name; });
  return found == model.parameters.end() ? nullptr : &*found;
}

static std::string architecture(const std::string &name) {
  return "\"architectures\": [\"" + name + "\"], ";
}

/// The tensors of a masked language model, without the decoder's.
static TinyTensors maskedLmTensors() {
  TinyTensors tensors = bertTensors("bert.");
  tensors["cls.predictions.transform.dense.weight"] = {{4, 4}};
  tensors["cls.predictions.transform.dense.bias"] = {{4}};
  tensors["cls.predictions.transform.LayerNorm.weight"] = {{4}};
  tensors["cls.predictions.transform.LayerNorm.bias"] = {{4}};
  tensors["cls.predictions.bias"] = {{7}};
  return tensors;
}

TEST(ImportBert, Model) {
  auto got = importTiny(bertConfig(architecture("BertModel") +
                                   "\"hidden_act\": \"swish\", "
                                   "\"layer_norm_eps\": 1e-6, "
                                   "\"dtype\": \"float32\", "),
                        bertTensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  EXPECT_EQ(got.model->name, "bert-BertModel");
  EXPECT_EQ(outputsOf(*got.model),
            "last_hidden_state=encoder.hidden pooler_output=pooler");
  EXPECT_EQ(got.model->maxPositions, 5);
  EXPECT_EQ(got.model->tokens.pad, 0);
  ASSERT_EQ(got.model->encoder->runs.size(), 1u);
  const auto &ffn =
      std::get<spec::Ffn>(got.model->encoder->runs[0].sublayers[1].f);
  EXPECT_EQ(ffn.act, spec::Activation::Silu);
  EXPECT_EQ(ffn.width, 3);
  EXPECT_EQ(got.model->encoder->embeddings.norm->eps, 1e-6);
  EXPECT_EQ(got.spec.find("\"extends\""), std::string::npos);
  EXPECT_EQ(got.summary, "bert-BertModel: 1 layers, hidden 4, vocabulary 7, "
                         "at most 5 tokens\n"
                         "outputs: last_hidden_state, pooler_output\n"
                         "parameters: 211 in 23 tensors (F32)\n");
}

TEST(ImportBert, SpecDoesNotKnowTheFolder) {
  auto one =
      importTiny(bertConfig("\"_name_or_path\": \"x\", "), bertTensors());
  auto other =
      importTiny(bertConfig("\"_name_or_path\": \"y\", "), bertTensors());
  ASSERT_TRUE(one.ok && other.ok) << one.messages;
  EXPECT_EQ(one.spec, other.spec);
}

TEST(ImportBert, DefaultsAreTheClasss) {
  auto got = importTiny(bertConfig(), bertTensors());
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.model->encoder->embeddings.norm->eps, 1e-12);
  EXPECT_EQ(got.model->encoder->embeddings.segments[0].rows, 2);
}

TEST(ImportBert, WithoutPooler) {
  TinyTensors tensors = bertTensors();
  tensors.erase("pooler.dense.weight");
  tensors.erase("pooler.dense.bias");
  auto got = importTiny(bertConfig(architecture("BertModel")), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(outputsOf(*got.model), "last_hidden_state=encoder.hidden");
}

TEST(ImportBert, OldNamesAndBuffers) {
  TinyTensors tensors;
  for (const auto &[name, tensor] : bertTensors("bert.")) {
    std::string old = name;
    if (size_t at = old.find("LayerNorm.weight"); at != std::string::npos) {
      old.replace(at, 16, "LayerNorm.gamma");
    }
    if (size_t at = old.find("LayerNorm.bias"); at != std::string::npos) {
      old.replace(at, 14, "LayerNorm.beta");
    }
    tensors[old] = tensor;
  }
  tensors["bert.embeddings.position_ids"] = {{1, 5}, 1, rt::DType::I64};
  tensors["cls.seq_relationship.weight"] = {{2, 4}};
  tensors["cls.predictions.bias"] = {{7}};
  auto got = importTiny(bertConfig(architecture("BertModel")), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  EXPECT_NE(got.summary.find("tensors without effect: 3"), std::string::npos);
}

TEST(ImportBert, MaskedLmIsTiedUnlessTheTensorsSayOtherwise) {
  std::string config = bertConfig(architecture("BertForMaskedLM"));
  const std::string weight = "heads.mlm.decoder.weight";
  const std::string stored = "cls.predictions.decoder.weight";
  TinyTensors tensors = maskedLmTensors();

  auto absent = importTiny(config, tensors);
  ASSERT_TRUE(absent.ok) << absent.messages;
  EXPECT_EQ(absent.messages, "");
  EXPECT_EQ(outputsOf(*absent.model), "logits=mlm");
  ASSERT_TRUE(find(*absent.model, weight));
  EXPECT_EQ(find(*absent.model, weight)->tiedTo,
            "encoder.embeddings.token.weight");

  tensors[stored] = {{7, 4}};
  auto equal = importTiny(config, tensors);
  ASSERT_TRUE(equal.ok) << equal.messages;
  EXPECT_EQ(equal.messages, "");
  EXPECT_EQ(equal.spec, absent.spec);

  tensors[stored] = {{7, 4}, 2};
  auto different = importTiny(config, tensors);
  ASSERT_TRUE(different.ok) << different.messages;
  EXPECT_EQ(find(*different.model, weight)->tiedTo, "");
}

TEST(ImportBert, MaskedLmTakesTheDecodersBias) {
  TinyTensors tensors = maskedLmTensors();
  tensors["cls.predictions.decoder.bias"] = {{7}, 3};
  auto got = importTiny(bertConfig(architecture("BertForMaskedLM")), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(got.messages, "");
  const spec::Parameter *bias = find(*got.model, "heads.mlm.decoder.bias");
  ASSERT_TRUE(bias);
  EXPECT_EQ(bias->patterns.front(), "cls.predictions.decoder.bias");
}

TEST(ImportBert, UntiedHeadMustBeStored) {
  auto got = importTiny(bertConfig(architecture("BertForMaskedLM") +
                                   "\"tie_word_embeddings\": false, "),
                        maskedLmTensors());
  EXPECT_EQ(got.messages,
            "DIR/config.json:1:63: /tie_word_embeddings: expected true (no "
            "tensor \"cls.predictions.decoder.weight\" is stored that would "
            "be untied), got false");
}

TEST(ImportBert, Classifiers) {
  TinyTensors tensors = bertTensors("bert.");
  tensors["classifier.weight"] = {{3, 4}};
  tensors["classifier.bias"] = {{3}};
  std::string labels = "\"id2label\": {\"0\": \"a\", \"1\": \"b\", "
                       "\"2\": \"c\"}, ";
  auto sequence = importTiny(
      bertConfig(architecture("BertForSequenceClassification") + labels),
      tensors);
  ASSERT_TRUE(sequence.ok) << sequence.messages;
  EXPECT_EQ(sequence.model->heads.size(), 2u);
  auto token = importTiny(
      bertConfig(architecture("BertForTokenClassification") + labels), tensors);
  ASSERT_TRUE(token.ok) << token.messages;
  EXPECT_EQ(token.model->heads.size(), 1u);
  EXPECT_EQ(token.messages, "");
}

TEST(ImportBert, QuestionAnsweringSplits) {
  TinyTensors tensors = bertTensors("bert.");
  tensors["qa_outputs.weight"] = {{2, 4}};
  tensors["qa_outputs.bias"] = {{2}};
  auto got =
      importTiny(bertConfig(architecture("BertForQuestionAnswering")), tensors);
  ASSERT_TRUE(got.ok) << got.messages;
  EXPECT_EQ(outputsOf(*got.model), "end_logits=qa start_logits=qa");
}

TEST(ImportBert, ClassByTensorsWhenNoneIsNamed) {
  TinyTensors tensors = bertTensors("bert.");
  tensors["classifier.weight"] = {{2, 4}};
  tensors["classifier.bias"] = {{2}};
  auto sequence = importTiny(bertConfig(), tensors);
  EXPECT_EQ(sequence.model->name, "bert-BertForSequenceClassification");
  tensors.erase("bert.pooler.dense.weight");
  tensors.erase("bert.pooler.dense.bias");
  auto token = importTiny(bertConfig("\"architectures\": null, "), tensors);
  EXPECT_EQ(token.model->name, "bert-BertForTokenClassification");
  auto masked = importTiny(bertConfig(), maskedLmTensors());
  EXPECT_EQ(masked.model->name, "bert-BertForMaskedLM");
}

/// A folder of sentence-transformers is more than its model: what tfc has no
/// step for is the caller's.
TEST(ImportBert, ModulesBehindTheModel) {
  TinyDirectory directory;
  directory.write("config.json", bertConfig());
  directory.write(bertTensors());
  auto withModules = [&](const std::string &more) {
    directory.write(
        "modules.json",
        "[{\"type\": \"sentence_transformers.models.Transformer\"}" + more +
            "]");
    return directory.import();
  };
  auto got =
      withModules(", {\"type\": \"a.Pooling\"}, {\"type\": \"a.Router\"}");
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/modules.json:1:1: /: warning: expected a pooling, products "
            "and norms behind the model (the library ends with the model's "
            "outputs; what comes after them is the caller's), got "
            "\"Router\"");
  EXPECT_FALSE(directory.import(/*strict=*/true).ok);
  got = withModules(", {\"type\": \"a.Pooling\", \"path\": \"../1\"}");
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/modules.json:1:56: /1: warning: expected the path of a folder "
            "in this one, got \"../1\"");
  got = withModules(", {\"type\": \"a.Pooling\"}, {\"type\": \"a.Dense\", "
                    "\"path\": \"2_Dense\"}");
  EXPECT_TRUE(got.ok);
  EXPECT_EQ(got.messages,
            "DIR/modules.json:1:79: /2: warning: expected a folder like "
            "\"2_Dense\" with a model.safetensors, got \"2_Dense\"");
  EXPECT_EQ(withModules("").messages, "");
  directory.write("modules.json", "[");
  EXPECT_FALSE(directory.import().ok);
}

/// With a pooling it gives sentences' vectors, and no head of its own.
TEST(ImportBert, ASentenceEncoder) {
  TinyDirectory directory;
  directory.write("config.json", bertConfig());
  directory.write(bertTensors());
  directory.write("modules.json",
                  "[{\"type\": \"a.Transformer\"}, {\"type\": \"a.Pooling\"}, "
                  "{\"type\": \"a.Normalize\"}]");
  auto got = directory.import();
  EXPECT_EQ(got.messages, "");
  ASSERT_TRUE(got.model);
  ASSERT_EQ(got.model->outputs.size(), 2U);
  EXPECT_EQ(got.model->outputs[0].name, "last_hidden_state");
  EXPECT_EQ(got.model->outputs[1].name, "sentence_embedding");
  ASSERT_EQ(got.model->heads.size(), 1U);
  EXPECT_EQ(got.model->heads[0].steps.size(), 2U);
}

/// A product and a norm have tensors in folders of their own.
TEST(ImportBert, ASentenceEncoderThatProjects) {
  TinyDirectory directory, dense, norm;
  directory.write("config.json", bertConfig());
  directory.write(bertTensors());
  directory.write("modules.json",
                  "[{\"type\": \"a.Transformer\"}, {\"type\": \"a.Pooling\"}, "
                  "{\"type\": \"a.Dense\", \"path\": \"2_Dense\"}, "
                  "{\"type\": \"a.LayerNorm\", \"path\": \"3_LayerNorm\"}]");
  auto place = [&](TinyDirectory &module, const char *name,
                   const TinyTensors &tensors) {
    module.write(tensors);
    std::filesystem::rename(module.path(), directory.path() + "/" + name);
  };
  dense.write("config.json", "{\"out_features\": 3, \"bias\": false, "
                             "\"activation_function\": "
                             "\"torch.nn.modules.linear.Identity\"}");
  place(dense, "2_Dense", {{"linear.weight", {{3, 4}}}});
  place(norm, "3_LayerNorm", {{"norm.weight", {{3}}}, {"norm.bias", {{3}}}});
  auto got = directory.import();
  EXPECT_EQ(got.messages, "");
  ASSERT_TRUE(got.model);
  ASSERT_EQ(got.model->heads.size(), 1U);
  EXPECT_EQ(got.model->heads[0].steps.size(), 3U);
  directory.write(
      "2_Dense/config.json",
      "{\"out_features\": 3, \"activation_function\": \"a.Softmax\"}");
  EXPECT_EQ(directory.import().messages,
            "DIR: warning: expected only tensors of this model (others have "
            "no effect), got \"2_Dense/linear.weight\", "
            "\"3_LayerNorm/norm.bias\", \"3_LayerNorm/norm.weight\" "
            "[TFC055]\n"
            "DIR/2_Dense/config.json:1:44: /activation_function: warning: "
            "expected one of torch.nn's Identity, Tanh, ReLU, GELU and SiLU, "
            "got \"a.Softmax\"");
}
