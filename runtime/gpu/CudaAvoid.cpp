// Reads TFC_CUDA_AVOID.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/gpu/CudaAvoid.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace tfc::rt {

const std::vector<std::string> &avoidableNames() {
  static const std::vector<std::string> names = {"cubin", "spare", "graphs"};
  return names;
}

Result<uint32_t> readAvoided() {
  const char *given = std::getenv("TFC_CUDA_AVOID");
  std::istringstream list(given ? given : "");
  const std::vector<std::string> &names = avoidableNames();
  uint32_t avoided = 0;
  for (std::string name; std::getline(list, name, ',');) {
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      std::string known;
      for (const std::string &each : names) {
        known += (known.empty() ? "" : ", ") + each;
      }
      return makeError(Code::InvalidArgument,
                       "TFC_CUDA_AVOID: expected names out of ", known,
                       " with commas between, got ", quoteName(name));
    }
    avoided |= 1U << (found - names.begin());
  }
  return avoided;
}

} // namespace tfc::rt
