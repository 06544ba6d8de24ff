// How the scores of the next token are changed before one is chosen: Hugging
// Face's logits processors, in the order in which its generate applies them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_CHOOSE_PROCESSSCORES_H
#define TFC_RUNTIME_SRC_CHOOSE_PROCESSSCORES_H

#include "runtime/src/choose/FindGreatest.h"

namespace tfc::rt {

/// What to change; the names are those of Hugging Face's GenerationConfig. The
/// defaults change nothing.
struct ScoreRules {
  std::vector<int64_t> eos; // end tokens, for the two least lengths
  /// Added to the scores of these tokens, before anything else.
  std::vector<std::pair<int64_t, float>> bias;
  /// Tokens that may come, a bit each, the lowest first; what it has no bit of
  /// may not. Empty: all may. Looked at behind the bias.
  std::vector<uint32_t> allowed;
  double repetitionPenalty = 1;                     // more than 0
  double presencePenalty = 0, frequencyPenalty = 0; // OpenAI's; 0: off
  int64_t noRepeatNgram = 0;                        // 0: off
  int64_t minLength = 0; // of the sequence, prompt included
  int64_t minNewTokens = 0;
  int64_t forcedBos = -1; // the token after a first one; -1: none
  int64_t forcedEos = -1; // the last token of maxLength; -1: none
  int64_t maxLength = 0;  // of the sequence, prompt included
  /// Tokens that never come, and those that are not the first new one, or,
  /// where that is forced, the second one.
  std::vector<int64_t> suppressed, notFirst;
  /// Tokens from this one on are times (see tfc_decoding_options); 0: none are.
  /// The first time of a sequence is at most so many behind it; -1: any.
  int64_t timestampBegin = 0, maxInitialTimestamp = -1;

  // The rest is for draws alone.
  bool isSampled = false;
  double temperature = 1; // more than 0
  int64_t topK = 0;       // 0: off
  double topP = 1;        // of [0, 1]; 1: off
  double minP = 0;        // of [0, 1]; 0: off
  int64_t minKept = 1;    // tokens that topK, topP and minP leave at least

  /// Whether scores can differ from what they were.
  bool changesNothing() const;
  /// Whether the token is that of the greatest score, as the model has them.
  bool isGreatest() const { return !isSampled && changesNothing(); }
};

/// The sequence so far, as Hugging Face's input_ids have it: padding included.
struct TokenRow {
  const int32_t *tokens = nullptr;
  int64_t length = 0;
  int64_t promptLength = 0; // of its tokens
  int64_t numPadding = 0;   // of its first tokens; repetitions begin behind
};

/// What the functions below need for a while; keeps its memory.
struct ScoreScratch {
  std::vector<float> values;
  std::vector<int32_t> order;
  std::vector<Ranked> ranked;
};

/// scores[i] -= log of the sum of the exponentials of all scores, in f32.
void logSoftmax(float *scores, int64_t width);

/// Applies the rules to `width` scores, of token 0 on: logits, or their
/// logarithms of probabilities in a beam search. A token that may not come gets
/// minus infinity. Tokens outside [0, width) in the sequence and in the rules
/// are passed over. Computes in f32, as Hugging Face does; among equal scores
/// topP removes the lower token first.
void processScores(const ScoreRules &rules, const TokenRow &row, float *scores,
                   int64_t width, ScoreScratch &scratch);

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_CHOOSE_PROCESSSCORES_H
