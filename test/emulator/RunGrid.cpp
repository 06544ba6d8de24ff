// A fiber runs the threads of a block; where they wait for each other, each has
// one of its own. A fault leaves the fiber for good.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/RunGrid.h"

#include "test/emulator/PtxTokens.h"
#include "test/emulator/Translate.h"

#include <cstring>
#include <sstream>
#include <ucontext.h>

namespace tfc::emulator {

namespace {

constexpr size_t stackBytes = size_t(256) << 10;

class Grid {
public:
  Grid(const Launch &launch, const DeviceMemory &memory);
  LaunchOutcome run();

private:
  struct Fiber {
    ucontext_t context{};
    std::vector<char> stack;
    uint32_t first = 0, last = 0; // threads, by number
    bool isDone = false, waits = false;
    uint32_t barrier = 0;
  };

  void runBlock();
  void resume(Fiber &fiber);
  void runThreads(Fiber &fiber);
  [[noreturn]] void leave();
  [[noreturn]] void fault(const emu_thread *thread, CudaResult result,
                          const std::string &message, int line);
  static void enter(unsigned high, unsigned low);

  const Launch &launch;
  const DeviceMemory &memory;
  const Entry &entry;
  // First, so that the kernel's block is the grid.
  struct Block : emu_block {
    Grid *grid;
  } block{};
  std::vector<uint32_t> shared;
  std::vector<Fiber> fibers;
  Fiber *current = nullptr;
  ucontext_t scheduler{};
  LaunchOutcome outcome;
};

Grid::Grid(const Launch &launch, const DeviceMemory &memory)
    : launch(launch), memory(memory),
      entry(launch.module->ptx.entries[launch.kernel]) {
  block.grid = this;
  std::memcpy(block.ntid, launch.block, sizeof block.ntid);
  std::memcpy(block.nctaid, launch.grid, sizeof block.nctaid);
  block.params = launch.params.data();
  block.shared_bytes =
      sharedBytes(launch.module->ptx, entry) + launch.sharedBytes;
  block.base = memory.base();
  block.globals = launch.globals;
  shared.resize(block.shared_bytes / 4 + 4);
  block.shared = reinterpret_cast<unsigned char *>(shared.data());
  block.locate = [](emu_block *b, const emu_thread *thread, uint64_t address,
                    uint64_t bytes, int line) {
    Grid &self = *static_cast<Block *>(b)->grid;
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
    static_cast<Block *>(b)->grid->fault(thread, result, message, line);
  };
  block.barrier = [](emu_block *b, const emu_thread *, uint32_t number, int) {
    Grid &self = *static_cast<Block *>(b)->grid;
    self.current->waits = true;
    self.current->barrier = number;
    swapcontext(&self.current->context, &self.scheduler);
  };
}

void Grid::leave() {
  current->isDone = true;
  swapcontext(&current->context, &scheduler);
  __builtin_unreachable();
}

void Grid::fault(const emu_thread *thread, CudaResult result,
                 const std::string &message, int line) {
  std::ostringstream text;
  text << "kernel " << entry.name << ", block " << block.ctaid[0] << ", thread "
       << thread->tid[0] << ": " << message;
  if (line > 0 && size_t(line) <= launch.module->lines.size()) {
    text << " (line " << line
         << " of the PTX: " << trim(launch.module->lines[size_t(line) - 1])
         << ")";
  }
  outcome = {result, text.str()};
  leave();
}

void Grid::runThreads(Fiber &fiber) {
  for (uint32_t number = fiber.first; number < fiber.last; ++number) {
    emu_thread thread{};
    thread.tid[0] = number % launch.block[0];
    thread.tid[1] = number / launch.block[0] % launch.block[1];
    thread.tid[2] = number / launch.block[0] / launch.block[1];
    launch.module->kernels[launch.kernel](&block, &thread);
  }
}

void Grid::enter(unsigned high, unsigned low) {
  auto *self = reinterpret_cast<Grid *>(uint64_t(high) << 32 | low);
  self->runThreads(*self->current);
  self->leave();
}

void Grid::resume(Fiber &fiber) {
  current = &fiber;
  fiber.waits = false;
  swapcontext(&scheduler, &fiber.context);
}

void Grid::runBlock() {
  std::fill(shared.begin(), shared.end(), poison);
  uint32_t numThreads = launch.block[0] * launch.block[1] * launch.block[2];
  bool isShared = !hasBarrier(entry);
  fibers.resize(isShared ? 1 : numThreads);
  for (uint32_t i = 0; i < fibers.size(); ++i) {
    Fiber &fiber = fibers[i];
    fiber.stack.resize(stackBytes);
    fiber.first = i;
    fiber.last = isShared ? numThreads : i + 1;
    fiber.isDone = false;
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = fiber.stack.size();
    auto address = reinterpret_cast<uint64_t>(this);
    makecontext(&fiber.context, reinterpret_cast<void (*)()>(enter), 2,
                unsigned(address >> 32), unsigned(address));
  }
  for (bool isBusy = true; isBusy;) {
    isBusy = false;
    size_t numDone = 0, numWaiting = 0;
    for (Fiber &fiber : fibers) {
      if (!fiber.isDone) {
        resume(fiber);
        if (outcome.result != CudaSuccess) {
          return;
        }
      }
      numDone += fiber.isDone;
      numWaiting += fiber.waits;
      isBusy |= !fiber.isDone;
    }
    bool areApart = numWaiting > 0 && numDone > 0;
    for (Fiber &fiber : fibers) {
      areApart |= fiber.waits && fiber.barrier != fibers[0].barrier;
    }
    if (areApart) {
      outcome = {CudaLaunchFailed,
                 "kernel " + entry.name + ", block " +
                     std::to_string(block.ctaid[0]) +
                     ": expected all threads at one barrier, got " +
                     std::to_string(numWaiting) + " of " +
                     std::to_string(fibers.size())};
      return;
    }
  }
}

LaunchOutcome Grid::run() {
  for (uint32_t z = 0; z < launch.grid[2]; ++z) {
    for (uint32_t y = 0; y < launch.grid[1]; ++y) {
      for (uint32_t x = 0; x < launch.grid[0]; ++x) {
        block.ctaid[0] = x;
        block.ctaid[1] = y;
        block.ctaid[2] = z;
        runBlock();
        if (outcome.result != CudaSuccess) {
          return outcome;
        }
      }
    }
  }
  return outcome;
}

} // namespace

LaunchOutcome runGrid(const Launch &launch, const DeviceMemory &memory) {
  return Grid(launch, memory).run();
}

} // namespace tfc::emulator
