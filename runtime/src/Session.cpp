// Continuous batching.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Session.h"

#include "runtime/src/MakeRoom.h"
#include "runtime/src/ModuleTables.h"

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

/// Cross blocks go with the last sequence that reads them; paused ones do not.
void Session::giveUpBlocks(Sequence &sequence) noexcept {
  runner.cache.release(sequence.blocks);
  const std::shared_ptr<Source> &source = sequence.next.source;
  if (!source) {
    return;
  }
  auto others =
      std::count_if(paused.begin(), paused.end(), [&](const Sequence &other) {
        return other.next.source == source;
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
    results.clear();
    failures.clear();
    reports.begin(0);
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
    results.clear();
    failures.clear();
    reports.begin(0);
  }
  return status;
}

Status Session::runStep() {
  Status status = planStep();
  if (status) {
    status = encodeSources();
  }
  if (status) {
    status = growCache();
  }
  if (status) {
    fillBatch();
    wanted[model.logitsPort()] = !finishing.empty();
    status = runner.run(wanted);
  }
  return status && !finishing.empty() ? pickTokens() : status;
}

/// How many tokens of each sequence. One of those that generate comes first, so
/// that a long prompt delays nobody by more than a piece of it.
Status Session::planStep() {
  int64_t total = 0;
  auto take = [&](Sequence &sequence, int64_t count) {
    sequence.count = count;
    total += sequence.rows(ids);
  };
  for (Sequence &sequence : sequences) {
    int64_t remaining = sequence.remaining(ids);
    take(sequence, maxStepTokens == 0 || remaining == 1 ? remaining : 0);
  }
  if (total > model.stepLimit()) {
    return makeError(Code::Exhausted, "expected at most ", model.stepLimit(),
                     " tokens in a step, got more");
  }
  int64_t limit = std::min(maxStepTokens, model.stepLimit());
  for (Sequence &sequence : sequences) {
    int64_t left = limit - total, remaining = sequence.remaining(ids);
    if (sequence.count != 0 || left <= 0) {
      continue;
    }
    bool isWhole = remaining + !sequence.next.spectator.empty() <= left;
    take(sequence, isWhole ? remaining : std::min(left, remaining - 1));
  }
  finishing.clear();
  for (Sequence &sequence : sequences) {
    if (sequence.isFinishing(ids)) {
      finishing.push_back(&sequence);
    }
  }
  return {};
}

/// The step counts from here on, for all sequences or for none, so nothing here
/// may fail: growCache has made the room.
void Session::finishStep() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  size_t next = 0;
  for (Sequence &sequence : sequences) {
    bool isFinishing = sequence.isFinishing(ids);
    sequence.past += sequence.count;
    sequence.count = 0;
    if (window > 0) {
      // The next token sees itself and so many before it.
      runner.cache.releaseBefore(sequence.blocks, sequence.past + 1 - window);
    }
    if (!isFinishing) {
      continue;
    }
    tfc_new_token &result = results[next++];
    if (result.state == TFC_FAILED) {
      release(sequence);
      sequence.id = 0;
      continue;
    }
    const std::vector<int64_t> &eos = sequence.next.eos;
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
      continue;
    }
    release(sequence);
    sequence.id = 0;
  }
  eraseReleased();
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

Status Session::encodeSources() {
  sources.clear();
  for (const Sequence &sequence : sequences) {
    Source *source = sequence.next.source.get();
    bool isNew = std::find(sources.begin(), sources.end(), source) ==
                 sources.end(); // several sequences may share one
    if (source && source->count == 0 && sequence.count != 0 && isNew) {
      sources.push_back(source);
    }
  }
  return sources.empty() ? Status() : engine.encodeSources(sources);
}

Status Session::growCache() {
  for (Sequence &sequence : sequences) {
    int64_t past = sequence.past, end = past + sequence.rows(ids);
    Status status = runner.cache.grow(sequence.blocks, end);
    if (status) {
      status = runner.cache.makeWritable(sequence.blocks, past, end);
    }
    if (!status) {
      return status;
    }
    makeRoom(sequence.next.choice.tokens);
    for (std::vector<int32_t> &values : sequence.next.values) {
      makeRoom(values);
    }
  }
  return {};
}

