// Writes files beside their final place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/FileBeside.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/random.h>
#include <unistd.h>

namespace tfc::rt {

namespace fs = std::filesystem;

// Names are random: one that is taken once is chance, so many times a fault.
static constexpr int maxNames = 100;

Result<std::string> replaceableFile(const std::string &path) {
  std::error_code error;
  fs::file_status state = fs::status(path, error);
  if (fs::exists(state) && !fs::is_regular_file(state)) {
    return makeError(Code::InvalidArgument, path,
                     ": expected a regular file or none");
  }
  return fs::exists(state) ? fs::canonical(path, error).string() : path;
}

/// A name beside `target` that no other process chooses, whatever its number:
/// in containers every process has the same one.
static std::string randomName(const std::string &target) {
  uint32_t number = 0;
  if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number)) {
    static std::atomic<uint32_t> count;
    number = (static_cast<uint32_t>(getpid()) << 16) + ++count;
  }
  char digits[9];
  std::snprintf(digits, sizeof(digits), "%08x", number);
  return concat(target, ".", digits, ".tmp");
}

/// The name of an open file that has none in its folder.
static std::string linkOf(int descriptor) {
  return concat("/proc/self/fd/", descriptor);
}

FileBeside::FileBeside(const std::string &target, bool hasName)
    : target(target), folder(fs::path(target).parent_path()) {
  folder = folder.empty() ? "." : folder;
  if (!hasName) {
    openWithoutName();
  }
  if (fd < 0) {
    openWithName();
  }
}

void FileBeside::openWithoutName() {
  fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  // The name is given through /proc, which not every container has.
  if (fd >= 0 && access(linkOf(fd).c_str(), F_OK) != 0) {
    close(fd);
    fd = -1;
  }
}

void FileBeside::openWithName() {
  for (int i = 0; i < maxNames && fd < 0; ++i) {
    path = randomName(target);
    fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    failed = fd < 0 ? errno : 0;
    if (failed != EEXIST) {
      return;
    }
  }
}

FileBeside::~FileBeside() {
  if (fd >= 0) {
    close(fd);
    if (!path.empty()) {
      unlink(path.c_str());
    }
  }
}

void FileBeside::write(const void *data, uint64_t bytes) {
  const char *next = static_cast<const char *>(data);
  while (bytes > 0 && failed == 0) {
    ssize_t done = ::write(fd, next, std::min(bytes, uint64_t(1) << 30));
    if (done < 0 && errno != EINTR) {
      failed = errno;
    } else if (done > 0) {
      next += done;
      bytes -= static_cast<uint64_t>(done);
    }
  }
}

/// Gives a file without a name a random one: a link cannot replace the target.
bool FileBeside::giveName() {
  for (int i = 0; i < maxNames && path.empty(); ++i) {
    std::string name = randomName(target);
    if (linkat(AT_FDCWD, linkOf(fd).c_str(), AT_FDCWD, name.c_str(),
               AT_SYMLINK_FOLLOW) == 0) {
      path = name;
    } else if (errno != EEXIST) {
      return false;
    }
  }
  return !path.empty();
}

/// So that a machine that loses power keeps the file's name, too. The file is
/// there whether or not the file system can do it.
void FileBeside::syncFolder() {
  int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    fsync(descriptor);
    close(descriptor);
  }
}

Status FileBeside::commit() {
  // Some file systems report a full disk only here.
  if (failed == 0 && fsync(fd) != 0 && errno != EINVAL) {
    failed = errno;
  }
  if (failed == 0 &&
      (!giveName() || rename(path.c_str(), target.c_str()) != 0)) {
    failed = errno;
  }
  if (failed != 0) {
    bool isMissing = failed == ENOENT || failed == ENOTDIR;
    return makeError(isMissing ? Code::NotFound : Code::Io, target,
                     ": cannot be written: ", std::strerror(failed));
  }
  close(fd);
  fd = -1;
  syncFolder();
  return {};
}

Status writeFile(const std::string &path, std::string_view text) {
  Result<std::string> target = replaceableFile(path);
  if (!target) {
    return std::move(target.error());
  }
  FileBeside file(*target);
  file.write(text.data(), text.size());
  return file.commit();
}

} // namespace tfc::rt
