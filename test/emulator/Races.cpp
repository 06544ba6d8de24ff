// Clocks of two levels, as barriers have them: of a block, and of a warp in it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Races.h"

#include <algorithm>

namespace tfc::emulator {

uint32_t Races::begin(const void *stream, uint64_t enqueued) {
  works.push_back({stream, enqueued, 0});
  unfinished.try_emplace(stream, works.size() - 1);
  return uint32_t(works.size());
}

void Races::finish(const void *stream) {
  auto found = unfinished.find(stream);
  if (found == unfinished.end()) {
    return;
  }
  uint64_t now = tick();
  for (size_t i = found->second; i < works.size(); ++i) {
    if (works[i].stream == stream) {
      works[i].finished = now;
    }
  }
  unfinished.erase(found);
}

/// Work of one stream is in order; that of another is, when the host waited for
/// the first before it asked for the second.
bool Races::areOrdered(uint32_t before, uint32_t now) const {
  const Work &first = works[before - 1], &second = works[now - 1];
  return first.stream == second.stream ||
         (first.finished != 0 && first.finished < second.enqueued);
}

/// `many`: the cell whose readers `before` stands for.
bool Races::isOrdered(const Accessor &before, const AccessCell *many,
                      const Accessor &now) const {
  if (before.work == 0) {
    return true;
  }
  if (before.work != now.work) {
    return areOrdered(before.work, now.work);
  }
  if ((many && many->ofBlocks) || before.block != now.block) {
    return false;
  }
  if (before.blockEpoch < now.blockEpoch) {
    return true;
  }
  if (!(many && many->ofThreads) && before.thread == now.thread) {
    return true;
  }
  return !(many && many->ofWarps) && before.thread / 32 == now.thread / 32 &&
         before.warpEpoch < now.warpEpoch;
}

void Races::addReader(AccessCell &cell, const Accessor &now) const {
  Accessor &read = cell.read;
  if (read.work != now.work) {
    // Of two that are not ordered, the first stays.
    if (read.work == 0 || areOrdered(read.work, now.work)) {
      read = now;
      cell.ofThreads = cell.ofWarps = cell.ofBlocks = false;
    }
    return;
  }
  if (read.block != now.block) {
    cell.ofBlocks = true;
    return;
  }
  bool isLater = read.blockEpoch < now.blockEpoch;
  bool isSameWarp = read.thread / 32 == now.thread / 32 && !cell.ofWarps;
  if (isLater || (isSameWarp && read.warpEpoch < now.warpEpoch)) {
    read = now;
    cell.ofThreads = cell.ofWarps = false;
    return;
  }
  cell.ofThreads |= read.thread != now.thread;
  cell.ofWarps |= !isSameWarp;
  read = now;
}

static std::string describeOther(const char *what, const Accessor &by,
                                 const Accessor &now) {
  std::string text = what;
  if (by.work != now.work) {
    return text + " by other work (line " + std::to_string(by.line) +
           " of its PTX; 0: a copy) that nobody waited for";
  }
  text += by.block == now.block ? " by thread " + std::to_string(by.thread)
                                : " by block " + std::to_string(by.block);
  return text + " at line " + std::to_string(by.line) + " of the PTX";
}

std::string Races::describe(const AccessCell &cell, bool writes,
                            const Accessor &now) const {
  std::string text = writes ? "store" : "load";
  text += " that is not ordered after ";
  if (!isOrdered(cell.write, nullptr, now)) {
    return text + describeOther("a store", cell.write, now);
  }
  bool areMany = cell.ofThreads || cell.ofBlocks;
  return text +
         describeOther(areMany ? "loads, one" : "a load", cell.read, now);
}

/// Whether an access is ordered after what the cell remembers; it remembers the
/// access then.
bool Races::note(AccessCell &cell, bool writes, const Accessor &now) const {
  if (!isOrdered(cell.write, nullptr, now)) {
    return false;
  }
  if (!writes) {
    addReader(cell, now);
    return true;
  }
  if (!isOrdered(cell.read, &cell, now)) {
    return false;
  }
  cell.write = now;
  cell.read.work = 0;
  cell.ofThreads = cell.ofWarps = cell.ofBlocks = false;
  return true;
}

std::string Races::note(AccessCells &cells, uint64_t at, uint64_t bytes,
                        bool writes, const Accessor &by) const {
  std::string found;
  cells.visit(at, bytes, [&](AccessCell &cell) {
    bool isOrdered = note(cell, writes, by);
    if (!isOrdered) {
      found = describe(cell, writes, by);
    }
    return isOrdered;
  });
  return found;
}

AccessCells &Races::pageOf(uint64_t address) {
  uint64_t number = address / pageBytes;
  if (number != recentNumber) {
    std::unique_ptr<AccessCells> &page = pages[number];
    if (!page) {
      page = std::make_unique<AccessCells>(pageBytes);
    }
    recent = page.get();
    recentNumber = number;
  }
  return *recent;
}

std::string Races::noteGlobal(uint64_t address, uint64_t bytes, bool writes,
                              const Accessor &by) {
  for (uint64_t at = address, end = address + bytes; at < end;) {
    uint64_t next = std::min((at / pageBytes + 1) * pageBytes, end);
    std::string found = note(pageOf(at), at % pageBytes, next - at, writes, by);
    if (!found.empty()) {
      return found;
    }
    at = next;
  }
  return "";
}

void Races::forget(uint64_t address, uint64_t bytes) {
  for (uint64_t at = address, end = address + bytes; at < end;) {
    uint64_t next = std::min((at / pageBytes + 1) * pageBytes, end);
    auto page = pages.find(at / pageBytes);
    if (page != pages.end()) {
      page->second->clear(at % pageBytes, at % pageBytes + (next - at));
    }
    at = next;
  }
}

void AccessCells::clear(uint64_t from, uint64_t to) {
  std::fill(cells.begin() + int64_t(from / 2),
            cells.begin() + int64_t((to + 1) / 2), AccessCell());
}

void AccessCells::split() {
  isSplit = true;
  for (size_t i = 0; i + 1 < cells.size(); i += 2) {
    cells[i + 1] = cells[i];
  }
}

} // namespace tfc::emulator
