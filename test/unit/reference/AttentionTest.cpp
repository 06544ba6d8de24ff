// Attention against numbers worked out by hand. With q = ln 3, a key of 1
// weighs three times as much as a key of 0.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/reference/Formulas.h"
#include "test/unit/reference/InterpretText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tfc::reference;

namespace {

/// One head, one wide: query ln 3 everywhere, key and value of a token are
/// columns of its id's row in the table (1,4) (0,8) (0,16).
std::string oneHead(const std::string &mask) {
  return Program::step(R"(
    %none = arith.constant 2147483647 : index
    %table = arith.constant dense<[[1.0986122886681098, 1.0, 4.0],
                                   [1.0986122886681098, 0.0, 8.0],
                                   [1.0986122886681098, 0.0, 16.0]]>
      : tensor<3x3xf32>
    %x = transformer.embedding %ids, %table : tensor<?xi32>, tensor<3x3xf32>
    %q = transformer.slice_columns %x[0, 1] : tensor<?x3xf32>
    %k = transformer.slice_columns %x[1, 1] : tensor<?x3xf32>
    %v = transformer.slice_columns %x[2, 1] : tensor<?x3xf32>
    %y = transformer.attention %q, %k, %v, %cache[%c0], %batch )" +
                       mask +
                       R"( heads 1 {scale = 1.0 : f64}
      : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>,
        !transformer.cache<layers = 1, kv_heads = 1, head_dim = 1>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x1xf32>
    })");
}

/// f32 constants: ln 3 is rounded.
void expectNear(const Matrix &got, const std::vector<double> &expected) {
  ASSERT_EQ(got.data.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(got.data[i], expected[i], 1e-6) << "element " << i;
  }
}

TEST(Attention, BidirectionalRaggedBatch) {
  Program program(oneHead("bidirectional"));
  Step step;
  step.inputs["ids"] = {0, 1, 2, 0, 1};
  // The second sequence comes first in memory.
  step.sequences = {{7, 2, 3, 0, 3}, {8, 0, 2, 0, 2}};
  // (3*4 + 8) / 4 = 5; (16 + 3*4 + 8) / 5 = 7.2.
  expectNear(program.run(step)["y"], {5, 5, 7.2, 7.2, 7.2});
}

TEST(Attention, ShowsWhereItLooks) {
  Program program(oneHead("causal"));
  Step step;
  step.inputs["ids"] = {0, 1, 2, 0, 1};
  step.sequences = {{7, 2, 3, 0, 3}, {8, 0, 2, 0, 2}};
  program.run(step);
  // A key of id 0 has three times the weight of another.
  EXPECT_EQ(program.attentions,
            (std::vector<std::string>{
                "self 0 2 0 0: 1.000", "self 0 3 0 0: 0.250 0.750",
                "self 0 4 0 0: 0.200 0.600 0.200", "self 0 0 0 0: 1.000",
                "self 0 1 0 0: 0.750 0.250"}));
}

TEST(Attention, CapsScores) {
  std::string text = oneHead("bidirectional");
  text.replace(text.find("scale = 1.0"), 11, "cap = 0.5 : f64, scale = 1.0");
  Program program(text);
  Step step;
  step.inputs["ids"] = {0, 1};
  step.sequences = {{0, 0, 2, 0, 2}};
  double weight = std::exp(0.5 * std::tanh(std::log(3.0) / 0.5));
  double y = (weight * 4 + 8) / (weight + 1);
  expectNear(program.run(step)["y"], {y, y});
}

