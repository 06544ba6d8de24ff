// What shells complete of a program's command line.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_COMPLETION_H
#define TFC_RUNTIME_TOOLS_COMPLETION_H

#include <optional>
#include <string>
#include <vector>

namespace tfc::tools {

/// What comes behind an option.
enum class CompletedValue { None, Any, Path, Word };

struct CompletedOption {
  std::string name;        // "--text", "-o"
  std::string description; // a line
  CompletedValue value = CompletedValue::None;
  std::vector<std::string> words; // of Word
};

/// Options of a command; what else stands behind it are files.
struct CompletedCommand {
  std::string name; // "": of the program itself
  std::string description;
  std::vector<CompletedOption> options;
};

struct CompletedProgram {
  std::string name;
  std::vector<CompletedCommand> commands; // the program itself first
};

/// The words of "auto, always or never" or "full|none"; none where it is
/// another kind of text.
std::vector<std::string> wordsOf(const std::string &expected);

/// The first sentence or clause of a description.
std::string firstClause(const std::string &description);

/// A script for "bash", "zsh" or "fish"; nothing for another name.
std::optional<std::string> printCompletion(const CompletedProgram &program,
                                           const std::string &shell);

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_COMPLETION_H
