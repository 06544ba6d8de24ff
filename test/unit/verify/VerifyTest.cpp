// Verification of compiled models against the interpreter: good ones agree, and
// of a broken one the broken op is named.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/verify/BreakFusion.h"
#include "test/unit/verify/BreakLowering.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/VerifyCommand.h"
#include "compiler/huggingface/Import.h"
#include "compiler/spec/read/ReadSpec.h"
#include "runtime/src/files/Safetensors.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

using namespace tfc;

namespace {

/// Verifies a model. What was printed, errors last.
std::string verify(const spec::ModelSpec &model, const CompileOptions &compile,
                   const VerifyOptions &options) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  int code = verifyModel(model, compile, options, stream, stream);
  EXPECT_EQ(code == kOk, text.find("error") == std::string::npos);
  return text;
}

/// The same of a model of test/golden.
std::string verifyGolden(const std::string &model,
                         const CompileOptions &compile,
                         const std::string &inputs = "",
                         const spec::ReadOptions &read = {}) {
  std::string directory = std::string(TFC_GOLDEN_DIR) + "/models/" + model;
  spec::Diagnostics diagnostics;
  auto imported = huggingface::importDirectory(directory, {}, diagnostics);
  if (!imported) {
    return "not imported";
  }
  auto spec = spec::readSpecText("spec", imported->spec, "", diagnostics, read);
  if (!spec) {
    return "not read";
  }
  VerifyOptions options;
  options.weights = directory;
  options.inputs = inputs.empty() ? "" : directory + "/" + inputs;
  return verify(*spec, compile, options);
}

/// The same, with a fault at `path` if that is not empty.
std::string verify(const std::string &model, const std::string &path = "",
                   const std::string &inputs = "") {
  CompileOptions compile;
  compile.target = "cpu";
  if (!path.empty()) {
    registerBreakLoweringPass();
    compile.opt = "none"; // tiling refuses sums that the pass has broken
    compile.runAfter = "linalg:test-break-lowering{at=" + path + "}";
  }
  return verifyGolden(model, compile, inputs);
}

/// The same of the fast path, with a fault in what it joins.
std::string verifyBrokenFusion(const std::string &model,
                               const std::string &what) {
  registerBreakFusionPass();
  CompileOptions compile;
  compile.target = "cpu";
  compile.runAfter = "fused:test-break-fusion{what=" + what + "}";
  return verifyGolden(model, compile);
}

/// Of a program that rounds between ops, with a fault at `path` if that is not
/// empty.
std::string verifyRounded(const std::string &model, const std::string &dtype,
                          const std::string &path = "",
                          const std::string &target = "cpu:x86-64-v3") {
  CompileOptions compile;
  compile.target = target;
  compile.emulate = true;
  spec::ReadOptions read;
  read.dtype = dtype;
  if (!path.empty()) {
    registerBreakLoweringPass();
    compile.opt = "none";
    compile.runAfter = "linalg:test-break-lowering{at=" + path + "}";
  }
  return verifyGolden(model, compile, "", read);
}

