// Makes the automaton, level by level. Read backwards, the texts that end at a
// place are those that begin there; the longest is the node's own, or that of
// what the node ends with.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/AhoCorasick.h"

#include <algorithm>
#include <tuple>

namespace tfc::text {

AhoCorasick::AhoCorasick(std::vector<Entry> entries) {
  for (Entry &entry : entries) {
    std::reverse(entry.text.begin(), entry.text.end());
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.text, a.value) < std::tie(b.text, b.value);
  });
  addNodes(entries);
  link();
}

void AhoCorasick::addNodes(const std::vector<Entry> &entries) {
  /// Entries [begin, end) have the same first characters, a node's.
  struct Range {
    size_t begin, end;
  };
  std::vector<Range> level = {{0, entries.size()}}, below;
  nodes.emplace_back();
  uint32_t node = 0;
  for (size_t depth = 0; !level.empty(); ++depth) {
    for (auto [begin, end] : level) {
      // The shortest ones end here.
      for (; begin < end && entries[begin].text.size() == depth; ++begin) {
        if (depth != 0 && nodes[node].value == none) {
          nodes[node].value = entries[begin].value;
        }
      }
      nodes[node].first = static_cast<uint32_t>(nodes.size());
      while (begin < end) {
        char32_t c = entries[begin].text[depth];
        size_t stop = begin;
        while (stop < end && entries[stop].text[depth] == c) {
          ++stop;
        }
        nodes.emplace_back();
        nodes.back().c = c;
        below.push_back({begin, stop});
        begin = stop;
      }
      ++node;
    }
    level = std::move(below);
    below.clear();
  }
  nodes.emplace_back();
  nodes.back().first = static_cast<uint32_t>(nodes.size() - 1);
}

void AhoCorasick::link() {
  for (uint32_t i = nodes[0].first; i < nodes[1].first; ++i) {
    if (nodes[i].c < roots.size()) {
      roots[nodes[i].c] = i;
    }
  }
  // Level by level: what a node ends with is shorter, and so done.
  for (uint32_t parent = 1; parent + 1 < nodes.size(); ++parent) {
    for (uint32_t i = nodes[parent].first; i < nodes[parent + 1].first; ++i) {
      uint32_t shorter = next(nodes[parent].shorter, nodes[i].c);
      nodes[i].shorter = shorter;
      if (nodes[i].value == none) {
        nodes[i].value = nodes[shorter].value;
      }
    }
  }
}

uint32_t AhoCorasick::child(uint32_t node, char32_t c) const {
  uint32_t low = nodes[node].first, end = nodes[node + 1].first, high = end;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (nodes[middle].c < c) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < end && nodes[low].c == c ? low : 0;
}

} // namespace tfc::text
