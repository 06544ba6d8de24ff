// Verification of compiled models against the interpreter: good ones agree, and
// of a broken one the broken op is named.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BreakLowering.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/VerifyCommand.h"
#include "compiler/huggingface/Import.h"
#include "compiler/spec/ReadSpec.h"

#include <gtest/gtest.h>

using namespace tfc;

namespace {

/// Imports a model of test/golden, compiles it (with a fault at `path`, if that
/// is not empty) and verifies it. What was printed, errors last.
std::string verify(const std::string &model, const std::string &path = "",
                   const std::string &inputs = "") {
  std::string directory = std::string(TFC_GOLDEN_DIR) + "/models/" + model;
  spec::Diagnostics diagnostics;
  auto imported = huggingface::importDirectory(directory, {}, diagnostics);
  if (!imported) {
    return "not imported";
  }
  auto spec = spec::readSpecText("spec", imported->spec, "", diagnostics);
  if (!spec) {
    return "not read";
  }
  CompileOptions compile;
  if (!path.empty()) {
    registerBreakLoweringPass();
    compile.runAfter = "linalg:test-break-lowering{at=" + path + "}";
  }
  VerifyOptions options;
  options.weights = directory;
  options.inputs = inputs.empty() ? "" : directory + "/" + inputs;
  std::string text;
  llvm::raw_string_ostream stream(text);
  int code = verifyModel(*spec, compile, options, stream, stream);
  EXPECT_EQ(code == kOk, text.find("error") == std::string::npos);
  return text;
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
  EXPECT_TRUE(contains(verify("gpt2-lm", "decoder.layers.ffn"),
                       "expected decoder.layers.ffn:ffn, layer 0 to be "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "decoder.final_norm"),
                       "expected decoder.final_norm:layer_norm to be "));
  EXPECT_TRUE(contains(verify("bert-model", "encoder.embeddings"),
                       "expected encoder.embeddings:add to be "));
}

TEST(Verification, SaysWhatIsWrongWithTheFiles) {
  EXPECT_TRUE(contains(verify("gpt2-lm", "", "config.json"), "error: "));
  EXPECT_TRUE(contains(verify("gpt2-lm", "", "missing.safetensors"),
                       "missing.safetensors"));
}

} // namespace
