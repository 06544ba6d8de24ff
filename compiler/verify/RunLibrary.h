// A compiled library as the runtime runs it, with what it reports of a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_RUNLIBRARY_H
#define TFC_COMPILER_VERIFY_RUNLIBRARY_H

#include "compiler/verify/VerifyBatch.h"
#include "compiler/verify/VerifyTaps.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/step/Forward.h"

namespace tfc {

/// One library with its weights, and one session of it.
class RunningLibrary {
public:
  /// Errors: those of rt::Model::load.
  static rt::Result<std::unique_ptr<RunningLibrary>>
  load(const std::string &library, const std::string &weights);

  /// Whether it can generate, so that it has a session.
  bool canGenerate() const { return model->generateEntry() != nullptr; }

  /// A forward pass over a batch for each entry. Every output, also those that
  /// take a row of a sequence. Errors: those of rt::runForward.
  rt::Result<std::vector<rt::OutputTensor>>
  forward(llvm::ArrayRef<EntryInfo> entries,
          llvm::ArrayRef<PaddedBatch> batches);

  /// Begins a new session. With `readsLogits` its steps have logits, which one
  /// that chooses the greatest has not where the program finds those; and there
  /// a second session, of the same prompts, has the program find them. Errors:
  /// those of rt::Session::create.
  rt::Status openSession(bool readsLogits = false);
  /// Adds a prompt, which no token ends early. Its id, or the errors of
  /// rt::Session::add.
  rt::Result<uint64_t> addPrompt(const std::vector<int64_t> &prompt,
                                 int64_t newTokens);
  /// A step of the session. Its new tokens are valid until the next one.
  rt::Result<llvm::ArrayRef<tfc_new_token>> step();
  /// The logits of the last step, a row a new token, of a session that reads
  /// them.
  CompiledTap logits() const;
  /// The new tokens of the last step as the program found them, in the order of
  /// the others; empty where it finds none.
  llvm::ArrayRef<tfc_new_token> found() const;

  /// What the library tapped since it was emptied, in order.
  std::vector<CompiledTap> taps;

private:
  RunningLibrary() = default;

  std::unique_ptr<rt::Model> model;
  std::unique_ptr<rt::Session> session;
  std::unique_ptr<rt::Session> finder; // null, or whose tokens are found
};

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_RUNLIBRARY_H
