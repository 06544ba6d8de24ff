// Sequences that advance together: each step runs prompts of new ones, whole or
// a piece at a time, and one token of the others.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_SESSION_H
#define TFC_RUNTIME_SRC_SESSION_SESSION_H

#include "runtime/src/choose/LogProbabilities.h"
#include "runtime/src/session/DraftModel.h"
#include "runtime/src/session/Drafts.h"
#include "runtime/src/session/Prompt.h"

#include <mutex>

namespace tfc::rt {

/// The error of a model that cannot generate.
Error cannotGenerate(const Model &model);

/// Token ids of a request.
struct TokenList {
  const int64_t *tokens = nullptr;
  int64_t count = 0;
};

/// What is asked for beside the tokens.
struct RequestOptions {
  std::optional<std::vector<int64_t>> eos; // instead of the model's
  /// Instead of the model's defaults, of which the beams are not taken.
  const tfc_decoding_options *decoding = nullptr;
  std::vector<std::vector<int64_t>> stops{}; // none of them empty
  std::vector<std::pair<int64_t, float>> bias{};
  std::vector<int64_t> headRows{}; // that may come; none: all
  uint32_t numLogProbabilities = 0;
  uint32_t numAnswers = 1; // sequences of one prompt
  uint32_t index = 0;      // of the first of them, for draws
  bool keeps = false;      // the cache of one that has ended
  bool echoes = false;     // how likely the prompt's tokens are
  uint64_t prefix = 0;     // who may have begun the same; 0: nobody
  bool hasBeams = false;   // the prompt is for a search, not for a sequence
};

/// Who may change a sequence's logits before a token is chosen.
struct LogitsHook {
  tfc_logits_fn change = nullptr;
  void *user = nullptr;
};

struct SessionOptions {
  EngineOptions engine;
  /// Tokens of a step, at most, as long as there are no more sequences than
  /// that; 0: prompts are taken whole.
  int64_t maxStepTokens = 0;
  LogitsHook logits{}; // with one there are no drafts
  /// Guesses of a sequence's next tokens in a step, at most; 0: none, or, where
  /// there is a model for it, 8.
  int64_t maxDrafts = 0; // with states there are none either
  /// Who guesses; null: what the sequence's own text says.
  std::shared_ptr<const Model> draft{};
  /// What one of its guesses costs, in steps; nothing: as its weights are to
  /// the model's.
  std::optional<double> draftCost{};
};

/// Tokens that were guessed, and those of them that came, since the beginning.
struct DraftCounts {
  uint64_t drafted = 0, accepted = 0;
};

/// Of the decoder's and the cross blocks together.
struct CacheBytes {
  uint64_t used = 0, most = 0;
};

/// Who is in a session, and what they have; during a step what they had before.
struct SessionState {
  /// Sequences that have not ended, those that the next step takes in and those
  /// that are paused included.
  int64_t numSequences = 0;
  int64_t numPaused = 0, numHeld = 0; // held ones are paused with their cache
  int64_t numKept = 0;                // that have ended
  CacheBytes cache;
  DraftCounts drafts;
};

/// What is wrong with a sequence that failed: `row` is what messages call it.
Error describeFault(const Model &model, const tfc_sequence_fault &fault,
                    const std::string &row);

class Session {
public:
  /// Errors: Unsupported (the model cannot generate), those of openCache.
  static Result<std::unique_ptr<Session>> create(const Model &model,
                                                 const SessionOptions &options);

  // From any thread, also during a step, which they do not change.

