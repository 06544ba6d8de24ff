// docs/spec-format.md: its examples are specs, and it has every key and word.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/JsonTree.h"
#include "compiler/spec/read/ReadSpec.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

using namespace tfc::spec;

static std::string readDocument() {
  std::ifstream file(std::string(TFC_SOURCE_DIR) + "/docs/spec-format.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The keys of objects and the words of lists in a schema.
static void collect(const Json &schema, std::set<std::string> &words) {
  if (const Json *properties = schema.find("properties")) {
    for (const Member &member : properties->members) {
      words.insert(member.key);
    }
  }
  if (const Json *list = schema.find("enum")) {
    for (const Json &word : list->items) {
      words.insert(word.text);
    }
  }
  for (const Json &item : schema.items) {
    collect(item, words);
  }
  for (const Member &member : schema.members) {
    collect(member.value, words);
  }
}

/// Removes what a key of an unsupported object has inside: the document does
/// not describe what nobody can use.
static void prune(Json &schema) {
  if (Json *properties = schema.find("properties")) {
    for (Member &member : properties->members) {
      const Json *text = member.value.find("description");
      if (text && text->text == "not supported by this tfc") {
        member.value = Json::object();
      }
    }
  }
  for (Json &item : schema.items) {
    prune(item);
  }
  for (Member &member : schema.members) {
    prune(member.value);
  }
}

TEST(SpecFormat, ExamplesAreSpecs) {
  std::string text = readDocument();
  int examples = 0;
  const std::string open = "```json\n", close = "```";
  for (size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    at += open.size();
    size_t end = text.find(close, at);
    Diagnostics diagnostics;
    EXPECT_TRUE(readSpecText("spec-format.md", text.substr(at, end - at), "",
                             diagnostics));
    for (const Diagnostic &diagnostic : diagnostics) {
      ADD_FAILURE() << formatDiagnostic(diagnostic);
    }
    ++examples;
    at = end;
  }
  EXPECT_EQ(examples, 2);
}

TEST(SpecFormat, NamesEveryKeyAndWord) {
  Diagnostics diagnostics;
  std::optional<Json> schema = parseJson("schema", printSchema(), diagnostics);
  ASSERT_TRUE(schema);
  prune(*schema);
  std::set<std::string> words;
  collect(*schema, words);
  EXPECT_GT(words.size(), 100u);
  std::string text = readDocument();
  auto hasWord = [&](const std::string &word) {
    auto isWord = [](char c) { return std::isalnum(c) || c == '_'; };
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
      if (!isWord(text[at - 1]) && !isWord(text[at + word.size()])) {
        return true;
      }
    }
    return false;
  };
  for (const std::string &word : words) {
    EXPECT_TRUE(hasWord(word)) << "docs/spec-format.md does not say " << word;
  }
}
