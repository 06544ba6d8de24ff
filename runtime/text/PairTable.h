// A table of pairs of tokens, which byte pair encoding asks for every pair of
// neighbours: open addressing, filled once.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PAIRTABLE_H
#define TFC_RUNTIME_TEXT_PAIRTABLE_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfc::text {

class PairTable {
public:
  struct Row {
    uint32_t left = ~uint32_t(0), right = ~uint32_t(0);
    uint32_t rank = 0, whole = 0;
  };

  PairTable() : PairTable(0) {}
  explicit PairTable(size_t count) {
    size_t size = 16;
    while (size < 2 * count) {
      size *= 2;
    }
    rows.resize(size);
    shift = 64;
    for (size_t i = 1; i < size; i *= 2) {
      --shift;
    }
  }

  /// A pair that is there already is replaced.
  void put(const Row &row) { rows[place(row.left, row.right)] = row; }

  /// Null when the pair is not there.
  const Row *find(uint32_t left, uint32_t right) const {
    const Row &row = rows[place(left, right)];
    return isFree(row) ? nullptr : &row;
  }

private:
  static bool isFree(const Row &row) { return row.left == ~uint32_t(0); }

  size_t place(uint32_t left, uint32_t right) const {
    uint64_t key = uint64_t(left) << 32 | right;
    size_t at = (key * 0x9e3779b97f4a7c15U) >> shift;
    while (!isFree(rows[at]) &&
           (rows[at].left != left || rows[at].right != right)) {
      at = (at + 1) & (rows.size() - 1);
    }
    return at;
  }

  std::vector<Row> rows; // at most half of them in use
  int shift;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PAIRTABLE_H
