// How many threads a process may keep busy: its affinity mask, and the CPU
// quota of its control group and the groups around it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/threads/ThreadPool.h"

#include <algorithm>
#include <fstream>
#include <sched.h>

namespace tfc::rt {

namespace {

/// CPUs of one directory's quota, rounded up; 0 when it has none.
uint32_t quotaOf(const std::string &directory, bool isVersion2) {
  int64_t quota = 0, period = 0;
  if (isVersion2) {
    // "max 100000", or "150000 100000".
    std::ifstream(directory + "/cpu.max") >> quota >> period;
  } else {
    std::ifstream(directory + "/cpu.cfs_quota_us") >> quota;
    std::ifstream(directory + "/cpu.cfs_period_us") >> period;
  }
  if (quota <= 0 || period <= 0) {
    return 0;
  }
  int64_t cpus = quota / period + (quota % period != 0);
  return static_cast<uint32_t>(std::min<int64_t>(cpus, maxThreads));
}

} // namespace

uint32_t cgroupQuota(const CgroupPlace &place) {
  uint64_t quota = 0;
  visitCgroups(place, "cpu", [&](const std::string &folder, bool isVersion2) {
    quota = smallerLimit(quota, quotaOf(folder, isVersion2));
  });
  return static_cast<uint32_t>(quota);
}

uint32_t allowedThreads() {
  uint32_t count = 1;
  // The mask of a machine with more CPUs than cpu_set_t holds needs more room.
  for (int cpus = CPU_SETSIZE; cpus <= 1 << 16; cpus *= 2) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    bool known = set && sched_getaffinity(0, bytes, set) == 0;
    if (known) {
      count = static_cast<uint32_t>(std::max(1, CPU_COUNT_S(bytes, set)));
    }
    CPU_FREE(set);
    if (known) {
      break;
    }
  }
  return std::min(
      static_cast<uint32_t>(smallerLimit(count, cgroupQuota(CgroupPlace()))),
      maxThreads);
}

} // namespace tfc::rt
