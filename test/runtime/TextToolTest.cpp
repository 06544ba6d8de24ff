// tfc-run on texts, as a process: what it answers, and what it refuses before
// anything runs.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/runtime/FakeModel.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

namespace tfc::rt::test {
namespace {

using nlohmann::json;

struct Ran {
  int status = -1;
  std::string text; // both streams
};

class TextTool : public ::testing::Test {
protected:
  void SetUp() override {
    std::filesystem::create_directory(folder / "weights");
    writeTensors(folder / "weights/model.safetensors", weights.stored());
    writeTokenizer(vocab);
  }

  /// Words w0, w1, ...; a text without known words has none.
  void writeTokenizer(int64_t numTokens) {
    json words = json::object();
    for (int64_t i = 0; i < numTokens; ++i) {
      words["w" + std::to_string(i)] = i;
    }
    std::ofstream(folder / "weights/tokenizer.json") << json{
        {"version", "1.0"},
        {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
        {"model",
         {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", "w0"}}}};
  }

  Ran run(const std::string &variant, const std::string &arguments,
          const std::string &before = "") {
    std::string command = before + "'" TFC_RUN "' '" + fakeLibrary(variant) +
                          "' --weights '" + std::string(folder / "weights") +
                          "' " + arguments + " 2>&1";
    Ran ran;
    FILE *pipe = popen(command.c_str(), "r");
    char buffer[4096];
    while (size_t size = pipe ? fread(buffer, 1, sizeof(buffer), pipe) : 0) {
      ran.text.append(buffer, size);
    }
    int state = pipe ? pclose(pipe) : -1;
    ran.status = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
    return ran;
  }

  Folder folder;
  FakeWeights weights;
};

TEST_F(TextTool, WritesWhatIsGenerated) {
  Ran ran = run("decoder", "--text 'w4 w5' --max-new-tokens 4");
  EXPECT_EQ(ran.status, 0) << ran.text;
  // A continuation: a space is before its first word.
  EXPECT_EQ(ran.text.substr(0, 2), " w") << ran.text;
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), ' '), 4) << ran.text;
  Ran structured = run("decoder", "--text 'w4 w5' --max-new-tokens 4 --json");
  json line = json::parse(structured.text);
  EXPECT_EQ(line["text"], "w4 w5");
  EXPECT_EQ(line["generated"][0].get<std::string>() + "\n", ran.text);
  // One beam more, and two results; the same without beams is the first way.
  Ran beams = run("decoder", "--text 'w4 w5' --max-new-tokens 4 --json "
                             "--beams 2 --return-sequences 2");
  EXPECT_EQ(json::parse(beams.text)["generated"].size(), 2U) << beams.text;
}

TEST_F(TextTool, SaysWhereNoTokenIsLeft) {
  std::string options = "--text 'w4 w5' --eos none --no-repeat-ngram 1 ";
  Ran ran = run("endless", options + "--max-new-tokens 30");
  EXPECT_EQ(ran.status, 0) << ran.text;
  ran = run("endless", options + "--max-new-tokens 31");
  EXPECT_EQ(ran.status, 1) << ran.text;
  EXPECT_NE(ran.text.find("row 0: expected a token that may come next, got "
                          "none (all are forbidden)"),
            std::string::npos)
      << ran.text;
}

TEST_F(TextTool, AnswersLineByLine) {
  Ran ran = run("classifier", "--text - --json", "printf 'w4 w5\\nw6\\n' | ");
  EXPECT_EQ(ran.status, 0) << ran.text;
  std::istringstream lines(ran.text);
  std::string first, second, third;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_FALSE(std::getline(lines, third));
  json labels = json::parse(second)["labels"];
  EXPECT_EQ(json::parse(second)["text"], "w6");
  ASSERT_EQ(labels.size(), size_t(vocab));
  double sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    sum += labels[i]["score"].get<double>();
    EXPECT_TRUE(i == 0 || labels[i - 1]["score"] >= labels[i]["score"]);
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  // A text's answer is its own, whatever stands beside it.
  Ran alone = run("classifier", "--text w6 --json");
  EXPECT_EQ(alone.text, second + "\n");
  std::ofstream(folder / "weights/config.json")
      << R"({"id2label": {"0": "no", "31": "last"}})";
  EXPECT_NE(run("classifier", "--text w6 --json").text.find("\"last\""),
            std::string::npos);
}

TEST_F(TextTool, RefusesToPoolInAWayThatItHasNot) {
  std::ofstream(folder / "weights/modules.json")
      << R"([{"type": "a.Transformer", "path": ""},
             {"type": "a.Pooling", "path": "pool"}])";
  std::filesystem::create_directory(folder / "weights/pool");
  std::ofstream(folder / "weights/pool/config.json")
      << R"({"pooling_mode_max_tokens": true})";
  Ran refused = run("encoder", "--text w4");
  EXPECT_EQ(refused.status, 1);
  EXPECT_NE(refused.text.find("pooling_mode_max_tokens"), std::string::npos)
      << refused.text;
  std::ofstream(folder / "weights/modules.json") << R"([{"type": "a.Dense"}])";
  EXPECT_EQ(run("encoder", "--text w4").status, 1);
}

TEST_F(TextTool, RefusesWhatIsTooLongUnlessItIsCut) {
  std::string text = "'w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 "
                     "w17'";
  Ran ran = run("encoder", "--text " + text);
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.text.find("expected at most 16 tokens"), std::string::npos)
      << ran.text;
  EXPECT_EQ(run("encoder", "--truncate --text " + text).status, 0);
  ran = run("encoder", "--text ''");
  EXPECT_EQ(ran.status, 1);
  EXPECT_NE(ran.text.find("a token or more"), std::string::npos) << ran.text;
}

TEST_F(TextTool, RefusesTokenizersOfOtherModels) {
  for (int64_t count : {vocab + 1, vocab / 2}) {
    writeTokenizer(count);
    Ran ran = run("encoder", "--text w4");
    EXPECT_EQ(ran.status, 1);
    EXPECT_NE(ran.text.find("expected the tokenizer of a model with 32 tokens, "
                            "got one with " +
                            std::to_string(count)),
              std::string::npos)
        << ran.text;
  }
  Ran ran = run("encoder", "--text w4 --tokenizer /nowhere.json");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.text,
            "tfc-run: error: /nowhere.json: cannot be opened: No such "
            "file or directory\n");
}

} // namespace
} // namespace tfc::rt::test
