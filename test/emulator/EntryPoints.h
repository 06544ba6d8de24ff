// The functions of the stand-in driver, and how cuGetProcAddress finds them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_EMULATOR_ENTRYPOINTS_H
#define TFC_TEST_EMULATOR_ENTRYPOINTS_H

#include <string>

namespace tfc::emulator {

/// A function by the driver's name without a version, the newest one.
struct EntryPoint {
  const char *name;
  void *function;
};

/// Those of a group; null when the group has no such function. Groups are
/// files: device and context, memory, virtual memory, modules and launches,
/// events, graphs.
void *findDevicePoint(const std::string &name);
void *findMemoryPoint(const std::string &name);
void *findVirtualMemoryPoint(const std::string &name);
void *findModulePoint(const std::string &name);
void *findEventPoint(const std::string &name);
void *findGraphPoint(const std::string &name);

template <size_t N>
void *findPoint(const EntryPoint (&points)[N], const std::string &name) {
  for (const EntryPoint &point : points) {
    if (name == point.name) {
      return point.function;
    }
  }
  return nullptr;
}

template <typename F> void *pointer(F *function) {
  return reinterpret_cast<void *>(function);
}

} // namespace tfc::emulator

#endif // TFC_TEST_EMULATOR_ENTRYPOINTS_H
