// A mapped file that shrinks is a message of the tools.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/tools/LostFiles.h"

#include "runtime/src/files/OpenFile.h"
#include "runtime/src/memory/Memory.h"
#include "test/runtime/FakeModel.h"

#include <fstream>

namespace tfc::rt::test {
namespace {

TEST(LostFilesDeathTest, AreNamed) {
  Folder folder;
  std::string path = folder / "file";
  std::ofstream(path) << std::string(3 * 4096, 'x');
  auto touch = [&] {
    tools::reportLostFiles("tool");
    auto file = OpenFile::open(path);
    auto mapping = Mapping::mapFile(file->number(), file->size(), 4096);
    std::filesystem::resize_file(path, 4096);
    volatile uint8_t lost = mapping->data()[4096];
    (void)lost;
  };
  EXPECT_EXIT(touch(), ::testing::ExitedWithCode(1),
              "tool: error: " + path +
                  ": expected a file that stays as it is while it is in use, "
                  "got one that became shorter");
}

} // namespace
} // namespace tfc::rt::test