/// What no Hugging Face family of today has: grouped heads, a gated ffn, scores
/// that fall with the layer, one layer that is unlike the others.
const char *const kUnusualSpec = R"({
  "tfc": 1, "name": "unusual", "kind": "decoder",
  "dims": { "hidden": 36, "vocab": 53, "max_positions": 24 },
  "decoder": {
    "embeddings": { "token": {}, "position": { "kind": "learned" } },
    "layers": {
      "repeat": 4,
      "block": {
        "placement": "pre",
        "norm": { "kind": "layernorm", "eps": 1e-5 },
        "attn": { "num_heads": 6, "num_kv_heads": 2, "head_dim": 7,
                  "bias": false, "causal": true,
                  "scale_by_inverse_layer": true },
        "ffn": { "width": 50, "act": "silu", "gated": true, "bias": true }
      },
      "overrides": [ { "layers": [ 2 ],
                       "set": { "ffn": { "act": "relu" } } } ]
    },
    "final_norm": "none"
  },
  "heads": { "lm": { "from": "decoder",
                     "steps": [ { "op": "logits", "name": "proj",
                                 "out": 53 } ] } },
  "outputs": { "logits": "lm" },
  "generation": { "head": "lm" },
  "weights": { "map": {
    "decoder.embeddings.token": "token",
    "decoder.embeddings.position": "position",
    "decoder.layers.attn.pre_norm": "{i}.attn_norm",
    "decoder.layers.attn.q": "{i}.q", "decoder.layers.attn.k": "{i}.k",
    "decoder.layers.attn.v": "{i}.v", "decoder.layers.attn.o": "{i}.o",
    "decoder.layers.ffn.pre_norm": "{i}.ffn_norm",
    "decoder.layers.ffn.up": "{i}.up", "decoder.layers.ffn.gate": "{i}.gate",
    "decoder.layers.ffn.down": "{i}.down",
    "heads.lm.proj": "head" } }
})";

/// Writes a tensor of small random numbers for every parameter of `model`.
void writeRandomWeights(const spec::ModelSpec &model, const std::string &path) {
  std::mt19937 random(5);
  std::vector<std::vector<float>> data;
  std::vector<rt::TensorToWrite> tensors;
  for (const spec::Parameter &parameter : model.parameters) {
    for (int64_t layer = 0; layer < parameter.layers; ++layer) {
      std::vector<float> &values = data.emplace_back();
      for (int64_t i = 0; i < parameter.storedRows * parameter.cols; ++i) {
        values.push_back(static_cast<float>(random() % 2001) / 1000 - 1);
      }
      rt::TensorToWrite tensor;
      tensor.name =
          rt::expandPattern(parameter.patterns.front(), "",
                            std::max<int64_t>(parameter.firstLayer, 0) +
                                layer * parameter.layerStep);
      tensor.shape = {parameter.storedRows};
      if (parameter.rank == 2) {
        tensor.shape.push_back(parameter.cols);
      }
      tensors.push_back(tensor);
    }
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].data = data[i].data();
  }
  EXPECT_TRUE(rt::writeSafetensors(path, tensors));
}

/// Whether `text` has `part`; prints both when not.
testing::AssertionResult contains(const std::string &text,
                                  const std::string &part) {
  return text.find(part) != std::string::npos ? testing::AssertionSuccess()
                                              : testing::AssertionFailure()
                                                    << part << "\nnot in\n"
                                                    << text;
}

TEST(Verification, EncodersAgree) {
  for (const char *model : {"bert-model", "bert-mlm", "bert-question",
                            "bert-regression", "bert-f16"}) {
    SCOPED_TRACE(model);
    EXPECT_TRUE(contains(verify(model), "forward pass of 3 sequences: "));
  }
}

TEST(Verification, DecodersAgreeInEveryStep) {
  std::string text = verify("gpt2-lm");
  EXPECT_TRUE(contains(text, "forward pass of 3 sequences: "));
  EXPECT_TRUE(contains(text, "step 1 of 2 sequences: "));
  EXPECT_TRUE(contains(text, "step 2 of 3 sequences: "));
  EXPECT_TRUE(contains(text, "step 4 of 3 sequences: "));
}

TEST(Verification, UnusualModelsAgree) {
  spec::Diagnostics diagnostics;
  auto model = spec::readSpecText("spec", kUnusualSpec, "", diagnostics);
  for (const spec::Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << spec::formatDiagnostic(diagnostic);
  }
  ASSERT_TRUE(model);
  VerifyOptions options;
  options.weights = testing::TempDir() + "tfc-unusual.safetensors";
  writeRandomWeights(*model, options.weights);
  EXPECT_TRUE(contains(verify(*model, {}, options), "step 4 of 3 sequences: "));
}

TEST(Verification, GivenInputsWithHoles) {
  EXPECT_TRUE(contains(verify("bert-model", "", "inputs-holes.safetensors"),
                       "forward pass of "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "", "inputs-left.safetensors"),
                       "forward pass of "));
}

