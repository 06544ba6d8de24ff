// Texts that wait to be encoded: those of several jobs go into one pass.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SERVE_ENCODEQUEUE_H
#define TFC_RUNTIME_SRC_SERVE_ENCODEQUEUE_H

#include "runtime/src/step/Forward.h"

#include <deque>
#include <memory>

namespace tfc::rt {

/// What is asked of a forward pass: texts of at least one token each.
struct TextBatch {
  std::vector<std::vector<int64_t>> texts, types; // no types: not given
  std::vector<std::string> outputs;               // none: all
  /// Of each text, how many of its last tokens see the others and are seen by
  /// none; empty: none.
  std::vector<uint64_t> unseen;

  uint64_t numTokens() const;
  int64_t longest() const;
};

/// Errors: InvalidArgument, what of the batch this model cannot take.
Status checkTexts(const Model &model, const TextBatch &batch);

/// A job of texts and what has come of it.
struct EncodeJob {
  uint64_t id = 0;
  TextBatch batch;
  size_t numBegun = 0, numDone = 0;  // texts
  std::vector<OutputTensor> results; // of all texts
  std::optional<Error> fault;

  bool isOver() const { return fault || numDone == batch.texts.size(); }
};

/// Runs at most `maxTokens` tokens, one text at least, of the jobs' next texts;
/// jobs behind the first go along where they want the same of the model. A
/// fault of some texts is that of their job, and of no other. The results of a
/// text are bit for bit what they are alone. Returns the tokens that it ran.
/// Errors: those that are nobody's (Cancelled, Internal).
Result<uint64_t> encodeNext(const Model &model,
                            const std::vector<EncodeJob *> &jobs,
                            uint64_t maxTokens, const StopRequest &stop);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SERVE_ENCODEQUEUE_H
