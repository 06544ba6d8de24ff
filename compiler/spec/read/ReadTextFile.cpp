// Reads a file that a user named, which may be anything.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/JsonTree.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tfc::spec {

namespace {

/// Appends what is in an open file; errno, or 0.
int readAll(int descriptor, size_t maxBytes, std::string &text) {
  char buffer[1 << 16];
  while (text.size() <= maxBytes) {
    ssize_t count = read(descriptor, buffer, sizeof(buffer));
    if (count == 0) {
      return 0;
    }
    if (count < 0 && errno != EINTR) {
      return errno;
    }
    text.append(buffer, count > 0 ? static_cast<size_t>(count) : 0);
  }
  return 0;
}

/// Why an open file is not one to read to its end, or 0. A pipe would make us
/// wait for whoever writes to it.
int checkKind(int descriptor) {
  struct stat state{};
  if (fstat(descriptor, &state) != 0) {
    return errno;
  }
  return S_ISFIFO(state.st_mode) || S_ISSOCK(state.st_mode) ? ESPIPE : 0;
}

} // namespace

std::optional<std::string> readTextFile(const std::string &path,
                                        Diagnostics &diagnostics,
                                        size_t maxBytes) {
  auto fail = [&](std::string message) {
    diagnostics.push_back(
        {Severity::Error, path, 0, 0, "", std::move(message), 1});
    return std::nullopt;
  };
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  int fault = descriptor < 0 ? errno : checkKind(descriptor);
  std::string text;
  if (fault == 0) {
    fault = readAll(descriptor, maxBytes, text);
  }
  if (descriptor >= 0) {
    close(descriptor);
  }
  if (fault == ESPIPE) {
    return fail("expected a file, got a pipe");
  }
  if (fault != 0) {
    return fail(std::string("expected a readable file, got error: ") +
                std::strerror(fault));
  }
  if (text.size() > maxBytes) {
    return fail("expected at most " + std::to_string(maxBytes) +
                " bytes, got more");
  }
  return text;
}

} // namespace tfc::spec
