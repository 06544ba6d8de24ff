// Files that appear whole or not at all: written beside their final place and
// renamed there, so that a reader never sees half of one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILEBESIDE_H
#define TFC_RUNTIME_SRC_FILEBESIDE_H

#include "runtime/src/Error.h"

namespace tfc::rt {

/// Where a file called `path` really goes: a link stays one, and what it points
/// at is replaced. InvalidArgument for what exists and is not a regular file.
Result<std::string> replaceableFile(const std::string &path);

/// A file that vanishes unless it is committed.
class FileBeside {
public:
  explicit FileBeside(const std::string &target);
  ~FileBeside();
  FileBeside(const FileBeside &) = delete;
  FileBeside &operator=(const FileBeside &) = delete;

  /// After a failure nothing is written any more; commit reports it.
  void write(const void *data, uint64_t bytes);
  /// InvalidArgument when anything could not be written.
  Status commit();

private:
  std::string target, path;
  int fd = -1, failed = 0;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILEBESIDE_H
