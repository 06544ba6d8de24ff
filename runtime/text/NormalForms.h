// Unicode's normal forms, with what became of each character.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_NORMALFORMS_H
#define TFC_RUNTIME_TEXT_NORMALFORMS_H

#include "runtime/text/TracedText.h"

namespace tfc::text {

enum class NormalForm { Nfc, Nfd, Nfkc, Nfkd };

void normalize(TracedText &text, NormalForm form);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_NORMALFORMS_H
