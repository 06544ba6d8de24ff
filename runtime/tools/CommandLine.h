// The command line of tfc-run.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_COMMANDLINE_H
#define TFC_RUNTIME_TOOLS_COMMANDLINE_H

#include "runtime/tools/Completion.h"
#include "runtime/tools/Progress.h"
#include "tfc/runtime.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tfc::run {

struct CommandLine {
  std::string library, weights, packed, inputs, outputs, program;
  std::vector<std::string> moreWeights; // of the same checkpoint
  uint32_t threads = 0;                 // 0: not given
  bool sharePacked = false;
  bool generate = false, help = false, version = false, selfTest = false;
  uint64_t selfTestSeed = 1; // of its token ids
  double silenceSeconds = 0; // of a self-test's device; 0: any
  /// Texts instead of tensors; "-" stands for the lines of standard input.
  std::vector<std::string> texts, pairs;
  std::string tokenizer, outputTokenizer;
  bool json = false, truncate = false;
  tools::ShowProgress progress = tools::ShowProgress::Auto;
  int64_t maxNewTokens = 0; // 0: not given
  uint64_t maxDrafts = 0;
  std::string draftLibrary, draftWeights;  // of a model that guesses
  std::optional<std::vector<int64_t>> eos; // empty list: "none"
  /// What to change of the model's own way to choose tokens.
  std::vector<std::function<void(tfc_decoding_options &)>> decoding;

  std::string completion; // the script of --print-completion
  /// What is wrong, one line a fault; empty when nothing is.
  std::vector<std::string> faults;
};

/// Reads the arguments (without the program's name). Options may come in any
/// order, as "--name value" or "--name=value".
CommandLine readCommandLine(const std::vector<std::string> &arguments);

/// Every option, and what comes behind it.
tools::CompletedProgram describeCommandLine();

/// The text of --help.
extern const char *const helpText;

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_COMMANDLINE_H