/// Two heads, two wide, whose keys and values are kept in bytes: keys are 0,
/// and the values of an id are its row of (127, 1.4, 0.25, -0.5) and (NaN, 1,
/// -254, 3.1).
std::string keptInBytes() {
  std::string width = "head_dim = 2, i8>";
  std::string text = Program::step(R"(
    %table = arith.constant dense<[[127.0, 1.4, 0.25, -0.5],
                                   [0x7fc00000, 1.0, -254.0, 3.1]]>
      : tensor<2x4xf32>
    %v = transformer.embedding %ids, %table : tensor<?xi32>, tensor<2x4xf32>
    %zeros = arith.constant dense<0.0> : tensor<2x4xf32>
    %q = transformer.embedding %ids, %zeros : tensor<?xi32>, tensor<2x4xf32>
    %y = transformer.attention %q, %q, %v, %cache[%c0], %batch causal heads 2
      {scale = 1.0 : f64}
      : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>,
        !transformer.cache<layers = 1, kv_heads = 2, )" +
                                       width + R"(
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<?x4xf32>
    })",
                                   /*layers=*/1, /*kvHeads=*/2);
  std::string narrow = "head_dim = 1>";
  return text.replace(text.find(narrow), narrow.size(), width);
}

TEST(Attention, ReadsTheBytesThatTheCacheKeeps) {
  Step step;
  step.inputs["ids"] = {0, 1};
  step.sequences = {{0, 0, 1, 0, 1}, {1, 1, 1, 0, 1}};
  Program bytes(keptInBytes());
  // Scales are 1 and 1/254, NaN and 2: -0.5 is -127 and 0.25 between 63 and 64,
  // of which 64 is even; 3.1 is 2 times 1.55.
  Matrix y = bytes.run(step)["y"];
  ASSERT_EQ(y.data.size(), 8U);
  EXPECT_TRUE(std::isnan(y.at(1, 0)) && std::isnan(y.at(1, 1)));
  y.at(1, 0) = y.at(1, 1) = 0;
  expectNear(y, {127, 1, 64 / 254.0, -0.5, 0, 0, -254, 4});
}

/// q . k is ln 3 for the first key and 0 for the second.
TEST(Attention, ASinkTakesItsPart) {
  std::string text = oneHead("bidirectional");
  text.replace(text.find("heads 1"), 7, "heads 1 sinks %sink");
  text.replace(text.find("head_dim = 1>\n    transformer.output"), 13,
               "head_dim = 1> sinks tensor<1xf32>");
  text.replace(text.find("%none ="), 0,
               "%sink = arith.constant dense<1.3862943611198906> : "
               "tensor<1xf32>\n    ");
  Program program(text);
  Step step;
  step.inputs["ids"] = {0, 1};
  step.sequences = {{0, 0, 2, 0, 2}};
  // (3*4 + 8) / (3 + 1 + 4)
  expectNear(program.run(step)["y"], {2.5, 2.5});
}

TEST(Attention, SlopesFallWithTheDistance) {
  std::string text = oneHead("causal");
  text.replace(text.find("scale = 1.0"), 11,
               "slopes = array<f64: 1.0986122886681098>, scale = 1.0");
  Program program(text);
  Step step;
  step.inputs["ids"] = {0, 1};
  step.sequences = {{0, 0, 2, 0, 2}};
  // The first key weighs three times as much, and a third of it for being one
  // position away.
  expectNear(program.run(step)["y"], {4, 6});
}

TEST(Attention, TheScaleMayGrowWithTheLength) {
  std::string text = oneHead("causal");
  text.replace(text.find("scale = 1.0"), 11,
               "log_base = 4.0 : f64, scale = 2.0");
  Program program(text);
  Step step;
  step.inputs["ids"] = {0, 1};
  step.sequences = {{0, 0, 2, 0, 2}};
  // ln 2 / ln 4 is a half.
  expectNear(program.run(step)["y"], {4, 5});
}

TEST(Attention, CausalSeesThePastAndItself) {
  Program program(oneHead("causal"));
  Step step;
  step.inputs["ids"] = {1, 0};
  step.sequences = {{0, 0, 2, 0, 2}};
  expectNear(program.run(step)["y"], {8, 5});
  // A second sequence joins while the first decodes.
  step.inputs["ids"] = {2, 2};
  step.sequences = {{0, 0, 1, 2, 3}, {1, 1, 1, 0, 1}};
  expectNear(program.run(step)["y"], {7.2, 16});
}

TEST(Attention, AWrittenPositionCanBeWrittenAgain) {
  Program program(oneHead("causal"));
  Step step;
  step.inputs["ids"] = {0, 2};
  step.sequences = {{0, 0, 2, 0, 2}};
  expectNear(program.run(step)["y"], {4, 7});
  step.inputs["ids"] = {1};
  step.sequences = {{0, 0, 1, 1, 2}};
  expectNear(program.run(step)["y"], {5});
}

