// Models of two stacks: the shared table, position bias, cross-attention,
// heads of either stack.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/ReadSpec.h"
#include "test/unit/spec/GoodSpecs.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tfc::spec;

namespace {

using Edits = std::vector<std::pair<std::string, std::string>>;

ModelSpec read(std::string text, const Edits &edits = {}) {
  for (const auto &[from, to] : edits) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  }
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText("s", text, "", diagnostics);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  return model.value_or(ModelSpec());
}

const Parameter *find(const ModelSpec &model, const std::string &name) {
  for (const Parameter &parameter : model.parameters) {
    if (parameter.name == name) {
      return &parameter;
    }
  }
  return nullptr;
}

} // namespace

TEST(EncoderDecoder, Stacks) {
  ModelSpec model = read(encoderDecoderSpec);
  EXPECT_EQ(model.kind, Kind::EncoderDecoder);
  ASSERT_EQ(model.stacks().size(), 2u);
  EXPECT_EQ(model.stacks()[0]->name, "encoder");
  EXPECT_EQ(model.stacks()[1]->name, "decoder");
  EXPECT_EQ(model.encoder->layers, 2);
  EXPECT_EQ(model.decoder->layers, 3);
  EXPECT_EQ(model.decoder->runs[0].prefix, "decoder.layers");
  EXPECT_EQ(model.sharedRows, 30);
  EXPECT_EQ(model.encoder->embeddings.tokenTable, "shared.token.weight");
  EXPECT_EQ(model.encoder->embeddings.tokenRows, 30);
  EXPECT_EQ(model.encoder->embeddings.tokenScale, std::sqrt(12.0));
  EXPECT_EQ(model.decoder->embeddings.tokenScale, 1);
  EXPECT_TRUE(model.encoder->positionBias->bidirectional);
  EXPECT_FALSE(model.decoder->positionBias->bidirectional);
  EXPECT_EQ(model.decoder->positionBias->buckets, 8);
  EXPECT_EQ(model.decoder->positionBias->maxDistance, 9);
  EXPECT_EQ(model.decoder->finalNorm->kind, Norm::Kind::RmsNorm);
  EXPECT_FALSE(model.decoder->finalNorm->bias);
}

TEST(EncoderDecoder, Sublayers) {
  ModelSpec model = read(encoderDecoderSpec);
  const std::vector<Sublayer> &layer = model.decoder->runs[0].sublayers;
  ASSERT_EQ(layer.size(), 3u);
  EXPECT_EQ(layer[1].name, "cross");
  const auto &self = std::get<Attention>(layer[0].f);
  const auto &cross = std::get<Attention>(layer[1].f);
  EXPECT_TRUE(self.causal && self.positionBias && !self.cross);
  EXPECT_TRUE(cross.cross && !cross.causal && !cross.positionBias);
  EXPECT_EQ(cross.numKvHeads, 1);
  EXPECT_TRUE(layer[1].preNorm);
  EXPECT_TRUE(std::get<Ffn>(layer[2].f).gated);
}

TEST(EncoderDecoder, Parameters) {
  ModelSpec model = read(encoderDecoderSpec);
  std::vector<std::string> names;
  for (const Parameter &parameter : model.parameters) {
    names.push_back(parameter.name);
  }
  EXPECT_EQ(names.size(), 31u);
  EXPECT_EQ(names[0], "shared.token.weight");
  EXPECT_EQ(names[1], "encoder.position_bias.weight");
  EXPECT_EQ(names[11], "encoder.final_norm.weight");
  EXPECT_EQ(names[12], "decoder.position_bias.weight");
  EXPECT_EQ(names[18], "decoder.layers.cross.pre_norm.weight");
  EXPECT_EQ(names.back(), "heads.lm.proj.bias");
  const Parameter *bias = find(model, "decoder.position_bias.weight");
  EXPECT_EQ(bias->rows, 8);
  EXPECT_EQ(bias->cols, 3);
  EXPECT_EQ(bias->firstLayer, -1);
  const Parameter *keys = find(model, "decoder.layers.cross.k.weight");
  EXPECT_EQ(keys->rows, 4);
  EXPECT_EQ(keys->layers, 3);
  EXPECT_EQ(keys->patterns,
            std::vector<std::string>{"decoder.layers.{i}.cross.k.weight"});
  EXPECT_EQ(find(model, "heads.cls.dense.weight")->cols, 12);
}

