// modules.json of a sentence-transformers folder: what follows the model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H
#define TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H

#include "compiler/spec/Diagnostics.h"

#include <string>

namespace tfc::huggingface {

/// One warning (an error if `strict`) with the steps that the file at `path`,
/// if there is one, puts behind the model: pooling, a projection, a norm. They
/// are not imported. A file that is not JSON is an error.
void reportModules(const std::string &path, bool strict,
                   spec::Diagnostics &diagnostics);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H
