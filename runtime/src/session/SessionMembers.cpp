// Who is in a session: sequences come, leave, pause and go on, from any thread,
// and a step sees those that are there when it begins.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/session/Session.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace tfc::rt {

uint64_t Session::add(Prompt prompt, const RequestOptions &options) {
  Sequences answers(1);
  answers[0].next = std::move(prompt);
  answers[0].prefix = options.prefix;
  answers[0].keeps = options.keeps;
  answers[0].draftLength = DraftLength(draftCost);
  answers.resize(options.numAnswers, answers[0]);
  answers[0].echoes = options.echoes;
  std::lock_guard<std::mutex> lock(mutex);
  arrivals.reserve(arrivals.size() + answers.size());
  uint64_t first = lastId + 1;
  for (Sequence &answer : answers) {
    answer.id = ++lastId;
    answer.leader = answer.id == first ? 0 : first;
    answer.next.choice.returnIndex +=
        static_cast<uint32_t>(options.index + answer.id - first);
    arrivals.push_back(std::move(answer));
  }
  return first;
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

/// One that has blocks, or will.
Session::Sequence *Session::findAny(uint64_t id) {
  Sequence *found = findActive(id);
  found = found ? found : find(kept, id);
  Sequence *held = found ? nullptr : find(paused, id);
  return held && held->isHeld ? held : found;
}

static Error unknownSequence(uint64_t id) {
  return makeError(Code::NotFound, "expected a sequence of the session, got ",
                   id);
}

Status Session::remove(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  Sequence *found = find(paused, id);
  if (found && !found->isHeld) {
    paused.erase(paused.begin() + (found - paused.data()));
    return {};
  }
  return depart({id, Departure::ForGood});
}

Status Session::pause(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  Sequence *found = find(paused, id);
  return found && !found->isHeld ? Status() : depart({id, Departure::Pause});
}

Status Session::hold(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  return find(paused, id) && !hasLeft(id) ? Status()
                                          : depart({id, Departure::Hold});
}

Status Session::resume(uint64_t id, uint64_t prefix) {
  std::lock_guard<std::mutex> lock(mutex);
  Sequence *found = find(paused, id);
  if (found && !hasLeft(id)) {
    forget(id);
    // What is held has its beginning.
    found->prefix = found->isHeld ? 0 : prefix;
    found->isHeld = false;
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

void Session::setAllowed(uint64_t id, std::vector<uint32_t> bits) {
  std::lock_guard<std::mutex> lock(mutex);
  Sequence *found = findActive(id);
  found = found ? found : find(paused, id);
  if (found) {
    found->next.choice.rules.allowed = std::move(bits);
  }
}

/// Under the lock: now, or at the end of the step that runs.
Status Session::depart(const Departure &departure) {
  uint64_t id = departure.id;
  bool isOver = find(kept, id) && departure.how != Departure::ForGood;
  if (!findAny(id) || hasLeft(id) || isOver) {
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
  Sequence *found = findAny(departure.id);
  bool isOver = find(kept, departure.id) != nullptr;
  if (!found || (isOver && departure.how != Departure::ForGood)) {
    return;
  }
  if (departure.how != Departure::Hold) {
    handOver(*found);
  }
  if (departure.how == Departure::ForGood) {
    if (isOver) {
      runner.cache.markKept(found->blocks, false);
      runner.states.markKept(found->state.now, false);
    }
    release(*found);
    found->id = 0;
    eraseReleased();
    return;
  }
  if (departure.how == Departure::Pause) {
    giveUpBlocks(*found);
    found->past = 0;
    found->hasBegun = false;
  }
  bool wasHeld = found->isHeld;
  found->isHeld = departure.how == Departure::Hold;
  if (!wasHeld) {
    paused.push_back(std::move(*found));
    found->id = 0;
    eraseReleased();
  }
}

/// What one that leaves has computed of a prompt, whoever computes it next for
/// the others goes on with.
void Session::handOver(Sequence &leader) noexcept {
  auto heir = std::find_if(
      sequences.begin(), sequences.end(),
      [&](const Sequence &other) { return other.leader == leader.id; });
  if (leader.produced == 0 && heir != sequences.end()) {
    std::swap(heir->blocks, leader.blocks);
    heir->state.swap(leader.state);
    std::swap(heir->past, leader.past);
    heir->next.source = leader.next.source;
    heir->hasBegun = leader.hasBegun;
  }
}

/// Whether it is to leave for good at the end of the step.
bool Session::hasLeft(uint64_t id) const {
  return std::any_of(departures.begin(), departures.end(),
                     [&](const Departure &d) {
                       return d.id == id && d.how == Departure::ForGood;
                     });
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
  for (Sequence &arrival : arrivals) {
    sharePrefix(arrival);
  }
  std::move(arrivals.begin(), arrivals.end(), std::back_inserter(sequences));
  arrivals.clear();
  // Those that were paused are older.
  std::sort(sequences.begin(), sequences.end(),
            [](const Sequence &a, const Sequence &b) { return a.id < b.id; });
}

/// A new sequence begins with what another one has of its beginning.
void Session::sharePrefix(Sequence &arrival) {
  const Sequence *from = findAny(arrival.prefix);
  bool isMeant = from && !arrival.echoes && arrival.leader == 0;
  arrival.prefix = 0;
  arrival.shared = 0;
  if (!isMeant) {
    return;
  }
  Prompt &next = arrival.next;
  if (next.source && next.source != from->next.source) {
    if (next.source->values != from->next.source->values ||
        next.source->given != from->next.source->given) {
      return;
    }
    next.source = from->next.source;
    arrival.shared = next.source->numTokens();
  }
  // The last token is computed, for its row.
  int64_t common = 0;
  int64_t most = std::min(from->past, arrival.remaining(ids) - 1);
  auto isSame = [&](const auto &mine, const auto &theirs) {
    return mine[static_cast<size_t>(common)] ==
           theirs[static_cast<size_t>(common)];
  };
  while (common < most && std::equal(next.values.begin(), next.values.end(),
                                     from->next.values.begin(), isSame)) {
    ++common;
  }
  // A state is of all tokens: it serves who begins with all of them.
  bool hasState = runner.hasStates();
  if (hasState && common != from->past) {
    return;
  }
  // What the next token sees of it must be there.
  BlockTable blocks(from->blocks.begin(),
                    from->blocks.begin() + runner.cache.blocksFor(common));
  int64_t seen = window > 0 ? std::max<int64_t>(0, common + 1 - window) : 0;
  int64_t gone = std::count(blocks.begin(), blocks.end(), -1);
  if (common == 0 || gone * runner.cache.blockTokens() > seen) {
    return;
  }
  runner.cache.share(blocks, arrival.blocks);
  arrival.state.follow(runner.states, from->state);
  arrival.past = common;
  arrival.shared = next.source ? arrival.shared : common;
}

/// A step has ended: who was to leave meanwhile does.
void Session::leave() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Departure &departure : departures) {
    takeOut(departure);
  }
  departures.clear();
  // Of a step that failed.
  for (Sequence &sequence : sequences) {
    forgetPicked(sequence);
  }
  if (guesser) {
    guesser->keepIf(
        [&](uint64_t id) { return find(sequences, id) != nullptr; });
  }
  isStepping = false;
}

bool Session::isBusy() const {
  std::lock_guard<std::mutex> lock(mutex);
  return isStepping;
}

int64_t Session::sharedTokens(uint64_t id) const {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Sequences *list : {&sequences, &kept}) {
    for (const Sequence &sequence : *list) {
      if (sequence.id == id) {
        return sequence.shared;
      }
    }
  }
  return 0;
}

uint64_t Session::keptBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t bytes = cache().bytesOf(cache().onlyKept()) +
                   runner.states.bytesOf(runner.states.onlyKept());
  if (!model.isEncoderDecoder()) {
    return bytes;
  }
  // The table of a source is one, however many read it.
  std::unordered_map<const Source *, bool> isOnlyKept;
  for (const Sequence &sequence : kept) {
    isOnlyKept[sequence.next.source.get()] = true;
  }
  for (const Sequences *list : {&sequences, &paused, &arrivals}) {
    for (const Sequence &sequence : *list) {
      isOnlyKept[sequence.next.source.get()] = false;
    }
  }
  int64_t crossBlocks = 0;
  for (auto [source, isOnly] : isOnlyKept) {
    crossBlocks +=
        source && isOnly ? static_cast<int64_t>(source->blocks.size()) : 0;
  }
  return bytes + crossCache().bytesOf(crossBlocks);
}

