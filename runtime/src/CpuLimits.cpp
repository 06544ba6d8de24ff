// How many threads a process may keep busy: its affinity mask, and the CPU
// quota of its control group and the groups around it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/ThreadPool.h"

#include <algorithm>
#include <fstream>
#include <sched.h>
#include <sstream>

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

uint32_t smaller(uint32_t a, uint32_t b) {
  return a == 0 || (b != 0 && b < a) ? b : a;
}

/// The smallest quota from `path` up to the root: each binds.
uint32_t quotaUpwards(const std::string &root, std::string path,
                      bool isVersion2) {
  uint32_t quota = quotaOf(root, isVersion2);
  while (path.size() > 1) {
    quota = smaller(quota, quotaOf(root + path, isVersion2));
    size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  return quota;
}

} // namespace

uint32_t cgroupQuota(const std::string &cgroupFile, const std::string &mount) {
  std::ifstream in(cgroupFile);
  uint32_t quota = 0;
  // Lines are "number:controllers:path"; version 2 has no controllers.
  for (std::string line; std::getline(in, line);) {
    size_t first = line.find(':');
    size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      quota = smaller(quota, quotaUpwards(mount, path, true));
      continue;
    }
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');) {
      if (name == "cpu") {
        for (const std::string &folder : {controllers, name}) {
          quota =
              smaller(quota, quotaUpwards(mount + "/" + folder, path, false));
        }
      }
    }
  }
  return quota;
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
  uint32_t quota = cgroupQuota("/proc/self/cgroup", "/sys/fs/cgroup");
  return std::min(smaller(count, quota), maxThreads);
}

} // namespace tfc::rt
