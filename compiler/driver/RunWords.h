// The words behind `tfc run`: which are its own, which are tfc-run's.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_RUNWORDS_H
#define TFC_COMPILER_DRIVER_RUNWORDS_H

#include "llvm/Support/CommandLine.h"

#include <optional>
#include <string>
#include <vector>

namespace tfc {

struct RunWords {
  std::vector<std::string> own, forwarded;
  std::optional<std::string> fault; // the first
};

/// Tells the words behind the command's name apart. Options that `command` has
/// are its own, then come those that tfc-run has, as "--name value" or
/// "--name=value", and everything behind "--" is tfc-run's. An option that
/// neither has is a fault, with the nearest name.
RunWords splitRunWords(const std::vector<std::string> &words,
                       llvm::cl::SubCommand &command);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_RUNWORDS_H
