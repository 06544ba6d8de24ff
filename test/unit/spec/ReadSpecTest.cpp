// What a spec means: every supported feature, defaults, runs of layers, and
// the parameters with their places in the weights.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/read/ReadSpec.h"
#include "test/unit/spec/GoodSpecs.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tfc::spec;

static ModelSpec
read(std::string text,
     std::vector<std::pair<std::string, std::string>> edits = {}) {
  for (const auto &[from, to] : edits) {
    EXPECT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
  }
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText("s", text, "", diagnostics);
  EXPECT_TRUE(model);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  return model.value_or(ModelSpec());
}

static const Parameter &find(const ModelSpec &model, const std::string &name) {
  static const Parameter none;
  for (const Parameter &parameter : model.parameters) {
    if (parameter.name == name) {
      return parameter;
    }
  }
  ADD_FAILURE() << "no parameter " << name;
  return none;
}

static std::vector<std::string> names(const ModelSpec &model) {
  std::vector<std::string> result;
  for (const Parameter &parameter : model.parameters) {
    result.push_back(parameter.name);
  }
  return result;
}

TEST(ReadSpec, Encoder) {
  ModelSpec model = read(encoderSpec);
  EXPECT_EQ(model.kind, Kind::Encoder);
  EXPECT_EQ(model.name, "model");
  EXPECT_EQ(model.hidden, 12);
  EXPECT_EQ(model.vocab, 30);
  EXPECT_EQ(model.maxPositions, 16);
  EXPECT_EQ(model.tokens.pad, 0);
  EXPECT_FALSE(model.tokens.bos);
  const Embeddings &embeddings = model.encoder->embeddings;
  EXPECT_EQ(embeddings.tokenRows, 30);
  ASSERT_TRUE(embeddings.position);
  EXPECT_EQ(embeddings.position->rows, 18);
  EXPECT_EQ(embeddings.position->offset, 2);
  ASSERT_EQ(embeddings.segments.size(), 1u);
  EXPECT_EQ(embeddings.segments[0].input, "token_type_ids");
  EXPECT_EQ(embeddings.segments[0].defaultId, 0);
  EXPECT_FALSE(embeddings.segments[0].useToken);
  ASSERT_TRUE(embeddings.norm);
  EXPECT_EQ(embeddings.norm->eps, 1e-12);
  EXPECT_TRUE(embeddings.norm->bias);
  EXPECT_FALSE(model.encoder->finalNorm);
}

TEST(ReadSpec, OverridesMakeRuns) {
  ModelSpec model = read(encoderSpec);
  ASSERT_EQ(model.encoder->runs.size(), 2u);
  EXPECT_EQ(model.encoder->layers, 4);
  EXPECT_EQ(model.encoder->runs[0].prefix, "encoder.layers.0-1");
  EXPECT_EQ(model.encoder->runs[1].prefix, "encoder.layers.2-3");
  EXPECT_EQ(model.encoder->runs[1].first, 2);
  EXPECT_EQ(model.encoder->runs[1].count, 2);
  auto actOf = [&](size_t run) {
    return std::get<Ffn>(model.encoder->runs[run].sublayers[1].f).act;
  };
  EXPECT_EQ(actOf(0), Activation::Gelu);
  EXPECT_EQ(actOf(1), Activation::Relu);
}

/// The layers that a selector selects, as a row of letters.
static std::string selected(const std::string &selector) {
  ModelSpec model =
      read(encoderSpec, {{"\"layers\": \"2:\"", "\"layers\": " + selector}});
  std::string result(size_t(model.encoder->layers), '?');
  for (const LayerRun &run : model.encoder->runs) {
    bool relu = std::get<Ffn>(run.sublayers[1].f).act == Activation::Relu;
    for (int64_t i = 0; i < run.count; ++i) {
      result[size_t(run.layerOf(i))] = relu ? 'x' : '.';
    }
  }
  return result;
}

