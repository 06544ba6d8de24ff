// Every preset is a spec of its own, and models of well-known sizes have as
// many parameters as their authors say.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/FamilyTable.h"
#include "compiler/spec/read/ReadSpec.h"

#include <gtest/gtest.h>

using namespace tfc::spec;

static std::optional<ModelSpec> readPreset(const std::string &name,
                                           const std::string &more = "") {
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText(
      name, "{\"tfc\": 1, \"extends\": \"preset:" + name + "\"" + more + "}",
      "", diagnostics);
  EXPECT_TRUE(model);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  return model;
}

static int64_t countParameters(const std::string &name,
                               const std::string &more = "") {
  std::optional<ModelSpec> model = readPreset(name, more);
  int64_t count = 0;
  for (const Parameter &parameter :
       model ? model->parameters : std::vector<Parameter>()) {
    count += parameter.rows * parameter.cols * parameter.layers;
  }
  return count;
}

TEST(Presets, AreSpecs) {
  for (const std::string &name : tfc::family::tableNames()) {
    std::optional<ModelSpec> model = readPreset(name);
    ASSERT_TRUE(model) << name;
    Diagnostics diagnostics;
    std::optional<ModelSpec> again =
        readSpecText("canonical", model->canonical, "", diagnostics);
    ASSERT_TRUE(again) << name;
    EXPECT_EQ(again->canonical, model->canonical) << name;
  }
}

TEST(Presets, BlocksOfBigBird) {
  auto model = readPreset("big_bird");
  EXPECT_EQ(model->maxPositions, 4096);
  const LayerRun &layers = model->stacks().front()->runs.front();
  const auto &attention = std::get<Attention>(layers.sublayers.front().f);
  Sparse sparse;
  sparse.block = 64;
  sparse.random = 3;
  EXPECT_EQ(attention.sparse, sparse);
}

TEST(Presets, ParametersOfGpt2) {
  EXPECT_EQ(countParameters("gpt2"), 124439808);
}

TEST(Presets, ParametersOfT5Small) {
  EXPECT_EQ(countParameters("t5"), 60506624);
  EXPECT_EQ(countParameters("t5_encoder"), 35330816);
}

TEST(Presets, ParametersOfMistral7B) {
  // And a head that is not tied.
  EXPECT_EQ(countParameters("mistral") + int64_t(32000) * 4096, 7241732096);
}

TEST(Presets, ParametersOfLlama7B) {
  EXPECT_EQ(countParameters("llama") + int64_t(32000) * 4096, 6738415616);
}

TEST(Presets, ParametersOfBart) {
  EXPECT_EQ(countParameters("bart"), 406291456);
  const char *stack =
      "{\"layers\": {\"repeat\": 6, \"block\": {\"attn\": {\"num_heads\": 12}, "
      "\"ffn\": {\"width\": 3072}";
  std::string base =
      std::string(", \"dims\": {\"hidden\": 768}, \"encoder\": ") + stack +
      "}}}, \"decoder\": " + stack + ", \"cross\": {\"num_heads\": 12}}}}";
  EXPECT_EQ(countParameters("bart", base), 139420416);
}