TEST(EncoderDecoder, Heads) {
  ModelSpec model = read(encoderDecoderSpec);
  ASSERT_EQ(model.heads.size(), 2u);
  EXPECT_EQ(std::get<TakeStep>(model.heads[0].steps[0]).at,
            TakeStep::At::LastEos);
  EXPECT_EQ(model.heads[1].from, "decoder");
  EXPECT_EQ(std::get<ScaleStep>(model.heads[1].steps[0]).factor,
            1 / std::sqrt(12.0));
  const auto &logits = std::get<LogitsStep>(model.heads[1].steps[1]);
  EXPECT_EQ(logits.weight, "shared.token.weight");
  EXPECT_EQ(logits.width, 30);
  ASSERT_EQ(model.outputs.size(), 3u);
  EXPECT_EQ(model.outputs[0].value, "encoder.hidden");
  EXPECT_EQ(model.tokens.decoderStart, 2);
}

/// The longest sequence is that of the longer table; the other stack ends
/// where its own does.
TEST(EncoderDecoder, PositionsOfEachStack) {
  auto position = [](const std::string &rows) {
    return "\"position\": {\"kind\": \"learned\", \"rows\": " + rows +
           ", \"offset\": 2}";
  };
  auto tables = [&](const std::string &encoder, const std::string &decoder) {
    return Edits{{"\"scale\": \"sqrt_hidden\"}},",
                  "\"scale\": \"sqrt_hidden\"}, " + position(encoder) + "},"},
                 {"{\"use\": \"shared.token\"}},",
                  "{\"use\": \"shared.token\"}, " + position(decoder) + "},"}};
  };
  ModelSpec model = read(encoderDecoderSpec, tables("40", "25"));
  EXPECT_EQ(model.maxPositions, 38);
  EXPECT_EQ(model.encoder->embeddings.position->rows, 40);
  EXPECT_EQ(model.decoder->embeddings.position->rows, 25);
  EXPECT_EQ(read(encoderDecoderSpec, tables("25", "40")).maxPositions, 38);
}

TEST(EncoderDecoder, DefaultOutputs) {
  ModelSpec model =
      read(encoderDecoderSpec,
           {{"  \"outputs\": {\n    \"encoder_last_hidden_state\": "
             "\"encoder.hidden\",\n    \"logits\": \"lm\",\n    \"label\": "
             "\"cls\"\n  },\n",
             ""}});
  ASSERT_EQ(model.outputs.size(), 2u);
  EXPECT_EQ(model.outputs[0].name, "encoder_last_hidden_state");
  EXPECT_EQ(model.outputs[1].name, "last_hidden_state");
  EXPECT_EQ(model.outputs[1].value, "decoder.hidden");
}

TEST(EncoderDecoder, StacksWithTablesOfTheirOwn) {
  ModelSpec model = read(encoderDecoderSpec,
                         {{"  \"shared\": {\"token\": {\"rows\": 30}},\n", ""},
                          {"\"use\": \"shared.token\", ", ""},
                          {"\"use\": \"shared.token\"", "\"rows\": 40"},
                          {"\"tied\": \"shared.token\"",
                           "\"tied\": \"decoder.embeddings.token\""}});
  EXPECT_EQ(find(model, "encoder.embeddings.token.weight")->rows, 30);
  EXPECT_EQ(find(model, "decoder.embeddings.token.weight")->rows, 40);
  EXPECT_EQ(std::get<LogitsStep>(model.heads[1].steps[1]).width, 40);
  EXPECT_EQ(model.sharedRows, 0);
}

