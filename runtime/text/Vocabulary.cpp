// Makes both ways of a list of tokens.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Vocabulary.h"

#include <algorithm>

namespace tfc::text {

Vocabulary::Vocabulary(std::vector<Entry> given) : entries(std::move(given)) {
  ids.reserve(entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry &entry = entries[i];
    ids[entry.text] = entry.id;
    if (entry.id >= texts.size()) {
      texts.resize(size_t(entry.id) + 1, absent);
    }
    texts[entry.id] = static_cast<uint32_t>(i);
  }
}

} // namespace tfc::text
