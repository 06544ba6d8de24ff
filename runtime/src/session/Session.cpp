// Continuous batching.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>

namespace tfc::rt {

// Where another model guesses and nobody says how much.
static constexpr int64_t defaultDrafts = 8;

Session::Session(const Model &model, const tfc_entry_v0 &entry,
                 const SessionOptions &options)
    : model(model), entry(entry), engine(model), runner(*engine.step),
      ids(tokenPort(entry)), window(cacheOf(entry, TFC_CACHE_SELF).window),
      maxStepTokens(options.maxStepTokens),
      maxDrafts(
          options.logits.change || runner.hasStates() ? 0 : options.maxDrafts),
      hook(options.logits), wanted(entry.n_outputs, 0),
      scores(model.workers()) {}

Error cannotGenerate(const Model &model) {
  return makeError(Code::Unsupported, model.path(), ": expected a model ",
                   "that generates (an output \"logits\" of every token), ",
                   "got one that cannot");
}

Result<std::unique_ptr<Session>>
Session::create(const Model &model, const SessionOptions &options) {
  const tfc_entry_v0 *entry = model.generateEntry();
  if (!entry || tokenPort(*entry) < 0) {
    return cannotGenerate(model);
  }
  std::unique_ptr<Session> session(new Session(model, *entry, options));
  EngineOptions engine = options.engine;
  engine.stepTokens = options.maxStepTokens;
  Status status = session->engine.open(engine);
  if (status && options.draft) {
    status = session->openDraft(options);
  }
  if (!status) {
    return std::move(status.error());
  }
  return session;
}

/// Another model's guesses; it may remember as many tokens as the model, in a
/// cache of its own.
Status Session::openDraft(const SessionOptions &options) {
  const BlockCache &own = runner.cache;
  auto made =
      DraftModel::create(options.draft, model, options.engine.stop,
                         own.capacity() * own.blockTokens(), maxStepTokens);
  if (!made) {
    return std::move(made.error());
  }
  guesser = std::move(*made);
  draftCost = options.draftCost.value_or(guesser->cost());
  maxDrafts = hook.change ? 0 : maxDrafts == 0 ? defaultDrafts : maxDrafts;
  return {};
}

/// Cross blocks go with the last sequence that reads them; paused ones that are
/// not held do not.
void Session::giveUpBlocks(Sequence &sequence) noexcept {
  runner.cache.release(sequence.blocks);
  sequence.state.release(runner.states);
  const std::shared_ptr<Source> &source = sequence.next.source;
  if (!source) {
    return;
  }
  auto others =
      std::count_if(paused.begin(), paused.end(), [&](const Sequence &other) {
        return !other.isHeld && other.next.source == source;
      });
  if (source.use_count() == 1 + others) {
    engine.cross.release(source->blocks);
    source->count = 0;
  }
}

void Session::release(Sequence &sequence) noexcept {
  giveUpBlocks(sequence);
  sequence.next.source.reset();
}

Status Session::step() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (isStepping) {
      return duringAStep();
    }
    forgetResults();
    takeArrivals();
    if (sequences.empty()) {
      return {};
    }
    cacheBefore = measureCache();
    isStepping = true;
  }
  struct End {
    Session &session;
    ~End() { session.leave(); }
  } end{*this};
  Status status = runStep();
  if (status) {
    finishStep();
  } else {
    forgetResults();
  }
  return status;
}

void Session::forgetResults() {
  results.clear();
  failures.clear();
  waiting.clear();
  echoed.clear();
  told.clear();
  reports.begin(0);
}

Status Session::runStep() {
  Status status = planStep();
  if (status && !sources.empty()) {
    status = engine.encodeSources(sources);
  }
  if (!status) {
    return status;
  }
  makeRoomForResults();
  greatest = nullptr;
  if (planned != 0) {
    fillBatch();
    bool isShort = isOfGreatest();
    wanted[model.logitsPort()] = runner.batch.rows.empty() ? NotWanted
                                 : isShort                 ? WantedGreatest
                                                           : WantedRows;
    askForHeadRows();
    status = runner.run(wanted);
    greatest = isShort ? runner.greatest() : nullptr;
  }
  if (status) {
    spreadHeadRows();
    pickTokens();
  }
  return status;
}

