// What a step does: how many tokens of which sequences, as far as there is room
// for them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/load/ModuleTables.h"
#include "runtime/src/memory/MakeRoom.h"
#include "runtime/src/session/Session.h"

#include <algorithm>

namespace tfc::rt {

// Rows of logits that prompts may ask for in a step: few enough that a
// vocabulary of 128k needs no more than this for them.
static constexpr int64_t mostEchoBytes = int64_t(64) << 20;

// Rows of a step to which drafts are added, together with them: more than these
// cost a CPU about as much each as one alone, and then a guess that may be
// wrong is dearer than the token that comes next.
static constexpr int64_t rowsForDrafts = 16;

/// Which of several answers to a prompt computes it for the others: the first
/// of those without a token. They follow each other.
void Session::chooseLeaders() noexcept {
  const Sequence *leader = nullptr;
  uint64_t before = 0, heir = 0; // who led them, and who does now
  for (Sequence &sequence : sequences) {
    bool isLed = leader && leader->produced == 0 &&
                 (sequence.leader == leader->id ||
                  (sequence.leader == before && leader->id == heir));
    if (sequence.leader != 0 && isLed) {
      sequence.leader = leader->id;
      continue;
    }
    if (sequence.leader != 0) {
      before = sequence.leader;
      heir = sequence.id;
      sequence.leader = 0;
    }
    leader = &sequence;
  }
}

/// Blocks of a prompt whose pieces a window gives back, at most.
int64_t Session::capOfPieces(int64_t blocks) const {
  return window > 0 && maxStepTokens > 0
             ? std::min(blocks,
                        runner.cache.blocksFor(window + maxStepTokens) + 1)
             : blocks;
}

/// States of a sequence in a step: the one that it reads, and the one that it
/// writes.
int64_t Session::statesOfStep() const { return runner.hasStates() ? 2 : 0; }

/// What a prompt has in the cache by its first new token, if nobody shares it.
BlockCounts Session::neededAlone(const Prompt &prompt) const {
  int64_t length = static_cast<int64_t>(prompt.values[ids].size()) +
                   !prompt.spectator.empty();
  const Source *source = prompt.source.get();
  return {capOfPieces(runner.cache.blocksFor(length)),
          source ? engine.cross.blocksFor(source->numTokens()) : 0,
          statesOfStep()};
}

/// What a sequence that is in wants next, and should find: the rest of its
/// prompt, and a block for its new tokens.
int64_t Session::reservedFor(const Sequence &sequence) const {
  const Prompt &next = sequence.next;
  const BlockCache &cache = runner.cache;
  int64_t size = static_cast<int64_t>(sequence.blocks.size());
  int64_t length = static_cast<int64_t>(next.values[ids].size());
  int64_t more = next.maxNewTokens - sequence.produced - 1;
  int64_t rest = std::max<int64_t>(0, cache.blocksFor(length) - size);
  bool grows = cache.blocksFor(length + std::min<int64_t>(more, INT32_MAX)) >
               std::max(size, cache.blocksFor(length));
  return capOfPieces(rest) + grows;
}

/// Blocks for the sequence's next tokens. One that could not have them if it
/// were alone fails, and no other.
Status Session::take(Sequence &sequence, int64_t count) {
  sequence.count = count;
  int64_t past = sequence.past, end = past + sequence.rows(ids);
  Status status = runner.cache.grow(sequence.blocks, end);
  if (status) {
    status = runner.cache.makeWritable(sequence.blocks, past, end);
  }
  if (status) {
    status = sequence.state.prepare(runner.states);
  }
  // If nobody shared it: a copy takes the place of what it copies.
  const Source *source = sequence.next.source.get();
  auto gone = std::count(sequence.blocks.begin(), sequence.blocks.end(), -1);
  BlockCounts alone{runner.cache.blocksFor(end) - gone,
                    source ? static_cast<int64_t>(source->blocks.size()) : 0,
                    statesOfStep()};
  if (!status && !engine.canHold(alone)) {
    sequence.count = 0;
    sequence.isFailing = true;
    return {};
  }
  planned += status ? sequence.rows(ids) : 0;
  return status;
}

/// How many tokens of a prompt go into a step that has room for `left`.
int64_t Session::pieceOf(const Sequence &sequence, int64_t left) const {
  int64_t remaining = sequence.remaining(ids);
  int64_t rows = remaining + !sequence.next.spectator.empty();
  if (maxStepTokens == 0 && !sequence.isEchoed()) {
    return rows <= left ? remaining : 0;
  }
  if (remaining == 1) {
    return 1; // which the step has counted
  }
  int64_t most = sequence.isEchoed() ? std::min(left, echoRows) : left;
  return rows <= most ? remaining
                      : std::max<int64_t>(0, std::min(most, remaining - 1));
}

/// Whether there is room for a new sequence's prompt beside what is reserved;
/// one for which there never is fails.
bool Session::admit(Sequence &sequence) {
  Source *source = sequence.next.source.get();
  bool isNew = source && source->count == 0 &&
               std::find(sources.begin(), sources.end(), source) ==
                   sources.end(); // several may share one
  int64_t sourceTokens = isNew ? source->numTokens() : 0;
  BlockCounts alone = neededAlone(sequence.next);
  if (!engine.canHold(alone) || sourceTokens > model.stepLimit()) {
    sequence.isFailing = true;
    return false;
  }
  int64_t length = sequence.past + sequence.remaining(ids) +
                   !sequence.next.spectator.empty();
  BlockCounts needed;
  needed.self = capOfPieces(
      runner.cache.blocksNeeded(sequence.blocks, sequence.past, length));
  // A step that failed may have left some.
  needed.cross =
      isNew ? alone.cross - static_cast<int64_t>(source->blocks.size()) : 0;
  // The state that it shares, if any, is somebody's.
  needed.states = statesOfStep();
  if (!engine.canHold(engine.used() + reserved + needed) ||
      sourceTokens > model.stepLimit() - plannedSource) {
    return false;
  }
  if (isNew) {
    sources.push_back(source);
    plannedSource += sourceTokens;
    reserved.cross += needed.cross;
  }
  return true;
}

/// New sequences by age, until one has to wait.
Status Session::planNew(int64_t &left) {
  bool isIn = false, waits = false; // whom the sequences behind follow
  for (Sequence &sequence : sequences) {
    if (sequence.leader != 0) {
      reserved.self += isIn;
      reserved.states += isIn ? statesOfStep() : 0;
      if (waits) {
        waiting.push_back(sequence.id);
      }
      continue;
    }
    isIn = sequence.hasBegun;
    waits = false;
    if (isIn) {
      continue;
    }
    int64_t rows = sequence.remaining(ids) + !sequence.next.spectator.empty();
    int64_t count = pieceOf(sequence, left);
    bool neverFits = maxStepTokens == 0 && rows > model.stepLimit();
    bool isOut = !waiting.empty() ||
                 (count == 0 && maxStepTokens == 0 && !sequence.isEchoed());
    sequence.isFailing = neverFits;
    isIn = !neverFits && !isOut && count > 0 && admit(sequence);
    if (isIn) {
      Status status = take(sequence, count);
      if (!status) {
        return status;
      }
      bool isCounted = maxStepTokens != 0 && sequence.remaining(ids) == 1;
      left -= isCounted ? 0 : sequence.rows(ids);
      echoRows -= sequence.isEchoed() ? count : 0;
      reserved.self += reservedFor(sequence);
      // What it has written is what it reads in the next step.
      reserved.states += statesOfStep() / 2;
      continue;
    }
    waits = !sequence.isFailing && (isOut || count > 0);
    if (waits) {
      waiting.push_back(sequence.id);
    }
  }
  return {};
}

/// Those that have begun: a token of each that generates, then pieces of
/// prompts. Returns how many tokens are left for those that have not.
Result<int64_t> Session::planBegun() {
  int64_t numSingle = 0;
  for (const Sequence &sequence : sequences) {
    bool isSingle = sequence.leader == 0 && sequence.remaining(ids) == 1;
    numSingle += isSingle && (maxStepTokens != 0 || sequence.hasBegun);
  }
  if (numSingle > model.stepLimit()) {
    return makeError(Code::Exhausted, "expected at most ", model.stepLimit(),
                     " tokens in a step, got more");
  }
  // However many generate, prompts are not kept waiting by them.
  int64_t share = maxStepTokens / 4 + (maxStepTokens % 4 != 0);
  int64_t most = maxStepTokens - std::min(numSingle, maxStepTokens);
  int64_t left = model.stepLimit() - numSingle;
  left = maxStepTokens == 0 ? left : std::min(left, std::max(most, share));
  for (bool isPrompt : {false, true}) {
    for (Sequence &sequence : sequences) {
      bool isMeant = sequence.hasBegun && sequence.leader == 0 &&
                     (sequence.remaining(ids) != 1) == isPrompt;
      int64_t count = isMeant && isPrompt ? pieceOf(sequence, left) : isMeant;
      Status status = count > 0 ? take(sequence, count) : Status();
      if (!status) {
        return std::move(status.error());
      }
      left -= isPrompt ? sequence.rows(ids) * isMeant : 0;
      echoRows -= sequence.isEchoed() ? sequence.count * isMeant : 0;
    }
  }
  for (const Sequence &sequence : sequences) {
    reserved.self += sequence.hasBegun ? reservedFor(sequence) : 0;
    bool waits = sequence.hasBegun && sequence.count == 0;
    reserved.states += waits ? statesOfStep() / 2 : 0;
  }
  return left;
}

/// How many tokens are guessed of a sequence whose next one is chosen behind
/// one token; 0 where none may be, or none is worth it. What a mask allows is
/// said of one token.
int64_t Session::draftLengthOf(Sequence &sequence, int64_t most) {
  const Prompt &next = sequence.next;
  bool isMeant = sequence.count == 1 && sequence.produced > 0 &&
                 sequence.isFinishing(ids) && next.spectator.empty() &&
                 next.choice.rules.allowed.empty();
  // The last new token is never run.
  most = std::min(most, next.maxNewTokens - sequence.produced - 1);
  return isMeant && most > 0 ? std::min(most, sequence.draftLength.next()) : 0;
}

std::vector<int32_t> Session::lookUp(const Sequence &sequence,
                                     int64_t most) const {
  const Source *source = sequence.next.source.get();
  return lookUpDraft(sequence.next.choice.tokens,
                     source ? &source->values[tokenPort(*model.encoder())]
                            : nullptr,
                     most, entry.inputs[ids].limit);
}

/// Puts a draft behind the sequence's token, where the cache has room for it
/// that nobody else needs. Returns how many rows that are.
Result<int64_t> Session::placeDraft(Sequence &sequence,
                                    std::vector<int32_t> draft) {
  BlockCache &cache = runner.cache;
  int64_t begin = sequence.past + 1;
  int64_t end = begin + static_cast<int64_t>(draft.size());
  BlockCounts more{cache.blocksNeeded(sequence.blocks, begin, end), 0, 0};
  if (draft.empty() || !engine.canHold(engine.used() + reserved + more)) {
    return int64_t(0);
  }
  Status status = cache.grow(sequence.blocks, end);
  if (status) {
    status = cache.makeWritable(sequence.blocks, begin, end);
  }
  if (!status) {
    return status.error().code == Code::Exhausted
               ? Result<int64_t>(0)
               : Result<int64_t>(std::move(status.error()));
  }
  planned += end - begin;
  sequence.draft = std::move(draft);
  return end - begin;
}

/// Guesses take what is left of a step and of the cache, and nobody's place.
Status Session::planDrafts(int64_t left) {
  left = std::min(left, rowsForDrafts - planned);
  if (maxDrafts == 0 || left < 1) {
    return {};
  }
  return guesser ? planGuesses(left) : planLookups(left);
}

Status Session::planLookups(int64_t left) {
  for (Sequence &sequence : sequences) {
    int64_t length = draftLengthOf(sequence, std::min(left, maxDrafts));
    if (length == 0) {
      continue;
    }
    auto placed = placeDraft(sequence, lookUp(sequence, length));
    if (!placed) {
      return std::move(placed.error());
    }
    left -= *placed;
  }
  return {};
}

/// The same of another model, which guesses for all sequences together.
Status Session::planGuesses(int64_t left) {
  guesses.clear();
  for (Sequence &sequence : sequences) {
    int64_t length = draftLengthOf(sequence, std::min(left, maxDrafts));
    if (length != 0) {
      guesses.push_back({sequence.id, &sequence.next.values[ids], length, {}});
      left -= length;
    }
  }
  Status status = guesser->guess(guesses);
  for (size_t g = 0; status && g < guesses.size(); ++g) {
    auto placed = placeDraft(*find(sequences, guesses[g].sequence),
                             std::move(guesses[g].draft));
    status = placed ? Status() : Status(std::move(placed.error()));
  }
  return status;
}

Status Session::planStep() {
  chooseLeaders();
  waiting.clear();
  sources.clear();
  planned = plannedSource = 0;
  reserved = {};
  int64_t rowBytes = entry.outputs[model.logitsPort()].width * 4;
  echoRows = std::max<int64_t>(1, mostEchoBytes / rowBytes);
  for (Sequence &sequence : sequences) {
    sequence.count = 0;
    sequence.row = sequence.result = -1;
    sequence.isFailing = false;
    sequence.draft.clear();
    sequence.picked.clear();
  }
  Result<int64_t> left = planBegun();
  Status status = left ? planNew(*left) : Status(std::move(left.error()));
  if (status) {
    status = planDrafts(*left);
  }
  if (!status) {
    return status;
  }
  listResults();
  if (planned == 0 && failing.empty() && !waiting.empty()) {
    return makeError(Code::Exhausted,
                     "expected room in the cache for sequence ",
                     waiting.front(), ", which nothing runs beside, got ",
                     "blocks of sequences that are held or kept");
  }
  return {};
}

/// Whose next token the step chooses, and who fails.
void Session::listResults() {
  finishing.clear();
  failing.clear();
  const Sequence *leader = nullptr;
  for (Sequence &sequence : sequences) {
    leader = sequence.leader == 0 ? &sequence : leader;
    sequence.isFailing = leader->isFailing;
    if (sequence.isFailing) {
      failing.push_back(&sequence);
    } else if (leader->isFinishing(ids)) {
      finishing.push_back(&sequence);
    }
  }
}

/// Memory for what is kept of the step, so that its end cannot fail.
void Session::makeRoomForResults() {
  size_t numKeeping = 0;
  const Sequence *leader = nullptr;
  for (Sequence &sequence : sequences) {
    leader = sequence.leader == 0 ? &sequence : leader;
    if (sequence.leader != 0) {
      sequence.blocks.reserve(leader->blocks.size());
      sequence.state.now.reserve(1);
    }
    size_t numTokens = 1 + sequence.draft.size();
    makeRoom(sequence.next.choice.tokens, numTokens);
    for (std::vector<int32_t> &values : sequence.next.values) {
      makeRoom(values, numTokens);
    }
    numKeeping += sequence.keeps;
  }
  if (numKeeping != 0) {
    std::lock_guard<std::mutex> lock(mutex); // others look for who is kept
    kept.reserve(kept.size() + numKeeping);
  }
}

} // namespace tfc::rt
