// Files that appear whole or not at all: written beside their final place and
// renamed there, so that a reader never sees half of one.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_FILES_FILEBESIDE_H
#define TFC_RUNTIME_SRC_FILES_FILEBESIDE_H

#include "runtime/src/Error.h"

namespace tfc::rt {

/// Where a file called `path` really goes: a link stays one, and what it points
/// at is replaced. InvalidArgument for what exists and is not a regular file.
Result<std::string> replaceableFile(const std::string &path);

/// A file that vanishes unless it is committed, whatever ends the process:
/// until then it has no name. Where the file system has no files without names
/// (or `hasName` asks for one), it has a random name, TARGET.XXXXXXXX.tmp, and
/// a killed process leaves that behind. Any number of them may be written for
/// one target at the same time; the last one committed stays.
class FileBeside {
public:
  explicit FileBeside(const std::string &target, bool hasName = false);
  ~FileBeside();
  FileBeside(const FileBeside &) = delete;
  FileBeside &operator=(const FileBeside &) = delete;

  /// After a failure nothing is written any more; commit reports it.
  void write(const void *data, uint64_t bytes);
  /// Gives the file its name. Errors, after which there is no file: NotFound
  /// when its folder does not exist, Io when anything could not be written.
  Status commit();

private:
  void openWithoutName();
  void openWithName();
  bool giveName();
  void syncFolder();

  std::string target, folder;
  std::string path; // empty: it has no name
  int fd = -1, failed = 0;
};

/// Writes a text to where a file called `path` really goes, whole or not at
/// all. Errors: those of replaceableFile and commit.
Status writeFile(const std::string &path, std::string_view text);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_FILES_FILEBESIDE_H
