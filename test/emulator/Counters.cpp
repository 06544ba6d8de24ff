// Puts the accesses of a warp's lanes together, and counts.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/emulator/Counters.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace tfc::emulator {

static constexpr uint64_t sectorBytes = 32, bankBytes = 4, banks = 32;
static constexpr uint32_t warpLanes = 32;

void Counters::add(const std::string &kernel, const KernelCounts &counts) {
  std::lock_guard<std::mutex> lock(mutex);
  KernelCounts &sum = kernels[kernel];
  for (auto member :
       {&KernelCounts::launches, &KernelCounts::blocks, &KernelCounts::threads,
        &KernelCounts::requests, &KernelCounts::sectors,
        &KernelCounts::idealSectors, &KernelCounts::memoryBytes,
        &KernelCounts::waveBytes, &KernelCounts::sharedRequests,
        &KernelCounts::sharedPasses, &KernelCounts::idealPasses,
        &KernelCounts::tensorOperations}) {
    sum.*member += counts.*member;
  }
}

void Counters::addCopy(bool isDown, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  (isDown ? downBytes : upBytes) += bytes;
}

bool Counters::write(const std::string &path) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::FILE *file = std::fopen(path.c_str(), "w");
  if (!file) {
    return false;
  }
  std::fputs("{", file);
  const char *between = "\n";
  for (const auto &[name, sum] : kernels) {
    std::fprintf(
        file,
        "%s \"%s\": {\"launches\": %llu, \"blocks\": %llu, \"threads\": %llu, "
        "\"requests\": %llu, \"sectors\": %llu, \"ideal_sectors\": %llu, "
        "\"memory_bytes\": %llu, \"wave_bytes\": %llu, "
        "\"shared_requests\": %llu, "
        "\"shared_passes\": %llu, \"ideal_passes\": %llu, "
        "\"tensor_operations\": %llu}",
        between, name.c_str(), (unsigned long long)sum.launches,
        (unsigned long long)sum.blocks, (unsigned long long)sum.threads,
        (unsigned long long)sum.requests, (unsigned long long)sum.sectors,
        (unsigned long long)sum.idealSectors,
        (unsigned long long)sum.memoryBytes, (unsigned long long)sum.waveBytes,
        (unsigned long long)sum.sharedRequests,
        (unsigned long long)sum.sharedPasses,
        (unsigned long long)sum.idealPasses,
        (unsigned long long)sum.tensorOperations);
    between = ",\n";
  }
  std::fprintf(file, "%s \"copies\": {\"up\": %llu, \"down\": %llu}\n}\n",
               between, (unsigned long long)upBytes,
               (unsigned long long)downBytes);
  return std::fclose(file) == 0;
}

LaunchCounter::LaunchCounter(uint64_t blocks, uint32_t threads,
                             uint64_t sideBySide)
    : sideBySide(sideBySide) {
  counts.launches = 1;
  counts.blocks = blocks;
  counts.threads = blocks * threads;
}

void LaunchCounter::note(uint32_t thread, bool isShared, uint64_t address,
                         uint64_t bytes, int line) {
  uint32_t time = times[uint64_t(thread) << 32 | uint32_t(line)]++;
  // Ten bits of threads, so five of warps; lines below a million.
  uint64_t key = uint64_t(thread / warpLanes) << 59 |
                 uint64_t(uint32_t(line) & 0x7ffffff) << 32 | time;
  Request &request = requests[key];
  request.isShared = isShared;
  request.lanes.push_back({thread % warpLanes, address, bytes});
}

/// Lanes in order of address, so that what they share is counted once.
void LaunchCounter::countGlobal(Request &request) {
  std::sort(
      request.lanes.begin(), request.lanes.end(),
      [](const Access &a, const Access &b) { return a.address < b.address; });
  uint64_t bytes = 0, end = 0, nextSector = 0;
  for (const Access &access : request.lanes) {
    uint64_t last = access.address + access.bytes;
    bytes += last > end ? last - std::max(access.address, end) : 0;
    end = std::max(end, last);
    for (uint64_t sector = std::max(access.address / sectorBytes, nextSector);
         sector * sectorBytes < last; ++sector) {
      ++counts.sectors;
      nextSector = sector + 1;
      touched.insert(sector);
      touchedInWave.insert(sector);
    }
  }
  ++counts.requests;
  counts.idealSectors += (bytes + sectorBytes - 1) / sectorBytes;
}

/// As many lanes at once as 128 bytes are enough for; of these, words of one
/// bank one after the other.
void LaunchCounter::countShared(const Request &request) {
  uint64_t bytes = std::max(request.lanes.front().bytes, bankBytes);
  auto atOnce = uint32_t(banks * bankBytes / bytes);
  ++counts.sharedRequests;
  for (uint32_t first = 0; first < warpLanes; first += atOnce) {
    std::map<uint64_t, std::set<uint64_t>> words;
    for (const Access &access : request.lanes) {
      bool isPart = access.lane >= first && access.lane < first + atOnce;
      for (uint64_t at = access.address / bankBytes;
           isPart && at * bankBytes < access.address + access.bytes; ++at) {
        words[at % banks].insert(at);
      }
    }
    size_t passes = 0;
    for (const auto &[bank, all] : words) {
      passes = std::max(passes, all.size());
    }
    counts.sharedPasses += passes;
    counts.idealPasses += !words.empty();
  }
}

void LaunchCounter::endBlock(uint64_t tensorOperations) {
  counts.tensorOperations += tensorOperations;
  for (auto &[key, request] : requests) {
    request.isShared ? countShared(request) : countGlobal(request);
  }
  requests.clear();
  times.clear();
  if (++blocksDone % sideBySide == 0 || blocksDone == counts.blocks) {
    counts.waveBytes += touchedInWave.size() * sectorBytes;
    touchedInWave.clear();
  }
}

KernelCounts LaunchCounter::finish() const {
  KernelCounts all = counts;
  all.memoryBytes = touched.size() * sectorBytes;
  return all;
}

} // namespace tfc::emulator
