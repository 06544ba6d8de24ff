// Beam search over one prompt as Hugging Face's generate does it, without a
// model: scores come in, parents and tokens go out. Prompts of a batch do not
// influence each other, so each has its own.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_BEAMSEARCH_H
#define TFC_RUNTIME_SRC_CHOOSE_BEAMSEARCH_H

#include "runtime/src/choose/FindGreatest.h"
#include "runtime/src/choose/Sampling.h"

#include <optional>

namespace tfc::rt {

/// When a search ends before maxLength. No: when the worst finished sequence is
/// better than the best running one is now, its length being what it is. Yes:
/// when numBeams sequences have finished. Never: as No, but with the length
/// that would be best for the running one.
enum class EarlyStopping { No = 0, Yes = 1, Never = 2 };

/// The names are those of Hugging Face's GenerationConfig.
struct BeamOptions {
  int64_t numBeams = 1;
  int64_t maxLength = 0; // of the sequence, prompt included
  double lengthPenalty = 1;
  EarlyStopping earlyStopping = EarlyStopping::No;
  std::vector<int64_t> eos;
};

/// A sequence and its score: the sum of its tokens' scores over the
/// lengthPenalty-th power of their number.
struct Hypothesis {
  std::vector<int32_t> tokens; // the prompt's first
  float score = 0;
  bool isFinished = false; // else the place is still empty
};

class BeamSearch {
public:
  /// A prompt of at least one token and less than maxLength; scores come in
  /// rows of `width`, from token 0 on.
  BeamSearch(BeamOptions options, const std::vector<int32_t> &prompt,
             int64_t width);

  /// One step: `scores` has a row a running beam, in their order, `stride`
  /// apart: the processed logarithms of the next token's probabilities. A
  /// stride of 0 gives all beams the same row, as the first step does. With
  /// noise the continuations are drawn, otherwise they are the best; among
  /// equals in the order of torch.topk. Not after isDone().
  void step(const float *scores, int64_t stride,
            std::optional<DrawKey> noise = std::nullopt);

  /// Whether no step can change the result any more.
  bool isDone() const { return done; }
  /// Why it is done though its sequences could be longer: no token can come, or
  /// scores are no numbers. `best` has what had finished by then.
  bool hasNoneAllowed() const { return isStuck; }
  bool hasNaN() const { return isBroken; }

  /// After a step, of each running beam: which one before it continues, and
  /// with which token.
  const std::vector<int32_t> &parents() const { return beamParents; }
  const std::vector<int32_t> &tokens() const { return beamTokens; }
  /// The whole sequence of a running beam, its newest token last.
  const std::vector<int32_t> &sequence(int64_t beam) const {
    return running[beam];
  }
  /// Tokens of every running sequence, the prompt's included.
  int64_t length() const { return numTokens; }

  /// The best finished sequences, numBeams places, best first.
  const std::vector<Hypothesis> &best() const { return finished; }

private:
  /// A continuation of a running beam.
  struct Candidate {
    float score; // of all its tokens
    int32_t parent, token;
    bool isEnd;
  };

  void chooseCandidates(const float *scores, int64_t stride,
                        std::optional<DrawKey> noise);
  void finish();
  void goOn();
  void checkEnd();
  bool isFull() const;
  void extend(const Candidate &candidate, std::vector<int32_t> &to) const;

  BeamOptions options;
  int64_t width, promptLength, numTokens, numKept;
  bool done = false, isStuck = false, isBroken = false;
  std::vector<std::vector<int32_t>> running, nextRunning;
  std::vector<float> runningScores;
  std::vector<Hypothesis> finished, nextFinished;
  std::vector<int32_t> beamParents, beamTokens;
  std::vector<Candidate> candidates; // the best ones, numKept
  std::vector<Ranked> order;         // scratch of a ranking
};

/// The `numReturned` best of each search in rows of the longest one's length,
/// filled up with `fill`. Returns the length.
int64_t collectBest(const std::vector<BeamSearch> &searches,
                    int64_t numReturned, int64_t fill,
                    std::vector<int64_t> &rows);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_BEAMSEARCH_H
