// What kernels ask of a GPU's memory, counted as its units would: by warps, in
// sectors and banks. Facts of the hardware, from NVIDIA's documentation of
// Nsight Compute: a sector is 32 bytes, shared memory 32 banks of 4 bytes, a
// pass of it at most 128 bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_COUNTERS_H
#define TFC_TEST_EMULATOR_COUNTERS_H

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace tfc::emulator {

/// Of all launches of a kernel. A request is an instruction of a warp: the k-th
/// time that its lanes come to it, however far apart.
struct KernelCounts {
  uint64_t launches = 0, blocks = 0, threads = 0;
  uint64_t requests = 0;     // to global memory
  uint64_t sectors = 0;      // that they touch, request by request
  uint64_t idealSectors = 0; // the fewest for the bytes that they ask for
  uint64_t memoryBytes = 0;  // of sectors that a launch touches, each once
  uint64_t waveBytes = 0;    // the same of blocks that run side by side, summed
  uint64_t sharedRequests = 0;
  uint64_t sharedPasses = 0; // without conflicts of banks: idealPasses
  uint64_t idealPasses = 0;
  uint64_t tensorOperations = 0; // a multiply-add is two
};

/// The sums of a process.
class Counters {
public:
  void add(const std::string &kernel, const KernelCounts &counts);
  /// Bytes that go to the device, or `isDown`, to the host.
  void addCopy(bool isDown, uint64_t bytes);
  /// Writes all kernels as JSON, a line each, in order of their names, and what
  /// was copied; whether that could be done.
  bool write(const std::string &path) const;

private:
  mutable std::mutex mutex;
  std::map<std::string, KernelCounts> kernels;
  uint64_t upBytes = 0, downBytes = 0;
};

/// Counts one launch.
class LaunchCounter {
public:
  /// `sideBySide`: as many blocks as run at a time.
  LaunchCounter(uint64_t blocks, uint32_t threads, uint64_t sideBySide);

  /// A thread's access; `isShared`: of shared memory, else of global memory.
  void note(uint32_t thread, bool isShared, uint64_t address, uint64_t bytes,
            int line);
  /// All threads of the block have done what they do.
  void endBlock(uint64_t tensorOperations);
  /// Of all blocks.
  KernelCounts finish() const;

private:
  struct Access {
    uint32_t lane;
    uint64_t address, bytes;
  };
  struct Request {
    bool isShared = false;
    std::vector<Access> lanes;
  };
  void countGlobal(Request &request);
  void countShared(const Request &request);

  KernelCounts counts;
  std::unordered_map<uint64_t, uint32_t> times;   // by thread and line
  std::unordered_map<uint64_t, Request> requests; // by warp, line and time
  std::unordered_set<uint64_t> touched;           // sectors of the launch
  std::unordered_set<uint64_t> touchedInWave;
  uint64_t sideBySide, blocksDone = 0;
};

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_COUNTERS_H