TEST(ReadSpec, Selectors) {
  EXPECT_EQ(selected("\"1\""), ".x..");
  EXPECT_EQ(selected("\"-1\""), "...x");
  EXPECT_EQ(selected("\"::2\""), "x.x.");
  EXPECT_EQ(selected("\"1::2\""), ".x.x");
  EXPECT_EQ(selected("\":-1\""), "xxx.");
  EXPECT_EQ(selected("\"1:100\""), ".xxx");
  EXPECT_EQ(selected("\":\""), "xxxx");
  EXPECT_EQ(selected("[0, -1]"), "x..x");
}

TEST(ReadSpec, LastOverrideWinsAndEqualNeighboursAreOneRun) {
  ModelSpec model =
      read(encoderSpec,
           {{"{\"layers\": \"2:\", \"set\": {\"ffn\": {\"act\": \"relu\"}}}",
             "{\"layers\": \"2:\", \"set\": {\"ffn\": {\"act\": \"relu\"}}},"
             "{\"layers\": \"3\", \"set\": {\"ffn\": {\"act\": \"gelu\"}}},"
             "{\"layers\": \"2\", \"set\": {\"ffn\": {\"act\": \"gelu\"}}}"}});
  ASSERT_EQ(model.encoder->runs.size(), 1u);
  EXPECT_EQ(model.encoder->runs[0].prefix, "encoder.layers");
  EXPECT_EQ(model.encoder->runs[0].count, 4);
}

TEST(ReadSpec, Placement) {
  const Sublayer post = read(encoderSpec).encoder->runs[0].sublayers[0];
  EXPECT_FALSE(post.preNorm);
  EXPECT_TRUE(post.postNorm);
  const Sublayer pre = read(decoderSpec).decoder->runs[0].sublayers[0];
  EXPECT_TRUE(pre.preNorm);
  EXPECT_FALSE(pre.postNorm);
  // A sublayer's own norms come before the placement's.
  ModelSpec own = read(
      decoderSpec,
      {{"\"causal\": true",
        "\"causal\": true, \"pre_norm\": \"none\", \"post_norm\": {\"kind\": "
        "\"layernorm\", \"eps\": 0.001, \"bias\": false}"},
       {"      \"decoder.layers.attn.pre_norm\": \"{p}{i}.n1\"",
        "      \"decoder.layers.attn.post_norm\": \"{p}{i}.n1\""}});
  const Sublayer &sublayer = own.decoder->runs[0].sublayers[0];
  EXPECT_FALSE(sublayer.preNorm);
  ASSERT_TRUE(sublayer.postNorm);
  EXPECT_EQ(sublayer.postNorm->eps, 0.001);
  EXPECT_FALSE(sublayer.postNorm->bias);
}

TEST(ReadSpec, SublayersInAnyOrder) {
  ModelSpec model = read(
      decoderSpec,
      {{"\"placement\": \"pre\",\n"
        "        \"norm\": {\"kind\": \"layernorm\", \"eps\": 1e-05},\n"
        "        \"attn\": {\"num_heads\": 3, \"causal\": true},\n"
        "        \"ffn\": {\"width\": 20, \"act\": \"silu\", \"gated\": true}",
        "\"sublayers\": [{\"ffn\": {\"width\": 20, \"act\": \"silu\", "
        "\"gated\": true}}, {\"attn\": {\"num_heads\": 3, \"causal\": "
        "true}}]"},
       {"      \"decoder.layers.attn.pre_norm\": \"{p}{i}.n1\",\n", ""},
       {"      \"decoder.layers.ffn.pre_norm\": \"{p}{i}.n2\",\n", ""}});
  ASSERT_EQ(model.decoder->runs[0].sublayers.size(), 2u);
  EXPECT_EQ(model.decoder->runs[0].sublayers[0].name, "ffn");
  EXPECT_EQ(model.decoder->runs[0].sublayers[1].name, "attn");
  EXPECT_EQ(names(model)[1], "decoder.layers.ffn.gate.weight");
}

