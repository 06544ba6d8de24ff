// What shells complete: words of an option, what is said of it, the scripts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/BenchCommandLine.h"
#include "runtime/tools/CommandLine.h"
#include "runtime/tools/OptionReader.h"

#include <gtest/gtest.h>

namespace tfc::rt::test {
namespace {

using namespace tools;
using Words = std::vector<std::string>;

TEST(Completion, FindsTheWordsOfAnOption) {
  EXPECT_EQ(wordsOf("auto, always or never"),
            (Words{"auto", "always", "never"}));
  EXPECT_EQ(wordsOf("full|none"), (Words{"full", "none"}));
  for (const char *text : {"", "a path", "file", "token ids or none",
                           "a number from 0 to 1", "an integer from 1 on"}) {
    EXPECT_EQ(wordsOf(text), Words()) << text;
  }
}

TEST(Completion, DescribesByTheFirstClause) {
  EXPECT_EQ(firstClause("token ids to run; without it, random"),
            "token ids to run");
  EXPECT_EQ(firstClause("a line"), "a line");
  const char *help = "  --one N               the first; more\n"
                     "  --one-and-more NAME\n"
                     "                        the second\n"
                     "                        of two: both\n"
                     "  --last                end\n"
                     "Exit status\n";
  EXPECT_EQ(describeOption(help, "--one"), "the first");
  EXPECT_EQ(describeOption(help, "--one-and-more"), "the second of two");
  EXPECT_EQ(describeOption(help, "--last"), "end");
  EXPECT_EQ(describeOption(help, "--none"), "");
}

TEST(Completion, QuotesWhatAShellWouldRead) {
  CompletedProgram program{
      "a-b",
      {{"",
        "",
        {{"--it", "it's [not] a\\b", CompletedValue::Word, {"x", "y"}},
         {"-o", "a file", CompletedValue::Path, {}}}}}};
  std::string zsh = *printCompletion(program, "zsh");
  EXPECT_NE(zsh.find(R"('*--it=[it'\''s \[not\] a\\b]:value:(x y)')"),
            std::string::npos)
      << zsh;
  EXPECT_NE(zsh.find("'*-o[a file]:path:_files'"), std::string::npos) << zsh;
  std::string fish = *printCompletion(program, "fish");
  EXPECT_NE(fish.find("complete -c a-b -s o -r -F -d 'a file'\n"),
            std::string::npos)
      << fish;
  std::string bash = *printCompletion(program, "bash");
  EXPECT_NE(bash.find("complete -o default -F _a_b a-b\n"), std::string::npos)
      << bash;
  EXPECT_FALSE(printCompletion(program, "tcsh"));
}

TEST(Completion, IsAskedForWithoutAModel) {
  EXPECT_NE(run::readCommandLine({"--print-completion", "bash"}).completion,
            "");
  EXPECT_NE(bench::readCommandLine({"--print-completion=fish"}).completion, "");
  run::CommandLine line = run::readCommandLine({"--print-completion", "x"});
  EXPECT_EQ(line.completion, "");
  EXPECT_EQ(line.faults, Words{"--print-completion: expected bash, zsh or "
                               "fish, got x"});
}

} // namespace
} // namespace tfc::rt::test
