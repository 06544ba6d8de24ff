// The JSON reader: places, and every way a file can be wrong.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/JsonTree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace tfc::spec;

/// The diagnostics of a text, one a line.
static std::string errorsOf(std::string_view text) {
  Diagnostics diagnostics;
  std::optional<Json> json = parseJson("f.json", text, diagnostics);
  EXPECT_EQ(json.has_value(), diagnostics.empty());
  std::string lines;
  for (const Diagnostic &diagnostic : diagnostics) {
    lines += (lines.empty() ? "" : "\n") + formatDiagnostic(diagnostic);
  }
  return lines;
}

static Json parse(std::string_view text) {
  Diagnostics diagnostics;
  std::optional<Json> json = parseJson("f.json", text, diagnostics);
  EXPECT_TRUE(json) << text;
  return json.value_or(Json());
}

static std::string placeOf(const Json &value) {
  return std::to_string(value.place.line) + ":" +
         std::to_string(value.place.column) + " " + value.place.pointer();
}

TEST(JsonTree, TextThatSpellsTheParsersWords) {
  std::string errors = errorsOf("{\" - unexpected \x83; expected \": 1}");
  EXPECT_NE(errors.find("expected JSON (invalid string"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("\\x83"), std::string::npos) << errors;
  EXPECT_EQ(errors.find('\x83'), std::string::npos) << errors;
}

TEST(JsonTree, PlacesOfValues) {
  Json json = parse("{\n  \"a\": 12,\n  \"b/c\": [true,\"x\\\"y\", -1.5e3 ],\n"
                    "  \"\xC3\xA4\": {\"d\":null}}\n");
  EXPECT_EQ(placeOf(json), "1:1 /");
  EXPECT_EQ(json.place.file(), "f.json");
  EXPECT_EQ(placeOf(*json.find("a")), "2:8 /a");
  EXPECT_EQ(json.members[0].keyPlace.column, 3);
  const Json &list = *json.find("b/c");
  EXPECT_EQ(placeOf(list), "3:10 /b~1c");
  EXPECT_EQ(placeOf(list.items[0]), "3:11 /b~1c/0");
  EXPECT_EQ(placeOf(list.items[1]), "3:16 /b~1c/1");
  EXPECT_EQ(list.items[1].text, "x\"y");
  EXPECT_EQ(placeOf(list.items[2]), "3:24 /b~1c/2");
  EXPECT_EQ(list.items[2].real, -1500.0);
  // Columns count characters: the key is one of two bytes.
  EXPECT_EQ(placeOf(*json.at({"\xC3\xA4", "d"})), "4:13 /\xC3\xA4/d");
}

TEST(JsonTree, NumbersKeepTheirKind) {
  Json json = parse("[9223372036854775807, -9223372036854775808, 1.0, 1e-12]");
  EXPECT_TRUE(json.items[0].isInteger());
  EXPECT_EQ(json.items[0].integer, INT64_MAX);
  EXPECT_EQ(json.items[1].integer, INT64_MIN);
  EXPECT_FALSE(json.items[2].isInteger());
  EXPECT_EQ(json.items[3].real, 1e-12);
}

TEST(JsonTree, ByteOrderMarkIsNoCharacter) {
  EXPECT_EQ(placeOf(parse("\xEF\xBB\xBF{\"a\": 1}").members[0].value),
            "1:7 /a");
}

TEST(JsonTree, SyntaxErrors) {
  EXPECT_EQ(
      errorsOf(""),
      "f.json:1:1: /: expected a value (in a JSON value), got end of input "
      "[TFC001]");
  EXPECT_EQ(errorsOf("{\"a\": 1,\n }"),
            "f.json:2:2: /: expected string literal (in a JSON object key), "
            "got '}' [TFC001]");
  EXPECT_EQ(errorsOf("{\"a\": {\"b\": [1, 2}}"),
            "f.json:1:18: /a/b: expected ']' (in a JSON array), got '}' "
            "[TFC001]");
  EXPECT_EQ(errorsOf("{\"a\": nul}"),
            "f.json:1:7: /: expected JSON (invalid literal), got \"nul\" "
            "[TFC001]");
  EXPECT_EQ(errorsOf("{\"a\": 1} x"),
            "f.json:1:10: /: expected JSON (invalid literal), got \"x\" "
            "[TFC001]");
  EXPECT_EQ(errorsOf("{} {}"),
            "f.json:1:4: /: expected end of input (in a JSON value), got '{' "
            "[TFC001]");
  EXPECT_EQ(errorsOf("{\"a\": \"x"),
            "f.json:1:8: /: expected JSON (invalid string: missing closing "
            "quote), got \"\"x\" [TFC001]");
}

TEST(JsonTree, InvalidUtf8) {
  EXPECT_EQ(errorsOf("{\"a\": \"x\xFF\"}"),
            "f.json:1:9: /: expected JSON (invalid string: ill-formed UTF-8 "
            "byte), got \"\"x\\xff\" [TFC001]");
}

TEST(JsonTree, EveryDuplicateKeyIsReported) {
  EXPECT_EQ(errorsOf("{\"a\": 1,\n \"a\": {\"b\": 1, \"b\": 2}}"),
            "f.json:2:2: /a: expected every key once, got \"a\" again "
            "[TFC001]\n"
            "f.json:2:16: /a/b: expected every key once, got \"b\" again "
            "[TFC001]");
}

TEST(JsonTree, NumbersOutOfRange) {
  EXPECT_EQ(errorsOf("{\"a\": 9223372036854775808}"),
            "f.json:1:7: /a: expected an integer of 64 bits, got "
            "\"9223372036854775808\" [TFC001]");
  EXPECT_EQ(errorsOf("[99999999999999999999999]"),
            "f.json:1:2: /0: expected an integer of 64 bits, got "
            "\"99999999999999999999999\" [TFC001]");
  EXPECT_EQ(errorsOf("[1e999]"),
            "f.json:1:2: /: expected a number that a double can hold, got "
            "\"1e999\" [TFC001]");
}

TEST(JsonTree, DepthAndSizeAreBounded) {
  std::string nested(64, '[');
  EXPECT_EQ(errorsOf(nested + std::string(64, ']')), "");
  EXPECT_NE(errorsOf("[" + nested).find("at most 64 levels"),
            std::string::npos);
  std::string many = "[0";
  for (int i = 0; i < 1000000; ++i) {
    many += ",0";
  }
  EXPECT_NE(errorsOf(many + "]").find("at most 1000000 values"),
            std::string::npos);
}

TEST(JsonTree, FilesThatCannotBeRead) {
  Diagnostics diagnostics;
  EXPECT_FALSE(readJsonFile("/nonexistent/f.json", diagnostics));
  EXPECT_FALSE(readJsonFile("/", diagnostics));
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            "/nonexistent/f.json: expected a readable file, got error: No such "
            "file or directory [TFC001]");
  EXPECT_EQ(formatDiagnostic(diagnostics[1]),
            "/: expected a readable file, got error: Is a directory [TFC001]");
}

