// Which layers are one loop: those that differ in numbers alone.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/ReadSpec.h"
#include "test/unit/spec/GoodSpecs.h"

#include <gtest/gtest.h>

using namespace tfc::spec;

namespace {

/// decoderSpec with six layers, of which some are patched: pairs of a selector
/// and what its layers set in their attention.
ModelSpec
readLayers(const std::vector<std::pair<std::string, std::string>> &patches) {
  std::string overrides;
  for (const auto &[layers, set] : patches) {
    overrides += (overrides.empty() ? "" : ", ");
    overrides +=
        "{\"layers\": \"" + layers + "\", \"set\": {\"attn\": {" + set + "}}}";
  }
  std::string text = decoderSpec, repeat = "\"repeat\": 2,\n";
  text.replace(text.find(repeat), repeat.size(),
               "\"repeat\": 6, \"overrides\": [" + overrides + "],\n");
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText("s", text, "", diagnostics);
  for (const Diagnostic &diagnostic : diagnostics) {
    if (diagnostic.severity == Severity::Error) {
      ADD_FAILURE() << formatDiagnostic(diagnostic);
    }
  }
  return model.value_or(ModelSpec());
}

const std::vector<LayerRun> &runsOf(const ModelSpec &model) {
  return model.decoder->runs;
}

const Attention &attentionOf(const std::vector<Sublayer> &layer) {
  return std::get<Attention>(layer[0].f);
}

const char *const window = "\"window\": {\"left\": 7, \"right\": 0}";
const char *const biased = "\"bias\": true";
const char *const rotary =
    "\"rotary\": {\"style\": \"half\", \"dim\": 2, \"theta\": 10000}";

} // namespace

TEST(LayerRuns, WindowsAreNumbers) {
  ModelSpec model = readLayers({{"1::2", window}});
  ASSERT_EQ(runsOf(model).size(), 1u);
  const LayerRun &run = runsOf(model)[0];
  EXPECT_EQ(run.prefix, "decoder.layers");
  EXPECT_EQ(run.count, 6);
  // In common: what some layer has.
  EXPECT_EQ(attentionOf(run.sublayers).window, (Window{7, 0}));
  ASSERT_EQ(run.groups.size(), 6u);
  EXPECT_FALSE(attentionOf(run.groups[0].sublayers).window);
  EXPECT_EQ(attentionOf(run.groups[1].sublayers).window, (Window{7, 0}));
  for (const Parameter &parameter : model.parameters) {
    if (parameter.firstLayer >= 0) {
      EXPECT_EQ(parameter.layers, 6) << parameter.name;
    }
  }
}

TEST(LayerRuns, EqualNeighboursAreOneGroup) {
  ModelSpec model = readLayers({{"2:5", window}});
  ASSERT_EQ(runsOf(model).size(), 1u);
  std::vector<int64_t> counts;
  for (const LayerGroup &group : runsOf(model)[0].groups) {
    counts.push_back(group.count);
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{2, 3, 1}));
}

TEST(LayerRuns, ScalesAndRotationsAreNumbers) {
  ModelSpec model =
      readLayers({{"1:", rotary},
                  {"2", "\"scale\": 0.25"},
                  {"3", "\"rotary\": {\"theta\": 500}"},
                  {"4", "\"rotary\": {\"scaling\": {\"kind\": \"linear\", "
                        "\"factor\": 2}}"}});
  ASSERT_EQ(runsOf(model).size(), 1u);
  const LayerRun &run = runsOf(model)[0];
  ASSERT_TRUE(attentionOf(run.sublayers).rotary);
  EXPECT_EQ(attentionOf(run.sublayers).rotary->theta, 10000);
  EXPECT_EQ(run.groups.size(), 6u);
  EXPECT_FALSE(attentionOf(run.groups[0].sublayers).rotary);
  EXPECT_EQ(attentionOf(run.groups[2].sublayers).scale, 0.25);
  EXPECT_EQ(attentionOf(run.groups[3].sublayers).rotary->theta, 500);
}

