// Every table of a family is whole: of each of its classes an empty config.json
// gives a spec, and its preset is one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/MakeSpec.h"
#include "compiler/spec/read/ReadSpec.h"

#include <gtest/gtest.h>

using namespace tfc;

static void expectNone(const spec::Diagnostics &diagnostics,
                       const std::string &where) {
  for (const spec::Diagnostic &diagnostic : diagnostics) {
    ADD_FAILURE() << where << ": " << spec::formatDiagnostic(diagnostic);
  }
}

TEST(Tables, EveryClassOfAnEmptyConfig) {
  for (const std::string &name : family::tableNames()) {
    spec::Diagnostics diagnostics;
    std::optional<family::Table> table = family::loadTable(name, diagnostics);
    ASSERT_TRUE(table) << name;
    expectNone(diagnostics, name);
    const spec::Json *assumed = table->root.find("preset");
    spec::Json keys = assumed ? *assumed : spec::Json::object();
    rt::TensorFiles files;
    for (const spec::Member &each : table->root.find("classes")->members) {
      family::Config config(keys, diagnostics);
      huggingface::Source source = {config, keys, nullptr, files, diagnostics};
      spec::Json made = huggingface::makeSpec(source, *table, name, each.key);
      config.reportUnread(true);
      EXPECT_TRUE(spec::readSpecTree(made, diagnostics)) << each.key;
      expectNone(diagnostics, each.key);
      diagnostics.clear();
    }
  }
}

/// What a configuration has of generation though no file says it; a
/// generation_config.json says it all.
TEST(Tables, SettingsOfGeneration) {
  spec::Diagnostics diagnostics;
  family::Table table = family::loadTable("fsmt", diagnostics).value();
  const spec::Json keys = spec::Json::object(), none = keys;
  const spec::Json *const saved[] = {nullptr, &none};
  rt::TensorFiles files;
  for (const spec::Json *generation : saved) {
    family::Config config(keys, diagnostics);
    huggingface::Source source = {config, keys, generation, files, diagnostics};
    spec::Json made = huggingface::makeSpec(source, table, "fsmt",
                                            "FSMTForConditionalGeneration");
    const spec::Json *beams = made.at({"generation", "num_beams"});
    ASSERT_EQ(beams != nullptr, generation == nullptr);
    EXPECT_TRUE(!beams || *beams == spec::Json(5));
  }
  expectNone(diagnostics, "fsmt");
}

/// A guess is a class that some table of the model type has.
TEST(Tables, GuessesAreClasses) {
  spec::Diagnostics diagnostics;
  for (const std::string &type : family::modelTypes(diagnostics)) {
    std::set<std::string> classes;
    std::vector<family::Table> tables = family::tablesOf(type, diagnostics);
    ASSERT_FALSE(tables.empty()) << type;
    for (const family::Table &table : tables) {
      for (const spec::Member &each : table.root.find("classes")->members) {
        EXPECT_TRUE(classes.insert(each.key).second) << each.key;
      }
    }
    for (const family::Table &table : tables) {
      for (const spec::Json &guess : table.root.find("guess")->items) {
        EXPECT_TRUE(classes.count(guess.items.at(1).text)) << type;
      }
    }
  }
  expectNone(diagnostics, "tables");
}

/// A program's own table, which tests after this one see, too: it must be
/// whole.
TEST(Tables, OneThatAProgramAdds) {
  const char *good = R"({"family": 1, "model_type": ["own"], "extends": "gpt2",
    "classes": {"OwnModel": {"last_hidden_state": "decoder.hidden"}},
    "guess": [["", "OwnModel"]]})";
  size_t before = family::tableNames().size();
  for (const char *text :
       {"", "[]", "{}", R"({"family": 1, "extends": "gpt2"})",
        R"({"family": 2, "model_type": [], "extends": "gpt2", "classes": {}})",
        R"({"family": 1, "model_type": ["own"], "extends": "none"})"}) {
    EXPECT_FALSE(family::addTable("own", text)) << text;
  }
  EXPECT_EQ(family::tableNames().size(), before);
  EXPECT_FALSE(family::addTable("gpt2", good));
  EXPECT_TRUE(family::addTable("own", good));
  EXPECT_FALSE(family::addTable("own", good));
  spec::Diagnostics diagnostics;
  EXPECT_EQ(family::tablesOf("own", diagnostics).size(), 1u);
  EXPECT_TRUE(family::makePreset("own", {}, diagnostics));
  expectNone(diagnostics, "own");
}
