// Notices accesses of one place that nothing orders: of threads of a block, of
// blocks of a launch, and of work of several streams.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_RACES_H
#define TFC_TEST_EMULATOR_RACES_H

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tfc::emulator {

/// Who accesses, and when: a thread knows how often its block, and its warp,
/// came together before.
struct Accessor {
  uint32_t work = 0; // of a stream, numbered from 1; 0: nobody
  uint32_t block = 0, thread = 0;
  uint32_t blockEpoch = 0, warpEpoch = 0;
  int line = 0; // of the PTX; 0: a copy
};

/// What one place remembers. Of reads since the last write, those of the latest
/// epoch, as one that may stand for many.
struct AccessCell {
  Accessor write, read;
  bool ofThreads = false, ofWarps = false, ofBlocks = false;
};

/// What a stretch of memory remembers: a cell for every two bytes, so that
/// numbers of 16 bits beside each other are two places. As long as nobody has
/// asked for half a word, the first half's stands for the word. Single bytes
/// are not looked at.
class AccessCells {
public:
  explicit AccessCells(uint64_t bytes = 0) : cells((bytes + 1) / 2) {}
  void clear(uint64_t from, uint64_t to);
  /// Calls `each(cell)` for the places of an access, until it says false.
  template <typename Each>
  void visit(uint64_t at, uint64_t bytes, const Each &each) {
    bool areWords = ((at | bytes) & 3) == 0;
    if (!areWords && !isSplit) {
      split();
    }
    uint64_t step = isSplit ? 1 : 2;
    for (uint64_t i = at / 2; i < (at + bytes) / 2; i += step) {
      if (!each(cells[i])) {
        return;
      }
    }
  }

private:
  void split();
  std::vector<AccessCell> cells;
  bool isSplit = false;
};

/// What happens before what on a device. Its caller sees to it that one thread
/// of the host is in it at a time.
class Races {
public:
  /// Work that was asked for after so many events; the number it has.
  uint32_t begin(const void *stream, uint64_t enqueued);
  /// The host has waited for all work of a stream.
  void finish(const void *stream);
  /// Counts events of the host.
  uint64_t tick() { return ++events; }

  /// Notes an access of device memory. What it is not ordered with, or "".
  std::string noteGlobal(uint64_t address, uint64_t bytes, bool writes,
                         const Accessor &by);
  /// The same of memory that has cells of its own, as a block's shared one.
  std::string note(AccessCells &cells, uint64_t at, uint64_t bytes, bool writes,
                   const Accessor &by) const;
  /// New memory is nobody's.
  void forget(uint64_t address, uint64_t bytes);

private:
  static constexpr uint64_t pageBytes = 4096;
  struct Work {
    const void *stream;
    uint64_t enqueued, finished;
  };

  bool isOrdered(const Accessor &before, const AccessCell *many,
                 const Accessor &now) const;
  bool areOrdered(uint32_t before, uint32_t now) const;
  void addReader(AccessCell &cell, const Accessor &now) const;
  std::string describe(const AccessCell &cell, bool writes,
                       const Accessor &now) const;
  bool note(AccessCell &cell, bool writes, const Accessor &now) const;
  AccessCells &pageOf(uint64_t address);

  uint64_t events = 0;
  std::vector<Work> works;
  std::unordered_map<const void *, size_t> unfinished; // first work by stream
  std::unordered_map<uint64_t, std::unique_ptr<AccessCells>> pages;
  uint64_t recentNumber = ~uint64_t(0);
  AccessCells *recent = nullptr;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_RACES_H
