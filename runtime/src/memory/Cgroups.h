// Where the limits of a process's control groups lie, of both versions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_MEMORY_CGROUPS_H
#define TFC_RUNTIME_SRC_MEMORY_CGROUPS_H

#include <cstdint>
#include <functional>
#include <string>

namespace tfc::rt {

/// Where the kernel says which groups the process is in, and where their
/// hierarchies are mounted.
struct CgroupPlace {
  std::string file = "/proc/self/cgroup", mount = "/sys/fs/cgroup";
};

/// Calls `visit` with every folder that may limit what `controller` ("cpu")
/// counts: of the process's group and of those around it, each of which binds.
/// Files in a folder may be missing.
void visitCgroups(const CgroupPlace &place, const std::string &controller,
                  const std::function<void(const std::string &folder,
                                           bool isVersion2)> &visit);

/// The smaller of two limits, 0 meaning none.
inline uint64_t smallerLimit(uint64_t a, uint64_t b) {
  return a == 0 || (b != 0 && b < a) ? b : a;
}

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_MEMORY_CGROUPS_H
