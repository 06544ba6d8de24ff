// A step of the scheduler: who goes in, who makes room, what came of it.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/Core.h"

#include <algorithm>

namespace tfc::rt {

// Who was refused is asked again after so many steps at the latest: windows
// give blocks back without anybody's end.
static constexpr uint64_t stepsUntilRetry = 16;

Status Core::step(const Clock &clock, EventList &out) {
  now = clock();
  expire(out);
  if (!answers.empty() && !waitsForMasks()) {
    Status status = stepSession(clock, out);
    if (!status) {
      return status;
    }
  }
  Status status = searches.empty() ? Status() : stepSearches(clock, out);
  return !status || texts.empty() ? std::move(status) : stepTexts(clock, out);
}

Status Core::stepSession(const Clock &clock, EventList &out) {
  admit();
  Status status = sequences->step();
  while (!status) {
    if (status.error().code != Code::Exhausted ||
        !makeRoom(status.error(), out)) {
      return status;
    }
    status = sequences->step();
  }
  ++totals.n_steps;
  takeWaiting();
  now = clock();
  takeTokens(out);
  return {};
}

/// Those that wait, in order, as long as a step has tokens for their prompts;
/// in one step those of one priority, since among them the session takes the
/// older first, as this order does.
void Core::admit() {
  isFull = isFull && totals.n_steps % stepsUntilRetry != 0;
  int64_t most = options.session.maxStepTokens;
  int64_t going = 0;
  const Job *last = nullptr; // whose prompt is counted
  auto count = [&](const Answer &answer) {
    bool isCounted = answer.hasToken || answer.job.get() == last;
    last = answer.job.get();
    going += isCounted ? 0
                       : static_cast<int64_t>(last->text.tokens.size() +
                                              answer.made.size());
  };
  bool isAnyIn = false;
  for (const auto &[order, answer] : answers) {
    if (answer.place == Place::In) {
      isAnyIn = true;
      count(answer);
    }
  }
  const JobTerms *first = nullptr; // of those that wait
  for (auto &[order, answer] : answers) {
    if (answer.place != Place::Waiting || !canEnter(answer)) {
      continue;
    }
    const JobTerms &terms = answer.job->terms;
    first = first ? first : &terms;
    if ((isFull && isAnyIn) || (most != 0 && going >= most) ||
        terms.priority != first->priority) {
      return;
    }
    enter(answer);
    isAnyIn = true;
    count(answer);
  }
}

/// Whether it has a mask, where it wants one; a prompt's answers go in
/// together.
bool Core::canEnter(const Answer &answer) const {
  if (!answer.job->terms.isMasked || !answer.job->prompt) {
    return !answer.lacksMask();
  }
  for (uint32_t i = 0; i < answer.job->options.numAnswers; ++i) {
    if (answers.at(orderOf(answer.job->terms, i)).lacksMask()) {
      return false;
    }
  }
  return true;
}

/// Into the session: all answers of a prompt together, or one that was there.
void Core::enter(Answer &answer) {
  Job &job = *answer.job;
  PrefixText text = job.text;
  text.tokens.insert(text.tokens.end(), answer.made.begin(), answer.made.end());
  bool finds = options.remembers && !job.options.echoes;
  uint64_t prefix = finds ? beginnings.find(text) : 0;
  answer.hasToken = false;
  if (!job.prompt) {
    // It is there: nobody but this object takes it out.
    (void)sequences->resume(answer.sequence(), prefix);
    sequences->setAllowed(answer.sequence(), answer.mask);
    answer.place = Place::In;
    return;
  }
  RequestOptions how = job.options;
  how.prefix = prefix;
  how.keeps = options.remembers;
  job.sequence = sequences->add(std::move(*job.prompt), how);
  job.prompt.reset();
  for (uint32_t i = 0; i < how.numAnswers; ++i) {
    Order order = orderOf(job.terms, i);
    auto found = answers.find(order);
    found->second.place = Place::In;
    bySequence[job.sequence + i] = order;
    sequences->setAllowed(job.sequence + i, found->second.mask);
  }
}

/// For a step that found none: what is only remembered goes first, then the
/// weakest. False when there is nobody.
bool Core::makeRoom(const Error &why, EventList &out) {
  if (evict()) {
    return true;
  }
  auto last = weakest([](const Answer &) { return true; });
  if (last == answers.end()) {
    return false;
  }
  auto first = std::find_if(answers.begin(), answers.end(), [](auto &each) {
    return each.second.place == Place::In;
  });
  if (first == last) {
    finish(last, TFC_FINISH_FAILED, out, &why);
  } else {
    preempt(last->second);
  }
  return true;
}

/// Twice as many as the last time there was no room. Never more than there
/// are: under load each step may leave somebody out, and a number that only
/// doubled would be 0 after 64 of them.
bool Core::evict() {
  size_t most = std::min(numEvicting, beginnings.numRetired());
  numEvicting = std::max<size_t>(1, 2 * most);
  bool hasAny = false;
  for (size_t i = 0; i < most; ++i) {
    uint64_t owner = beginnings.evict();
    if (owner == 0) {
      break;
    }
    (void)sequences->remove(owner);
    ++totals.n_evictions;
    hasAny = true;
  }
  return hasAny;
}

Core::Answers::iterator
Core::weakest(const std::function<bool(const Answer &)> &isMeant) {
  for (auto at = answers.end(); at != answers.begin();) {
    --at;
    if (at->second.place == Place::In && isMeant(at->second)) {
      return at;
    }
  }
  return answers.end();
}

void Core::leave(Answer &answer) {
  (void)sequences->pause(answer.sequence());
  beginnings.erase(answer.sequence());
  answer.place = Place::Waiting;
  answer.isHeld = false;
  isFull = true;
}

void Core::preempt(Answer &answer) {
  leave(answer);
  answer.preemptions += answer.hasBegun;
  totals.n_preemptions += answer.hasBegun;
}

/// A step was made: who has begun, and who found no room.
void Core::takeWaiting() {
  const std::vector<uint64_t> &left = sequences->leftOut();
  auto isLeft = [&](const Answer &answer) {
    return std::find(left.begin(), left.end(), answer.sequence()) != left.end();
  };
  for (auto &[order, answer] : answers) {
    if (answer.place == Place::In && !answer.hasBegun && !isLeft(answer)) {
      begin(answer);
    }
  }
  if (left.empty()) {
    numEvicting = 1;
    return;
  }
  if (evict()) {
    return;
  }
  int32_t most = 0;
  bool hasMost = false;
  for (uint64_t sequence : left) {
    int32_t priority = find(sequence)->job->terms.priority;
    most = hasMost ? std::max(most, priority) : priority;
    hasMost = true;
  }
  auto last = weakest([&](const Answer &answer) { return !isLeft(answer); });
  if (last != answers.end() && last->second.job->terms.priority < most) {
    preempt(last->second);
  }
  for (uint64_t sequence : left) {
    leave(*find(sequence));
  }
  // With the room that was made the strongest is asked again.
  isFull = isFull &&
           !(last != answers.end() && last->second.job->terms.priority < most);
}

void Core::begin(Answer &answer) {
  Job &job = *answer.job;
  answer.hasBegun = true;
  answer.begunAt = now;
  if (!job.isCounted) {
    job.isCounted = true;
    job.cached = static_cast<uint64_t>(sequences->sharedTokens(job.sequence));
    totals.prompt_tokens += job.promptTokens;
    totals.cached_tokens += job.cached;
  }
}

void Core::takeTokens(EventList &out) {
  for (const tfc_prompt_logprobs &piece : sequences->echoes()) {
    if (const Answer *answer = find(piece.sequence)) {
      out.addPrompt(answer->job->terms.id, piece);
    }
  }
  const auto &reports = sequences->logProbabilities();
  const std::vector<tfc_new_token> &made = sequences->newTokens();
  for (size_t i = 0; i < made.size(); ++i) {
    Answer *answer = find(made[i].sequence);
    if (!answer) {
      continue;
    }
    auto at = answers.find(orderOf(answer->job->terms, answer->index));
    if (made[i].state == TFC_FAILED) {
      Error why = faultOf(made[i].sequence, answer->index);
      finish(at, TFC_FINISH_FAILED, out, &why);
      continue;
    }
    out.addToken(answer->job->terms.id, answer->index, answer->made.size(),
                 made[i].token, reports.empty() ? nullptr : &reports[i]);
    answer->made.push_back(static_cast<int32_t>(made[i].token));
    ++totals.new_tokens;
    bool isOver = made[i].state != TFC_RUNNING;
    if (!answer->hasToken || isOver) {
      remember(*answer, isOver);
    }
    answer->hasToken = true;
    if (isOver) {
      finish(at, finishOf(made[i].state), out);
    } else if (answer->job->terms.isMasked) {
      hold(*answer);
    }
  }
}

/// Its mask was this token's: it stays in, with its cache, until the next
/// comes.
void Core::hold(Answer &answer) {
  answer.mask.clear();
  answer.isHeld = true;
  (void)sequences->hold(answer.sequence());
}

uint32_t Core::finishOf(uint32_t state) {
  return state == TFC_ENDED            ? TFC_FINISH_ENDED
         : state == TFC_LENGTH_REACHED ? TFC_FINISH_LENGTH
                                       : TFC_FINISH_STOPPED;
}

Error Core::faultOf(uint64_t sequence, uint32_t index) const {
  for (const tfc_sequence_fault &fault : sequences->faults()) {
    if (fault.sequence == sequence) {
      return describeFault(model, fault, concat("answer ", index));
    }
  }
  return makeError(Code::Internal, "expected a fault, got none");
}

/// What is in the cache of one that runs, or has ended: all but the last token.
void Core::remember(Answer &answer, bool isOver) {
  if (!options.remembers) {
    return;
  }
  PrefixText text = answer.job->text;
  text.tokens.insert(text.tokens.end(), answer.made.begin(),
                     answer.made.end() - 1);
  uint64_t sequence = answer.sequence();
  bool isNew = beginnings.insert(text, sequence);
  if (isOver && isNew) {
    beginnings.retire(sequence);
  } else if (isOver) {
    beginnings.erase(sequence);
    (void)sequences->remove(sequence);
  }
}

Status Core::stepTexts(const Clock &clock, EventList &out) {
  std::vector<EncodeJob *> jobs;
  for (auto &[order, each] : texts) {
    jobs.push_back(&each.job);
  }
  uint64_t before = clock();
  auto ran = encodeNext(model, jobs, options.maxBatchTokens,
                        options.session.engine.stop);
  if (!ran) {
    return std::move(ran.error());
  }
  now = clock();
  ++totals.n_encodes;
  totals.encoded_tokens += *ran;
  for (auto at = texts.begin(); at != texts.end();) {
    auto next = std::next(at);
    Texts &each = at->second;
    if (!each.hasBegun && each.job.numBegun != 0) {
      each.hasBegun = true;
      each.begunAt = before;
    }
    if (each.job.isOver()) {
      const Error *why = each.job.fault ? &*each.job.fault : nullptr;
      finish(at, why ? TFC_FINISH_FAILED : TFC_FINISH_ENCODED, out, why);
    }
    at = next;
  }
  return {};
}

} // namespace tfc::rt
