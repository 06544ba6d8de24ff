// `tfc serve`, `tfc chat`, `tfc transcribe`: commands of the package.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/PythonCommand.h"

#include "compiler/driver/Options.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

int tfc::runPython(const std::vector<std::string> &words) {
  static int anchor;
  std::string own = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
  setenv("TFC", own.c_str(), /*overwrite=*/0);
  const char *given = std::getenv("TFC_PYTHON");
  std::string python = given && *given ? given : "python3";
  std::vector<std::string> command = {python, "-m", "tfcompiler"};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char *> arguments;
  for (std::string &word : command) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  execvp(python.c_str(), arguments.data());
  llvm::errs() << "tfc: error: " << python
               << ": expected Python's interpreter, for the package "
                  "tfcompiler, got: "
               << std::strerror(errno) << '\n';
  return kBadInput;
}
