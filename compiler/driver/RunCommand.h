// `tfc run`: a model's folder and a text, in one command.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_RUNCOMMAND_H
#define TFC_COMPILER_DRIVER_RUNCOMMAND_H

#include "compiler/driver/Options.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tfc {

struct RunOptions {
  CompileOptions compile;
  /// Nothing: the lines of standard input, unless `forwarded` has texts.
  std::optional<std::string> text;
  /// The folder of a model that guesses; empty: nobody.
  std::string draft;
  /// Options of tfc-run.
  std::vector<std::string> forwarded;
  /// Print every step as the command that does the same.
  bool isVerbose = false;
};

/// The path of the tfc-run that lies beside this program.
llvm::Expected<std::string> findTfcRun();

/// `tfc run DIR [TEXT]`: imports the folder, compiles it where the cache has no
/// library of it, and becomes the tfc-run that lies beside this program. What
/// is wrong with the folder, its tokenizer or the options is reported before
/// anything is compiled. Returns only when something is wrong: an ExitCode.
int runRun(const std::string &directory, RunOptions options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_RUNCOMMAND_H
