// Makes the tree level by level: what a node's texts have next are its
// children.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/PrefixTree.h"

#include <algorithm>

namespace tfc::text {

namespace {

/// Entries [begin, end) have the same first `depth` bytes, which are the
/// node's.
struct Range {
  uint32_t node;
  size_t begin, end, depth;
};

} // namespace

PrefixTree::PrefixTree(std::vector<Entry> entries) : nodes(1) {
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.text != b.text ? a.text < b.text : a.value < b.value;
  });
  std::vector<Range> open = {{0, 0, entries.size(), 0}};
  for (size_t next = 0; next < open.size(); ++next) {
    auto [node, begin, end, depth] = open[next];
    // The shortest ones end here.
    for (; begin < end && entries[begin].text.size() == depth; ++begin) {
      nodes[node].isEnd = depth != 0;
      nodes[node].value = entries[begin].value;
    }
    nodes[node].first = static_cast<uint32_t>(nodes.size());
    while (begin < end) {
      char byte = entries[begin].text[depth];
      size_t stop = begin;
      while (stop < end && entries[stop].text[depth] == byte) {
        ++stop;
      }
      auto child = static_cast<uint32_t>(nodes.size());
      nodes.emplace_back();
      nodes.back().byte = static_cast<unsigned char>(byte);
      ++nodes[node].count;
      open.push_back({child, begin, stop, depth + 1});
      begin = stop;
    }
  }
  for (uint32_t i = 0; i < nodes[0].count; ++i) {
    roots[nodes[nodes[0].first + i].byte] = nodes[0].first + i;
  }
}

} // namespace tfc::text
