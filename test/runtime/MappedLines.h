// What of this process's memory is mapped from a file.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_TEST_RUNTIME_MAPPEDLINES_H
#define TFC_TEST_RUNTIME_MAPPEDLINES_H

#include <fstream>
#include <string>

namespace tfc::rt::test {

/// Lines of /proc/self/maps that name a path with this in it.
inline int countMappedLines(const std::string &path) {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    count += line.find(path) != std::string::npos ? 1 : 0;
  }
  return count;
}

} // namespace tfc::rt::test

#endif // TFC_TEST_RUNTIME_MAPPEDLINES_H