TEST(ReadSpec, Attention) {
  auto attn = [](const std::string &keys) {
    ModelSpec model =
        read(decoderSpec, {{"\"causal\": true", "\"causal\": true, " + keys}});
    return std::get<Attention>(model.decoder->runs[0].sublayers[0].f);
  };
  Attention plain = attn("\"bias\": false");
  EXPECT_EQ(plain.numHeads, 3);
  EXPECT_EQ(plain.numKvHeads, 3);
  EXPECT_EQ(plain.headDim, 4);
  EXPECT_EQ(plain.scale, 0.5);
  EXPECT_TRUE(plain.causal);
  EXPECT_FALSE(plain.qBias || plain.kBias || plain.vBias || plain.oBias);
  EXPECT_EQ(attn("\"num_kv_heads\": 1").numKvHeads, 1);
  EXPECT_EQ(attn("\"head_dim\": 26").scale, 1 / std::sqrt(26.0));
  EXPECT_EQ(attn("\"scale\": 1").scale, 1);
  EXPECT_TRUE(attn("\"scale_by_inverse_layer\": true").scaleByInverseLayer);
  Attention some = attn("\"bias\": {\"q\": true, \"v\": true}");
  EXPECT_TRUE(some.qBias && some.vBias);
  EXPECT_FALSE(some.kBias || some.oBias);
}

TEST(ReadSpec, NeutralValuesOfUnsupportedKeys) {
  read(
      decoderSpec,
      {{"\"causal\": true",
        "\"causal\": true, \"window\": \"none\", \"rotary\": \"none\", "
        "\"shared_qk\": false, \"all_masked\": \"zero\", \"score\": \"dot\", "
        "\"normalize\": \"softmax\", \"residual\": \"add\""},
       {"\"token\": {}", "\"token\": {\"scale\": 1.0}, \"mask_rows\": false"}});
}

TEST(ReadSpec, SizesFollowFromEachOther) {
  ModelSpec model = read(decoderSpec);
  EXPECT_EQ(model.decoder->embeddings.tokenRows, 30);
  EXPECT_EQ(model.maxPositions, 0);
  model = read(decoderSpec, {{", \"vocab\": 30", ""},
                             {"\"token\": {}", "\"token\": {\"rows\": 40}"}});
  EXPECT_EQ(model.vocab, 40);
  model = read(encoderSpec, {{", \"max_positions\": 16", ""}});
  EXPECT_EQ(model.maxPositions, 16);
  model = read(encoderSpec, {{"\"rows\": 18, ", ""}});
  EXPECT_EQ(model.encoder->embeddings.position->rows, 18);
}

TEST(ReadSpec, NoLayers) {
  ModelSpec model =
      read(encoderSpec, {{"\"repeat\": 4", "\"repeat\": 0"},
                         {",\n      \"overrides\": [{\"layers\": \"2:\", "
                          "\"set\": {\"ffn\": {\"act\": \"relu\"}}}]",
                          ""}});
  EXPECT_EQ(model.encoder->layers, 0);
  EXPECT_TRUE(model.encoder->runs.empty());
}