TEST(LayerRuns, OtherColumnsThatTurnAreAnotherRun) {
  ModelSpec model =
      readLayers({{"1:", rotary}, {"3:", "\"rotary\": {\"dim\": 4}"}});
  ASSERT_EQ(runsOf(model).size(), 2u);
  // The first has no rotation and goes with both; it joins what comes first.
  EXPECT_EQ(runsOf(model)[0].count, 3);
  EXPECT_EQ(runsOf(model)[1].prefix, "decoder.layers.3-5");
  ModelSpec style = readLayers(
      {{":", rotary}, {"3:", "\"rotary\": {\"style\": \"interleaved\"}"}});
  EXPECT_EQ(runsOf(style).size(), 2u);
}

TEST(LayerRuns, BiasesAreStructure) {
  ModelSpec model = readLayers({{"2:", biased}, {"3:", window}});
  ASSERT_EQ(runsOf(model).size(), 2u);
  EXPECT_EQ(runsOf(model)[0].prefix, "decoder.layers.0-1");
  EXPECT_FALSE(attentionOf(runsOf(model)[0].sublayers).window);
  EXPECT_EQ(runsOf(model)[1].groups.size(), 2u);
}

TEST(LayerRuns, StructureInTurnIsAPeriod) {
  ModelSpec model =
      readLayers({{"1::2", biased}, {"2", window}, {"5", window}});
  ASSERT_EQ(runsOf(model).size(), 2u);
  for (int64_t place : {0, 1}) {
    const LayerRun &run = runsOf(model)[size_t(place)];
    EXPECT_EQ(run.first, place);
    EXPECT_EQ(run.step, 2);
    EXPECT_EQ(run.count, 3);
    EXPECT_EQ(run.layerOf(2), place + 4);
    EXPECT_EQ(attentionOf(run.sublayers).qBias, place == 1);
    EXPECT_EQ(attentionOf(run.sublayers).window, (Window{7, 0}));
  }
  EXPECT_EQ(runsOf(model)[0].prefix, "decoder.layers.0-4:2");
  EXPECT_EQ(runsOf(model)[1].prefix, "decoder.layers.1-5:2");
  // Of layers 0, 2, 4, and of 1, 3, 5.
  EXPECT_EQ(runsOf(model)[0].groups.size(), 3u);
  EXPECT_EQ(runsOf(model)[1].groups.size(), 2u);
  size_t places = 0;
  for (const Parameter &parameter : model.parameters) {
    if (parameter.name == "decoder.layers.1-5:2.attn.q.bias" ||
        parameter.name == "decoder.layers.0-4:2.attn.q.weight") {
      ++places;
      EXPECT_EQ(parameter.firstLayer, parameter.rank == 1);
      EXPECT_EQ(parameter.layerStep, 2);
      EXPECT_EQ(parameter.layers, 3);
    }
  }
  EXPECT_EQ(places, 2u);
}

TEST(LayerRuns, PrologueAndEpilogueAreRunsOfTheirOwn) {
  ModelSpec model = readLayers({{"1:-1:2", biased}});
  std::vector<std::string> prefixes;
  for (const LayerRun &run : runsOf(model)) {
    prefixes.push_back(run.prefix);
  }
  EXPECT_EQ(prefixes, (std::vector<std::string>{"decoder.layers.0-2:2",
                                                "decoder.layers.1-3:2",
                                                "decoder.layers.4-5"}));
  EXPECT_EQ(runsOf(model)[2].step, 1);
}

TEST(LayerRuns, APlaceMayTurnNothing) {
  // Rotation is a number of the places that have it, and none of the others.
  ModelSpec model = readLayers(
      {{"::2", rotary}, {"2", "\"rotary\": \"none\""}, {"1::2", biased}});
  ASSERT_EQ(runsOf(model).size(), 2u);
  EXPECT_TRUE(attentionOf(runsOf(model)[0].sublayers).rotary);
  EXPECT_FALSE(attentionOf(runsOf(model)[0].groups[1].sublayers).rotary);
  EXPECT_FALSE(attentionOf(runsOf(model)[1].sublayers).rotary);
}

TEST(LayerRuns, TheCanonicalFormHasEveryLayersNumbers) {
  ModelSpec model = readLayers({{"1::2", window}});
  Diagnostics diagnostics;
  std::optional<ModelSpec> again =
      readSpecText("c", model.canonical, "", diagnostics);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->canonical, model.canonical);
  ASSERT_EQ(again->decoder->runs.size(), 1u);
  EXPECT_EQ(again->decoder->runs[0].groups.size(), 6u);
}

