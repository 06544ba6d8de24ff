// Rotary embeddings: the numbers that follow from dim, theta and scaling, and
// the two ways of saying them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/Rotary.h"
#include "compiler/spec/read/ReadSpec.h"
#include "test/unit/spec/GoodSpecs.h"

#include <gtest/gtest.h>

using namespace tfc::spec;

namespace {

/// The model of decoderSpec with heads of 12 columns and this "rotary".
std::optional<ModelSpec> readWith(const std::string &rotary,
                                  const std::string &dims = "") {
  std::string text = decoderSpec;
  auto replace = [&](const std::string &from, const std::string &to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("\"causal\": true",
          "\"causal\": true, \"head_dim\": 12, \"rotary\": " + rotary);
  replace("\"vocab\": 30", "\"vocab\": 30" + dims);
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText("s", text, "", diagnostics);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  return model;
}

Rotary rotaryOf(const std::string &json, const std::string &dims = "") {
  std::optional<ModelSpec> model = readWith(json, dims);
  return model ? *std::get<Attention>(model->decoder->runs[0].sublayers[0].f)
                      .rotary
               : Rotary();
}

std::string scaled(const std::string &scaling) {
  return "{\"style\": \"half\", \"theta\": 10000, \"scaling\": " + scaling +
         "}";
}

/// Numbers of transformers 5.23 for heads of 12 columns, theta 10000.
void expectFrequencies(const Rotary &rotary, std::vector<float> expected) {
  ASSERT_EQ(rotary.frequencies.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_FLOAT_EQ(float(rotary.frequencies[i]), expected[i]) << i;
    EXPECT_EQ(double(float(rotary.frequencies[i])), rotary.frequencies[i]);
  }
}

const std::vector<float> plain = {1,     0.215443447f,   0.046415884f,
                                  0.01f, 0.00215443433f, 0.000464158948f};

} // namespace

TEST(Rotary, OfTheFirstPairs) {
  expectFrequencies(
      rotaryOf("{\"style\": \"half\", \"theta\": 10000, \"turned\": 4}"),
      {1, 0.215443447f, 0, 0, 0, 0});
}

TEST(Rotary, Default) {
  Rotary rotary = rotaryOf("{\"style\": \"interleaved\", \"theta\": 10000}");
  EXPECT_TRUE(rotary.interleaved);
  EXPECT_EQ(rotary.dim, 12);
  EXPECT_EQ(rotary.theta, 10000);
  EXPECT_EQ(rotary.factor, 1);
  expectFrequencies(rotary, plain);
}

TEST(Rotary, PartOfAHead) {
  Rotary rotary =
      rotaryOf("{\"style\": \"half\", \"theta\": 10000, \"dim\": 4}");
  EXPECT_FALSE(rotary.interleaved);
  expectFrequencies(rotary, {1, 0.01f});
}

TEST(Rotary, TheOtherWay) {
  Rotary rotary = rotaryOf("{\"style\": \"half\", \"theta\": 10000, "
                           "\"dim\": 4, \"reverse\": true}");
  EXPECT_TRUE(rotary.reverse);
  expectFrequencies(rotary, {-1, -0.01f});
}

TEST(Rotary, NoMoreColumnsThanTheLimit) {
  std::string text = decoderSpec;
  const std::string causal = "\"causal\": true";
  text.replace(text.find(causal), causal.size(),
               causal + ", \"head_dim\": 8194, \"rotary\": {\"style\": "
                        "\"half\", \"theta\": 2}");
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpecText("s", text, "", diagnostics));
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].code, 90); // a head that wide
  EXPECT_EQ(formatDiagnostic(diagnostics[1]),
            "s:12:78: /decoder/layers/block/attn/rotary/dim: expected an even "
            "number, at most 8192, got 8194 [TFC013]");
}

TEST(Rotary, Linear) {
  expectFrequencies(rotaryOf(scaled("{\"kind\": \"linear\", \"factor\": 3}")),
                    {0.333333343f, 0.0718144849f, 0.0154719613f, 0.00333333318f,
                     0.000718144758f, 0.000154719644f});
}

