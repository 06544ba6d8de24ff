// Files that appear whole or not at all, whatever happens meanwhile.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/FileBeside.h"

#include "test/runtime/FakeModel.h"
#include "test/runtime/LimitFiles.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace tfc::rt::test {
namespace {

namespace fs = std::filesystem;

int64_t countFiles(const Folder &folder) {
  return std::distance(fs::directory_iterator(folder.path), {});
}

/// Both ways to write a file: without a name, as long as the file system has
/// it, and with one.
class FileBesides : public ::testing::TestWithParam<bool> {
protected:
  Folder folder;
  std::string target = folder / "file";
};

TEST_P(FileBesides, AppearsWhenItIsWhole) {
  FileBeside file(target, GetParam());
  file.write("ab", 2);
  EXPECT_FALSE(fs::exists(target));
  file.write("c", 1);
  Status status = file.commit();
  ASSERT_TRUE(status) << messageOf(status);
  EXPECT_EQ(readBytes(target), "abc");
  EXPECT_EQ(countFiles(folder), 1);
}

TEST_P(FileBesides, VanishesUnlessItIsCommitted) {
  {
    FileBeside file(target, GetParam());
    file.write("abc", 3);
  }
  EXPECT_EQ(countFiles(folder), 0);
}

TEST_P(FileBesides, AreWrittenSideBySide) {
  FileBeside first(target, GetParam()), second(target, GetParam());
  first.write("first", 5);
  second.write("second", 6);
  Status one = second.commit(), other = first.commit();
  ASSERT_TRUE(one && other) << messageOf(one) << messageOf(other);
  EXPECT_EQ(readBytes(target), "first");
  EXPECT_EQ(countFiles(folder), 1);
}

TEST_P(FileBesides, KeepWhatWasThereWhenTheyFail) {
  std::ofstream(target) << "old";
  {
    LimitFiles limit(4096);
    FileBeside file(target, GetParam());
    std::string data(5000, 'x');
    file.write(data.data(), data.size());
    // What fits again must not hide what did not.
    file.write("y", 1);
    Status status = file.commit();
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::Io);
    EXPECT_EQ(status.error().message,
              target + ": cannot be written: File too large");
  }
  EXPECT_EQ(readBytes(target), "old");
  EXPECT_EQ(countFiles(folder), 1);
}

TEST_P(FileBesides, SayWhenThereIsNoFolder) {
  FileBeside file(folder / "nowhere/file", GetParam());
  file.write("abc", 3);
  Status status = file.commit();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::NotFound);
  EXPECT_EQ(status.error().message,
            folder / "nowhere/file" +
                ": cannot be written: No such file or directory");
}

INSTANTIATE_TEST_SUITE_P(BothWays, FileBesides, ::testing::Bool());

/// Begins to write in a process that is killed.
void writeAndDie(const std::string &target, bool hasName) {
  pid_t child = fork();
  if (child == 0) {
    FileBeside file(target, hasName);
    file.write("abc", 3);
    kill(getpid(), SIGKILL);
  }
  int state = 0;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  ASSERT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == SIGKILL);
}

/// Whether the system has files without names that can be given one.
bool hasNamelessFiles(const Folder &folder) {
  int file = open(folder.path.c_str(), O_TMPFILE | O_WRONLY, 0600);
  std::string place = concat("/proc/self/fd/", file);
  bool isThere = file >= 0 && access(place.c_str(), F_OK) == 0;
  close(file);
  return isThere;
}

TEST(FileBesideKilled, LeavesNothingBehind) {
  Folder folder;
  writeAndDie(folder / "file", false);
  EXPECT_EQ(countFiles(folder), hasNamelessFiles(folder) ? 0 : 1);
}

TEST(FileBesideKilled, WithANameIsNoObstacle) {
  Folder folder;
  for (int i = 0; i < 3; ++i) {
    writeAndDie(folder / "file", true);
  }
  EXPECT_EQ(countFiles(folder), 3);
  FileBeside file(folder / "file", true);
  file.write("abc", 3);
  Status status = file.commit();
  EXPECT_TRUE(status) << messageOf(status);
}

} // namespace
} // namespace tfc::rt::test
