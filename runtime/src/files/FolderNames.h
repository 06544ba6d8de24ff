// What is in a folder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_FOLDERNAMES_H
#define TFC_RUNTIME_SRC_FILES_FOLDERNAMES_H

#include "runtime/src/Error.h"

namespace tfc::rt {

/// The names in a folder, sorted; an error when it cannot be listed.
Result<std::vector<std::string>> namesIn(const std::string &folder);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_FOLDERNAMES_H
