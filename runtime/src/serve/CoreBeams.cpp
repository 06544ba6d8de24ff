// Beam searches of a scheduler: one at a time, a step of it beside each step of
// the others, in a cache of its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/serve/Core.h"

#include <algorithm>

namespace tfc::rt {

/// One that has begun goes on to its end; then the first in order does.
Status Core::stepSearches(const Clock &clock, EventList &out) {
  auto at = std::find_if(searches.begin(), searches.end(),
                         [](auto &each) { return each.second.run != nullptr; });
  at = at == searches.end() ? searches.begin() : at;
  Search &search = at->second;
  Status status = stepSearch(search, now);
  now = clock();
  std::optional<Error> why =
      status ? faultOf(search) : std::optional<Error>(status.error());
  if (!status && status.error().code != Code::Exhausted &&
      status.error().code != Code::Incompatible) {
    return status;
  }
  if (why) {
    finish(at, TFC_FINISH_FAILED, out, &*why);
  } else if (search.run->isDone()) {
    giveBest(at, out);
  }
  return {};
}

Status Core::stepSearch(Search &search, uint64_t begin) {
  if (!search.run) {
    auto made = BeamGeneration::create(
        model, {search.job.cacheBytes, options.session.engine.stop});
    if (!made) {
      return std::move(made.error());
    }
    search.run = std::move(*made);
    search.run->add(std::move(search.job.prompt), search.job.options);
    search.begunAt = begin;
    totals.prompt_tokens += search.promptTokens;
  }
  ++totals.n_steps;
  return search.run->step();
}

/// Why a search that is over has fewer sequences than it is asked for.
std::optional<Error> Core::faultOf(const Search &search) const {
  const BeamSearch &found = search.run->searches().front();
  bool isWhole = found.best()[search.job.numAnswers - 1].isFinished;
  if (!found.hasNaN() && (!found.hasNoneAllowed() || isWhole)) {
    return std::nullopt;
  }
  tfc_sequence_fault fault{};
  fault.code = TFC_INVALID_ARGUMENT;
  fault.reason =
      found.hasNaN() ? TFC_FAULT_NOT_A_NUMBER : TFC_FAULT_NONE_ALLOWED;
  return describeFault(model, fault, "beams");
}

/// Answer i is the i-th best sequence; all of it comes at once.
void Core::giveBest(Searches::iterator at, EventList &out) {
  const Search &search = at->second;
  const std::vector<int64_t> &eos = search.job.options.eos;
  const std::vector<Hypothesis> &best = search.run->searches().front().best();
  for (uint32_t i = 0; i < search.job.numAnswers; ++i) {
    const std::vector<int32_t> &tokens = best[i].tokens;
    size_t numNew = tokens.size() - search.run->promptLength(0);
    for (size_t t = 0; t < numNew; ++t) {
      out.addToken(search.terms.id, i, t, tokens[tokens.size() - numNew + t],
                   nullptr);
    }
    totals.new_tokens += numNew;
    bool hasEnded =
        std::find(eos.begin(), eos.end(), tokens.back()) != eos.end();
    addEnd(search, i, hasEnded ? TFC_FINISH_ENDED : TFC_FINISH_LENGTH, numNew,
           nullptr, out);
  }
  searches.erase(at);
}

void Core::addEnd(const Search &search, uint32_t index, uint32_t finish,
                  uint64_t numNew, const Error *why, EventList &out) {
  tfc_job_event event = endOf(search.terms, finish, why);
  event.index = index;
  event.prompt_tokens = search.promptTokens;
  event.new_tokens = numNew;
  setTimes(event, search.terms, search.run != nullptr, search.begunAt, now);
  out.addEnd(event, why ? why->message : std::string());
  ++totals.n_finished[finish];
}

void Core::finish(Searches::iterator at, uint32_t finish, EventList &out,
                  const Error *why) {
  for (uint32_t i = 0; i < at->second.job.numAnswers; ++i) {
    addEnd(at->second, i, finish, 0, why, out);
  }
  searches.erase(at);
}

} // namespace tfc::rt
