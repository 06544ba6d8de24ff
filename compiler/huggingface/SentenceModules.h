// modules.json of a sentence-transformers folder: what follows the model.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H
#define TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H

#include "compiler/spec/JsonTree.h"

#include <optional>
#include <string>

namespace tfc::huggingface {

/// What follows a model: the steps of a spec's head, and where the tensors of
/// those steps are stored, by the step's name.
struct SentenceHead {
  spec::Json steps = spec::Json::array(), map = spec::Json::object();
};

/// The head that the modules.json of `directory` puts behind the model: a
/// pooling, then products, norms and divisions by the length as they come.
/// Nothing where there is no such file, where it has the model alone, and, with
/// one warning (an error if `strict`) that names them, where it has other
/// modules or ways to pool: these are the caller's. A file that is not JSON is
/// an error.
std::optional<SentenceHead> readSentenceHead(const std::string &directory,
                                             bool strict,
                                             spec::Diagnostics &diagnostics);

/// The head of a GGUF file that pools so (in sentence-transformers' words, or
/// not at all where it is ""): its vectors have length 1, as llama.cpp makes
/// them.
std::optional<SentenceHead> makeGgufSentence(const std::string &pooling);

} // namespace tfc::huggingface

#endif // TFC_COMPILER_HUGGINGFACE_SENTENCEMODULES_H
