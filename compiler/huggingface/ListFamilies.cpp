// What `tfc import --list` prints, which is docs/reference/families.md too.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/Import.h"
#include "compiler/spec/family/TextPart.h"
#include "compiler/spec/family/Tower.h"

using namespace tfc;
using spec::Json;

/// "`a`, `b`"; Markdown.
static void addWord(std::string &list, const std::string &word) {
  list += (list.empty() ? "`" : ", `") + word + "`";
}

/// "`key`: value" of the keys with a few values that tfc runs.
static std::string expectations(const Json &table) {
  std::string text;
  auto add = [&](const std::string &key, const std::string &value) {
    text += (text.empty() ? "`" : ", `") + key + "`: " + value;
  };
  const Json *expected = table.find("expect");
  for (const spec::Member &entry :
       expected ? expected->members : std::vector<spec::Member>()) {
    if (entry.value.find("where")) {
      continue; // others are not refused as such
    }
    const Json *each = entry.value.find("each");
    const Json &wanted = each ? *each : entry.value.items.at(0);
    std::string values;
    for (const Json &value :
         wanted.isArray() ? wanted.items : std::vector<Json>{wanted}) {
      values += (values.empty() ? "" : " or ") + spec::describe(value);
    }
    add(entry.key, values);
  }
  const Json *refused = table.find("refuse");
  for (const spec::Member &entry :
       refused ? refused->members : std::vector<spec::Member>()) {
    add(entry.key, "none");
  }
  return text;
}

std::string huggingface::listFamilies() {
  spec::Diagnostics unused;
  std::string text =
      "# Families\n\n"
      "What `tfc import` takes, made of the tables in "
      "`compiler/spec/family/tables` by\n`tfc import --list`. Other values of "
      "the keys in the last column are refused.\n\n"
      "| `model_type` | classes | only |\n|---|---|---|\n";
  for (const std::string &type : family::modelTypes(unused)) {
    std::string classes, only;
    for (const family::Table &table : family::tablesOf(type, unused)) {
      for (const spec::Member &each : table.root.find("classes")->members) {
        addWord(classes, each.key);
      }
      only = only.empty() ? expectations(table.root) : only;
    }
    text += "| `" + type + "` | " + classes + " | " + only + " |\n";
  }
  text += "\nModels under the names of others: the students of TinyBERT, "
          "LTD-BERT and MiniLM are a\n`bert`, NLLB is an `m2m_100`. MASS has "
          "no model type: `examples/specs/mass.json` is its\nsummarizer, "
          "with fairseq's names of tensors.\n";
  text += "\n## Text models inside of others\n\n"
          "Of a model that reads images or sound, too, the text model is "
          "imported; what is not\ntext has no effect.\n\n"
          "| `model_type` | text model |\n|---|---|\n";
  for (const auto &[type, inside] : family::textParts()) {
    std::string types;
    for (const std::string &each : inside) {
      addWord(types, each);
    }
    text += "| `" + type + "` | " + types + " |\n";
  }
  text += "\n## Several encoders in one\n\n"
          "Of these `--class` names the class of one, which is imported by "
          "itself.\n\n"
          "| `model_type` | encoders |\n|---|---|\n";
  for (const auto &[type, towers] : family::listTowers()) {
    std::string types;
    for (const std::string &each : towers) {
      addWord(types, each);
    }
    text += "| `" + type + "` | " + types + " |\n";
  }
  text += "\n## Not imported\n\n| `model_type` | because |\n|---|---|\n";
  for (const auto &[type, why] : family::refusedTypes(unused)) {
    text += "| `" + type + "` | " + why + " |\n";
  }
  return text;
}
