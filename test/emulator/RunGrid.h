// Runs the blocks of a launch, one after the other.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_RUNGRID_H
#define TFC_TEST_EMULATOR_RUNGRID_H

#include "test/emulator/CompileKernels.h"
#include "test/emulator/Counters.h"
#include "test/emulator/DeviceMemory.h"
#include "test/emulator/Races.h"

namespace tfc::emulator {

struct Launch {
  std::shared_ptr<CompiledModule> module;
  size_t kernel = 0; // entry
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint64_t sharedBytes = 0; // beside the kernel's own
  uint64_t globals = 0;     // device address of the module's variables
  std::vector<uint8_t> params;
  /// Whether it may begin before the launch in front of it has ended. It does
  /// not, but its kernel has to wait for that.
  bool overlaps = false;
};

/// How a launch went; `message` says where and why it failed.
struct LaunchOutcome {
  CudaResult result = CudaSuccess;
  std::string message;
};

/// How it is run.
struct RunOrder {
  /// Blocks, and threads that meet, run in an order that follows from it; 0: in
  /// that of their numbers.
  uint64_t seed = 0;
  /// Null: nobody looks for races.
  Races *races = nullptr;
  uint32_t work = 0; // the number that Races::begin gave
  /// Null: nobody counts.
  Counters *counters = nullptr;
  uint64_t wave = 1; // blocks that run side by side, for that
};

LaunchOutcome runGrid(const Launch &launch, const DeviceMemory &memory,
                      const RunOrder &order = {});

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_RUNGRID_H