TEST(EncoderDecoder, BiasOfSomeAttentions) {
  ModelSpec model = read(encoderDecoderSpec,
                         {{"\"repeat\": 2,\n",
                           "\"repeat\": 2,\n      \"overrides\": [{\"layers\": "
                           "\"0\", \"set\": {\"attn\": {\"use_position_bias\": "
                           "false}}}],\n"}});
  ASSERT_EQ(model.encoder->runs.size(), 2u);
  auto biased = [&](size_t run) {
    return std::get<Attention>(model.encoder->runs[run].sublayers[0].f)
        .positionBias;
  };
  EXPECT_FALSE(biased(0));
  EXPECT_TRUE(biased(1));
  EXPECT_TRUE(find(model, "encoder.position_bias.weight"));
}

TEST(EncoderDecoder, GenerationDefaultsAreFilled) {
  ModelSpec model = read(encoderDecoderSpec);
  const Generation &generation = model.generation;
  EXPECT_EQ(generation.maxLength, 20);
  EXPECT_EQ(generation.numBeams, 4);
  EXPECT_EQ(generation.topK, 50);
  EXPECT_EQ(generation.lengthPenalty, 1);
  EXPECT_FALSE(generation.forcedEos);
  EXPECT_NE(model.canonical.find("\"top_k\": 50"), std::string::npos);
}

TEST(EncoderDecoder, Generation) {
  const char *settings =
      "\"max_length\": 20, \"min_length\": 3, \"forced_bos\": 4, "
      "\"forced_eos\": [1], \"early_stopping\": \"never\", "
      "\"length_penalty\": -0.5, \"no_repeat_ngram_size\": 2, \"top_k\": 0, "
      "\"top_p\": 0.5, \"min_p\": 0.25, \"temperature\": 2, "
      "\"repetition_penalty\": 1.5";
  ModelSpec model =
      read(encoderDecoderSpec, {{"\"max_length\": 20", settings}});
  const Generation &generation = model.generation;
  EXPECT_EQ(generation.minLength, 3);
  EXPECT_EQ(generation.forcedBos, 4);
  EXPECT_EQ(generation.forcedEos, 1);
  EXPECT_EQ(generation.earlyStopping, Generation::EarlyStopping::Never);
  EXPECT_EQ(generation.lengthPenalty, -0.5);
  EXPECT_EQ(generation.noRepeatNgram, 2);
  EXPECT_EQ(generation.topK, 0);
  EXPECT_EQ(generation.topP, 0.5);
  EXPECT_EQ(generation.minP, 0.25);
  EXPECT_EQ(generation.temperature, 2);
  EXPECT_EQ(generation.repetitionPenalty, 1.5);
  ModelSpec again = read(model.canonical);
  EXPECT_EQ(again.canonical, model.canonical);
  EXPECT_EQ(again.generation.forcedEos, 1);
}

TEST(DecoderPositions, RotaryBesideOtherPositionsIsAWarning) {
  for (std::string kind : {"learned", "sinusoid"}) {
    std::string text = decoderSpec;
    auto replace = [&](const std::string &from, const std::string &to) {
      text.replace(text.find(from), from.size(), to);
    };
    bool isTable = kind == "learned";
    replace("\"token\": {}",
            "\"token\": {}, \"position\": {\"kind\": \"" + kind +
                "\", \"rows\": 9" +
                (isTable ? "}"
                         : ", \"layout\": \"concat\", \"denominator\": "
                           "\"dim\"}"));
    replace("\"causal\": true", "\"causal\": true, \"rotary\": {\"style\": "
                                "\"half\", \"theta\": 10000}");
    if (isTable) {
      replace("\"decoder.final_norm\"",
              "\"decoder.embeddings.position\": \"p\",\n"
              "      \"decoder.final_norm\"");
    }
    Diagnostics diagnostics;
    EXPECT_TRUE(readSpecText("s", text, "", diagnostics));
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_EQ(formatDiagnostic(diagnostics[0]),
              "s:6:45: /decoder/embeddings/position: warning: expected kind "
              "\"none\" (positions are in the rotary attention already), got "
              "\"" +
                  kind + "\" [TFC023]");
  }
}