  /// Adds a checked prompt; of `options` those count that are not the prompt's
  /// own. Of several answers the first one's number.
  uint64_t add(Prompt prompt, const RequestOptions &options = {});
  /// Adds plain tokens at positions 0, 1, ..., of an encoder-decoder its source
  /// and, unless they are null, those that its decoder begins with. Errors:
  /// InvalidArgument, Exhausted (more than the cache can hold), Unsupported
  /// (beams).
  Result<uint64_t> add(const TokenList &tokens, const TokenList &decoderTokens,
                       int64_t maxNewTokens, const RequestOptions &options);
  /// The same without adding it: a checked prompt. Its errors.
  Result<Prompt> prepare(const TokenList &tokens,
                         const TokenList &decoderTokens, int64_t maxNewTokens,
                         const RequestOptions &options) const;
  /// Bytes that a search over a prompt has in a cache of its own, at most.
  /// Errors: Exhausted (more than this session's cache can hold).
  Result<uint64_t> bytesOfBeams(const Prompt &prompt, int64_t numBeams) const;
  /// Of one that has ended and is kept, too. Errors: NotFound.
  Status remove(uint64_t id);
  /// Takes a sequence out of the steps, its blocks given back; nothing when it
  /// is. Errors: NotFound.
  Status pause(uint64_t id);
  /// The same without giving blocks back. Nothing when it is held or paused.
  /// Errors: NotFound.
  Status hold(uint64_t id);
  /// Puts it back: the next step computes again what has no blocks. Nothing
  /// when it is neither paused nor held. `prefix` as in RequestOptions, of one
  /// that was paused. Errors: NotFound.
  Status resume(uint64_t id, uint64_t prefix = 0);

  SessionState state() const;
  int64_t numSequences() const { return state().numSequences; }
  int64_t numPaused() const { return state().numPaused; }
  CacheBytes cacheBytes() const { return state().cache; }
  /// Whether a step runs.
  bool isBusy() const;
  /// How many of a sequence's first tokens (of an encoder-decoder: of its
  /// source) it got from another one when it was last taken in; 0 for one that
  /// is not there.
  int64_t sharedTokens(uint64_t id) const;

  // From one thread at a time.

  /// Between steps: tokens that may come next in a sequence, as
  /// ScoreRules::allowed, until others are given. Nothing when it is not there.
  void setAllowed(uint64_t id, std::vector<uint32_t> bits);

  /// Bytes of the cache that only those have that have ended; between steps.
  uint64_t keptBytes() const;
  // The next two refuse to run while a step does: InvalidArgument.

  /// Adds a sequence that goes on as `id` would, and shares its blocks until
  /// they differ; of a paused one it has none. With `decoding` its tokens are
  /// chosen by that. Errors: NotFound, InvalidArgument, Unsupported (beams).
  Result<uint64_t> fork(uint64_t id, const tfc_decoding_options *decoding);
  /// One step over all sequences; see tfc_session_step.
  Status step();
  /// The new tokens of the last step, in order of addition, and behind them
  /// those that are none for lack of room; and what they were chosen from, as
  /// far as that was asked for: as many or none.
  const std::vector<tfc_new_token> &newTokens() const { return results; }
  const std::vector<tfc_logprobs> &logProbabilities() const {
    return reports.list();
  }
  /// Those of the new tokens that are none: their sequences have failed.
  const std::vector<tfc_sequence_fault> &faults() const { return failures; }
  /// New sequences that the last step had no room for, the oldest first.
  const std::vector<uint64_t> &leftOut() const { return waiting; }
  /// What the last step told of prompts.
  const std::vector<tfc_prompt_logprobs> &echoes() const { return echoed; }

  /// What the new tokens were chosen from, a row each, but one of several
  /// answers' first tokens, [rows, vocabulary]; valid until the next step. Null
  /// where a device chose.
  const float *logits() const { return logitRows; }
  /// Columns of the head that the last step computed.
  int64_t headColumns() const { return runner.widthOf(model.logitsPort()); }

