// Drafts: guesses of the tokens that come next, which a step runs behind the
// token that is known. A guess is taken only where it is the token that would
// have come, so nothing here can change an answer.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_SRC_SESSION_DRAFTS_H
#define TFC_RUNTIME_SRC_SESSION_DRAFTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tfc::rt {

/// Prompt lookup: what came behind the place that `tokens` end like, two tokens
/// at least, in `tokens` themselves or, where nothing in them does, in `source`
/// (null: there is none). Of several places the one that is like it for
/// longest, and of those the last; behind the end of `tokens` what was said of
/// it already is said again. At most `most` tokens, all from 0 on and below
/// `limit`; none where no place is like it.
std::vector<int32_t> lookUpDraft(const std::vector<int32_t> &tokens,
                                 const std::vector<int32_t> *source,
                                 int64_t most, int64_t limit);

/// How many tokens of a sequence are worth a guess, by how many guesses were
/// right; where too few are it pauses, longer each time.
class DraftLength {
public:
  /// cost: of a guess, in steps of the model; 0: nothing but its row. One that
  /// could not pay if all were right is never made.
  explicit DraftLength(double cost = 0) : cost(cost) {}

  /// Once a step in which there might be a draft; 0: none.
  int64_t next();
  /// A step has run `drafted` guesses, of which the first `accepted` were
  /// right.
  void learn(int64_t drafted, int64_t accepted);

private:
  struct Best {
    int64_t length;
    double gain; // tokens a step, by what it costs
  };
  Best bestWith(double rate) const;
  int64_t length() const;
  bool pays() const;

  double cost;
  double rate = 0.5; // of guesses that follow right ones, how many are right
  int64_t pause = 0, nextPause = 1; // steps
};

} // namespace tfc::rt

#endif // TFC_RUNTIME_SRC_SESSION_DRAFTS_H
