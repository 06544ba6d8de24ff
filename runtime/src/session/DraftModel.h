// A smaller model that guesses what a larger one writes next: its cache follows
// the sequences of a session, and gives way where they turn out otherwise.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_DRAFTMODEL_H
#define TFC_RUNTIME_SRC_SESSION_DRAFTMODEL_H

#include "runtime/src/step/Engine.h"
#include "runtime/src/step/Inputs.h"

#include <map>

namespace tfc::rt {

/// What is guessed of a sequence.
struct Guess {
  uint64_t sequence = 0;
  const std::vector<int32_t> *tokens = nullptr; // all that it has
  int64_t most = 0;                             // tokens of the draft
  std::vector<int32_t> draft;                   // the result
};

/// Belongs to one thread at a time; the target outlives it.
class DraftModel {
public:
  /// `model` guesses for `target`. cacheTokens: of all sequences together;
  /// maxStepTokens: of texts that it has not read yet, in a call; 0: 256.
  /// Errors: Unsupported (one of them is no decoder that generates, or wants
  /// more than tokens), Incompatible (other numbers of tokens), those of
  /// Engine::open.
  static Result<std::unique_ptr<DraftModel>>
  create(std::shared_ptr<const Model> model, const Model &target,
         const StopRequest &stop, int64_t cacheTokens, int64_t maxStepTokens);

  /// The likeliest next tokens of each, one behind the other. None where it has
  /// not read all of a text yet, where the text goes beyond its positions, and
  /// where its cache has no room. Errors: those of Runner::run.
  Status guess(std::vector<Guess> &guesses);

  /// Forgets all sequences but those.
  template <typename F> void keepIf(F isThere) noexcept {
    for (auto at = mirrors.begin(); at != mirrors.end();) {
      if (isThere(at->first)) {
        ++at;
        continue;
      }
      runner.cache.release(at->second.blocks);
      at = mirrors.erase(at);
    }
  }

  /// What a guess costs, in steps of the target: bytes that are read for it.
  double cost() const;

  const BlockCache &cache() const { return runner.cache; }

private:
  /// What its cache has of a sequence.
  struct Mirror {
    std::vector<int32_t> tokens;
    BlockTable blocks;
  };
  /// Tokens of a sequence that a pass runs.
  struct Piece {
    Guess *guess = nullptr;
    Mirror *mirror = nullptr;
    std::vector<int32_t> tokens;
    bool isLast = false; // whose next token is guessed
  };

  DraftModel(std::shared_ptr<const Model> model, const Model &target,
             const tfc_entry_v0 &entry, int64_t maxStepTokens);
  Mirror &mirrorOf(const Guess &guess);
  bool plan(Guess &guess, int64_t left);
  bool makeRoom(Mirror &mirror, int64_t count);
  void addPiece(const Piece &piece);
  Status run();
  void takeRows();

  std::shared_ptr<const Model> model;
  const Model &target;
  const tfc_entry_v0 &entry;
  Engine engine;
  Runner &runner;
  int64_t ids; // the port of token ids
  int64_t maxStepTokens;
  int64_t mostTokens; // of a sequence; 0: no limit
  InputBatch plain;   // what the other ports get
  std::map<uint64_t, Mirror> mirrors;
  std::vector<Piece> pieces; // of a pass
  std::vector<uint8_t> wanted;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_DRAFTMODEL_H