/// The step counts from here on, for all sequences or for none, so nothing here
/// may fail: the plan has made the room.
void Session::finishStep() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  for (Sequence &sequence : sequences) {
    if (sequence.count != 0) {
      sequence.state.advance(runner.states);
    }
  }
  shareWithFollowers();
  for (Sequence &sequence : sequences) {
    sequence.hasBegun = sequence.hasBegun || sequence.count != 0;
    sequence.past += sequence.count;
    sequence.count = 0;
    if (!sequence.draft.empty()) {
      takeDraft(sequence);
    }
    if (window > 0) {
      // The next token sees itself and so many before it.
      runner.cache.releaseBefore(sequence.blocks, sequence.past + 1 - window);
    }
  }
  for (const Echo &piece : told) {
    piece.sequence->nextEcho = piece.first + piece.count;
  }
  for (Sequence &sequence : sequences) {
    if (sequence.result >= 0) {
      finishSequence(sequence);
    }
  }
  eraseReleased();
}

/// Of the guesses that ran those stay in the cache that came.
void Session::takeDraft(Sequence &sequence) noexcept {
  auto drafted = static_cast<int64_t>(sequence.draft.size());
  auto accepted = static_cast<int64_t>(sequence.picked.size()) - 1;
  sequence.past += accepted;
  runner.cache.releaseBehind(sequence.blocks, sequence.past);
  sequence.draftLength.learn(drafted, accepted);
  draftCounts.drafted += static_cast<uint64_t>(drafted);
  draftCounts.accepted += static_cast<uint64_t>(accepted);
  sequence.draft.clear();
}

/// Several answers part behind their prompt, whose blocks all of them have.
void Session::shareWithFollowers() noexcept {
  const Sequence *leader = nullptr;
  for (Sequence &sequence : sequences) {
    leader = sequence.leader == 0 ? &sequence : leader;
    if (sequence.leader != 0 && sequence.row >= 0) {
      runner.cache.share(leader->blocks, sequence.blocks);
      sequence.state.follow(runner.states, leader->state);
      sequence.next.source = leader->next.source;
      sequence.past = leader->past + leader->count;
      sequence.hasBegun = true;
      sequence.leader = 0;
    }
  }
}

/// One that has new tokens, or none.
void Session::finishSequence(Sequence &sequence) noexcept {
  forgetPicked(sequence);
  uint32_t state = TFC_RUNNING;
  for (size_t i = 0; i < std::max<size_t>(1, sequence.picked.size()); ++i) {
    const tfc_new_token &result =
        results[static_cast<size_t>(sequence.result) + i];
    state = result.state;
    if (state != TFC_FAILED) {
      ++sequence.produced;
      sequence.next.choice.tokens.push_back(static_cast<int32_t>(result.token));
    }
    if (state == TFC_RUNNING) {
      advance(sequence, result.token);
    }
  }
  if (state == TFC_RUNNING) {
    return;
  }
  if (state != TFC_FAILED && sequence.keeps) {
    runner.cache.markKept(sequence.blocks, true);
    runner.states.markKept(sequence.state.now, true);
    kept.push_back(std::move(sequence));
  } else {
    release(sequence);
  }
  sequence.id = 0;
}

/// Tokens that a choice has looked at count once their step does.
void Session::forgetPicked(Sequence &sequence) noexcept {
  Choice &choice = sequence.next.choice;
  choice.tokens.resize(
      static_cast<size_t>(choice.promptLength + sequence.produced));
}

/// How a sequence is whose next token this is, the `produced`-th new one,
/// behind choice.tokens.
uint32_t Session::stateWith(const Sequence &sequence, int64_t token,
                            int64_t produced) const noexcept {
  const Prompt &next = sequence.next;
  const std::vector<int32_t> &before = next.choice.tokens;
  if (std::find(next.eos.begin(), next.eos.end(), token) != next.eos.end()) {
    return TFC_ENDED;
  }
  for (const std::vector<int64_t> &stop : next.stops) {
    auto size = static_cast<int64_t>(stop.size());
    if (size <= produced && stop.back() == token &&
        std::equal(stop.begin(), stop.end() - 1, before.end() - (size - 1))) {
      return TFC_STOPPED;
    }
  }
  return produced == next.maxNewTokens ? TFC_LENGTH_REACHED : TFC_RUNNING;
}

