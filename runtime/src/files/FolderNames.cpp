// Lists a folder. Not by directory_iterator, which ends the process when memory
// runs out.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/files/FolderNames.h"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <system_error>

namespace tfc::rt {

Result<std::vector<std::string>> namesIn(const std::string &folder) {
  struct Close {
    void operator()(DIR *stream) const { closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream(opendir(folder.c_str()));
  if (!stream) {
    return makeError(Code::NotFound, folder, ": cannot be listed: ",
                     std::generic_category().message(errno));
  }
  std::vector<std::string> names;
  while (const dirent *entry = readdir(stream.get())) {
    names.push_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace tfc::rt
