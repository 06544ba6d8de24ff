// What a model's outputs say of a text: its class, the classes of its tokens,
// the span that answers a question, likely tokens for masks, or a vector.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_ANSWERS_H
#define TFC_RUNTIME_TOOLS_ANSWERS_H

#include "runtime/tools/ModelNotes.h"
#include "runtime/tools/TextTokens.h"

#include <nlohmann/json.hpp>

namespace tfc::run {

enum class AnswerKind { Class, TokenClasses, Span, Masks, Embedding };

/// The kind of answer that a model gives, by its outputs; and which of them it
/// needs. Errors: Unsupported.
rt::Result<AnswerKind> findKind(const tfc_model_info &info,
                                const ModelNotes &notes,
                                std::vector<const char *> &outputs);

/// A text of a batch, and the batch's outputs.
struct Answered {
  const TextInput &input;
  const TextTokens &tokens;
  const tfc_outputs *outputs;
  int64_t row;
  const ModelNotes &notes;
  const tfc_tokenizer *tokenizer;
};

/// The answer as a program reads it. Places are characters.
nlohmann::ordered_json makeAnswer(AnswerKind kind, const Answered &of);

/// The same for people, in lines.
std::string describeAnswer(AnswerKind kind,
                           const nlohmann::ordered_json &answer);

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_ANSWERS_H
