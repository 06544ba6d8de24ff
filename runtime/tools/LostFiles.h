// Files that shrink while they are mapped: a message instead of a signal.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_LOSTFILES_H
#define TFC_RUNTIME_TOOLS_LOSTFILES_H

namespace tfc::tools {

/// From now on, touching a mapped page that its file has no more ends the
/// process with exit status 1 and a message of `tool` that names the file.
/// `tool` must live as long as the process.
void reportLostFiles(const char *tool);

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_LOSTFILES_H
