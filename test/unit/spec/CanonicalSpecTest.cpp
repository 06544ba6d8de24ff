// The canonical text: the same for all ways of saying a model, and a spec that
// reads back to itself. Presets, extends, $def; the committed schema.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/family/FamilyTable.h"
#include "compiler/spec/read/ReadSpec.h"
#include "test/unit/spec/GoodSpecs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace tfc::spec;
namespace fs = std::filesystem;

static std::string sourceDir() { return TFC_SOURCE_DIR; }

static std::string canonicalOf(const std::string &text,
                               const std::string &name = "s") {
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpecText(name, text, "", diagnostics);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  return model ? model->canonical : "";
}

static std::string canonicalOfFile(const std::string &path) {
  Diagnostics diagnostics;
  std::optional<ModelSpec> model = readSpec(path, diagnostics);
  for (const Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << formatDiagnostic(diagnostic);
  }
  return model ? model->canonical : "";
}

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  return text.replace(text.find(from), from.size(), to);
}

TEST(CanonicalSpec, ReadsBackToItself) {
  std::vector<std::string> texts = {encoderSpec, decoderSpec,
                                    encoderDecoderSpec};
  for (const auto &entry :
       fs::recursive_directory_iterator(sourceDir() + "/examples/specs")) {
    if (entry.is_regular_file()) {
      texts.push_back(canonicalOfFile(entry.path().string()));
    }
  }
  EXPECT_GE(texts.size(), 20u);
  for (const std::string &text : texts) {
    std::string once = canonicalOf(text);
    EXPECT_EQ(canonicalOf(once, "another/file"), once);
  }
  for (size_t i = 3; i < texts.size(); ++i) {
    EXPECT_EQ(canonicalOf(texts[i]), texts[i]);
  }
}

TEST(CanonicalSpec, DoesNotDependOnSugar) {
  std::string plain = canonicalOf(encoderSpec);
  // $def written out, overrides as runs, a default said, keys in another order.
  EXPECT_EQ(canonicalOf(replaced(encoderSpec, "{\"$def\": \"norm\"}",
                                 "{\"eps\": 1e-12, \"kind\": \"layernorm\", "
                                 "\"bias\": true}")),
            plain);
  EXPECT_EQ(canonicalOf(replaced(encoderSpec, "\"layers\": \"2:\"",
                                 "\"layers\": [-1, 2]")),
            plain);
  EXPECT_EQ(canonicalOf(replaced(encoderSpec, "\"num_heads\": 4",
                                 "\"num_heads\": 4, \"head_dim\": 3, "
                                 "\"scale\": \"rsqrt_head_dim\"")),
            plain);
  EXPECT_EQ(canonicalOf(replaced(encoderSpec, "\"tfc\": 1,",
                                 "\"tfc\": 1, \"meta\": {\"by\": null},")),
            plain);
  EXPECT_NE(
      canonicalOf(replaced(encoderSpec, "\"width\": 20", "\"width\": 21")),
      plain);
}

TEST(CanonicalSpec, DoesNotDependOnTheFormOfTheMap) {
  std::string plain = canonicalOf(decoderSpec);
  EXPECT_EQ(
      canonicalOf(replaced(decoderSpec, "\"decoder.final_norm\": \"{p}n\"",
                           "\"decoder.final_norm.bias\": {\"tensor\": "
                           "\"{p}n.bias\"}, \"decoder.final_norm.weight\": "
                           "{\"tensor\": [\"{p}n.weight\"]}")),
      plain);
  EXPECT_NE(canonicalOf(replaced(decoderSpec, "[\"gate\", \"up\"]",
                                 "[\"up\", \"gate\"]")),
            plain);
}

TEST(CanonicalSpec, RunsHaveSourcesOfTheirOwn) {
  std::string text = replaced(
      decoderSpec, "      }\n    },\n",
      "      },\n      \"overrides\": [{\"layers\": \"0\", \"set\": {\"ffn\": "
      "{\"width\": 24}}}]\n    },\n");
  std::string canonical = canonicalOf(text);
  EXPECT_NE(canonical.find("\"decoder.layers.0.ffn.up.weight\""),
            std::string::npos);
  EXPECT_NE(canonical.find("\"stored_rows\": 40"), std::string::npos);
  EXPECT_NE(canonical.find("\"stored_rows\": 48"), std::string::npos);
  EXPECT_EQ(canonicalOf(canonical), canonical);
}

