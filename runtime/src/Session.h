// Sequences that advance together: each step runs whole prompts of new ones and
// one token of the others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_H
#define TFC_RUNTIME_SRC_SESSION_H

#include "runtime/src/ChooseTokens.h"
#include "runtime/src/Engine.h"
#include "runtime/src/Inputs.h"

namespace tfc::rt {

/// A prompt whose masked tokens are gone, and how to go on after it.
struct Prompt {
  std::vector<std::vector<int32_t>> values; // by input port, a value a token
  /// By input port: a masked last token, whose logits give the first new one.
  /// Empty when the last token exists.
  std::vector<int32_t> spectator;
  std::vector<int32_t> carry; // by port: values of the tokens that follow
  int64_t nextPosition = 0;
  int64_t maxNewTokens = 0;
  std::vector<int64_t> eos;
  Choice choice; // of the next token
  /// Of an encoder-decoder, otherwise null; several prompts may share one.
  std::shared_ptr<Source> source;

  /// What port `p` gets beside the next token, unless it is that of the ids.
  int32_t carried(const tfc_port_v0 &port, uint32_t p) const {
    return port.fill == TFC_FILL_POSITION ? static_cast<int32_t>(nextPosition)
                                          : carry[p];
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

/// The error of a model that cannot generate.
Error cannotGenerate(const Model &model);

/// Token ids of a request.
struct TokenList {
  const int64_t *tokens = nullptr;
  int64_t count = 0;
};

class Session {
public:
  /// Errors: Unsupported (the model cannot generate), those of openCache.
  static Result<std::unique_ptr<Session>> create(const Model &model,
                                                 uint64_t maxCacheBytes);

  /// Adds a checked prompt.
  uint64_t add(Prompt prompt);
  /// Adds plain tokens at positions 0, 1, ..., of an encoder-decoder its source
  /// and, unless they are null, those that its decoder begins with; eos, when
  /// given, replaces the model's list, and decoding the model's defaults, of
  /// which the beams are not taken. Errors: InvalidArgument, Unsupported
  /// (beams).
  Result<uint64_t> add(const TokenList &tokens, const TokenList &decoderTokens,
                       int64_t maxNewTokens,
                       std::optional<std::vector<int64_t>> eos,
                       const tfc_decoding_options *decoding = nullptr);
  /// Errors: NotFound.
  Status remove(uint64_t id);

  /// One step over all sequences; see tfc_session_step.
  Status step();
  /// The new tokens of the last step, in order of addition.
  const std::vector<tfc_new_token> &newTokens() const { return results; }

  /// What they were chosen from, a row each, [sequences, vocabulary]; valid
  /// until the next step.
  const float *logits() const { return runner.output(model.logitsPort()); }

  const BlockCache &cache() const { return runner.cache; }
  /// Of an encoder-decoder: the blocks of the sources.
  const BlockCache &crossCache() const { return engine.cross; }

private:
  struct Sequence {
    uint64_t id = 0;
    Prompt next; // values: the tokens of the next step
    BlockTable blocks;
    int64_t past = 0, produced = 0;

    int64_t count(int64_t port) const {
      return static_cast<int64_t>(next.values[port].size());
    }
  };

  Session(const Model &model, const tfc_entry_v0 &entry);
  Result<Prompt> readPrompt(const TokenList &tokens,
                            const TokenList &decoderTokens,
                            int64_t maxNewTokens) const;
  void release(Sequence &sequence);
  Status encodeSources();
  Status growCache();
  void fillBatch();
  Status pickTokens();
  void removeUnembedded() noexcept;
  void eraseReleased() noexcept;
  void finishStep() noexcept;
  void advance(Sequence &sequence, int64_t token) noexcept;

  const Model &model;
  const tfc_entry_v0 &entry;
  Engine engine;
  Runner &runner; // of the decoder
  int64_t ids;    // the port of token ids
  uint64_t lastId = 0;
  std::vector<Sequence> sequences;
  std::vector<Source *> sources; // to be encoded in a step
  std::vector<uint8_t> wanted;
  ScoreRows scores;
  std::vector<const Choice *> choices; // of all sequences, in a step
  std::vector<int64_t> chosen;
  std::vector<tfc_new_token> results;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_H
