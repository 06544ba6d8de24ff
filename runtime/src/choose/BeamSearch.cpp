// Beam search: the step of _beam_search in transformers' generation/utils.py,
// operation by operation in f32.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/BeamSearch.h"

#include <limits>

namespace tfc::rt {

namespace {

/// What a score gets that must not be chosen. Not infinity: such scores still
/// have an order, and places that nothing better wants go to them.
constexpr float penalty = -1e9F;

float powerOf(int64_t length, double exponent) {
  return static_cast<float>(std::pow(static_cast<double>(length), exponent));
}

} // namespace

BeamSearch::BeamSearch(BeamOptions given, const std::vector<int32_t> &prompt,
                       int64_t width)
    : options(std::move(given)), width(width),
      promptLength(static_cast<int64_t>(prompt.size())),
      numTokens(promptLength) {
  // So many that numBeams of them go on, whatever end tokens are among them.
  int64_t numEos = static_cast<int64_t>(options.eos.size());
  numKept =
      std::min(std::max<int64_t>(2, 1 + numEos), width) * options.numBeams;
  size_t numBeams = static_cast<size_t>(options.numBeams);
  running.assign(numBeams, prompt);
  nextRunning.resize(numBeams);
  finished.assign(numBeams, {prompt, penalty, false});
  nextFinished.resize(numBeams);
  // All beams are the same at first: only one may be continued.
  runningScores.assign(numBeams, penalty);
  runningScores[0] = 0;
  beamParents.resize(numBeams);
  beamTokens.resize(numBeams);
}

void BeamSearch::step(const float *scores, int64_t stride,
                      std::optional<DrawKey> noise) {
  chooseCandidates(scores, stride, noise);
  // A NaN is before all others.
  float best = candidates.front().score;
  isBroken = std::isnan(best);
  isStuck = best == -std::numeric_limits<float>::infinity();
  if (isBroken || isStuck) {
    done = true;
    return;
  }
  finish();
  goOn();
  ++numTokens;
  checkEnd();
}

void BeamSearch::chooseCandidates(const float *scores, int64_t stride,
                                  std::optional<DrawKey> noise) {
  auto scoreAt = [&](int64_t index) {
    int64_t beam = index / width;
    return scores[beam * stride + index % width] + runningScores[beam];
  };
  // The same for indices in order, which needs no division.
  struct Walk {
    const float *row;
    int64_t stride, width;
    const float *sum;
    int64_t column = 0;

    float next() {
      if (column == width) {
        column = 0;
        row += stride;
        ++sum;
      }
      return row[column++] + *sum;
    }
  } walk{scores, stride, width, runningScores.data()};
  int64_t n = options.numBeams * width;
  if (noise) {
    GumbelNoise gumbel(*noise);
    findGreatest(
        n, numKept, [&](int64_t i) { return walk.next() + gumbel(i); }, order);
  } else {
    findGreatest(n, numKept, [&](int64_t) { return walk.next(); }, order);
  }
  candidates.clear();
  for (int64_t i = 0; i < numKept; ++i) {
    int64_t index = order[i].second;
    int64_t token = index % width;
    bool isEnd = numTokens + 1 >= options.maxLength ||
                 std::find(options.eos.begin(), options.eos.end(), token) !=
                     options.eos.end();
    candidates.push_back({scoreAt(index), static_cast<int32_t>(index / width),
                          static_cast<int32_t>(token), isEnd});
  }
}

bool BeamSearch::isFull() const {
  return std::all_of(finished.begin(), finished.end(),
                     [](const Hypothesis &place) { return place.isFinished; });
}

void BeamSearch::extend(const Candidate &candidate,
                        std::vector<int32_t> &to) const {
  const std::vector<int32_t> &from = running[candidate.parent];
  to.assign(from.begin(), from.end());
  to.push_back(candidate.token);
}

void BeamSearch::finish() {
  int64_t numBeams = options.numBeams;
  float divisor = powerOf(numTokens + 1 - promptLength, options.lengthPenalty);
  // Those behind the first numBeams are there to go on, not to be returned.
  auto isReturned = [&](int64_t i) {
    return candidates[i].isEnd && i < numBeams;
  };
  auto scoreAt = [&](int64_t i) {
    if (i < numBeams) {
      return finished[i].score;
    }
    float score = candidates[i - numBeams].score / divisor;
    return score + (isReturned(i - numBeams) ? 0 : penalty);
  };
  findGreatest(numBeams + numKept, numBeams, scoreAt, order);
  for (int64_t place = 0; place < numBeams; ++place) {
    auto [score, from] = order[place];
    Hypothesis &to = nextFinished[place];
    if (from < numBeams) {
      std::swap(to, finished[from]);
      continue;
    }
    to.score = score;
    to.isFinished = isReturned(from - numBeams);
    extend(candidates[from - numBeams], to.tokens);
  }
  std::swap(finished, nextFinished);
}

void BeamSearch::goOn() {
  auto scoreAt = [&](int64_t i) {
    return candidates[i].score + (candidates[i].isEnd ? penalty : 0);
  };
  findGreatest(numKept, options.numBeams, scoreAt, order);
  for (int64_t beam = 0; beam < options.numBeams; ++beam) {
    const Candidate &from = candidates[order[beam].second];
    runningScores[beam] = order[beam].first;
    beamParents[beam] = from.parent;
    beamTokens[beam] = from.token;
    extend(from, nextRunning[beam]);
  }
  std::swap(running, nextRunning);
}

void BeamSearch::checkEnd() {
  bool isNever = options.earlyStopping == EarlyStopping::Never;
  int64_t length =
      isNever && options.lengthPenalty > 0 ? options.maxLength : numTokens;
  float best =
      runningScores[0] / powerOf(length - promptLength, options.lengthPenalty);
  // An empty place has the penalty, so that anything improves it.
  float least = finished[0].score;
  for (const Hypothesis &place : finished) {
    least = std::min(least, place.score);
  }
  bool isClosed = options.earlyStopping == EarlyStopping::Yes && isFull();
  done =
      !(best > least) || isClosed ||
      std::all_of(candidates.begin(), candidates.end(),
                  [](const Candidate &candidate) { return candidate.isEnd; });
}

int64_t collectBest(const std::vector<BeamSearch> &searches,
                    int64_t numReturned, int64_t fill,
                    std::vector<int64_t> &rows) {
  size_t length = 0;
  for (const BeamSearch &search : searches) {
    for (int64_t i = 0; i < numReturned; ++i) {
      length = std::max(length, search.best()[i].tokens.size());
    }
  }
  rows.clear();
  for (const BeamSearch &search : searches) {
    for (int64_t i = 0; i < numReturned; ++i) {
      const std::vector<int32_t> &tokens = search.best()[i].tokens;
      rows.insert(rows.end(), tokens.begin(), tokens.end());
      rows.insert(rows.end(), length - tokens.size(), fill);
    }
  }
  return static_cast<int64_t>(length);
}

} // namespace tfc::rt
