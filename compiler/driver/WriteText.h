// Files that are written whole or not at all.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_WRITETEXT_H
#define TFC_COMPILER_DRIVER_WRITETEXT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace tfc {

/// Writes `text` to `path` ("-" is standard output) whole or not at all, where
/// checkTextOutput allowed it. Returns an ExitCode; messages go to `errors`.
int writeText(const std::string &path, llvm::StringRef text,
              llvm::raw_ostream &errors);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_WRITETEXT_H