TEST(JsonTree, PipesAreNotWaitedFor) {
  std::string path = ::testing::TempDir() + "tfc-json-pipe";
  unlink(path.c_str());
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  Diagnostics diagnostics;
  EXPECT_FALSE(readJsonFile(path, diagnostics));
  unlink(path.c_str());
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            path + ": expected a file, got a pipe [TFC001]");
}

TEST(JsonTree, TypedMembers) {
  Json json = parse("{\"i\": 3, \"r\": 2, \"b\": false, \"s\": \"x\", \"n\": "
                    "null, \"a\": []}");
  Diagnostics diagnostics;
  EXPECT_EQ(getInteger(json, "i", diagnostics), 3);
  EXPECT_EQ(getReal(json, "r", diagnostics), 2.0);
  EXPECT_EQ(getBoolean(json, "b", diagnostics), false);
  EXPECT_EQ(getString(json, "s", diagnostics), "x");
  EXPECT_TRUE(getArray(json, "a", diagnostics));
  EXPECT_FALSE(getInteger(json, "n", diagnostics));
  EXPECT_FALSE(getObject(json, "missing", diagnostics));
  EXPECT_TRUE(diagnostics.empty());
  EXPECT_FALSE(getInteger(json, "s", diagnostics));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(formatDiagnostic(diagnostics[0]),
            "f.json:1:35: /s: expected an integer, got \"x\" [TFC004]");
}

TEST(JsonTree, WritesOneForm) {
  Json json = Json::object();
  json.set("eps", 1e-12);
  json.set("text", "a\"b\n");
  json.set("list", Json::array({1, true, 0.1, Json::object()}));
  EXPECT_EQ(writeJson(json), "{\"eps\": 1e-12, \"text\": \"a\\\"b\\u000a\", "
                             "\"list\": [1, true, 0.1, {}]}\n");
  json.set("long", std::string(60, 'x'));
  EXPECT_EQ(writeJson(json),
            "{\n  \"eps\": 1e-12,\n  \"text\": \"a\\\"b\\u000a\",\n"
            "  \"list\": [1, true, 0.1, {}],\n  \"long\": \"" +
                std::string(60, 'x') + "\"\n}\n");
  EXPECT_EQ(parse(writeJson(json)), json);
}

TEST(Diagnostics, NearestWord) {
  EXPECT_EQ(nearestWord("atn", {"ffn", "attn", "norm"}), "attn");
  EXPECT_EQ(nearestWord("num_haeds", {"num_heads", "num_kv_heads"}),
            "num_heads");
  EXPECT_EQ(nearestWord("zebra", {"ffn", "attn", "norm"}), "");
  EXPECT_EQ(nearestWord("q", {"k"}), "");
}

TEST(Diagnostics, KeysDoNothingToATerminal) {
  Diagnostic diagnostic = {Severity::Error, "a", 2, 1, "/x\x1b[2J/y", "no", 1};
  EXPECT_EQ(formatDiagnostic(diagnostic), "a:2:1: /x\\x1b[2J/y: no [TFC001]");
}

TEST(Diagnostics, SortAndUnique) {
  Diagnostics diagnostics = {{Severity::Error, "a", 2, 1, "/x", "late", 1},
                             {Severity::Error, "a", 1, 9, "/y", "early", 1},
                             {Severity::Error, "a", 2, 1, "/x", "late", 1}};
  sortDiagnostics(diagnostics);
  ASSERT_EQ(diagnostics.size(), 2u);
  EXPECT_EQ(diagnostics[0].message, "early");
}