TEST(ReadSpec, Heads) {
  ModelSpec model = read(
      encoderSpec,
      {{"  \"heads\": {",
        "  \"heads\": {\"cls\": {\"from\": \"pooler\", \"steps\": [{\"op\": "
        "\"act\", \"kind\": \"relu\"}, {\"op\": \"norm\", \"name\": \"n\", "
        "\"kind\": \"layernorm\", \"eps\": 0.001, \"bias\": false}, {\"op\": "
        "\"logits\", \"name\": \"out\", \"out\": 3}]},"}});
  // After the head that it comes from.
  ASSERT_EQ(model.heads.size(), 3u);
  EXPECT_EQ(model.heads[0].name, "pooler");
  EXPECT_EQ(model.heads[1].name, "cls");
  EXPECT_EQ(model.heads[1].from, "pooler");
  const Head &pooler = model.heads[0], &qa = model.heads[2];
  EXPECT_EQ(std::get<TakeStep>(pooler.steps[0]).at, TakeStep::At::First);
  EXPECT_EQ(std::get<DenseStep>(pooler.steps[1]).path, "heads.pooler.dense");
  EXPECT_EQ(std::get<DenseStep>(pooler.steps[1]).act, Activation::Tanh);
  EXPECT_EQ(std::get<LogitsStep>(qa.steps[0]).weight, "heads.qa.both.weight");
  EXPECT_EQ(std::get<SplitStep>(qa.steps[1]).names[1], "end");
  ASSERT_EQ(model.outputs.size(), 2u);
  EXPECT_EQ(model.outputs[0].name, "pooler_output");
  EXPECT_EQ(model.outputs[0].part, -1);
  EXPECT_EQ(model.outputs[1].value, "qa");
  EXPECT_EQ(model.outputs[1].part, 0);
  EXPECT_EQ(find(model, "heads.cls.out.weight").cols, 12);
}

TEST(ReadSpec, DefaultOutput) {
  ModelSpec model =
      read(decoderSpec, {{"  \"outputs\": {\"logits\": \"lm\"},\n", ""}});
  ASSERT_EQ(model.outputs.size(), 1u);
  EXPECT_EQ(model.outputs[0].name, "last_hidden_state");
  EXPECT_EQ(model.outputs[0].value, "decoder.hidden");
}

TEST(ReadSpec, ParametersOfADecoder) {
  ModelSpec model = read(decoderSpec);
  EXPECT_EQ(
      names(model),
      (std::vector<std::string>{
          "decoder.embeddings.token.weight",
          "decoder.layers.attn.pre_norm.weight",
          "decoder.layers.attn.pre_norm.bias", "decoder.layers.attn.q.weight",
          "decoder.layers.attn.k.weight", "decoder.layers.attn.v.weight",
          "decoder.layers.attn.o.weight", "decoder.layers.ffn.pre_norm.weight",
          "decoder.layers.ffn.pre_norm.bias", "decoder.layers.ffn.gate.weight",
          "decoder.layers.ffn.up.weight", "decoder.layers.ffn.down.weight",
          "decoder.final_norm.weight", "decoder.final_norm.bias",
          "heads.lm.proj.weight"}));
  const Parameter &up = find(model, "decoder.layers.ffn.up.weight");
  EXPECT_EQ(up.patterns, std::vector<std::string>{"{p}{i}.w.weight"});
  EXPECT_EQ(up.rows, 20);
  EXPECT_EQ(up.cols, 12);
  EXPECT_EQ(up.firstRow, 20);
  EXPECT_EQ(up.storedRows, 40);
  EXPECT_EQ(up.firstLayer, 0);
  EXPECT_EQ(up.layers, 2);
  const Parameter &norm = find(model, "decoder.final_norm.bias");
  EXPECT_EQ(norm.rank, 1);
  EXPECT_EQ(norm.rows, 12);
  EXPECT_EQ(norm.cols, 1);
  EXPECT_EQ(norm.firstLayer, -1);
  EXPECT_EQ(norm.layers, 1);
  EXPECT_EQ(model.prefixes, std::vector<std::string>{"m."});
  EXPECT_EQ(model.ignore, std::vector<std::string>{"*.buffer"});
}