TEST(CanonicalSpec, KeepsWhatFewModelsHave) {
  std::string text = replaced(
      decoderSpec, "\"attn\": {\"num_heads\": 3, \"causal\": true}",
      "\"attn\": {\"num_heads\": 3, \"causal\": true, \"softcap\": 5, "
      "\"clip\": 3, \"inner_norm\": {\"kind\": \"rmsnorm\", \"eps\": "
      "0.001, \"affine\": false}, \"out_scale\": 0.5, \"qk_norm\": {\"kind\": "
      "\"layernorm\", \"eps\": "
      "1e-05, \"affine\": false}, \"out_norm\": {\"kind\": \"rmsnorm\", "
      "\"eps\": 1e-05, \"affine\": false}}");
  text =
      replaced(text, "\"placement\": \"pre\"", "\"placement\": \"parallel\"");
  text = replaced(text, "\"eps\": 1e-05},\n        \"attn\"",
                  "\"eps\": 1e-05, \"offset\": 1, \"form\": "
                  "\"std_eps_unbiased\"},\n        \"attn\"");
  text = replaced(
      text, "      \"decoder.layers.ffn.pre_norm\": \"{p}{i}.n2\",\n", "");
  text = replaced(text, "\"pack\": [\"q\", \"k\", \"v\"]",
                  "\"pack\": [\"q\", \"k\", \"v\"], \"groups\": 3");
  std::string canonical = canonicalOf(text);
  EXPECT_EQ(canonicalOf(canonical), canonical);
  for (const char *part :
       {"\"softcap\": 5", "\"clip\": 3", "\"inner_norm\"", "\"out_scale\": 0.5",
        "\"over\": \"head\"", "\"affine\": false", "\"parallel\": true",
        "\"offset\": 1", "\"form\": \"std_eps_unbiased\"", "\"out_norm\"",
        "\"groups\": 3", "\"first_row\": 8"}) {
    EXPECT_NE(canonical.find(part), std::string::npos) << part;
  }
}

TEST(CanonicalSpec, KeepsWhatPoolsLeaveOut) {
  std::string canonical = canonicalOf(
      replaced(encoderSpec, "{\"op\": \"take\", \"at\": \"first\"}",
               "{\"op\": \"pool\", \"how\": \"max\", \"skip\": 2, \"beside\": "
               "\"first_visible\"}"));
  EXPECT_EQ(canonicalOf(canonical), canonical);
  EXPECT_NE(canonical.find("\"skip\": 2"), std::string::npos);
  EXPECT_NE(canonical.find("\"beside\": \"first_visible\""), std::string::npos);
  // The product behind it reads both rows.
  EXPECT_NE(canonical.find("\"heads.pooler.dense.weight\""), std::string::npos);
}

/// A folder of its own, gone at the end.
class SpecFiles : public testing::Test {
protected:
  fs::path dir;

  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "tfc-spec-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(name.data()));
    dir = name;
  }
  void TearDown() override { fs::remove_all(dir); }

  std::string write(const std::string &name, const std::string &text) {
    fs::create_directories((dir / name).parent_path());
    std::ofstream(dir / name) << text;
    return (dir / name).string();
  }
};

TEST_F(SpecFiles, ExtendsAFile) {
  write("base/decoder.json", decoderSpec);
  std::string path = write(
      "model.json",
      "{\"tfc\": 1, \"extends\": \"base/decoder.json\", \"decoder\": "
      "{\"layers\": {\"repeat\": 5, \"block\": {\"ffn\": {\"width\": 24}}}}, "
      "\"generation\": null}");
  std::string text = replaced(decoderSpec, "\"repeat\": 2", "\"repeat\": 5");
  text = replaced(text, "\"width\": 20", "\"width\": 24");
  text = replaced(
      text, "  \"generation\": {\"head\": \"lm\", \"max_length\": 20},\n", "");
  EXPECT_EQ(canonicalOfFile(path), canonicalOf(text));
}

TEST_F(SpecFiles, ExtendsOnlyWhatLiesInTheFolder) {
  write("specs/base.json", decoderSpec);
  std::string path = write("specs/more/model.json",
                           "{\"tfc\": 1, \"extends\": \"../base.json\"}");
  std::string above = write("specs/model.json",
                            "{\"tfc\": 1, \"extends\": \"more/model.json\"}");
  // Below the file that was named, where another one leads back to.
  EXPECT_EQ(canonicalOfFile(above), canonicalOf(decoderSpec));
  fs::create_symlink("../base.json", dir / "specs/more/link.json");
  std::string link = write("specs/more/linked.json",
                           "{\"tfc\": 1, \"extends\": \"link.json\"}");
  for (const std::string &outside : {path, link}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(readSpec(outside, diagnostics));
    ASSERT_EQ(diagnostics.size(), 1u);
    EXPECT_NE(formatDiagnostic(diagnostics[0])
                  .find("/extends: expected a file in the folder of the spec "
                        "or below it, got \""),
              std::string::npos);
  }
}

