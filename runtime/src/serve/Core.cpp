// Who goes first, who waits, who gives the cache back: jobs come and go.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/Core.h"

#include <algorithm>

namespace tfc::rt {

Result<std::unique_ptr<Core>> Core::create(const Model &model,
                                           const CoreOptions &options) {
  std::unique_ptr<Core> core(new Core(model, options));
  if (model.generateEntry()) {
    auto session = Session::create(model, options.session);
    if (!session) {
      return std::move(session.error());
    }
    core->sequences = std::move(*session);
    core->beginnings = PrefixIndex(
        std::max<int64_t>(1, core->sequences->cache().blockTokens()));
  }
  return core;
}

void Core::add(const JobTerms &terms, Prompt prompt,
               const RequestOptions &options) {
  auto job = std::make_shared<Job>();
  job->terms = terms;
  job->options = options;
  job->text.salt = terms.salt;
  job->text.tokens = prompt.choice.tokens;
  job->promptTokens = prompt.choice.tokens.size();
  if (prompt.source) {
    job->text.source = prompt.source->values.front();
    job->promptTokens = job->text.source.size();
  }
  job->prompt = std::move(prompt);
  // Who would go before all that wait may find room where they did not.
  auto first = std::find_if(answers.begin(), answers.end(), [](auto &each) {
    return each.second.place == Place::Waiting;
  });
  isFull = isFull && first != answers.end() && first->first < orderOf(terms, 0);
  for (uint32_t i = 0; i < options.numAnswers; ++i) {
    Answer answer;
    answer.job = job;
    answer.index = i;
    answers.emplace(orderOf(terms, i), std::move(answer));
  }
}

void Core::add(const JobTerms &terms, TextBatch batch) {
  Texts &added = texts[orderOf(terms, 0)];
  added.terms = terms;
  added.job.id = terms.id;
  added.job.batch = std::move(batch);
}

void Core::add(const JobTerms &terms, BeamJob search) {
  Search &added = searches[orderOf(terms, 0)];
  added.terms = terms;
  const Source *source = search.prompt.source.get();
  added.promptTokens = source ? static_cast<uint64_t>(source->numTokens())
                              : search.prompt.choice.tokens.size();
  added.job = std::move(search);
}

/// Those of a list that are meant end.
template <typename List, typename IsMeant, typename Finish>
static void endWhere(List &list, IsMeant isMeant, Finish finish) {
  for (auto at = list.begin(); at != list.end();) {
    auto next = std::next(at);
    if (isMeant(at->second)) {
      finish(at);
    }
    at = next;
  }
}

void Core::cancel(uint64_t job, EventList &out) {
  auto end = [&](auto at) { finish(at, TFC_FINISH_CANCELLED, out); };
  auto isOf = [job](const auto &each) { return each.terms.id == job; };
  endWhere(
      answers, [job](const auto &each) { return each.job->terms.id == job; },
      end);
  endWhere(texts, isOf, end);
  endWhere(searches, isOf, end);
}

void Core::setMask(TokenMask mask) {
  auto found = std::find_if(answers.begin(), answers.end(), [&](auto &each) {
    return each.second.job->terms.id == mask.job &&
           each.second.index == mask.index;
  });
  if (found == answers.end() || !found->second.lacksMask() ||
      found->second.made.size() != mask.position) {
    return;
  }
  Answer &answer = found->second;
  answer.mask = std::move(mask.bits);
  if (answer.isHeld) {
    answer.isHeld = false;
    sequences->setAllowed(answer.sequence(), answer.mask);
    (void)sequences->resume(answer.sequence());
  }
}

bool Core::waitsForMasks() const {
  return texts.empty() && searches.empty() && !answers.empty() &&
         std::all_of(answers.begin(), answers.end(),
                     [](const auto &each) { return each.second.lacksMask(); });
}

void Core::endAll(const Error *why, EventList &out) {
  uint32_t how = why ? TFC_FINISH_FAILED : TFC_FINISH_CANCELLED;
  while (!answers.empty()) {
    finish(answers.begin(), how, out, why);
  }
  while (!texts.empty()) {
    finish(texts.begin(), how, out, why);
  }
  while (!searches.empty()) {
    finish(searches.begin(), how, out, why);
  }
}

static bool isExpired(const JobTerms &terms, bool hasBegun, uint64_t now) {
  return (terms.deadline != 0 && now >= terms.deadline) ||
         (terms.queueDeadline != 0 && !hasBegun && now >= terms.queueDeadline);
}

void Core::expire(EventList &out) {
  auto end = [&](auto at) { finish(at, TFC_FINISH_EXPIRED, out); };
  endWhere(
      answers,
      [&](const Answer &each) {
        return isExpired(each.job->terms, each.hasBegun, now);
      },
      end);
  endWhere(
      texts,
      [&](const Texts &each) {
        return isExpired(each.terms, each.hasBegun, now);
      },
      end);
  endWhere(
      searches,
      [&](const Search &each) {
        return isExpired(each.terms, each.run != nullptr, now);
      },
      end);
}

tfc_job_event Core::endOf(const JobTerms &terms, uint32_t finish,
                          const Error *why) {
  tfc_job_event event{};
  event.job = terms.id;
  event.finish = finish;
  event.code = why ? static_cast<uint32_t>(why->code) : 0;
  return event;
}

/// Of a job that has begun, or has not.
void Core::setTimes(tfc_job_event &event, const JobTerms &terms, bool hasBegun,
                    uint64_t begunAt, uint64_t now) {
  event.queue_us = (hasBegun ? begunAt : now) - terms.arrival;
  event.run_us = hasBegun ? now - begunAt : 0;
}

void Core::finish(Answers::iterator at, uint32_t finish, EventList &out,
                  const Error *why) {
  Answer &answer = at->second;
  const Job &job = *answer.job;
  tfc_job_event event = endOf(job.terms, finish, why);
  event.index = answer.index;
  event.prompt_tokens = job.promptTokens;
  event.cached_tokens = answer.hasBegun ? job.cached : 0;
  event.new_tokens = answer.made.size();
  event.preemptions = answer.preemptions;
  setTimes(event, job.terms, answer.hasBegun, answer.begunAt, now);
  out.addEnd(event, why ? why->message : std::string());
  ++totals.n_finished[finish];
  bool isOver = finish == TFC_FINISH_ENDED || finish == TFC_FINISH_LENGTH ||
                finish == TFC_FINISH_STOPPED;
  if (!job.prompt && !isOver) {
    // One that has failed is not there any more.
    (void)sequences->remove(answer.sequence());
    beginnings.erase(answer.sequence());
  }
  if (!job.prompt) {
    bySequence.erase(answer.sequence());
  }
  answers.erase(at);
  isFull = false;
}

void Core::finish(std::map<Order, Texts>::iterator at, uint32_t finish,
                  EventList &out, const Error *why) {
  Texts &ended = at->second;
  tfc_job_event event = endOf(ended.terms, finish, why);
  event.prompt_tokens = ended.job.batch.numTokens();
  setTimes(event, ended.terms, ended.hasBegun, ended.begunAt, now);
  if (finish == TFC_FINISH_ENCODED) {
    encoded[ended.terms.id] = std::move(ended.job.results);
  }
  out.addEnd(event, why ? why->message : std::string());
  ++totals.n_finished[finish];
  texts.erase(at);
}

Core::Answer *Core::find(uint64_t sequence) {
  auto found = bySequence.find(sequence);
  return found == bySequence.end() ? nullptr : &answers.at(found->second);
}

tfc_scheduler_stats Core::stats() const {
  tfc_scheduler_stats result = totals;
  for (const auto &[order, answer] : answers) {
    bool waits = answer.place == Place::Waiting;
    ++(waits ? result.n_waiting : result.n_running);
    // A prompt once.
    bool isQueued = answer.job->prompt && answer.index == 0;
    result.queue_tokens += isQueued ? answer.job->promptTokens : 0;
  }
  for (const auto &[order, each] : texts) {
    ++(each.hasBegun ? result.n_running : result.n_waiting);
    result.queue_tokens += each.hasBegun ? 0 : each.job.batch.numTokens();
  }
  for (const auto &[order, each] : searches) {
    (each.run ? result.n_running : result.n_waiting) += each.job.numAnswers;
    result.queue_tokens += each.run ? 0 : each.promptTokens;
  }
  if (sequences) {
    SessionState state = sequences->state();
    CacheBytes cache = state.cache;
    result.drafted_tokens = state.drafts.drafted;
    result.accepted_tokens = state.drafts.accepted;
    result.remembered_bytes = sequences->keptBytes();
    result.cache_bytes = cache.used - result.remembered_bytes;
    result.max_cache_bytes = cache.most;
    const BlockCache &own = sequences->cache();
    result.block_tokens = static_cast<uint64_t>(own.blockTokens());
    result.max_blocks = static_cast<uint64_t>(own.capacity());
  }
  return result;
}

} // namespace tfc::rt