void Session::fillBatch() {
  runner.batch.clear();
  told.clear();
  const Sequence *leader = nullptr;
  for (Sequence &sequence : sequences) {
    leader = sequence.leader == 0 ? &sequence : leader;
    if (sequence.count != 0) {
      addTokens(sequence);
    }
    sequence.row = leader->row;
  }
  // Behind the rows that tokens are chosen from.
  for (Sequence &sequence : sequences) {
    if (sequence.echoes && sequence.count != 0) {
      addEcho(sequence);
    }
  }
}

/// Whether the step's tokens are those of the greatest logits, which nobody
/// looks at otherwise, and the library finds them.
bool Session::isOfGreatest() const {
  auto isOne = [](const Sequence *sequence) {
    const Prompt &next = sequence->next;
    return next.choice.rules.isGreatest() && next.numLogProbabilities == 0 &&
           next.headRows.empty();
  };
  return model.givesGreatest() && !hook.change && told.empty() &&
         !runner.batch.rows.empty() &&
         std::all_of(finishing.begin(), finishing.end(), isOne);
}

void Session::addTokens(Sequence &sequence) {
  Batch &batch = runner.batch;
  int64_t numDrafts = static_cast<int64_t>(sequence.draft.size());
  int64_t count = sequence.count, keys = sequence.past + count;
  const Source *source = sequence.next.source.get();
  auto addSequence = [&](int64_t tokens, int64_t past) {
    return batch.add(tokens, past, keys + numDrafts, sequence.blocks,
                     source ? source->count : 0,
                     source ? &source->blocks : nullptr, &sequence.state);
  };
  int32_t first = addSequence(count + numDrafts, sequence.past);
  int32_t last = first + static_cast<int32_t>(count) - 1;
  sequence.first = first;
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    auto values = sequence.next.values[p].begin() + sequence.past;
    batch.inputs[p].insert(batch.inputs[p].end(), values, values + count);
    for (int64_t i = 0; i < numDrafts; ++i) {
      batch.inputs[p].push_back(
          p == ids ? sequence.draft[static_cast<size_t>(i)]
                   : sequence.next.carried(entry.inputs[p], p, i));
    }
  }
  if (!sequence.isFinishing(ids)) {
    return;
  }
  if (!sequence.next.spectator.empty()) {
    last = addSequence(1, keys);
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      batch.inputs[p].push_back(sequence.next.spectator[p]);
    }
  }
  sequence.row = static_cast<int64_t>(batch.rows.size());
  for (int64_t i = 0; i <= numDrafts; ++i) {
    batch.rows.push_back(last + static_cast<int32_t>(i));
  }
}

/// The tokens of the prompt behind those of the step are told from their rows.
void Session::addEcho(Sequence &sequence) {
  std::vector<int32_t> &rows = runner.batch.rows;
  int64_t first = std::max(sequence.nextEcho, sequence.past + 1);
  int64_t end = std::min(sequence.past + sequence.count + 1,
                         sequence.next.choice.promptLength);
  if (first < end) {
    told.push_back(
        {&sequence, first, end - first, static_cast<int64_t>(rows.size())});
  }
  for (int64_t token = first; token < end; ++token) {
    rows.push_back(
        static_cast<int32_t>(sequence.first + token - 1 - sequence.past));
  }
}

void Session::eraseReleased() noexcept {
  for (Sequences *list : {&sequences, &arrivals, &paused, &kept}) {
    list->erase(std::remove_if(list->begin(), list->end(),
                               [](const Sequence &s) { return s.id == 0; }),
                list->end());
  }
}

void Session::advance(Sequence &sequence, int64_t token) noexcept {
  Prompt &next = sequence.next;
  next.spectator.clear();
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    next.values[p].push_back(p == ids ? static_cast<int32_t>(token)
                                      : next.carried(entry.inputs[p], p));
  }
  ++next.nextPosition;
}

} // namespace tfc::rt
