// Opens files and reads their bytes.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/OpenFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tfc::rt {

// Linux reads a little less than 2 GiB at once.
static constexpr uint64_t maxRead = uint64_t(1) << 30;

Result<OpenFile> OpenFile::open(const std::string &path) {
  OpenFile file;
  file.name = path;
  file.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat state{};
  if (file.descriptor < 0 || fstat(file.descriptor, &state) != 0) {
    bool isMissing = errno == ENOENT || errno == ENOTDIR;
    return makeError(isMissing ? Code::NotFound : Code::Io, path,
                     ": cannot be opened: ", std::strerror(errno));
  }
  file.regular = S_ISREG(state.st_mode);
  file.length = static_cast<uint64_t>(state.st_size);
  return file;
}

OpenFile &OpenFile::operator=(OpenFile &&other) noexcept {
  std::swap(name, other.name);
  std::swap(descriptor, other.descriptor);
  std::swap(regular, other.regular);
  std::swap(length, other.length);
  return *this;
}

OpenFile::~OpenFile() {
  if (descriptor >= 0) {
    close(descriptor);
  }
}

Status OpenFile::read(void *to, uint64_t bytes, uint64_t offset) const {
  char *next = static_cast<char *>(to);
  while (bytes > 0) {
    ssize_t done = pread(descriptor, next, std::min(bytes, maxRead),
                         static_cast<off_t>(offset));
    if (done == 0) {
      return makeError(Code::Io, name, ": expected ", offset + bytes,
                       " bytes or more, got ", offset,
                       "; the file is shorter than when it was opened");
    }
    if (done < 0 && errno != EINTR) {
      return makeError(Code::Io, name,
                       ": cannot be read: ", std::strerror(errno));
    }
    if (done > 0) {
      next += done;
      offset += static_cast<uint64_t>(done);
      bytes -= static_cast<uint64_t>(done);
    }
  }
  return {};
}

} // namespace tfc::rt
