// Which of many texts a text begins with: a tree of their bytes, made once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PREFIXTREE_H
#define TFC_RUNTIME_TEXT_PREFIXTREE_H

#include <cstdint>
#include <string_view>
#include <vector>

namespace tfc::text {

class PrefixTree {
public:
  struct Entry {
    std::string_view text;
    uint32_t value = 0;
  };

  PrefixTree() : nodes(1) {}
  /// Of equal texts the greatest value counts; an empty text is passed over.
  explicit PrefixTree(std::vector<Entry> entries);

  /// Calls `found(length, value)` for every text that `text` begins with, from
  /// the shortest to the longest. Gives how many bytes it looked at.
  template <typename F> size_t walk(std::string_view text, F found) const {
    uint32_t node = 0;
    size_t i = 0;
    for (; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == 0) {
        break;
      }
      if (nodes[node].isEnd) {
        found(i + 1, nodes[node].value);
      }
    }
    return i;
  }

  /// How many of a budget's steps a walk is.
  static uint64_t stepsOf(size_t bytes) { return bytes / 4 + 1; }

private:
  /// The children of a node lie together, sorted by their byte.
  struct Node {
    uint32_t first = 0;
    uint32_t value = 0;
    uint16_t count = 0;
    unsigned char byte = 0;
    bool isEnd = false;
  };

  uint32_t child(uint32_t node, unsigned char byte) const {
    uint32_t low = nodes[node].first, high = low + nodes[node].count;
    if (node == 0) {
      return roots[byte];
    }
    while (low < high) {
      uint32_t middle = low + (high - low) / 2;
      if (nodes[middle].byte < byte) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bool isThere =
        low < nodes[node].first + nodes[node].count && nodes[low].byte == byte;
    return isThere ? low : 0;
  }

  std::vector<Node> nodes;
  uint32_t roots[256] = {}; // children of the first node
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PREFIXTREE_H
