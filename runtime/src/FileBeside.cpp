// Writes files beside their final place.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/FileBeside.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace tfc::rt {

namespace fs = std::filesystem;

Result<std::string> replaceableFile(const std::string &path) {
  std::error_code error;
  fs::file_status state = fs::status(path, error);
  if (fs::exists(state) && !fs::is_regular_file(state)) {
    return makeError(Code::InvalidArgument, path,
                     ": expected a regular file or none");
  }
  return fs::exists(state) ? fs::canonical(path, error).string() : path;
}

FileBeside::FileBeside(const std::string &target)
    : target(target), path(concat(target, ".", getpid(), ".tmp")) {
  fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  failed = fd < 0 ? errno : 0;
}

FileBeside::~FileBeside() {
  if (fd >= 0) {
    close(fd);
    unlink(path.c_str());
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

Status FileBeside::commit() {
  // Some file systems report a full disk only here.
  if (failed == 0 && fsync(fd) != 0 && errno != EINVAL) {
    failed = errno;
  }
  if (failed == 0 && rename(path.c_str(), target.c_str()) != 0) {
    failed = errno;
  }
  if (failed != 0) {
    return makeError(Code::InvalidArgument, target,
                     ": cannot be written: ", std::strerror(failed));
  }
  close(fd);
  fd = -1;
  return {};
}

} // namespace tfc::rt
