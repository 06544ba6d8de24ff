// Numbers of a file as `tokenizers` reads them: not always the nearest double.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PARSESCORE_H
#define TFC_RUNTIME_TEXT_PARSESCORE_H

#include <string_view>

namespace tfc::text {

/// The value of a JSON number with a point or an exponent. Where tokens' scores
/// have the same sum but for rounding, it decides between them.
double parseScore(std::string_view text);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PARSESCORE_H
