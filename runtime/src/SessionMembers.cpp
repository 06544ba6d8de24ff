// Who is in a session: sequences come, leave, pause and go on, from any thread,
// and a step sees those that are there when it begins.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Session.h"

#include <algorithm>
#include <iterator>

namespace tfc::rt {

uint64_t Session::add(Prompt prompt) {
  Sequence sequence;
  sequence.next = std::move(prompt);
  std::lock_guard<std::mutex> lock(mutex);
  sequence.id = lastId + 1;
  arrivals.push_back(std::move(sequence));
  return ++lastId;
}

Session::Sequence *Session::find(Sequences &list, uint64_t id) {
  auto found = std::find_if(list.begin(), list.end(),
                            [&](const Sequence &s) { return s.id == id; });
  return id == 0 || found == list.end() ? nullptr : &*found;
}

/// One that steps advance, or will.
Session::Sequence *Session::findActive(uint64_t id) {
  Sequence *found = find(sequences, id);
  return found ? found : find(arrivals, id);
}

Error Session::duringAStep() {
  return makeError(Code::InvalidArgument, "expected no step of the session to ",
                   "run, got one (called from a callback of the step, or ",
                   "beside it)");
}

static Error unknownSequence(uint64_t id) {
  return makeError(Code::NotFound, "expected a sequence of the session, got ",
                   id);
}

Status Session::remove(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Sequence *found = find(paused, id)) {
    paused.erase(paused.begin() + (found - paused.data()));
    return {};
  }
  return depart({id, false});
}

Status Session::pause(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  return find(paused, id) ? Status() : depart({id, true});
}

Status Session::resume(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  if (Sequence *found = find(paused, id)) {
    arrivals.push_back(std::move(*found));
    paused.erase(paused.begin() + (found - paused.data()));
    return {};
  }
  if (!findActive(id) || hasLeft(id)) {
    return unknownSequence(id);
  }
  // It was to be paused when the step ends.
  forget(id);
  return {};
}

/// Under the lock: now, or at the end of the step that runs.
Status Session::depart(const Departure &departure) {
  uint64_t id = departure.id;
  if (!findActive(id) || hasLeft(id)) {
    return unknownSequence(id);
  }
  // Room for all who may come, so that takeOut cannot fail.
  paused.reserve(paused.size() + departures.size() + 1);
  forget(id);
  if (isStepping) {
    departures.push_back(departure);
  } else {
    takeOut(departure);
  }
  return {};
}

/// Under the lock, between steps; it may have ended meanwhile.
void Session::takeOut(const Departure &departure) noexcept {
  Sequence *found = findActive(departure.id);
  if (!found) {
    return;
  }
  if (departure.isPause) {
    giveUpBlocks(*found);
    found->past = 0;
    paused.push_back(std::move(*found));
  } else {
    release(*found);
  }
  found->id = 0;
  eraseReleased();
}

/// Whether it is to leave for good at the end of the step.
bool Session::hasLeft(uint64_t id) const {
  return std::any_of(
      departures.begin(), departures.end(),
      [&](const Departure &d) { return d.id == id && !d.isPause; });
}

/// Nothing happens to it at the end of the step.
void Session::forget(uint64_t id) noexcept {
  departures.erase(
      std::remove_if(departures.begin(), departures.end(),
                     [&](const Departure &d) { return d.id == id; }),
      departures.end());
}

/// Under the lock, between steps.
void Session::takeArrivals() {
  if (arrivals.empty()) {
    return;
  }
  sequences.reserve(sequences.size() + arrivals.size());
  std::move(arrivals.begin(), arrivals.end(), std::back_inserter(sequences));
  arrivals.clear();
  // Those that were paused are older.
  std::sort(sequences.begin(), sequences.end(),
            [](const Sequence &a, const Sequence &b) { return a.id < b.id; });
}

/// A step has ended: who was to leave meanwhile does.
void Session::leave() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Departure &departure : departures) {
    takeOut(departure);
  }
  departures.clear();
  isStepping = false;
}

bool Session::isBusy() const {
  std::lock_guard<std::mutex> lock(mutex);
  return isStepping;
}

SessionState Session::state() const {
  std::lock_guard<std::mutex> lock(mutex);
  SessionState state;
  state.numSequences =
      static_cast<int64_t>(sequences.size() + arrivals.size() + paused.size());
  state.numPaused = static_cast<int64_t>(paused.size());
  // A step takes blocks without the lock.
  state.cache = isStepping ? cacheBefore : measureCache();
  return state;
}

/// Under the lock, between steps.
CacheBytes Session::measureCache() const {
  CacheBytes bytes;
  for (const BlockCache *cache : {&cache(), &crossCache()}) {
    bytes.used += cache->usedBytes();
    bytes.most += cache->capacityBytes();
  }
  uint64_t limit = engine.cacheLimit();
  bytes.most = limit ? limit : bytes.most;
  return bytes;
}

Result<uint64_t> Session::fork(uint64_t id,
                               const tfc_decoding_options *decoding) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isStepping) {
    return duringAStep();
  }
  takeArrivals();
  bool isPaused = find(paused, id) != nullptr;
  Sequences &list = isPaused ? paused : sequences;
  Sequence *found = find(list, id);
  if (!found) {
    return unknownSequence(id);
  }
  Sequence copy = *found;
  copy.blocks.clear();
  Status status = decoding ? setRules(copy.next, decoding) : Status();
  if (!status) {
    return std::move(status.error());
  }
  copy.id = lastId + 1;
  BlockTable blocks;
  blocks.reserve(found->blocks.size());
  size_t place = static_cast<size_t>(found - list.data());
  sequences.push_back(std::move(copy));
  // From here on nothing fails.
  runner.cache.share(list[place].blocks, blocks);
  sequences.back().blocks = std::move(blocks);
  return ++lastId;
}

} // namespace tfc::rt