TEST_F(SpecFiles, FaultsArePlacedWhereTheyWereWritten) {
  std::string base = write("base.json", decoderSpec);
  std::string path = write("model.json", "{\"tfc\": 1, \"extends\": "
                                         "\"base.json\",\n \"dims\": "
                                         "{\"hidden\": 12, \"vocab\": 3}}");
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpec(path, diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            base + ":21:35: /tokens/eos/1: expected a row of the token table "
                   "(0 to 2), got 3 [TFC040]");
}

TEST_F(SpecFiles, CyclesOfExtends) {
  write("a.json", "{\"tfc\": 1, \"extends\": \"b.json\"}");
  std::string path = write("b.json", "{\"tfc\": 1, \"extends\": \"a.json\"}");
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpec(path, diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].code, 6);
}

TEST_F(SpecFiles, TheFolderIsNotInTheText) {
  std::string here = write("a/model.json", decoderSpec);
  std::string there = write("b/c/other.json", decoderSpec);
  EXPECT_EQ(canonicalOfFile(here), canonicalOfFile(there));
}

TEST(Presets, AreWholeModels) {
  for (const std::string &name : tfc::family::tableNames()) {
    std::string text =
        canonicalOf("{\"tfc\": 1, \"extends\": \"preset:" + name + "\"}");
    EXPECT_EQ(canonicalOf(text), text) << name;
  }
  Diagnostics diagnostics;
  std::optional<ModelSpec> bert = readSpecText(
      "s", "{\"tfc\": 1, \"extends\": \"preset:bert\"}", "", diagnostics);
  ASSERT_TRUE(bert);
  int64_t total = 0;
  for (const Parameter &parameter : bert->parameters) {
    total += parameter.rows * parameter.cols * parameter.layers;
  }
  EXPECT_EQ(total, 109482240 - 768 * 769); // less the pooler
}

TEST(Presets, FaultsAreInTheUsersFile) {
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpecText("s",
                            "{\"tfc\": 1,\n \"extends\": \"preset:bert\",\n "
                            "\"dims\": {\"hidden\": 770}}",
                            "", diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            "s:2:13: /encoder/layers/block/attn/num_heads: expected a divisor "
            "of hidden (770) where no \"head_dim\" is given, got 12 "
            "[TFC011]");
  diagnostics.clear();
  EXPECT_FALSE(readSpecText("s",
                            "{\"tfc\": 1, \"extends\": \"preset:bert\",\n "
                            "\"encoder\": {\"layers\": {\"block\": {\n "
                            "\"attn\": {\"num_kv_heads\": 5}}}}}",
                            "", diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0].line, 3);
}

TEST(Expansion, DefinitionsCannotExplode) {
  std::string defs = "\"d0\": {\"a\": 1}";
  for (int i = 1; i < 40; ++i) {
    std::string below = "{\"$def\": \"d" + std::to_string(i - 1) + "\"}";
    defs += ", \"d" + std::to_string(i) + "\": {\"a\": " + below +
            ", \"b\": " + below + "}";
  }
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpecText("s",
                            "{\"tfc\": 1, \"defs\": {" + defs +
                                "}, \"kind\": {\"$def\": \"d39\"}}",
                            "", diagnostics));
  ASSERT_FALSE(diagnostics.empty());
  EXPECT_EQ(diagnostics[0].code, 5);
}

TEST(Expansion, ManyFaultsAreCutShort) {
  std::string text = "{\"tfc\": 1";
  for (int i = 0; i < 1000; ++i) {
    text += ", \"unknown" + std::to_string(i) + "\": 1";
  }
  Diagnostics diagnostics;
  EXPECT_FALSE(readSpecText("s", text + "}", "", diagnostics));
  EXPECT_EQ(diagnostics.size(), 201u);
  EXPECT_EQ(diagnostics.back().message,
            "expected a spec, got at least 800 more errors");
}

TEST(Schema, TheCommittedOneIsFresh) {
  std::ifstream file(sourceDir() + "/docs/reference/spec.schema.json");
  std::string committed{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(committed == printSchema())
      << "run: tfc spec --schema > docs/reference/spec.schema.json";
}