TEST(Verification, NamesTheBrokenOp) {
  EXPECT_TRUE(contains(verify("gpt2-lm", "decoder.layers.attn.v"),
                       "tfc: error: forward pass of 3 sequences: expected "
                       "decoder.layers.attn.v:linear, layer 0 to be "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "decoder.layers.attn"),
                       "expected decoder.layers.attn:attention, layer 0 to "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "decoder.layers.ffn.down"),
                       "expected decoder.layers.ffn:ffn, layer 0 to be "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "decoder.final_norm"),
                       "expected decoder.final_norm:layer_norm to be "));
  EXPECT_TRUE(contains(verify("bert-model", "encoder.embeddings"),
                       "expected encoder.embeddings:add to be "));
}

TEST(Verification, ComparesTheLibraryThatIsShipped) {
  EXPECT_TRUE(contains(verify("bert-question"),
                       "forward pass of 3 sequences: 2 outputs without taps "));
  std::string text = verify("gpt2-lm");
  EXPECT_TRUE(contains(text, "sequences: 1 output without taps agrees"));
  EXPECT_TRUE(contains(text, "step 4 of 3 sequences: 1 output without taps"));
}

TEST(Verification, FindsFaultsThatALibraryWithTapsDoesNotHave) {
  for (const char *what : {"residual", "projection"}) {
    SCOPED_TRACE(what);
    std::string text = verifyBrokenFusion("gpt2-lm", what);
    EXPECT_TRUE(contains(text, "step 4 of 3 sequences: "));
    EXPECT_TRUE(contains(text, "tfc: error: forward pass of 3 sequences: "
                               "expected logits to be "));
    EXPECT_TRUE(contains(text, "tfc: note: every op agrees in a library with "
                               "taps: "));
  }
}

TEST(Verification, ProgramsThatRoundAgreeOpByOp) {
  for (const auto &[model, dtype, target] :
       {std::tuple{"gpt2-lm", "int8", "cpu:x86-64-v3"},
        {"llama-lm", "int8", "cpu:x86-64-v4+vnni"},
        {"llama-lm", "int4", "cpu:x86-64-v3"},
        {"bert-model", "int8", "cpu:x86-64-v4"},
        {"gpt2-lm", "bf16", "cpu:x86-64-v4+bf16"},
        {"bart-lm", "bf16", "cpu:x86-64-v3"}}) {
    SCOPED_TRACE(std::string(model) + " " + dtype);
    std::string text = verifyRounded(model, dtype, "", target);
    EXPECT_TRUE(contains(text, "ops agree, each of its own inputs (max abs "));
    EXPECT_TRUE(contains(text, " dB above what differs)"));
    EXPECT_TRUE(contains(text, "rounding: outputs are "));
  }
}

TEST(Verification, NamesTheBrokenOpOfAProgramThatRounds) {
  for (const char *dtype : {"int8", "bf16"}) {
    SCOPED_TRACE(dtype);
    // The first that differs, not whatever is behind it.
    EXPECT_TRUE(
        contains(verifyRounded("gpt2-lm", dtype, "decoder.layers.attn.v"),
                 "expected decoder.layers.attn.v:linear, layer 0 to "));
    EXPECT_TRUE(contains(verifyRounded("gpt2-lm", dtype, "decoder.layers.attn"),
                         "expected decoder.layers.attn:attention, layer 0 to"));
    // A product of what is one op in the model.
    EXPECT_TRUE(
        contains(verifyRounded("gpt2-lm", dtype, "decoder.layers.ffn.up"),
                 "expected decoder.layers.ffn.up:linear, layer 0 to be "));
  }
}

TEST(Verification, SaysWhatIsWrongWithTheFiles) {
  EXPECT_TRUE(contains(verify("gpt2-lm", "", "config.json"), "error: "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "", "missing.safetensors"),
                       "missing.safetensors"));
}

} // namespace
