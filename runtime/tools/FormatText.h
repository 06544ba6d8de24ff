// printf into a string.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_FORMATTEXT_H
#define TFC_RUNTIME_TOOLS_FORMATTEXT_H

#include <string>

namespace tfc::tools {

/// At most 511 characters.
__attribute__((format(printf, 1, 2))) std::string
formatText(const char *pattern, ...);

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_FORMATTEXT_H
