// Asks the system for the limits of memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/MemoryLimits.h"

#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

namespace tfc::rt {

uint64_t cgroupMemory(const CgroupPlace &place) {
  uint64_t limit = 0;
  visitCgroups(
      place, "memory", [&](const std::string &folder, bool isVersion2) {
        // "max" is no number. Version 1 says a number beyond any
        // machine where there is no limit.
        uint64_t bytes = 0;
        std::ifstream(
            folder + (isVersion2 ? "/memory.max" : "/memory.limit_in_bytes")) >>
            bytes;
        limit = smallerLimit(limit, bytes);
      });
  return limit;
}

uint64_t allowedMemory() {
  long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  uint64_t machine = pages > 0 && size > 0 ? static_cast<uint64_t>(pages) *
                                                 static_cast<uint64_t>(size)
                                           : uint64_t(1) << 34;
  return smallerLimit(machine, cgroupMemory());
}

uint64_t remainingAddresses() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return UINT64_MAX;
  }
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  uint64_t used = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return used < limit.rlim_cur ? limit.rlim_cur - used : 0;
}

} // namespace tfc::rt