  const BlockCache &cache() const { return runner.cache; }
  /// Null where none guesses.
  const DraftModel *draftModel() const { return guesser.get(); }
  /// Of an encoder-decoder: the blocks of the sources.
  const BlockCache &crossCache() const { return engine.cross; }

private:
  struct Sequence {
    uint64_t id = 0;
    Prompt next; // values: all of its tokens
    BlockTable blocks;
    SequenceState state;
    int64_t past = 0, produced = 0; // tokens in the cache; new ones
    int64_t shared = 0; // of `past`, or of the source: those of another one
    /// Whose first row of logits is its own, too: the prompt is the same. Its
    /// own prompt is not computed then. 0: nobody's.
    uint64_t leader = 0;
    uint64_t prefix = 0;   // until it is taken in: who may have begun the same
    int64_t nextEcho = 1;  // of the prompt's tokens, the first not told yet
    bool hasBegun = false; // has been in a step since it came or was resumed
    bool isHeld = false;   // paused with its blocks
    DraftLength draftLength;
    bool keeps = false, echoes = false;
    // Of the step.
    int64_t count = 0;             // tokens behind `past`
    int64_t first = 0;             // row of the first of them
    int64_t row = -1, result = -1; // the first; of logits; of `results`
    std::vector<int32_t> draft;    // that runs behind its one token
    std::vector<int64_t> picked;   // tokens, or a NoToken
    bool isFailing = false;        // for lack of room

    /// Whether tokens of the prompt are still to be told.
    bool isEchoed() const {
      return echoes && nextEcho < next.choice.promptLength;
    }
    int64_t remaining(int64_t port) const {
      return static_cast<int64_t>(next.values[port].size()) - past;
    }
    /// Whether the step reaches the sequence's last token.
    bool isFinishing(int64_t port) const {
      return count != 0 && count == remaining(port);
    }
    /// Rows of the step, a spectator's included.
    int64_t rows(int64_t port) const {
      return count + (isFinishing(port) && !next.spectator.empty()) +
             static_cast<int64_t>(draft.size());
    }
  };

  Session(const Model &model, const tfc_entry_v0 &entry,
          const SessionOptions &options);
  Result<Prompt> readPrompt(const TokenList &tokens,
                            const TokenList &decoderTokens,
                            int64_t maxNewTokens) const;
  Status setRules(Prompt &prompt, const tfc_decoding_options *decoding,
                  bool hasBeams = false) const;
  Status checkTokens(const RequestOptions &options) const;

  /// What is asked of a sequence during a step, and happens behind it.
  struct Departure {
    uint64_t id;
    enum { ForGood, Pause, Hold } how;
  };
  /// A piece of a prompt whose tokens are told: [first, first + count), the
  /// rows of their logits from `row` on.
  struct Echo {
    Sequence *sequence;
    int64_t first, count, row;
  };
  using Sequences = std::vector<Sequence>;
  Status openDraft(const SessionOptions &options);
  static Error duringAStep();
  static Sequence *find(Sequences &list, uint64_t id);
  Sequence *findActive(uint64_t id);
  Sequence *findAny(uint64_t id);
  bool hasLeft(uint64_t id) const;
  void forget(uint64_t id) noexcept;
  Status depart(const Departure &departure);
  void takeOut(const Departure &departure) noexcept;
  void takeArrivals();
  void sharePrefix(Sequence &arrival);
  void handOver(Sequence &leader) noexcept;
  void leave() noexcept;

  void release(Sequence &sequence) noexcept;
  void giveUpBlocks(Sequence &sequence) noexcept;
  void chooseLeaders() noexcept;
  Status planStep();
  Result<int64_t> planBegun();
  Status planNew(int64_t &left);
  Status planDrafts(int64_t left);
  Status planLookups(int64_t left);
  Status planGuesses(int64_t left);
  int64_t draftLengthOf(Sequence &sequence, int64_t most);
  std::vector<int32_t> lookUp(const Sequence &sequence, int64_t most) const;
  Result<int64_t> placeDraft(Sequence &sequence, std::vector<int32_t> draft);
  int64_t pieceOf(const Sequence &sequence, int64_t left) const;
  bool admit(Sequence &sequence);
  Status take(Sequence &sequence, int64_t count);
  int64_t capOfPieces(int64_t blocks) const;
  BlockCounts neededAlone(const Prompt &prompt) const;
  int64_t reservedFor(const Sequence &sequence) const;
  int64_t statesOfStep() const;
  void listResults();
  void makeRoomForResults();