TEST(Attention, NobodySeesASpectator) {
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{0, 0, 3, 0, 2}};
  Program both(oneHead("bidirectional"));
  expectNear(both.run(step)["y"], {5, 5, 5});
  Program causal(oneHead("causal"));
  expectNear(causal.run(step)["y"], {4, 5, 5});
}

TEST(Attention, ASpectatorMayBeASequenceOfItsOwn) {
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{0, 0, 2, 0, 2}, {0, 2, 1, 2, 1}};
  Program program(oneHead("causal"));
  expectNear(program.run(step)["y"], {4, 5, 4});
  // Its position is free again.
  step.inputs["ids"] = {2};
  step.sequences = {{0, 0, 1, 2, 3}};
  expectNear(program.run(step)["y"], {7.2});
}

TEST(Attention, AScratchCacheForgets) {
  std::string text = oneHead("bidirectional");
  for (size_t at = 0; (at = text.find("cache<", at)) != std::string::npos;) {
    text.insert(at += 6, "scratch, ");
  }
  Program program(text);
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{0, 0, 2, 0, 2}, {0, 2, 1, 2, 2}};
  expectNear(program.run(step)["y"], {5, 5, 5});
  step.inputs["ids"] = {2};
  step.sequences = {{0, 0, 1, 2, 3}};
  EXPECT_TRUE(program.run(step).empty());
  EXPECT_EQ(program.messages,
            (std::vector<std::string>{"expected sequence 0 after at most 0 "
                                      "cached tokens, got 2"}));
}

TEST(Attention, HeadsShareTheirGroupsKeysAndValues) {
  // Zero queries: each head averages the values of its group.
  Program program(Program::step(R"(
    %q = arith.constant dense<0.0> : tensor<2x4xf32>
    %k = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
    %v = arith.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32>
    %y = transformer.attention %q, %k, %v, %cache[%c0], %batch causal heads 4
      {scale = 0.5 : f64} : tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>,
        !transformer.cache<layers = 1, kv_heads = 2, head_dim = 1>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<2x4xf32>
    })",
                                1, 2));
  expectMatrix(program.run(tokens(2))["y"], 2, 4, {1, 1, 10, 10, 2, 2, 20, 20});
}

TEST(Attention, AWindowHidesWhatIsBeforeIt) {
  // The same numbers as without a window, over two positions at most.
  Program program(oneHead("causal left %c1"));
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{0, 0, 3, 0, 3}};
  expectNear(program.run(step)["y"], {4, 5, 12});
  step.inputs["ids"] = {0};
  step.sequences = {{0, 0, 1, 3, 4}};
  expectNear(program.run(step)["y"], {7});
}

/// The three tokens of oneHead in one sequence.
static Matrix threeTokens(const std::string &mask, int64_t keys = 3) {
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{0, 0, 3, 0, static_cast<int32_t>(keys)}};
  Program program(oneHead(mask));
  return program.run(step)["y"];
}

TEST(Attention, AWindowHasTwoSides) {
  expectNear(threeTokens("bidirectional left %c0 right %c0"), {4, 8, 16});
  expectNear(threeTokens("bidirectional left %c1 right %c0"), {4, 5, 12});
  expectNear(threeTokens("bidirectional left %c0 right %c1"), {5, 12, 16});
  expectNear(threeTokens("bidirectional left %c1 right %c1"), {5, 7.2, 12});
  expectNear(threeTokens("bidirectional right %c1"), {5, 7.2, 7.2});
  expectNear(threeTokens("bidirectional left %c1"), {7.2, 7.2, 12});
  expectNear(threeTokens("bidirectional left %none right %none"),
             {7.2, 7.2, 7.2});
}

