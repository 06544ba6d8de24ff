// Which token comes next in each of several sequences.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_CHOOSETOKENS_H
#define TFC_RUNTIME_SRC_CHOOSE_CHOOSETOKENS_H

#include "runtime/src/choose/ProcessScores.h"
#include "runtime/src/threads/Workers.h"

namespace tfc::rt {

/// How the tokens of a sequence are chosen, and what the choice looks at. The
/// default: the likeliest token, of any length.
struct Choice {
  ScoreRules rules;
  uint64_t seed = 0;
  uint32_t returnIndex = 0; // among the sequences returned for a prompt
  /// The sequence so far, as Hugging Face's input_ids have it: padding
  /// included. The caller appends what is chosen.
  std::vector<int32_t> tokens;
  int64_t promptLength = 0, numPadding = 0;
};

/// What is chosen where no token can come.
enum NoToken : int64_t {
  NoneAllowed = -1, // all scores are minus infinity
  NotANumber = -2   // a score is a NaN
};

/// Scores of rows, processed side by side; keeps its memory.
class ScoreRows {
public:
  /// Memory for these workers.
  explicit ScoreRows(const Workers &threads);

  /// The next token of every sequence: of its row of `width` logits and its
  /// choice. tokens[i] is the one of rows[i] and choices[i], or a NoToken.
  void choose(const std::vector<float *> &rows, int64_t width,
              const std::vector<const Choice *> &choices,
              std::vector<int64_t> &tokens);

  /// The processed logarithms of the probabilities, a row a sequence: what a
  /// beam search takes. Valid until the next call.
  const float *logProbabilities(const float *logits, int64_t width,
                                const std::vector<const ScoreRules *> &rules,
                                const std::vector<TokenRow> &rows);

private:
  struct Worker {
    std::vector<float> scores;
    ScoreScratch scratch;
  };

  /// A row of scores for every worker, where a choice needs one: on the
  /// caller's thread, before the loop.
  void growScores(int64_t width, const std::vector<const Choice *> &choices);

  const Workers threads;
  std::vector<Worker> workers;
  std::vector<float> scores;
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_CHOOSETOKENS_H