TEST(ReadSpec, TiedHead) {
  ModelSpec model = read(decoderSpec);
  const auto &logits = std::get<LogitsStep>(model.heads[0].steps[0]);
  EXPECT_EQ(logits.weight, "decoder.embeddings.token.weight");
  EXPECT_EQ(logits.width, 30);
  const Parameter &copy = find(model, "heads.lm.proj.weight");
  EXPECT_EQ(copy.tiedTo, "decoder.embeddings.token.weight");
  EXPECT_EQ(copy.patterns, std::vector<std::string>{"lm_head.weight"});
  // Without an entry nobody looks for a copy; a bias is a parameter as ever.
  model = read(decoderSpec,
               {{"token\"}]}}", "token\", \"bias\": true}]}}"},
                {"\"heads.lm.proj\": \"lm_head\"",
                 "\"heads.lm.proj.bias\": {\"tensor\": [\"b\", \"{p}b\"], "
                 "\"optional\": \"zeros\"}"}});
  EXPECT_EQ(names(model).back(), "heads.lm.proj.bias");
  EXPECT_TRUE(model.parameters.back().fillZeros);
  EXPECT_EQ(model.parameters.back().tiedTo, "");
  EXPECT_EQ(model.parameters.back().patterns.size(), 2u);
}

TEST(ReadSpec, PackedHeadsOfDifferentNumber) {
  ModelSpec model = read(
      decoderSpec, {{"\"causal\": true", "\"causal\": true, \"num_kv_heads\": "
                                         "1, \"bias\": true"}});
  const Parameter &value = find(model, "decoder.layers.attn.v.weight");
  EXPECT_EQ(value.rows, 4);
  EXPECT_EQ(value.firstRow, 16);
  EXPECT_EQ(value.storedRows, 20);
  const Parameter &bias = find(model, "decoder.layers.attn.k.bias");
  EXPECT_EQ(bias.rank, 1);
  EXPECT_EQ(bias.rows, 4);
  EXPECT_EQ(bias.firstRow, 12);
  EXPECT_EQ(bias.storedRows, 20);
  EXPECT_EQ(bias.patterns, std::vector<std::string>{"{p}{i}.c.bias"});
}

TEST(ReadSpec, OwnNamesWithoutAMap) {
  ModelSpec model = read(encoderSpec);
  EXPECT_EQ(find(model, "encoder.layers.2-3.attn.q.bias").patterns,
            std::vector<std::string>{"encoder.layers.{i}.attn.q.bias"});
  EXPECT_EQ(find(model, "encoder.layers.2-3.attn.q.bias").firstLayer, 2);
  EXPECT_EQ(find(model, "encoder.embeddings.segment.kind.weight").patterns,
            std::vector<std::string>{"encoder.embeddings.segment.kind.weight"});
}

TEST(ReadSpec, PrePlacedNormsWithoutAFinalOneAreAWarning) {
  std::string text = decoderSpec;
  std::string norm =
      ",\n    \"final_norm\": {\"kind\": \"layernorm\", \"eps\": 1e-05}";
  text.replace(text.find(norm), norm.size(), "");
  std::string entry = "      \"decoder.final_norm\": \"{p}n\",\n";
  text.replace(text.find(entry), entry.size(), "");
  Diagnostics diagnostics;
  EXPECT_TRUE(readSpecText("s", text, "", diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            "s:5:14: /decoder/final_norm: warning: expected a final norm "
            "(every layer has its norms in front), got nothing; \"none\" says "
            "that there is none [TFC026]");
}

TEST(ReadSpec, DtypeOption) {
  Diagnostics diagnostics;
  ReadOptions options;
  for (auto [dtype, storage] :
       {std::pair{"f32", Storage::F32}, std::pair{"f16", Storage::F16},
        std::pair{"bf16", Storage::BF16}, std::pair{"int8", Storage::Int8},
        std::pair{"int4", Storage::Int4}}) {
    options.dtype = dtype;
    std::optional<ModelSpec> model =
        readSpecText("s", decoderSpec, "", diagnostics, options);
    ASSERT_TRUE(model);
    EXPECT_EQ(model->storage, storage);
    EXPECT_TRUE(model->roundsWeights);
    EXPECT_EQ(model->multipliesBf16, storage == Storage::BF16);
  }
  options.dtype = "int2";
  EXPECT_FALSE(readSpecText("s", decoderSpec, "", diagnostics, options));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(
      formatDiagnostic(diagnostics[0]),
      "expected dtype f32, f16, bf16, int8 or int4 (others are not supported "
      "by this tfc), got \"int2\" [TFC090]");
}

TEST(ReadSpec, MatricesAreKeptAsTheSpecSays) {
  std::string text = decoderSpec;
  text.replace(text.find("  \"tokens\""), 0,
               "  \"precision\": {\"weights\": \"bf16\"},\n");
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText("s", text, "", diagnostics);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->storage, Storage::BF16);
  EXPECT_FALSE(model->roundsWeights);
  EXPECT_NE(model->canonical.find("\"weights\": \"bf16\""), std::string::npos);
  // What is kept so is not multiplied so unless it is said.
  EXPECT_FALSE(model->multipliesBf16);
  EXPECT_NE(model->canonical.find("\"compute\": \"f32\""), std::string::npos);
}