TEST(Rotary, DynamicHasNoEffectWithinThePositions) {
  Rotary rotary = rotaryOf(scaled("{\"kind\": \"dynamic\", \"factor\": 3}"));
  EXPECT_EQ(rotary.scaling.kind, RotaryScaling::Kind::Dynamic);
  expectFrequencies(rotary, plain);
}

TEST(Rotary, Llama3) {
  expectFrequencies(
      rotaryOf(scaled("{\"kind\": \"llama3\", \"factor\": 8, "
                      "\"low_freq_factor\": 1, \"high_freq_factor\": 4, "
                      "\"original_max\": 2048}")),
      {1, 0.215443447f, 0.046415884f, 0.00784018822f, 0.000269304292f,
       5.80198684e-05f});
}

TEST(Rotary, Yarn) {
  Rotary rotary = rotaryOf(scaled("{\"kind\": \"yarn\", \"factor\": 4}"),
                           ", \"max_positions\": 64");
  EXPECT_EQ(rotary.scaling.originalMax, 64);
  EXPECT_DOUBLE_EQ(rotary.factor, 1.138629436111989);
  expectFrequencies(rotary, {1, 0.134652153f, 0.011603971f, 0.0025f,
                             0.000538608583f, 0.000116039737f});
  rotary = rotaryOf(scaled("{\"kind\": \"yarn\", \"factor\": 4, "
                           "\"original_max\": 512, \"mscale\": 0.7, "
                           "\"mscale_all_dim\": 0.9, \"beta_fast\": 20, "
                           "\"truncate\": false}"));
  EXPECT_DOUBLE_EQ(rotary.factor, 0.9753496504321066);
  expectFrequencies(rotary, {1, 0.208413139f, 0.0270631202f, 0.0025f,
                             0.000538608583f, 0.000116039737f});
  rotary = rotaryOf(scaled("{\"kind\": \"yarn\", \"factor\": 4, "
                           "\"original_max\": 512, "
                           "\"attention_factor\": 1.25}"));
  EXPECT_EQ(rotary.factor, 1.25);
  expectFrequencies(rotary, {1, 0.161582574f, 0.0232079402f, 0.0025f,
                             0.000538608583f, 0.000116039737f});
}

TEST(Rotary, Longrope) {
  std::string factors = "\"short_factor\": [1, 2, 1, 4, 1, 0.5]";
  Rotary rotary = rotaryOf(
      scaled("{\"kind\": \"longrope\", \"factor\": 4, " + factors + "}"),
      ", \"max_positions\": 64");
  EXPECT_EQ(rotary.scaling.originalMax, 64);
  // sqrt(1 + ln 4 / ln 64), a third.
  EXPECT_DOUBLE_EQ(rotary.factor, 1.1547005383792515);
  std::vector<float> expected = plain;
  expected[1] /= 2;
  expected[3] /= 4;
  expected[5] *= 2;
  expectFrequencies(rotary, expected);
  rotary =
      rotaryOf(scaled("{\"kind\": \"longrope\", \"factor\": 4, " + factors +
                      ", \"original_max\": 80, "
                      "\"attention_factor\": 1.25}"),
               ", \"max_positions\": 64");
  EXPECT_EQ(rotary.factor, 1.25);
  expectFrequencies(rotary, expected);
}

TEST(Rotary, CanonicalTextHasTheFactorThatMscaleMeans) {
  std::string said = readWith(scaled("{\"kind\": \"yarn\", \"factor\": 4, "
                                     "\"original_max\": 64}"))
                         ->canonical;
  EXPECT_NE(said.find("\"attention_factor\": 1.138629436111989"),
            std::string::npos);
  EXPECT_EQ(readWith(scaled("{\"kind\": \"yarn\", \"factor\": 4, "
                            "\"original_max\": 64, \"beta_slow\": 1, "
                            "\"attention_factor\": 1.138629436111989}"))
                ->canonical,
            said);
  EXPECT_EQ(readWith(scaled("{\"kind\": \"yarn\", \"factor\": 4, "
                            "\"original_max\": 64, \"mscale\": 1, "
                            "\"mscale_all_dim\": 0}"))
                ->canonical,
            said);
}
