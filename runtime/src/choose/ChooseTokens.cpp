// Chooses tokens, a row of scores an item of parallel work.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/ChooseTokens.h"

#include "runtime/src/choose/Sampling.h"
#include "runtime/src/threads/ForEach.h"

#include <limits>

namespace tfc::rt {

ScoreRows::ScoreRows(const Workers &threads)
    : threads(threads), workers(threads.count()) {}

void ScoreRows::growScores(int64_t width,
                           const std::vector<const Choice *> &choices) {
  auto isPlain = [](const Choice *choice) {
    return choice->rules.changesNothing();
  };
  if (std::all_of(choices.begin(), choices.end(), isPlain)) {
    return;
  }
  // No more workers than rows take part.
  size_t numWorkers = std::min(workers.size(), choices.size());
  for (size_t w = 0; w < numWorkers; ++w) {
    workers[w].scores.resize(static_cast<size_t>(width));
  }
}

/// The token, if its score, which no other one exceeds or which was drawn, is
/// one that a token can come with.
static int64_t checkScore(float score, int64_t token) {
  bool isForbidden = score == -std::numeric_limits<float>::infinity();
  return std::isnan(score) ? NotANumber : isForbidden ? NoneAllowed : token;
}

void ScoreRows::choose(const std::vector<float *> &rows, int64_t width,
                       const std::vector<const Choice *> &choices,
                       std::vector<int64_t> &tokens) {
  tokens.resize(choices.size());
  growScores(width, choices);
  forEach(threads, static_cast<int64_t>(choices.size()),
          [&](int64_t row, uint32_t worker) {
            const Choice &choice = *choices[row];
            const float *scores = rows[row];
            int64_t length = static_cast<int64_t>(choice.tokens.size());
            if (!choice.rules.changesNothing()) {
              Worker &own = workers[worker];
              std::copy(scores, scores + width, own.scores.begin());
              processScores(choice.rules,
                            {choice.tokens.data(), length, choice.promptLength,
                             choice.numPadding},
                            own.scores.data(), width, own.scratch);
              scores = own.scores.data();
            }
            uint32_t position =
                static_cast<uint32_t>(length - choice.promptLength);
            int64_t token =
                choice.rules.isSampled
                    ? drawToken(scores, width,
                                {choice.seed, choice.returnIndex, position})
                    : greatestScore(scores, width);
            tokens[row] = checkScore(scores[token], token);
          });
}

const float *
ScoreRows::logProbabilities(const float *logits, int64_t width,
                            const std::vector<const ScoreRules *> &rules,
                            const std::vector<TokenRow> &rows) {
  scores.resize(rows.size() * static_cast<size_t>(width));
  forEach(threads, static_cast<int64_t>(rows.size()),
          [&](int64_t row, uint32_t worker) {
            const float *from = logits + row * width;
            float *to = scores.data() + row * width;
            std::copy(from, from + width, to);
            logSoftmax(to, width);
            processScores(*rules[row], rows[row], to, width,
                          workers[worker].scratch);
          });
  return scores.data();
}

} // namespace tfc::rt