TEST(ReadSpec, ProductsMultiplyIntegersWhereMatricesAreThem) {
  Diagnostics diagnostics;
  auto read = [&](const std::string &precision) {
    std::string text = decoderSpec;
    text.replace(text.find("  \"tokens\""), 0,
                 "  \"precision\": {" + precision + "},\n");
    return readSpecText("s", text, "", diagnostics);
  };
  std::optional<ModelSpec> model =
      read("\"weights\": \"int8\", \"compute\": \"int8\"");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->storage, Storage::Int8);
  EXPECT_EQ(model->cache, Storage::F32);
  EXPECT_FALSE(read("\"weights\": \"int8\""));
  EXPECT_FALSE(read("\"weights\": \"bf16\", \"compute\": \"int8\""));
  ASSERT_EQ(diagnostics.size(), 2u);
  for (size_t i : {0, 1}) {
    EXPECT_NE(formatDiagnostic(diagnostics[i])
                  .find("expected precision.compute \"int8\" exactly with "
                        "precision.weights \"int8\" or \"int4\" (products "
                        "multiply integers by integers), got "),
              std::string::npos)
        << formatDiagnostic(diagnostics[i]);
  }
}

TEST(ReadSpec, GroupsAreOfFourBits) {
  Diagnostics diagnostics;
  auto read = [&](const std::string &precision, const ReadOptions &options) {
    std::string text = decoderSpec;
    text.replace(text.find("  \"tokens\""), 0,
                 "  \"precision\": {" + precision + "},\n");
    return readSpecText("s", text, "", diagnostics, options);
  };
  const std::string four = "\"weights\": \"int4\", \"compute\": \"int8\"";
  std::optional<ModelSpec> model = read(four, {});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 32);
  EXPECT_FALSE(model->hasZeros);
  EXPECT_NE(model->canonical.find("\"group\": 32"), std::string::npos);
  // Scales have the range of what they are made of, unless others are said.
  EXPECT_EQ(model->scales, Storage::BF16);
  EXPECT_NE(model->canonical.find("\"scales\": \"bf16\""), std::string::npos);
  // Heads are bytes, and nothing else.
  for (const Parameter &parameter : model->parameters) {
    EXPECT_EQ(parameter.isKeptByte, parameter.name.rfind("heads.", 0) == 0)
        << parameter.name;
  }
  // What the spec says holds with --dtype, but for --group.
  const std::string kept =
      "\"group\": 128, \"zeros\": true, \"scales\": \"f16\"";
  model = read(kept, {"int4", ""});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 128);
  EXPECT_TRUE(model->hasZeros);
  EXPECT_EQ(model->scales, Storage::F16);
  model = read(kept, {"int4", "", false, 64});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 64);
  // Bytes have groups where they are said, and no zero points.
  model = read(kept, {"int8", ""});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 128);
  EXPECT_FALSE(model->hasZeros);
  model = read("", {"int8", "", false, 64});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 64);
  model = read("", {"int8", ""});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 0);
  // With other types it changes nothing, the canonical text neither.
  model = read(kept, {"bf16", ""});
  ASSERT_TRUE(model);
  EXPECT_EQ(model->group, 0);
  EXPECT_EQ(model->canonical.find("group"), std::string::npos);
  EXPECT_EQ(model->canonical.find("scales"), std::string::npos);
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_FALSE(read(four + ", \"group\": 48", {}));
  EXPECT_FALSE(read("", {"bf16", "", false, 64}));
  EXPECT_FALSE(read("", {"int4", "", false, 48}));
  ASSERT_EQ(diagnostics.size(), 3u);
  EXPECT_NE(formatDiagnostic(diagnostics[0])
                .find("expected precision.group 32, 64 or 128, got 48"),
            std::string::npos);
  EXPECT_NE(formatDiagnostic(diagnostics[1])
                .find("expected --dtype int8 or int4 with --group"),
            std::string::npos);
  EXPECT_NE(
      formatDiagnostic(diagnostics[2]).find("expected --group 32, 64 or 128"),
      std::string::npos);
}