void Session::fillBatch() {
  Batch &batch = runner.batch;
  batch.clear();
  for (Sequence &sequence : sequences) {
    if (sequence.count == 0) {
      continue;
    }
    int64_t count = sequence.count, keys = sequence.past + count;
    const Source *source = sequence.next.source.get();
    auto addSequence = [&](int64_t tokens, int64_t past) {
      return batch.add(tokens, past, keys, sequence.blocks,
                       source ? source->count : 0,
                       source ? &source->blocks : nullptr);
    };
    int32_t first = addSequence(count, sequence.past);
    int32_t last = first + static_cast<int32_t>(count) - 1;
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      auto values = sequence.next.values[p].begin() + sequence.past;
      batch.inputs[p].insert(batch.inputs[p].end(), values, values + count);
    }
    if (!sequence.isFinishing(ids)) {
      continue;
    }
    if (!sequence.next.spectator.empty()) {
      last = addSequence(1, keys);
      for (uint32_t p = 0; p < entry.n_inputs; ++p) {
        batch.inputs[p].push_back(sequence.next.spectator[p]);
      }
    }
    batch.rows.push_back(last);
  }
}

Status Session::pickTokens() {
  uint32_t port = model.logitsPort();
  int64_t width = entry.outputs[port].width;
  choices.clear();
  for (size_t s = 0; s < finishing.size(); ++s) {
    choices.push_back(&finishing[s]->next.choice);
    if (hook.change) {
      callOut("on_logits", [&] {
        hook.change(hook.user, finishing[s]->id,
                    runner.floats(port) + s * width, width);
      });
    }
  }
  scores.choose(runner.output(port), width, choices, chosen);
  reports.begin(finishing.size());
  for (size_t s = 0; s < finishing.size(); ++s) {
    const Sequence &sequence = *finishing[s];
    bool isToken = chosen[s] >= 0 && chosen[s] < entry.inputs[ids].limit;
    results.push_back({sequence.id, isToken ? chosen[s] : -1,
                       isToken ? TFC_RUNNING : TFC_FAILED, 0});
    uint32_t count = sequence.next.numLogProbabilities;
    if (!isToken) {
      addFault(sequence, chosen[s]);
    } else if (count != 0) {
      reports.report(s, runner.output(port) + s * width, width, count,
                     chosen[s]);
    }
  }
  reports.finish();
  return {};
}

/// Where nothing can go on; the others do.
void Session::addFault(const Sequence &sequence, int64_t chosen) {
  tfc_sequence_fault fault{};
  fault.sequence = sequence.id;
  fault.token = std::max<int64_t>(chosen, -1);
  fault.reason = chosen >= 0             ? TFC_FAULT_NO_EMBEDDING
                 : chosen == NoneAllowed ? TFC_FAULT_NONE_ALLOWED
                                         : TFC_FAULT_NOT_A_NUMBER;
  fault.code = chosen >= 0 ? TFC_INCOMPATIBLE : TFC_INVALID_ARGUMENT;
  failures.push_back(fault);
}

Error describeFault(const Model &model, const tfc_sequence_fault &fault,
                    const std::string &row) {
  const tfc_entry_v0 &entry = *model.generateEntry();
  auto code = static_cast<Code>(fault.code);
  if (fault.reason == TFC_FAULT_NO_EMBEDDING) {
    return makeError(code, model.path(), ": ", row,
                     ": expected token ids below ",
                     entry.inputs[tokenPort(entry)].limit,
                     " (the embedding's rows), got ", fault.token);
  }
  return makeError(code, model.path(), ": ", row,
                   ": expected a token that may come next, got ",
                   fault.reason == TFC_FAULT_NONE_ALLOWED
                       ? "none (all are forbidden)"
                       : "scores that are not numbers (NaN)");
}

void Session::eraseReleased() noexcept {
  for (Sequences *list : {&sequences, &arrivals}) {
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
