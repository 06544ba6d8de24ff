// Continuous batching.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include "runtime/src/load/ModuleTables.h"

#include <algorithm>

namespace tfc::rt {

Session::Session(const Model &model, const tfc_entry_v0 &entry,
                 const SessionOptions &options)
    : model(model), entry(entry), engine(model), runner(*engine.step),
      ids(tokenPort(entry)), window(cacheOf(entry, TFC_CACHE_SELF).window),
      maxStepTokens(options.maxStepTokens), hook(options.logits),
      wanted(entry.n_outputs, 0), scores(model.workers()) {}

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
  Status status = session->engine.open(options.engine);
  if (!status) {
    return std::move(status.error());
  }
  return session;
}

/// Cross blocks go with the last sequence that reads them; paused ones that are
/// not held do not.
void Session::giveUpBlocks(Sequence &sequence) noexcept {
  runner.cache.release(sequence.blocks);
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
  if (planned != 0) {
    fillBatch();
    wanted[model.logitsPort()] = !runner.batch.rows.empty();
    status = runner.run(wanted);
  }
  if (status) {
    pickTokens();
  }
  return status;
}

/// The step counts from here on, for all sequences or for none, so nothing here
/// may fail: the plan has made the room.
void Session::finishStep() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  shareWithFollowers();
  for (Sequence &sequence : sequences) {
    sequence.hasBegun = sequence.hasBegun || sequence.count != 0;
    sequence.past += sequence.count;
    sequence.count = 0;
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

/// Several answers part behind their prompt, whose blocks all of them have.
void Session::shareWithFollowers() noexcept {
  const Sequence *leader = nullptr;
  for (Sequence &sequence : sequences) {
    leader = sequence.leader == 0 ? &sequence : leader;
    if (sequence.leader != 0 && sequence.row >= 0) {
      runner.cache.share(leader->blocks, sequence.blocks);
      sequence.next.source = leader->next.source;
      sequence.past = leader->past + leader->count;
      sequence.hasBegun = true;
      sequence.leader = 0;
    }
  }
}

/// One that has a new token, or none.
void Session::finishSequence(Sequence &sequence) noexcept {
  tfc_new_token &result = results[static_cast<size_t>(sequence.result)];
  const std::vector<int64_t> &eos = sequence.next.eos;
  bool isToken = result.state != TFC_FAILED;
  if (isToken) {
    ++sequence.produced;
    sequence.next.choice.tokens.push_back(static_cast<int32_t>(result.token));
    if (std::find(eos.begin(), eos.end(), result.token) != eos.end()) {
      result.state = TFC_ENDED;
    } else if (endsWithStop(sequence)) {
      result.state = TFC_STOPPED;
    } else if (sequence.produced == sequence.next.maxNewTokens) {
      result.state = TFC_LENGTH_REACHED;
    } else {
      advance(sequence, result.token);
      return;
    }
  }
  if (isToken && sequence.keeps) {
    kept.push_back(std::move(sequence));
  } else {
    release(sequence);
  }
  sequence.id = 0;
}

/// Whether the tokens that were generated end with one of the sequences asked
/// for.
bool Session::endsWithStop(const Sequence &sequence) const noexcept {
  const std::vector<int32_t> &tokens = sequence.next.choice.tokens;
  for (const std::vector<int64_t> &stop : sequence.next.stops) {
    auto size = static_cast<int64_t>(stop.size());
    if (size <= sequence.produced &&
        std::equal(stop.begin(), stop.end(), tokens.end() - size)) {
      return true;
    }
  }
  return false;
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

void Session::addTokens(Sequence &sequence) {
  Batch &batch = runner.batch;
  int64_t count = sequence.count, keys = sequence.past + count;
  const Source *source = sequence.next.source.get();
  auto addSequence = [&](int64_t tokens, int64_t past) {
    return batch.add(tokens, past, keys, sequence.blocks,
                     source ? source->count : 0,
                     source ? &source->blocks : nullptr);
  };
  int32_t first = addSequence(count, sequence.past);
  int32_t last = first + static_cast<int32_t>(count) - 1;
  sequence.first = first;
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    auto values = sequence.next.values[p].begin() + sequence.past;
    batch.inputs[p].insert(batch.inputs[p].end(), values, values + count);
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
  batch.rows.push_back(last);
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