TEST(ReadSpec, RulesKeepMatricesFromBeingIntegers) {
  Diagnostics diagnostics;
  auto read = [&](const std::string &match, const std::string &dtype) {
    std::string text = decoderSpec;
    text.replace(text.find("  \"tokens\""), 0,
                 "  \"precision\": {\"rules\": [{\"match\": \"" + match +
                     "\", \"weights\": \"bf16\"}]},\n");
    ReadOptions options;
    options.dtype = dtype;
    return readSpecText("s", text, "", diagnostics, options);
  };
  std::optional<ModelSpec> model = read("*.ffn.down", "int8");
  ASSERT_TRUE(model);
  for (const Parameter &parameter : model->parameters) {
    bool isDown = parameter.name.find(".ffn.down.weight") != std::string::npos;
    EXPECT_EQ(parameter.isKeptWide, isDown) << parameter.name;
  }
  EXPECT_NE(model->canonical.find("\"match\": \"*.ffn.down\""),
            std::string::npos);
  // The canonical text reads back to itself, and without integers there is
  // nothing to be kept from.
  std::optional<ModelSpec> again =
      readSpecText("s", model->canonical, "", diagnostics);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->canonical, model->canonical);
  model = read("*.ffn.down", "");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->canonical.find("rules"), std::string::npos);
  EXPECT_FALSE(read("*.ffn.donw", "int8"));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            "s:21:37: /precision/rules/0/match: expected the name of a matrix "
            "or a glob of some, as \"*.ffn.down\", got \"*.ffn.donw\" "
            "[TFC004]");
}

TEST(ReadSpec, ProductsMultiplyBf16WhereMatricesAreIt) {
  Diagnostics diagnostics;
  auto read = [&](const std::string &weights, const std::string &dtype) {
    std::string text = decoderSpec;
    text.replace(text.find("  \"tokens\""), 0,
                 "  \"precision\": {" + weights + "\"compute\": \"bf16\"},\n");
    ReadOptions options;
    options.dtype = dtype;
    return readSpecText("s", text, "", diagnostics, options);
  };
  std::optional<ModelSpec> model = read("\"weights\": \"bf16\", ", "");
  ASSERT_TRUE(model);
  EXPECT_TRUE(model->multipliesBf16);
  EXPECT_NE(model->canonical.find("\"compute\": \"bf16\""), std::string::npos);
  // --dtype says both.
  model = read("\"weights\": \"bf16\", ", "f16");
  ASSERT_TRUE(model);
  EXPECT_FALSE(model->multipliesBf16);
  EXPECT_TRUE(read("", "bf16"));
  EXPECT_FALSE(read("", ""));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            "s:21:28: /precision/compute: expected \"f32\" (products multiply "
            "bf16 where precision.weights is bf16), got \"bf16\" [TFC004]");
}
