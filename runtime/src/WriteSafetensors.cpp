// Writes a safetensors file beside its final place and renames it there, so
// that a reader never sees half of one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tfc::rt {

namespace fs = std::filesystem;

namespace {

/// A file that vanishes unless it is committed.
class FileBeside {
public:
  explicit FileBeside(const std::string &target)
      : target(target), path(concat(target, ".", getpid(), ".tmp")) {
    fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    failed = fd < 0 ? errno : 0;
  }
  ~FileBeside() {
    if (fd >= 0) {
      close(fd);
      unlink(path.c_str());
    }
  }
  FileBeside(const FileBeside &) = delete;
  FileBeside &operator=(const FileBeside &) = delete;

  void write(const void *data, uint64_t bytes) {
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

  Status commit() {
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

private:
  std::string target, path;
  int fd = -1, failed = 0;
};

uint64_t byteCount(const TensorToWrite &tensor) {
  uint64_t bytes = dtypeBits(tensor.dtype) / 8;
  for (int64_t axis : tensor.shape) {
    bytes *= static_cast<uint64_t>(axis);
  }
  return bytes;
}

std::string headerOf(const std::vector<TensorToWrite> &tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const TensorToWrite &tensor : tensors) {
    uint64_t end = offset + byteCount(tensor);
    header[tensor.name] = {{"dtype", dtypeName(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // The data begins aligned.
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

} // namespace

Status writeSafetensors(const std::string &path,
                        const std::vector<TensorToWrite> &tensors) {
  std::error_code error;
  fs::file_status state = fs::status(path, error);
  if (fs::exists(state) && !fs::is_regular_file(state)) {
    return makeError(Code::InvalidArgument, path,
                     ": expected a regular file or none");
  }
  // A link stays one: what it points at is replaced.
  fs::path target =
      fs::exists(state) ? fs::canonical(path, error) : fs::path(path);
  std::string header = headerOf(tensors);
  char length[8];
  for (int i = 0; i < 8; ++i) {
    length[i] = static_cast<char>(header.size() >> (8 * i) & 255);
  }
  FileBeside file(target.string());
  file.write(length, sizeof(length));
  file.write(header.data(), header.size());
  for (const TensorToWrite &tensor : tensors) {
    file.write(tensor.data, byteCount(tensor));
  }
  return file.commit();
}

} // namespace tfc::rt
