// Reads which control groups a process is in.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/memory/Cgroups.h"

#include <fstream>
#include <sstream>

namespace tfc::rt {

using Visit = std::function<void(const std::string &, bool)>;

static void visitUpwards(const std::string &root, std::string path,
                         bool isVersion2, const Visit &visit) {
  visit(root, isVersion2);
  while (path.size() > 1) {
    visit(root + path, isVersion2);
    size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
}

void visitCgroups(const CgroupPlace &place, const std::string &controller,
                  const Visit &visit) {
  std::ifstream in(place.file);
  // Lines are "number:controllers:path"; version 2 has no controllers.
  for (std::string line; std::getline(in, line);) {
    size_t first = line.find(':');
    size_t second =
        first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      visitUpwards(place.mount, path, true, visit);
      continue;
    }
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');) {
      if (name == controller) {
        // The folder has the name of one controller, or of all of the mount.
        for (const std::string &folder : {controllers, name}) {
          visitUpwards(place.mount + "/" + folder, path, false, visit);
        }
      }
    }
  }
}

} // namespace tfc::rt
