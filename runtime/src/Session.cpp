// Continuous batching.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Session.h"

#include "runtime/src/MakeRoom.h"

#include <algorithm>

namespace tfc::rt {

Session::Session(const Model &model, const tfc_entry_v0 &entry)
    : model(model), entry(entry), engine(model), runner(*engine.step),
      ids(tokenPort(entry)), wanted(entry.n_outputs, 0), scores(model.host()) {
  wanted[model.logitsPort()] = 1;
}

Error cannotGenerate(const Model &model) {
  return makeError(Code::Unsupported, model.path(), ": expected a model ",
                   "that generates (an output \"logits\" of every token), ",
                   "got one that cannot");
}

Result<std::unique_ptr<Session>> Session::create(const Model &model,
                                                 uint64_t maxCacheBytes) {
  const tfc_entry_v0 *entry = model.generateEntry();
  if (!entry || tokenPort(*entry) < 0) {
    return cannotGenerate(model);
  }
  std::unique_ptr<Session> session(new Session(model, *entry));
  Status status = session->engine.open(maxCacheBytes);
  if (!status) {
    return std::move(status.error());
  }
  return session;
}

uint64_t Session::add(Prompt prompt) {
  Sequence sequence;
  sequence.id = ++lastId;
  sequence.next = std::move(prompt);
  sequences.push_back(std::move(sequence));
  return lastId;
}

Status Session::remove(uint64_t id) {
  auto found = std::find_if(sequences.begin(), sequences.end(),
                            [&](const Sequence &s) { return s.id == id; });
  if (found == sequences.end()) {
    return makeError(Code::NotFound, "expected a sequence of the session, got ",
                     id);
  }
  release(*found);
  sequences.erase(found);
  return {};
}

/// Cross blocks go with the last sequence that reads them.
void Session::release(Sequence &sequence) {
  runner.cache.release(sequence.blocks);
  std::shared_ptr<Source> &source = sequence.next.source;
  if (source && source.use_count() == 1) {
    engine.cross.release(source->blocks);
  }
  source.reset();
}

Status Session::step() {
  results.clear();
  if (sequences.empty()) {
    return {};
  }
  Status status = encodeSources();
  if (status) {
    status = growCache();
  }
  if (status) {
    fillBatch();
    status = runner.run(wanted);
  }
  if (status) {
    status = pickTokens();
  }
  if (!status) {
    results.clear();
    return status;
  }
  finishStep();
  return {};
}

/// The step counts from here on, for all sequences or for none, so nothing here
/// may fail: growCache has made the room.
void Session::finishStep() noexcept {
  for (size_t s = 0; s < sequences.size(); ++s) {
    Sequence &sequence = sequences[s];
    int64_t token = results[s].token;
    const std::vector<int64_t> &eos = sequence.next.eos;
    ++sequence.produced;
    if (std::find(eos.begin(), eos.end(), token) != eos.end()) {
      results[s].state = TFC_ENDED;
    } else if (sequence.produced == sequence.next.maxNewTokens) {
      results[s].state = TFC_LENGTH_REACHED;
    } else {
      advance(sequence, token);
      continue;
    }
    release(sequence);
    sequence.id = 0;
  }
  eraseReleased();
}

Status Session::encodeSources() {
  sources.clear();
  for (const Sequence &sequence : sequences) {
    Source *source = sequence.next.source.get();
    // Sequences that share one come one after the other.
    if (source && source->count == 0 &&
        (sources.empty() || sources.back() != source)) {
      sources.push_back(source);
    }
  }
  return sources.empty() ? Status() : engine.encodeSources(sources);
}

Status Session::growCache() {
  int64_t total = 0;
  for (Sequence &sequence : sequences) {
    int64_t count = sequence.count(ids);
    bool hasSpectator = !sequence.next.spectator.empty();
    total += count + hasSpectator;
    if (total > model.stepLimit()) {
      return makeError(Code::Exhausted, "expected at most ", model.stepLimit(),
                       " tokens in a step, got more");
    }
    Status status = runner.cache.grow(sequence.blocks,
                                      sequence.past + count + hasSpectator);
    if (!status) {
      return status;
    }
    makeRoom(sequence.next.choice.tokens);
  }
  return {};
}

void Session::fillBatch() {
  Batch &batch = runner.batch;
  batch.clear();
  for (Sequence &sequence : sequences) {
    int64_t count = sequence.count(ids), keys = sequence.past + count;
    const Source *source = sequence.next.source.get();
    auto addSequence = [&](int64_t tokens, int64_t past) {
      return batch.add(tokens, past, keys, sequence.blocks.data(),
                       source ? source->count : 0,
                       source ? source->blocks.data() : nullptr);
    };
    int32_t first = addSequence(count, sequence.past);
    int32_t last = first + static_cast<int32_t>(count) - 1;
    for (uint32_t p = 0; p < entry.n_inputs; ++p) {
      const std::vector<int32_t> &values = sequence.next.values[p];
      batch.inputs[p].insert(batch.inputs[p].end(), values.begin(),
                             values.end());
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
  choices.clear();
  for (const Sequence &sequence : sequences) {
    choices.push_back(&sequence.next.choice);
  }
  uint32_t port = model.logitsPort();
  scores.choose(runner.output(port), entry.outputs[port].width, choices,
                chosen);
  Faults faults;
  for (size_t s = 0; s < sequences.size(); ++s) {
    if (chosen[s] >= entry.inputs[ids].limit) {
      faults.add(makeError(Code::Incompatible, model.path(), ": sequence ",
                           sequences[s].id, ": expected token ids below ",
                           entry.inputs[ids].limit,
                           " (the embedding's rows), got ", chosen[s]));
    }
    results.push_back({sequences[s].id, chosen[s], TFC_RUNNING, 0});
  }
  // After the text, for which there may be no memory: then nothing changes.
  Status status = faults.take();
  if (!status) {
    removeUnembedded();
  }
  return status;
}

/// Sequences that cannot go on leave, so that the others can.
void Session::removeUnembedded() noexcept {
  for (size_t s = 0; s < sequences.size(); ++s) {
    if (chosen[s] >= entry.inputs[ids].limit) {
      release(sequences[s]);
      sequences[s].id = 0;
    }
  }
  eraseReleased();
}

void Session::eraseReleased() noexcept {
  sequences.erase(std::remove_if(sequences.begin(), sequences.end(),
                                 [](const Sequence &s) { return s.id == 0; }),
                  sequences.end());
}

void Session::advance(Sequence &sequence, int64_t token) noexcept {
  Prompt &next = sequence.next;
  next.choice.tokens.push_back(static_cast<int32_t>(token));
  sequence.past += sequence.count(ids);
  next.spectator.clear();
  for (uint32_t p = 0; p < entry.n_inputs; ++p) {
    next.values[p].assign(1, p == ids ? static_cast<int32_t>(token)
                                      : next.carried(entry.inputs[p], p));
  }
  ++next.nextPosition;
}

} // namespace tfc::rt
