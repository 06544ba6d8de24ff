// The blocks of a grid, and what a kernel asks of the emulator meanwhile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/RunGrid.h"

#include "test/emulator/AsyncCopies.h"
#include "test/emulator/BlockThreads.h"
#include "test/emulator/PtxTokens.h"
#include "test/emulator/Translate.h"
#include "test/emulator/WarpgroupProducts.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <sstream>

namespace tfc::emulator {

namespace {

class Grid {
public:
  Grid(const Launch &launch, const DeviceMemory &memory, const RunOrder &order);
  LaunchOutcome run();

private:
  void bindMemory();
  void bindMeetings();
  void bindCopies();
  void bindProducts();
  void runBlock(uint64_t number);
  void runThreads(uint32_t first, uint32_t last);
  void note(const emu_thread *thread, int space, uint64_t address,
            uint64_t bytes, bool writes, int line);
  void land(const emu_thread *thread, const AsyncCopy &copy);
  [[noreturn]] void fault(const emu_thread *thread, CudaResult result,
                          const std::string &message, int line);
  std::string place(int line) const;
  static Grid &of(emu_block *block) {
    return *static_cast<Block *>(block)->grid;
  }

  const Launch &launch;
  const DeviceMemory &memory;
  const RunOrder &order;
  const Entry &entry;
  const uint32_t numThreads;
  const bool areApart;
  const bool usesProducts; // of warpgroups
  emu_kernel kernel = nullptr;
  struct Block : emu_block {
    Grid *grid;
  } block{};
  uint64_t blockNumber = 0;
  std::vector<uint32_t> shared;
  AccessCells sharedCells;
  BlockThreads threads;
  AsyncCopies copies;
  WarpgroupProducts products;
  LaunchCounter counter;
  LaunchOutcome outcome;
};

Grid::Grid(const Launch &launch, const DeviceMemory &memory,
           const RunOrder &order)
    : launch(launch), memory(memory), order(order),
      entry(launch.module->ptx().entries[launch.kernel]),
      numThreads(launch.block[0] * launch.block[1] * launch.block[2]),
      areApart(doThreadsMeet(entry)), usesProducts(doWarpgroupsMultiply(entry)),
      threads(numThreads, areApart, order.seed), copies(numThreads),
      products(numThreads),
      counter(uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2],
              numThreads, order.wave) {
  block.grid = this;
  std::memcpy(block.ntid, launch.block, sizeof block.ntid);
  std::memcpy(block.nctaid, launch.grid, sizeof block.nctaid);
  block.first_line = entry.line;
  block.params = launch.params.data();
  block.shared_bytes =
      sharedBytes(launch.module->ptx(), entry) + launch.sharedBytes;
  block.base = memory.base();
  block.globals = launch.globals;
  shared.resize(block.shared_bytes / 4 + 4);
  block.shared = reinterpret_cast<unsigned char *>(shared.data());
  bindMemory();
  bindMeetings();
  bindCopies();
  bindProducts();
}

void Grid::bindMemory() {
  block.locate = [](emu_block *b, const emu_thread *thread, uint64_t address,
                    uint64_t bytes, int line) {
    Grid &self = of(b);
    UsableRange range;
    if (!self.memory.find(address, bytes, range)) {
      self.fault(thread, CudaIllegalAddress,
                 "access of " + std::to_string(bytes) + " bytes at " +
                     self.memory.describe(address),
                 line);
    }
    b->recent[(address >> 12) % EMU_RECENT] = {range.begin, range.end,
                                               range.memory};
  };
  block.fail = [](emu_block *b, const emu_thread *thread, const char *message,
                  int line) {
    // The results that a GPU has for it; what is no access is a plain failure.
    bool isAlignment = std::strstr(message, "not aligned") != nullptr;
    bool isAccess = std::strstr(message, "access") == message;
    CudaResult result = isAlignment ? CudaMisalignedAddress
                        : isAccess  ? CudaIllegalAddress
                                    : CudaLaunchFailed;
    of(b).fault(thread, result, message, line);
  };
  if (order.races || order.counters) {
    block.note = [](emu_block *b, const emu_thread *thread, int space,
                    uint64_t address, uint64_t bytes, int writes, int line) {
      of(b).note(thread, space, address, bytes, writes != 0, line);
    };
  }
}

void Grid::bindMeetings() {
  block.barrier = [](emu_block *b, const emu_thread *, uint32_t number,
                     int line) {
    of(b).threads.wait(WaitKind::Barrier, number, 0, line);
  };
  block.warp_barrier = [](emu_block *b, const emu_thread *thread, uint32_t mask,
                          int line) {
    if (!(mask >> (thread->number & 31) & 1)) {
      b->fail(b, thread, "barrier of a warp without the thread's lane", line);
    }
    of(b).threads.wait(WaitKind::WarpBarrier, 0, mask, line);
  };
  block.exchange = [](emu_block *b, const emu_thread *thread, uint32_t mask,
                      const uint32_t *words, uint32_t count, int line) {
    if (!(mask >> (thread->number & 31) & 1)) {
      b->fail(b, thread, "exchange without the thread's lane", line);
    }
    BlockThreads &threads = of(b).threads;
    threads.post(words, count);
    threads.wait(WaitKind::Exchange, 0, mask, line);
    return threads.seen();
  };
}

void Grid::bindCopies() {
  block.copy = [](emu_block *b, const emu_thread *thread, uint64_t to,
                  const unsigned char *from, uint64_t bytes, uint64_t fill,
                  int line) {
    if (fill > bytes) {
      b->fail(b, thread, "copy of more bytes than it has", line);
    }
    // Until it lands there is nothing.
    std::memset(b->shared + to, 0xff, bytes);
    Grid &self = of(b);
    if (self.order.counters && fill > 0) {
      self.counter.note(thread->number, /*isShared=*/false,
                        self.memory.addressOf(from), fill, line);
    }
    self.copies.add(thread->number, {to, from, bytes, fill, line});
  };
  block.commit = [](emu_block *b, const emu_thread *thread) {
    of(b).copies.commit(thread->number);
  };
  block.wait = [](emu_block *b, const emu_thread *thread, uint64_t pending) {
    Grid &self = of(b);
    self.copies.wait(thread->number, pending,
                     [&](const AsyncCopy &copy) { self.land(thread, copy); });
  };
}

/// What nobody looks for races is not looked at here, either.
void Grid::bindProducts() {
  block.order_sums = [](emu_block *b, const emu_thread *thread) {
    of(b).products.order(thread->number);
  };
  block.add_product = [](emu_block *b, const emu_thread *thread, uint64_t left,
                         uint64_t leftBytes, uint64_t right,
                         uint64_t rightBytes, int line) {
    Grid &self = of(b);
    std::string found =
        self.products.add(thread->number, {{left, left + leftBytes, line},
                                           {right, right + rightBytes, line}});
    if (!found.empty()) {
      self.fault(thread, CudaLaunchFailed, found, line);
    }
    if (self.order.races && thread->number % 128 == 0) {
      self.note(thread, EMU_SHARED, left, leftBytes, false, line);
      self.note(thread, EMU_SHARED, right, rightBytes, false, line);
    }
  };
  block.commit_products = [](emu_block *b, const emu_thread *thread) {
    of(b).products.commit(thread->number);
  };
  block.wait_products = [](emu_block *b, const emu_thread *thread,
                           uint64_t pending, int line) {
    Grid &self = of(b);
    self.products.wait(thread->number, pending, [&](const TileRange &tile) {
      if (self.order.races) { // read until now
        self.note(thread, EMU_SHARED, tile.begin, tile.end - tile.begin, false,
                  line);
      }
    });
  };
  block.show = [](emu_block *b, const emu_thread *thread) {
    of(b).products.show(thread->number);
  };
}

void Grid::land(const emu_thread *thread, const AsyncCopy &copy) {
  note(thread, EMU_SHARED, copy.to, copy.bytes, true, copy.line);
  std::memset(block.shared + copy.to, 0, copy.bytes);
  if (copy.fill) {
    std::memcpy(block.shared + copy.to, copy.from, copy.fill);
  }
}

void Grid::note(const emu_thread *thread, int space, uint64_t address,
                uint64_t bytes, bool writes, int line) {
  if (order.counters) {
    counter.note(thread->number, space == EMU_SHARED, address, bytes, line);
  }
  if (!order.races) {
    return;
  }
  if (usesProducts && space == EMU_SHARED && writes) {
    std::string found = products.write(thread->number, address, bytes);
    if (!found.empty()) {
      fault(thread, CudaLaunchFailed, "race: " + found, line);
    }
  }
  Accessor by;
  by.work = order.work;
  by.block = uint32_t(blockNumber);
  by.thread = thread->number;
  by.blockEpoch = areApart ? threads.blockEpoch() : 0;
  by.warpEpoch = areApart ? threads.warpEpoch() : 0;
  by.line = line;
  std::string found =
      space == EMU_SHARED
          ? order.races->note(sharedCells, address, bytes, writes, by)
          : order.races->noteGlobal(address, bytes, writes, by);
  if (!found.empty()) {
    fault(thread, CudaLaunchFailed,
          "race: " + found + ", at " +
              (space == EMU_SHARED
                   ? std::to_string(address) + " of shared memory"
                   : memory.describe(address)),
          line);
  }
}

std::string Grid::place(int line) const {
  if (line <= 0 || size_t(line) > launch.module->lines().size()) {
    return "";
  }
  return " (line " + std::to_string(line) +
         " of the PTX: " + trim(launch.module->lines()[size_t(line) - 1]) + ")";
}

void Grid::fault(const emu_thread *thread, CudaResult result,
                 const std::string &message, int line) {
  std::ostringstream text;
  text << "kernel " << entry.name << ", block " << block.ctaid[0] << ", thread "
       << thread->tid[0] << ": " << message << place(line);
  outcome = {result, text.str()};
  threads.leave();
}

void Grid::runThreads(uint32_t first, uint32_t last) {
  for (uint32_t number = first; number < last; ++number) {
    emu_thread thread{};
    thread.tid[0] = number % launch.block[0];
    thread.tid[1] = number / launch.block[0] % launch.block[1];
    thread.tid[2] = number / launch.block[0] / launch.block[1];
    thread.number = number;
    kernel(&block, &thread);
    if (const AsyncCopy *copy = copies.leftOver(number)) {
      fault(&thread, CudaLaunchFailed, "copy that nobody waited for",
            copy->line);
    }
    if (const TileRange *tile = products.leftOver(number)) {
      fault(&thread, CudaLaunchFailed,
            "product of a warpgroup that nobody waited for", tile->line);
    }
  }
}

void Grid::runBlock(uint64_t number) {
  blockNumber = number;
  block.ctaid[0] = uint32_t(number % launch.grid[0]);
  block.ctaid[1] = uint32_t(number / launch.grid[0] % launch.grid[1]);
  block.ctaid[2] = uint32_t(number / launch.grid[0] / launch.grid[1]);
  std::fill(shared.begin(), shared.end(), poison);
  sharedCells = AccessCells(order.races ? shared.size() * 4 : 0);
  copies.clear();
  products.clear();
  block.tensor_operations = 0;
  std::string waiting = threads.run(
      [this](uint32_t first, uint32_t last) { runThreads(first, last); });
  if (!waiting.empty()) {
    outcome = {CudaLaunchFailed, "kernel " + entry.name + ", block " +
                                     std::to_string(block.ctaid[0]) + ": " +
                                     waiting};
  }
  counter.endBlock(block.tensor_operations);
}

/// Whether all threads wait for the launch in front before they do anything
/// with device memory, or go different ways.
static bool waitsFirst(const Entry &entry) {
  for (const Statement &statement : entry.statements) {
    const std::string &opcode = statement.opcode;
    if (opcode == "griddepcontrol.wait") {
      return statement.guard.empty();
    }
    bool mayComeFirst = opcode.rfind("ld.param", 0) == 0 ||
                        opcode.rfind("cp.async.bulk.prefetch", 0) == 0;
    for (const char *base : {"ld", "st", "cp", "bra", "ret", "exit"}) {
      if (!mayComeFirst && opcode.rfind(base, 0) == 0) {
        return false;
      }
    }
  }
  return false;
}

LaunchOutcome Grid::run() {
  if (launch.overlaps && !waitsFirst(entry)) {
    return {CudaLaunchFailed,
            "kernel " + entry.name +
                ": expected one that begins by waiting for the launch in front "
                "of it, with which it overlaps (griddepcontrol.wait)"};
  }
  try {
    kernel = launch.module->kernel(launch.kernel);
  } catch (const PtxError &error) {
    return {CudaLaunchFailed, "kernel " + entry.name + ": " + error.what()};
  }
  uint64_t count = uint64_t(launch.grid[0]) * launch.grid[1] * launch.grid[2];
  std::vector<uint64_t> numbers;
  if (order.seed) {
    numbers.resize(count);
    std::iota(numbers.begin(), numbers.end(), uint64_t(0));
    std::shuffle(numbers.begin(), numbers.end(),
                 std::mt19937_64(order.seed ^ order.work));
  }
  for (uint64_t i = 0; i < count && outcome.result == CudaSuccess; ++i) {
    runBlock(order.seed ? numbers[i] : i);
  }
  if (order.counters) {
    order.counters->add(entry.name, counter.finish());
  }
  return outcome;
}

} // namespace

LaunchOutcome runGrid(const Launch &launch, const DeviceMemory &memory,
                      const RunOrder &order) {
  return Grid(launch, memory, order).run();
}

} // namespace tfc::emulator
