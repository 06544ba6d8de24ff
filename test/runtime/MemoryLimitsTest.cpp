// What limits memory is seen, and a cache takes no more than its part of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/MemoryLimits.h"

#include "runtime/src/memory/Cache.h"
#include "test/runtime/FakeModel.h"

#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tfc::rt::test {
namespace {

TEST(MemoryLimits, ReadsGroupsOfBothVersions) {
  Folder folder;
  auto write = [&](const std::string &path, const std::string &text) {
    std::filesystem::create_directories(
        std::filesystem::path(folder / path).parent_path());
    std::ofstream(folder / path) << text;
  };
  auto limit = [&] {
    return cgroupMemory({folder / "self", folder.path.string()});
  };
  EXPECT_EQ(limit(), 0U);
  write("self", "0::/a/b\n");
  write("a/b/memory.max", "max\n");
  EXPECT_EQ(limit(), 0U);
  write("a/memory.max", "5000000000\n");
  EXPECT_EQ(limit(), 5000000000U) << "a group outside binds as well";
  write("a/b/memory.max", "4096\n");
  EXPECT_EQ(limit(), 4096U);
  // In a namespace of its own a container sees its group as the root.
  write("self", "0::/\n");
  write("memory.max", "8192\n");
  EXPECT_EQ(limit(), 8192U);
  write("self", "4:cpu,cpuacct:/x\n9:memory:/c\n");
  write("memory/c/memory.limit_in_bytes", "12288\n");
  EXPECT_EQ(limit(), 12288U);
  EXPECT_GT(allowedMemory(), 0U);
  EXPECT_EQ(remainingAddresses(), UINT64_MAX);
}

/// With more addresses nothing fails that works with fewer.
TEST(MemoryLimits, ACacheLeavesAddressesToTheRest) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  for (uint64_t room = 64 << 20; room < uint64_t(4) << 30;
       room += room / 5 * 2) {
    // In a child: the limit cannot be lifted again.
    pid_t child = fork();
    if (child == 0) {
      rlimit limit{pages * 4096 + room, pages * 4096 + room};
      bool isLimited = setrlimit(RLIMIT_AS, &limit) == 0;
      // Of an encoder-decoder: three caches; then outputs and workspace.
      Result<BlockCache> caches[] = {
          BlockCache::create(makeCache(4, 1, 4096), 0),
          BlockCache::create(makeCache(4, 1, 4096), 0),
          BlockCache::create(makeCache(4, 1, 4096), 0)};
      bool isOpen = caches[0] && caches[1] && caches[2] &&
                    uint64_t(caches[0]->capacity()) * 4096 > room / 4;
      bool hasRoom = bool(Mapping::allocate(room / 16));
      _exit(isLimited && isOpen && hasRoom ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << room;
  }
}

} // namespace
} // namespace tfc::rt::test
