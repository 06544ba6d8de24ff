// modules.json of a sentence-transformers folder: what follows the model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H
#define TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H

#include "compiler/spec/JsonTree.h"

#include <optional>
#include <string>

namespace tfc::huggingface {

/// The steps of a spec's head that the modules.json of `directory` puts behind
/// the model: a pooling, and a division by the length where there is one.
/// Nothing where there is no such file, where it has the model alone, and, with
/// one warning (an error if `strict`) that names them, where it has other
/// modules or ways to pool: these are the caller's. A file that is not JSON is
/// an error.
std::optional<spec::Json> readSentenceSteps(const std::string &directory,
                                            bool strict,
                                            spec::Diagnostics &diagnostics);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H
