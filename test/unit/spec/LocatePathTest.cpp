// From an op's path to the place in a spec that says it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/LocatePath.h"

#include <gtest/gtest.h>

using namespace tfc::spec;

namespace {

std::string pointerOf(std::string_view text, std::string_view path) {
  Diagnostics diagnostics;
  std::optional<Json> spec = parseJson("a.json", text, diagnostics);
  EXPECT_TRUE(spec);
  const Json *found = locatePath(*spec, path);
  return found ? found->place.pointer() : "none";
}

TEST(LocatePath, theInnermostValueThatIsThere) {
  const char *spec = R"({
    "decoder": {
      "embeddings": {"token": {}, "segments": [{"name": "kind"}]},
      "layers": {"repeat": 2, "block": {"norm": {}, "attn": {"rotary": {}}}},
      "final_norm": {}},
    "heads": {"lm": {"steps": [{"op": "take"}, {"op": "logits",
                                                "name": "proj"}]}}})";
  EXPECT_EQ(pointerOf(spec, "decoder.layers.attn.q"),
            "/decoder/layers/block/attn");
  EXPECT_EQ(pointerOf(spec, "decoder.layers.attn.rotary.q"),
            "/decoder/layers/block/attn/rotary");
  EXPECT_EQ(pointerOf(spec, "decoder.layers.4-7.attn.q.weight"),
            "/decoder/layers/block/attn");
  EXPECT_EQ(pointerOf(spec, "decoder.layers.attn.pre_norm"),
            "/decoder/layers/block/norm");
  EXPECT_EQ(pointerOf(spec, "decoder.embeddings.kind"),
            "/decoder/embeddings/segments/0");
  EXPECT_EQ(pointerOf(spec, "decoder.final_norm"), "/decoder/final_norm");
  EXPECT_EQ(pointerOf(spec, "decoder.layers"), "/decoder/layers");
  EXPECT_EQ(pointerOf(spec, "heads.lm.proj"), "/heads/lm/steps/1");
  EXPECT_EQ(pointerOf(spec, "heads.lm.other"), "/heads/lm");
  EXPECT_EQ(pointerOf(spec, "encoder.layers"), "none");
  EXPECT_EQ(pointerOf(spec, ""), "none");
}

TEST(LocatePath, runsAndPeriodsOfLayers) {
  const char *spec = R"({"encoder": {"layers": [
    {"repeat": 2, "block": {"attn": {}}},
    {"repeat": 3, "block": [{"sublayers": [{"name": "mix"}]},
                            {"attn": {}}]}]}})";
  EXPECT_EQ(pointerOf(spec, "encoder.layers.0-1.attn.q"),
            "/encoder/layers/0/block/attn");
  EXPECT_EQ(pointerOf(spec, "encoder.layers.2-6:2.mix.up"),
            "/encoder/layers/1/block/0/sublayers/0");
  EXPECT_EQ(pointerOf(spec, "encoder.layers.3-7:2.attn"),
            "/encoder/layers/1/block/1/attn");
  // Further than there are layers: the last ones.
  EXPECT_EQ(pointerOf(spec, "encoder.layers.999999999.attn"),
            "/encoder/layers/1/block/1/attn");
}

TEST(LocatePath, anySpecIsWalked) {
  EXPECT_EQ(pointerOf(R"({"decoder": 3})", "decoder.layers"), "/decoder");
  EXPECT_EQ(pointerOf(R"({"decoder": {"layers": []}})", "decoder.layers.7.a"),
            "/decoder/layers");
  EXPECT_EQ(pointerOf(R"({"decoder": {"layers": {"block": []}}})",
                      "decoder.layers.attn"),
            "/decoder/layers");
}

} // namespace
