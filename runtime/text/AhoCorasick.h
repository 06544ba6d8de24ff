// Finds many texts in another, in a time that depends on neither how many nor
// how long they are: Aho and Corasick's automaton, read from right to left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_AHOCORASICK_H
#define TFC_RUNTIME_TEXT_AHOCORASICK_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfc::text {

class AhoCorasick {
public:
  struct Entry {
    std::u32string text;
    uint32_t value = 0;
  };

  /// Finds nothing.
  AhoCorasick() = default;
  /// Of equal texts the one of the least value counts; an empty text is passed
  /// over.
  explicit AhoCorasick(std::vector<Entry> entries);

  bool isEmpty() const { return nodes.size() < 2; }

  /// Calls `found(begin, value)` for every place of `text` where texts begin,
  /// with the longest of them, from the last place to the first.
  template <typename F> void findAll(std::u32string_view text, F found) const {
    if (isEmpty()) {
      return;
    }
    uint32_t node = 0;
    for (size_t at = text.size(); at-- > 0;) {
      node = next(node, text[at]);
      if (node != 0 && nodes[node].value != none) {
        found(at, nodes[node].value);
      }
    }
  }

private:
  static constexpr uint32_t none = ~uint32_t(0);

  /// A text's end, read backwards. The children of a node lie together, sorted,
  /// as far as those of the next one begin.
  struct Node {
    char32_t c = 0;
    uint32_t first = 0;
    uint32_t shorter = 0;  // the longest node that this one ends with
    uint32_t value = none; // of the longest text that this node ends with
  };

  void addNodes(const std::vector<Entry> &entries);
  void link();
  uint32_t child(uint32_t node, char32_t c) const;

  uint32_t next(uint32_t node, char32_t c) const {
    for (; node != 0; node = nodes[node].shorter) {
      if (uint32_t found = child(node, c)) {
        return found;
      }
    }
    return c < roots.size() ? roots[c] : child(0, c);
  }

  std::vector<Node> nodes;           // the last one only ends the one before
  std::array<uint32_t, 128> roots{}; // children of the first node
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_AHOCORASICK_H