TEST(Attention, ASpectatorHasTheWindowOfItsPlace) {
  expectNear(threeTokens("bidirectional left %c1 right %c1", 2), {5, 5, 8});
  // It is not seen, not even by itself.
  Matrix blind = threeTokens("bidirectional left %c0 right %c0", 2);
  ASSERT_EQ(blind.data.size(), 3u);
  EXPECT_NEAR(blind.data[0], 4, 1e-6);
  EXPECT_NEAR(blind.data[1], 8, 1e-6);
  EXPECT_TRUE(std::isnan(blind.data[2]));
}

TEST(Attention, LayersHaveNumbersOfTheirOwn) {
  // The scale is 0.5 times 2 in the layer that is read, as in the others.
  auto ofLayer = [](const std::string &values) {
    std::string text = oneHead("causal");
    text.insert(text.find("%y = transformer.attention"),
                "%f = transformer.per_layer f32 " + values + " [%c1]\n");
    size_t at = text.find("heads 1 {scale = 1.0");
    text.replace(at, 20, "heads 1 factor %f {scale = 0.5");
    return text;
  };
  Step step;
  step.inputs["ids"] = {0, 1, 2};
  step.sequences = {{0, 0, 3, 0, 3}};
  Program program(ofLayer("[7.0, 2.0]"));
  expectNear(program.run(step)["y"], {4, 5, 7.2});
  Program outside(ofLayer("[2.0]"));
  EXPECT_TRUE(outside.run(step).empty());
  EXPECT_EQ(outside.messages,
            (std::vector<std::string>{
                "expected a layer in [0, 1) of the values, got 1"}));
}

TEST(Attention, BiasDependsOnTheDistance) {
  // Zero queries and keys: weights are exp of the bias. ln 3 at the same
  // position, -1000 at one after it, 0 before; beyond 1 the same.
  auto biased = [](const std::string &mask) {
    return Program::step(R"(
      %zero = arith.constant dense<0.0> : tensor<3x1xf32>
      %v = arith.constant dense<[[4.0], [8.0], [16.0]]> : tensor<3x1xf32>
      %b = arith.constant dense<[[0.0, 1.0986122886681098, -1000.0]]>
        : tensor<1x3xf32>
      %y = transformer.attention %zero, %zero, %v, %cache[%c0], %batch bias %b
        )" + mask + R"( heads 1 {scale = 1.0 : f64}
        : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>,
          !transformer.cache<layers = 1, kv_heads = 1, head_dim = 1>,
          tensor<1x3xf32>
      transformer.output "y" tokens take all {
        transformer.yield %y : tensor<3x1xf32>
      })");
  };
  for (const char *mask : {"bidirectional", "causal"}) {
    Program program(biased(mask));
    // (4 + 3*8) / 4, (4 + 8 + 3*16) / 5
    expectNear(program.run(tokens(3))["y"], {4, 7, 12});
  }
}

TEST(Attention, RelativeTermsAreProductsWithTheRowOfTheDistance) {
  // Rows for distances of at most -2, of -1, 0 and at least 1: weights of 2, 1,
  // 3 and nothing, once as the query's product and once as the key's.
  auto relative = [](const std::string &q, const std::string &k,
                     const std::string &terms, const std::string &types) {
    return Program::step(R"(
      %one = arith.constant dense<1.0> : tensor<3x1xf32>
      %zero = arith.constant dense<0.0> : tensor<3x1xf32>
      %v = arith.constant dense<[[4.0], [8.0], [16.0]]> : tensor<3x1xf32>
      %t = arith.constant dense<[[1.3862943611198906], [0.0],
                                 [2.1972245773362196], [-1000.0]]>
        : tensor<4x1xf32>
      %y = transformer.attention )" +
                         q + ", " + k +
                         R"(, %v, %cache[%c0], %batch bidirectional heads 1 )" +
                         terms + R"( span 2 {scale = 0.5 : f64}
        : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>,
          !transformer.cache<layers = 1, kv_heads = 1, head_dim = 1> )" +
                         types + R"(
      transformer.output "y" tokens take all {
        transformer.yield %y : tensor<3x1xf32>
      })");
  };
  const std::string keys = "relative_keys ", queries = "relative_queries ";
  const std::string type = "tensor<4x1xf32> ";
  // (3*4 + 8 + 2*16) / 6, (3*8 + 16) / 4, 16.
  const std::vector<double> expected = {52.0 / 6, 10, 16};
  Program byQuery(relative("%one", "%zero", keys + "%t", keys + type));
  expectNear(byQuery.run(tokens(3))["y"], expected);
  Program byKey(relative("%zero", "%one", queries + "%t", queries + type));
  expectNear(byKey.run(tokens(3))["y"], expected);
  // Both, and the same for all keys on top: 9 to 1 to 4.
  Program both(relative("%one", "%one", keys + "%t " + queries + "%t",
                        keys + type + queries + type));
  expectNear(both.run(tokens(3))["y"], {(36 + 8 + 64) / 14.0, 8.8, 16});
}

