// Who has which beginnings of texts in the cache: a tree of full blocks, found
// by what is in them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/PrefixIndex.h"

#include <algorithm>

namespace tfc::rt {

size_t PrefixIndex::Hash::operator()(const Key &key) const {
  uint64_t sum = key.parent * 0x9e3779b97f4a7c15U + key.salt + key.isSource;
  for (int32_t token : key.tokens) {
    sum = (sum ^ static_cast<uint32_t>(token)) * 0xff51afd7ed558ccdU;
    sum ^= sum >> 32;
  }
  return static_cast<size_t>(sum);
}

/// Of its full blocks, a source's before them; without the parents, who are
/// known only on the way.
std::vector<PrefixIndex::Key>
PrefixIndex::keysOf(const PrefixText &text) const {
  std::vector<Key> keys;
  if (!text.source.empty()) {
    keys.push_back({0, text.salt, true, text.source});
  }
  auto size = static_cast<int64_t>(text.tokens.size());
  for (int64_t at = 0; at + blockTokens <= size; at += blockTokens) {
    auto from = text.tokens.begin() + at;
    keys.push_back({0, text.salt, false, {from, from + blockTokens}});
  }
  return keys;
}

uint64_t PrefixIndex::find(const PrefixText &text) {
  uint64_t parent = 0, found = 0;
  for (Key &key : keysOf(text)) {
    key.parent = parent;
    auto node = nodes.find(key);
    if (node == nodes.end()) {
      break;
    }
    parent = node->second.serial;
    found = node->second.owners.back();
  }
  if (found != 0 && owners[found].use != 0) {
    retire(found);
  }
  return found;
}

bool PrefixIndex::insert(const PrefixText &text, uint64_t owner) {
  bool isNew = false;
  uint64_t parent = 0;
  Owner &own = owners[owner];
  std::vector<Key> keys = keysOf(text);
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i].parent = parent;
    Node &node = nodes[keys[i]];
    if (node.owners.empty()) {
      node.serial = ++lastSerial;
    }
    parent = node.serial;
    auto place = std::find(node.owners.begin(), node.owners.end(), owner);
    if (place == node.owners.end()) {
      node.owners.push_back(owner);
      own.path.push_back(keys[i]);
    }
    isNew = isNew || node.owners.size() == 1;
  }
  return isNew;
}

void PrefixIndex::retire(uint64_t owner) {
  auto found = owners.find(owner);
  if (found != owners.end()) {
    byUse.erase(found->second.use);
    found->second.use = ++lastUse;
    byUse[lastUse] = owner;
  }
}

void PrefixIndex::erase(uint64_t owner) {
  auto found = owners.find(owner);
  if (found == owners.end()) {
    return;
  }
  for (const Key &key : found->second.path) {
    auto node = nodes.find(key);
    std::vector<uint64_t> &list = node->second.owners;
    list.erase(std::find(list.begin(), list.end(), owner));
    if (list.empty()) {
      nodes.erase(node);
    }
  }
  byUse.erase(found->second.use);
  owners.erase(found);
}

uint64_t PrefixIndex::evict() {
  if (byUse.empty()) {
    return 0;
  }
  uint64_t owner = byUse.begin()->second;
  erase(owner);
  return owner;
}

} // namespace tfc::rt