  Status runStep();
  void forgetResults();
  void fillBatch();
  bool isOfGreatest() const;
  void askForHeadRows();
  void spreadHeadRows();
  void addTokens(Sequence &sequence);
  void addEcho(Sequence &sequence);
  void pickTokens();
  void lendRows(int64_t width);
  void choose(const std::vector<float *> &from);
  float *rowAt(int64_t row, int64_t width) const;
  void pickBehindDrafts(int64_t width);
  bool isRight(const Sequence &sequence) const;
  void addResults(int64_t width);
  void addResult(Sequence &sequence, size_t number, const float *from,
                 int64_t width);
  void addFault(const Sequence &sequence, uint32_t reason, int64_t token = -1);
  void reportEchoes(int64_t width);
  CacheBytes measureCache() const;
  void eraseReleased() noexcept;
  void finishStep() noexcept;
  void shareWithFollowers() noexcept;
  void finishSequence(Sequence &sequence) noexcept;
  void takeDraft(Sequence &sequence) noexcept;
  static void forgetPicked(Sequence &sequence) noexcept;
  uint32_t stateWith(const Sequence &sequence, int64_t token,
                     int64_t produced) const noexcept;
  void advance(Sequence &sequence, int64_t token) noexcept;

  const Model &model;
  const tfc_entry_v0 &entry;
  Engine engine;
  Runner &runner; // of the decoder
  int64_t ids;    // the port of token ids
  int64_t window; // of the cache; 0: none
  int64_t maxStepTokens, maxDrafts;
  LogitsHook hook;
  DraftCounts draftCounts;
  std::unique_ptr<DraftModel> guesser; // null: guesses are looked up
  double draftCost = 0;                // of one of its guesses
  std::vector<Guess> guesses;

  // What other threads reach is behind the mutex: who is there. While a step
  // runs they change only the list of those that wait.
  mutable std::mutex mutex;
  bool isStepping = false;
  CacheBytes cacheBefore; // the step that runs
  uint64_t lastId = 0;
  Sequences arrivals;                // since the step began
  std::vector<Departure> departures; // the same, of all but `paused`
  Sequences paused;                  // without blocks, or held
  Sequences kept;                    // that have ended

  Sequences sequences; // by id

  // The plan of a step.
  std::vector<Source *> sources;          // to be encoded
  std::vector<Sequence *> finishing;      // whose next token is chosen
  std::vector<Sequence *> failing;        // for lack of room
  std::vector<Sequence *> right;          // whose guesses were, so far
  std::vector<uint64_t> waiting;          // for room
  int64_t planned = 0, plannedSource = 0; // tokens, of sources too
  int64_t echoRows = 0;                   // that prompts may still ask for
  BlockCounts reserved; // that those who are in will need, and have not

  std::vector<uint8_t> wanted;
  ScoreRows scores;
  std::vector<float *> rows;           // of those whose token is chosen
  std::vector<float *> draftRows;      // behind a guess that is right
  std::vector<float> ownRows;          // where a hook writes into shared ones
  std::vector<float> wideRows;         // of logits of which few are computed
  float *logitRows = nullptr;          // of the step, [rows, vocabulary]
  const int32_t *greatest = nullptr;   // of the step's rows, in their place
  std::vector<int64_t> rowNumbers;     // of those whose token is chosen
  std::vector<const Choice *> choices; // of those
  std::vector<int64_t> chosen;
  std::vector<Echo> told;
  std::vector<tfc_new_token> results;
  std::vector<tfc_sequence_fault> failures;
  LogProbabilityReports reports, echoReports;
  std::vector<tfc_prompt_logprobs> echoed;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_SESSION_H
