// Tokens and their ids, both ways.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_VOCABULARY_H
#define TFC_RUNTIME_TEXT_VOCABULARY_H

#include "runtime/src/Error.h"

#include <unordered_map>

namespace tfc::text {

/// More than any vocabulary has, and far from what an id can be.
constexpr uint64_t maxTokens = uint64_t(1) << 24;

class Vocabulary {
public:
  static constexpr uint32_t none = ~uint32_t(0);

  struct Entry {
    std::string text;
    uint32_t id = 0;
    double score = 0; // of Unigram
  };

  Vocabulary() = default;
  explicit Vocabulary(std::vector<Entry> entries);
  // The texts are pointed at.
  Vocabulary(Vocabulary &&) = default;
  Vocabulary &operator=(Vocabulary &&) = default;

  /// The id of a token, of the last one with this text; none when there is
  /// none.
  uint32_t find(std::string_view text) const {
    auto found = ids.find(text);
    return found == ids.end() ? none : found->second;
  }
  /// The text of an id, or null.
  const std::string *text(uint32_t id) const {
    return id < texts.size() && texts[id] != absent ? &entries[texts[id]].text
                                                    : nullptr;
  }
  const std::vector<Entry> &all() const { return entries; }
  /// How many texts there are.
  size_t size() const { return ids.size(); }
  /// One more than the greatest id.
  size_t limit() const { return texts.size(); }

private:
  static constexpr uint32_t absent = ~uint32_t(0);

  std::vector<Entry> entries;
  std::unordered_map<std::string_view, uint32_t> ids;
  std::vector<uint32_t> texts; // places in entries, by id
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_VOCABULARY_H
