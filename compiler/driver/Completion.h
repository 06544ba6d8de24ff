// `tfc --print-completion`.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_COMPLETION_H
#define TFC_COMPILER_DRIVER_COMPLETION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CommandLine.h"

#include <optional>
#include <string>

namespace tfc {

/// What completes the options of these commands (the top level first) that
/// --help shows, in "bash", "zsh" or "fish"; nothing for another shell.
std::optional<std::string>
printCompletion(llvm::ArrayRef<llvm::cl::SubCommand *> commands,
                llvm::StringRef shell);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_COMPLETION_H
