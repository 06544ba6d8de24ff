// Who has which beginnings of texts in the cache: a tree of full blocks, found
// by what is in them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SERVE_PREFIXINDEX_H
#define TFC_RUNTIME_SRC_SERVE_PREFIXINDEX_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace tfc::rt {

/// What a text's keys and values depend on beside the model: whose it is, what
/// an encoder-decoder's decoder reads, and the tokens.
struct PrefixText {
  uint64_t salt = 0;
  std::vector<int32_t> source; // empty in a decoder
  std::vector<int32_t> tokens;
};

/// A node is a block behind a parent, which stands for all that is before it.
/// Contents are compared, hashes only find them. Owners are sequences of a
/// session, which have all blocks of their path; those that have ended can be
/// evicted.
class PrefixIndex {
public:
  /// `blockTokens`: at least 1.
  explicit PrefixIndex(int64_t blockTokens) : blockTokens(blockTokens) {}

  /// An owner of most of the text's first blocks, 0: nobody has one. It is the
  /// last to be evicted from here on.
  uint64_t find(const PrefixText &text);
  /// `owner` has the text's full blocks, more of them than before maybe. False
  /// when others have all of them.
  bool insert(const PrefixText &text, uint64_t owner);
  /// The owner runs no more, and can be evicted.
  void retire(uint64_t owner);
  /// The owner has nothing any more; nothing when it is none.
  void erase(uint64_t owner);
  /// Erases the one that was not found for longest of those that run no more,
  /// and returns it; 0: there is none.
  uint64_t evict();

  size_t numOwners() const { return owners.size(); }
  size_t numRetired() const { return byUse.size(); }
  size_t numBlocks() const { return nodes.size(); }

private:
  struct Key {
    uint64_t parent, salt;
    bool isSource;
    std::vector<int32_t> tokens;
    bool operator==(const Key &other) const {
      return parent == other.parent && salt == other.salt &&
             isSource == other.isSource && tokens == other.tokens;
    }
  };
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  struct Node {
    uint64_t serial;              // never used again
    std::vector<uint64_t> owners; // the newest last
  };
  struct Owner {
    std::vector<Key> path;
    uint64_t use = 0; // in byUse; 0: it runs
  };

  std::vector<Key> keysOf(const PrefixText &text) const;

  int64_t blockTokens;
  uint64_t lastSerial = 0, lastUse = 0;
  std::unordered_map<Key, Node, Hash> nodes;
  std::unordered_map<uint64_t, Owner> owners;
  std::map<uint64_t, uint64_t> byUse; // of those that run no more
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SERVE_PREFIXINDEX_H