TEST(Attention, QueriesHaveABiasForEachKindOfProduct) {
  auto text = [](const std::string &keys, const std::string &terms,
                 const std::string &types) {
    std::string step = Program::step(R"(
      %zero = arith.constant dense<0.0> : tensor<3x1xf32>
      %one = arith.constant dense<1.0> : tensor<1xf32>
      %k = arith.constant dense<[[0.6931471805599453], [0.0],
                                 [1.0986122886681098]]> : tensor<3x1xf32>
      %v = arith.constant dense<[[4.0], [8.0], [16.0]]> : tensor<3x1xf32>
      %t = arith.constant dense<[[-1000.0], [1.0986122886681098], [0.0],
                                 [0.6931471805599453], [0.6931471805599453]]>
        : tensor<5x1xf32>
      %e = arith.constant dense<[[0.0], [1.3862943611198906]]> : tensor<2x1xf32>
      %y = transformer.attention %zero, )" +
                                     keys +
                                     R"(, %v, %cache[%c0], %batch bidirectional
        heads 1 )" + terms + R"( {odd_span, scale = 1.0 : f64}
        : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>,
          !transformer.cache<layers = 1, kv_heads = 1, head_dim = 1>
          relative_keys tensor<5x1xf32> )" +
                                     types + R"(
      transformer.output "y" tokens take all {
        transformer.yield %y : tensor<3x1xf32>
      })");
    // Types are of this step's rows.
    for (size_t at = 0; (at = step.find("cache<layers", at)) != step.npos;) {
      step.replace(at, 12, "cache<scratch, layers");
    }
    return step;
  };
  Step step = tokens(3);
  step.inputs["ids"] = {0, 1, 0};
  // With the keys: weights of 2, 1, 3, which the query alone would not have.
  Program ofKeys(text("%k", "relative_keys %t query_bias %one span 3",
                      "query_bias tensor<1xf32>"));
  expectNear(ofKeys.run(step)["y"], {64 / 6.0, 64 / 6.0, 64 / 6.0});
  // With the rows of distances, for keys 2 and 1 ahead, at, and before the
  // query: nothing, 3, 1, 2, 2.
  Program ofRows(text("%k", "relative_keys %t relative_bias %one span 3",
                      "relative_bias tensor<1xf32>"));
  expectNear(ofRows.run(step)["y"],
             {28 / 4.0, (8 + 8 + 48) / 6.0, (8 + 16 + 16) / 5.0});
  // With a row for types: 1 for the own, 4 for another one.
  Program ofTypes(text("%k",
                       "relative_keys %t segments %e segment_bias %one types "
                       "%ids span 3",
                       "segments tensor<2x1xf32> segment_bias tensor<1xf32> "
                       "types tensor<?xi32>"));
  expectNear(ofTypes.run(step)["y"], {52 / 6.0, 88 / 9.0, 52 / 6.0});
  // Nobody sees the second key, not even its own query: 2 and 3 are left.
  Program unseen(text("%k",
                      "relative_keys %t query_bias %one unseen %ids "
                      "span 3",
                      "query_bias tensor<1xf32> unseen tensor<?xi32>"));
  expectNear(unseen.run(step)["y"], {56 / 5.0, 56 / 5.0, 56 / 5.0});
  // Rows of which this step has none.
  step.sequences.front().past = 1;
  unseen.run(step);
  ASSERT_FALSE(unseen.messages.empty());
  Program behind(text("%k", "relative_keys %t segments %e types %ids span 3",
                      "segments tensor<2x1xf32> types tensor<?xi32>"));
  behind.run(step);
  ASSERT_FALSE(behind.messages.empty());
}