TEST(LayerRuns, TheCanonicalFormOfAPatternIsAPeriod) {
  auto blocksOf = [](const std::string &layers, const std::string &set) {
    ModelSpec model = readLayers({{layers, set}});
    Diagnostics diagnostics;
    std::optional<ModelSpec> again =
        readSpecText("c", model.canonical, "", diagnostics);
    EXPECT_TRUE(again && again->canonical == model.canonical);
    size_t count = 0, at = 0;
    while ((at = model.canonical.find("\"sublayers\"", at) + 1) != 0) {
      ++count;
    }
    return count;
  };
  for (const char *set : {window, biased}) {
    EXPECT_EQ(blocksOf("1::2", set), 2u);
    EXPECT_EQ(blocksOf("2::3", set), 3u);
    // Four in turn are not there twice.
    EXPECT_EQ(blocksOf("::4", set), 4u);
    EXPECT_EQ(blocksOf("3", set), 3u);
    EXPECT_EQ(blocksOf(":", set), 1u);
  }
}

/// decoderSpec with these layers, of bare attention.
static std::string withLayers(const std::string &layers) {
  std::string text = decoderSpec;
  size_t begin = text.find("\"layers\": {"), end = text.find("\"final_norm\"");
  text.replace(begin, end - begin, "\"layers\": " + layers + ",\n    ");
  for (const char *name :
       {"attn.pre_norm", "ffn.pre_norm", "ffn.gate_up", "ffn.down"}) {
    size_t line = text.find(std::string("\"decoder.layers.") + name);
    text.erase(line, text.find('\n', line) - line);
  }
  return text;
}

TEST(LayerRuns, BlocksInTurn) {
  std::string block = "{\"attn\": {\"num_heads\": 3, \"causal\": true";
  std::string seen = block + ", " + window + "}}", all = block + "}}";
  Diagnostics diagnostics;
  std::optional<ModelSpec> model =
      readSpecText("s",
                   withLayers("[{\"repeat\": 2, \"block\": [" + seen + ", " +
                              all + ", " + all + "]}]"),
                   "", diagnostics);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  ASSERT_TRUE(model);
  EXPECT_EQ(model->decoder->layers, 6);
  ASSERT_EQ(runsOf(*model).size(), 1u);
  std::vector<int64_t> counts;
  for (const LayerGroup &group : runsOf(*model)[0].groups) {
    counts.push_back(group.count);
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{1, 2, 1, 2}));
}

TEST(LayerRuns, NoBlocksAreAFault) {
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpecText("s.json",
                            withLayers("[{\"repeat\": 2, \"block\": []}]"), "",
                            diagnostics));
  ASSERT_FALSE(diagnostics.empty());
  EXPECT_EQ(formatDiagnostic(diagnostics.front()),
            "s.json:7:39: /decoder/layers/0/block: expected 1 to 64 blocks, "
            "got 0 [TFC026]");
}

TEST(LayerRuns, SharedWeightsAreOfGroups) {
  LayerRun run;
  run.count = 18;
  run.numShared = 14;
  // 9 / (18 / 14) is a little less than 7.
  EXPECT_EQ(run.weightsOf(0), 0);
  EXPECT_EQ(run.weightsOf(9), 6);
  EXPECT_EQ(run.weightsOf(17), 13);
  run.count = 5;
  run.numShared = 2;
  EXPECT_EQ(run.weightsOf(2), 0);
  EXPECT_EQ(run.weightsOf(3), 1);

  std::string text = decoderSpec, repeat = "\"repeat\": 2,\n";
  text.replace(text.find(repeat), repeat.size(),
               "\"repeat\": 5, \"share\": {\"groups\": 2},\n");
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText("s", text, "", diagnostics);
  ASSERT_TRUE(model);
  ASSERT_EQ(model->decoder->runs.size(), 1u);
  EXPECT_EQ(model->decoder->layers, 5);
  for (const Parameter &parameter : model->parameters) {
    if (parameter.firstLayer >= 0) {
      EXPECT_EQ(parameter.layers, 2) << parameter.name;
    }
  }
  EXPECT_NE(model->canonical.find("\"share\": {\"groups\": 2}"),
            std::string::npos);
  std::optional<ModelSpec> again =
      readSpecText("s", model->canonical, "", diagnostics);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->canonical, model->canonical);
}
