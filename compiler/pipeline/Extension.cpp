// Keeps what is added to tfc.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Extension.h"

#include <vector>

using namespace tfc;

static std::vector<Extension> &extensions() {
  static std::vector<Extension> instance;
  return instance;
}

void tfc::addExtension(const Extension &extension) {
  extensions().push_back(extension);
}

llvm::ArrayRef<Extension> tfc::listExtensions() { return extensions(); }