TEST(Attention, FarDistancesShareARow) {
  AttentionShape shape;
  shape.span = 256;
  shape.maxDistance = 512;
  // He et al. 2020, as DeBERTa v2 has it.
  const std::pair<int64_t, int64_t> rows[] = {
      {0, 256},   {127, 383},  {128, 384}, {129, 385}, {200, 425}, {511, 511},
      {512, 511}, {9999, 511}, {-200, 87}, {-511, 1},  {-512, 0},  {-9999, 0}};
  for (auto [distance, row] : rows) {
    EXPECT_EQ(relativeRow(shape, distance), row) << distance;
  }
  shape.maxDistance.reset();
  EXPECT_EQ(relativeRow(shape, 200), 456);
  EXPECT_EQ(relativeRow(shape, 256), 511);
  EXPECT_EQ(relativeRow(shape, -300), 0);
}

TEST(Attention, ValuesHaveARowForTheDistance) {
  // All weights are equal; rows for keys behind, at and before the query.
  Program program(Program::step(R"(
    %q = arith.constant dense<0.0> : tensor<3x1xf32>
    %c = arith.constant dense<[[1.0], [10.0], [100.0]]> : tensor<3x1xf32>
    %y = transformer.attention %q, %q, %q, %cache[%c0], %batch bidirectional
      heads 1 relative_values %c span 2 {odd_span, scale = 1.0 : f64}
      : tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>,
        !transformer.cache<layers = 1, kv_heads = 1, head_dim = 1>
        relative_values tensor<3x1xf32>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<3x1xf32>
    })"));
  expectNear(program.run(tokens(3))["y"], {4, 37, 70});
}

TEST(Attention, RoundedSlopesAreTimesThePositionOfTheKey) {
  // 0.3 is 0.30078125 in bf16, and 259 is 260; their product is 78.
  EXPECT_EQ(roundedSlope(0.3, 3), 0.90234375);
  EXPECT_EQ(roundedSlope(0.3, 259), 78);
  EXPECT_EQ(roundedSlope(0.3, 258), 77.5);
}

TEST(Attention, SparseBlocksAreTheFirstTheNeighboursAndTheLast) {
  AttentionShape shape;
  shape.sparseBlock = 64;
  shape.randomBlocks = 3;
  int64_t keys = 17 * 64 + 1;
  auto termOf = [&](int64_t query, int64_t key) {
    return sparseTerm(shape, query * 64, key * 64, keys);
  };
  double none = -std::numeric_limits<double>::infinity();
  for (int64_t key = 0; key < 18; ++key) {
    bool isNear = (key >= 4 && key <= 6) || key == 17;
    EXPECT_EQ(termOf(5, key), key == 0 ? std::log(4.0) : isNear ? 0 : none);
    EXPECT_EQ(termOf(0, key), 0);
    EXPECT_EQ(termOf(17, key), 0);
    EXPECT_EQ(termOf(1, key), key == 0                ? std::log(4.0)
                              : key <= 2 || key == 17 ? 0
                                                      : none);
  }
  // So few keys are seen by all.
  EXPECT_EQ(sparseTerm(shape, 320, 128, 11 * 64), 0);
  EXPECT_EQ(sparseTerm(shape, 320, 128, 11 * 64 + 1), none);
}

