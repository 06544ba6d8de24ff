// A prompt as sessions and generations take it: a row of a batch, or what a
// request asks for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_PROMPT_H
#define TFC_RUNTIME_SRC_SESSION_PROMPT_H

#include "runtime/src/choose/ChooseTokens.h"
#include "runtime/src/step/Engine.h"
#include "runtime/src/step/Inputs.h"

namespace tfc::rt {

/// A prompt whose masked tokens are gone, and how to go on after it.
struct Prompt {
  /// By input port, a value a token; in a session those of new tokens, too.
  std::vector<std::vector<int32_t>> values;
  /// By input port: a masked last token, whose logits give the first new one.
  /// Empty when the last token exists.
  std::vector<int32_t> spectator;
  std::vector<int32_t> carry; // by port: values of the tokens that follow
  int64_t nextPosition = 0;
  int64_t afterPad = 0; // the first position where they begin after the pad
  int64_t maxNewTokens = 0;
  std::vector<int64_t> eos;
  std::vector<std::vector<int64_t>> stops; // sequences of tokens that end it
  Choice choice;                           // of the next token
  uint32_t numLogProbabilities = 0;        // reported with each new token
  /// The tokens that may come, ascending; empty: all. Others have no logits.
  std::vector<int32_t> headRows;
  /// Of an encoder-decoder, otherwise null; several prompts may share one.
  std::shared_ptr<Source> source;

  /// What port `p` gets beside the next token, or the one so many behind it,
  /// unless it is that of the ids.
  int32_t carried(const tfc_port_v0 &port, uint32_t p,
                  int64_t behind = 0) const {
    int64_t position = nextPosition + behind;
    if (port.fill == TFC_FILL_FROM_PAD) {
      return static_cast<int32_t>(position + afterPad);
    }
    return fillsByPosition(port) ? static_cast<int32_t>(position) : carry[p];
  }
};

/// Row `row` of an encoder's padded batch, without its masked tokens.
std::shared_ptr<Source> sourceOfRow(const Model &model, const InputBatch &batch,
                                    int64_t row);

/// Row `row` of a decoder's padded batch as a prompt, without its end tokens,
/// choice and source: masked tokens are dropped; positions count the tokens
/// before, those of an encoder-decoder the columns. Errors: InvalidArgument
/// when prompt and new tokens exceed the model's positions, or end with a
/// masked token where the model counts distances.
Result<Prompt> promptOfRow(const Model &model, const tfc_entry_v0 &entry,
                           const InputBatch &batch, int64_t row,
                           int64_t maxNewTokens);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_PROMPT_H
