// Beam searches over prompts, which advance together. The beams of a prompt
// share the cache blocks of what they have in common.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_BEAMGENERATE_H
#define TFC_RUNTIME_SRC_SESSION_BEAMGENERATE_H

#include "runtime/src/choose/BeamSearch.h"
#include "runtime/src/session/Session.h"

namespace tfc::rt {

class BeamGeneration {
public:
  /// Errors: those of Session::create.
  static Result<std::unique_ptr<BeamGeneration>>
  create(const Model &model, const EngineOptions &options);

  /// Adds a checked prompt, before the first step; its choice says how scores
  /// are processed and drawn, `options` how beams are kept.
  void add(Prompt prompt, const BeamOptions &options);

  /// One call of the compiled model over all searches that are not done.
  /// Errors: Exhausted (no cache block is left), Incompatible (a token that has
  /// no embedding), those of Runner::run.
  Status step();

  /// Whether all searches are done.
  bool isDone() const;

  /// Tokens of a prompt, by number of addition.
  size_t promptLength(size_t number) const {
    return static_cast<size_t>(groups[number].prompt.choice.promptLength);
  }
  /// By prompt, in order of addition.
  const std::vector<BeamSearch> &searches() const { return all; }
  const BlockCache &cache() const { return runner.cache; }
  /// Of an encoder-decoder: the blocks of the sources.
  const BlockCache &crossCache() const { return engine.cross; }

private:
  /// A prompt's beams: all of them have the same positions.
  struct Group {
    Prompt prompt; // values: of the first step
    std::vector<BlockTable> blocks, nextBlocks;
    std::vector<SequenceState> states, nextStates;
    int64_t past = 0;
    int64_t firstRow = 0; // of the step
    bool isStarted = false;

    int64_t crossCount() const {
      return prompt.source ? prompt.source->count : 0;
    }
    const BlockTable *crossBlocks() const {
      return prompt.source ? &prompt.source->blocks : nullptr;
    }
  };

  BeamGeneration(const Model &model, const tfc_entry_v0 &entry);
  Status encodeSources();
  Status growCache();
  void fillBatch();
  void addPrompt(Group &group);
  void addBeams(const BeamSearch &search, Group &group);
  void search();
  Status advance(BeamSearch &search, Group &group);

  const Model &model;
  const tfc_entry_v0 &entry;
  Engine engine;
  Runner &runner; // of the decoder
  int64_t ids;    // the port of token ids
  std::vector<uint8_t> wanted;
  std::vector<BeamSearch> all;
  std::vector<Group> groups;
  ScoreRows scores;
  std::vector<const ScoreRules *> rules; // by row of the step; so the next
  std::vector<TokenRow> rows;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_BEAMGENERATE_H