SessionState Session::state() const {
  std::lock_guard<std::mutex> lock(mutex);
  SessionState state;
  state.numSequences =
      static_cast<int64_t>(sequences.size() + arrivals.size() + paused.size());
  state.numPaused = static_cast<int64_t>(paused.size());
  state.numHeld =
      std::count_if(paused.begin(), paused.end(),
                    [](const Sequence &other) { return other.isHeld; });
  state.numKept = static_cast<int64_t>(kept.size());
  // A step takes blocks without the lock.
  state.cache = isStepping ? cacheBefore : measureCache();
  state.drafts = draftCounts; // which a step changes under the lock
  return state;
}

/// Under the lock, between steps.
CacheBytes Session::measureCache() const {
  CacheBytes bytes;
  const BlockCache *all[] = {&cache(), &crossCache(), &runner.states};
  for (const BlockCache *cache : all) {
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
  copy.state = {};
  copy.leader = 0;
  copy.isHeld = copy.echoes = false;
  Status status = decoding ? setRules(copy.next, decoding) : Status();
  if (!status) {
    return std::move(status.error());
  }
  copy.id = lastId + 1;
  copy.state.now.reserve(1);
  BlockTable blocks;
  blocks.reserve(found->blocks.size());
  size_t place = static_cast<size_t>(found - list.data());
  sequences.push_back(std::move(copy));
  // From here on nothing fails.
  runner.cache.share(list[place].blocks, blocks);
  sequences.back().blocks = std::move(blocks);
  sequences.back().state.follow(runner.states, list[place].state);
  return ++lastId;
}

} // namespace tfc::rt
