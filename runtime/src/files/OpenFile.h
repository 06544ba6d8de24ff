// A file open for reading: its kind, its size, and its bytes by pread, whose
// failures are errors where those of a mapping are signals.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_OPENFILE_H
#define TFC_RUNTIME_SRC_FILES_OPENFILE_H

#include "runtime/src/Error.h"

namespace tfc::rt {

class OpenFile {
public:
  /// Opens the file, without waiting for a writer where it is a pipe. Errors
  /// name it: NotFound when there is none, Io when it cannot be opened.
  static Result<OpenFile> open(const std::string &path);
  OpenFile(OpenFile &&other) noexcept { *this = std::move(other); }
  OpenFile &operator=(OpenFile &&other) noexcept;
  ~OpenFile();

  const std::string &path() const { return name; }
  int number() const { return descriptor; }
  bool isRegular() const { return regular; }
  /// In bytes, when it was opened.
  uint64_t size() const { return length; }

  /// Bytes [offset, offset + bytes). Errors: Io, also for a file that has
  /// become too short.
  Status read(void *to, uint64_t bytes, uint64_t offset) const;

private:
  OpenFile() = default;

  std::string name;
  int descriptor = -1;
  bool regular = false;
  uint64_t length = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_OPENFILE_H