TEST(Attention, BlocksThatAreNearAreACircle) {
  AttentionShape shape;
  shape.sparseBlock = 4;
  shape.blocksBefore = 1;
  shape.blocksAfter = 1;
  auto seenBy = [&](int64_t query, int64_t keys) {
    std::vector<double> times;
    for (int64_t key = 0; key < keys; key += 4) {
      times.push_back(std::exp(sparseTerm(shape, query, key, keys)));
    }
    return times;
  };
  using Times = std::vector<double>;
  EXPECT_EQ(seenBy(0, 17), (Times{1, 1, 0, 0, 1}));
  EXPECT_EQ(seenBy(9, 17), (Times{0, 1, 1, 1, 0}));
  EXPECT_EQ(seenBy(16, 17), (Times{1, 0, 0, 1, 1}));
  // Of three all are near, of two the other one is on both sides, and one is
  // seen once.
  EXPECT_EQ(seenBy(3, 12), (Times{1, 1, 1}));
  EXPECT_DOUBLE_EQ(seenBy(3, 8)[1], 2);
  EXPECT_DOUBLE_EQ(seenBy(4, 5)[0], 2);
  EXPECT_EQ(seenBy(4, 5)[1], 1);
  EXPECT_EQ(seenBy(3, 4), (Times{1}));
  // A spectator is of the last block.
  EXPECT_EQ(seenBy(39, 17), seenBy(16, 17));
  shape.blocksAfter = 0;
  EXPECT_EQ(seenBy(0, 17), (Times{1, 0, 0, 0, 1}));
  EXPECT_EQ(seenBy(9, 17), (Times{0, 1, 1, 0, 0}));
  EXPECT_EQ(seenBy(3, 8), (Times{1, 1}));
}

TEST(Attention, CausalBlocksEndAtTheToken) {
  // Scores are equal: means of the values that each of seven tokens sees.
  Program program(Program::step(R"(
    %q = arith.constant dense<0.0> : tensor<7x1xf32>
    %v = arith.constant dense<[[1.0], [2.0], [4.0], [8.0], [16.0], [32.0],
                               [64.0]]> : tensor<7x1xf32>
    %y = transformer.attention %q, %q, %v, %cache[%c0], %batch causal heads 1
      {scale = 1.0 : f64, sparse_block = 2, blocks_before = 1, blocks_after = 0}
      : tensor<7x1xf32>, tensor<7x1xf32>, tensor<7x1xf32>,
        !transformer.cache<layers = 1, kv_heads = 1, head_dim = 1>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<7x1xf32>
    })"));
  expectNear(program.run(tokens(7))["y"],
             {1, 1.5, 7.0 / 3, 15.0 / 4, 28.0 / 3, 15, 112.0 / 3});
}

TEST(Attention, ScaleFallsWithTheLayer) {
  // 4 ln 3 by scale 1/2 and layer 1: the weights are again 3 to 1.
  const char *body = R"(
    %q = arith.constant dense<4.3944491546724393> : tensor<2x1xf32>
    %k = arith.constant dense<[[1.0], [0.0]]> : tensor<2x1xf32>
    %v = arith.constant dense<[[4.0], [8.0]]> : tensor<2x1xf32>
    %y = transformer.attention %q, %k, %v, %cache[%c1], %batch bidirectional
      heads 1 scale_by_inverse_layer {scale = 0.5 : f64}
      : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>,
        !transformer.cache<layers = 2, kv_heads = 1, head_dim = 1>
    transformer.output "y" tokens take all {
      transformer.yield %y : tensor<2x1xf32>
    })";
  Program program(Program::step(body, 2));
  expectNear(program.run(tokens(2))["y"], {5, 5});
}

TEST(Attention, RefusesWhatIsNotThere) {
  Program program(oneHead("causal"));
  auto messageFor = [&](Sequence sequence) {
    Step step;
    step.inputs["ids"] = {0, 1};
    step.sequences = {sequence};
    program.messages.clear();
    EXPECT_TRUE(program.run(step).empty());
    return program.messages.empty() ? "" : program.messages.front();
  };
  EXPECT_EQ(messageFor({3, 0, 2, 1, 3}),
            "expected sequence 3 after at most 0 cached tokens, got 1");
  EXPECT_EQ(messageFor({3, 0, 2, 0, 3}),
            "expected keys in [1, 2] of sequence 3, got 3");
  EXPECT_EQ(messageFor({3, 1, 2, 0, 2}),
            "expected sequence 3 inside [0, 2) (the tokens of the step), got "
            "[1, 3) after 0");
  EXPECT_EQ(messageFor({3, 1, 1, 0, 1}),
            "expected token 0 in one sequence, got it in none");
}

} // namespace
