// Logits processors and warpers, one function each.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/ProcessScores.h"

#include <limits>

namespace tfc::rt {

namespace {

constexpr float never = -std::numeric_limits<float>::infinity();

/// The greatest score and the sum of the exponentials of all of them relative
/// to it. The sum is no positive finite number where a probability is none:
/// scores with a NaN or plus infinity, or minus infinity everywhere.
struct Exponentials {
  float greatest = never;
  double sum = 0;

  Exponentials(const float *scores, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
      greatest = isGreater(scores[i], greatest) ? scores[i] : greatest;
    }
    for (int64_t i = 0; i < width; ++i) {
      // Most scores are minus infinity once some have been removed.
      sum += scores[i] == never ? 0 : std::exp(scores[i] - greatest);
    }
  }

  bool isDistribution() const { return std::isfinite(sum) && sum > 0; }
  float probability(float score) const {
    return static_cast<float>(std::exp(score - greatest) / sum);
  }
};

class Processor {
public:
  Processor(const ScoreRules &rules, const TokenRow &row, float *scores,
            int64_t width, ScoreScratch &scratch)
      : rules(rules), row(row), scores(scores), width(width), scratch(scratch) {
  }

  void addBias() {
    for (auto [token, bias] : rules.bias) {
      if (isToken(token)) {
        scores[token] += bias;
      }
    }
  }

  void forbidUnlisted() {
    const std::vector<uint32_t> &allowed = rules.allowed;
    for (int64_t i = 0; i < width; ++i) {
      size_t word = static_cast<size_t>(i) / 32;
      bool isListed =
          word < allowed.size() && ((allowed[word] >> (i % 32)) & 1) != 0;
      scores[i] = isListed ? scores[i] : never;
    }
  }

  void penalizeRepetitions() {
    float penalty = static_cast<float>(rules.repetitionPenalty);
    std::vector<float> &penalized = scratch.values;
    penalized.clear();
    // All are computed before one is written: a token may come twice.
    for (int64_t i = row.numPadding; i < row.length; ++i) {
      float score = isToken(row.tokens[i]) ? scores[row.tokens[i]] : 0;
      penalized.push_back(score < 0 ? score * penalty : score / penalty);
    }
    for (int64_t i = row.numPadding; i < row.length; ++i) {
      set(row.tokens[i], penalized[i - row.numPadding]);
    }
  }

  /// score - frequencyPenalty * count - presencePenalty of each token that is
  /// `count` times among the new ones.
  void penalizeNewTokens() {
    std::vector<int32_t> &tokens = scratch.order;
    tokens.assign(row.tokens + row.promptLength, row.tokens + row.length);
    std::sort(tokens.begin(), tokens.end());
    float frequency = static_cast<float>(rules.frequencyPenalty);
    float presence = static_cast<float>(rules.presencePenalty);
    for (auto begin = tokens.begin(), end = begin; begin != tokens.end();
         begin = end) {
      end = std::upper_bound(begin, tokens.end(), *begin);
      if (isToken(*begin)) {
        scores[*begin] -= frequency * static_cast<float>(end - begin);
        scores[*begin] -= presence;
      }
    }
  }

  /// A token may not end an n-gram that is already there.
  void forbidRepeatedNgrams() {
    int64_t n = rules.noRepeatNgram;
    const int32_t *suffix = row.tokens + row.length + 1 - n;
    for (int64_t i = 0; i + n <= row.length; ++i) {
      const int32_t *gram = row.tokens + i;
      if (std::equal(gram, gram + n - 1, suffix)) {
        set(gram[n - 1], never);
      }
    }
  }

  void forbid(const std::vector<int64_t> &tokens) {
    for (int64_t token : tokens) {
      set(token, never);
    }
  }

  void force(int64_t token) {
    std::fill_n(scores, width, never);
    set(token, 0);
  }

  /// Whisper's times: in pairs, never back.
  void keepTimesInOrder() {
    int64_t first = rules.timestampBegin;
    set(first - 1, never);
    const int32_t *tokens = row.tokens + row.promptLength;
    int64_t count = row.length - row.promptLength;
    bool isTime = count >= 1 && tokens[count - 1] >= first;
    bool isPair = isTime && (count < 2 || tokens[count - 2] >= first);
    int64_t last = count - 1;
    while (last >= 0 && tokens[last] < first) {
      --last;
    }
    if (isPair) {
      forbidFrom(first, width);
    } else if (isTime) {
      auto end = std::min_element(rules.eos.begin(), rules.eos.end());
      forbidFrom(0, end == rules.eos.end() ? first : *end);
    }
    if (last >= 0) {
      // The second of a pair may be the same, another one is later.
      forbidFrom(first, tokens[last] + (isTime && !isPair ? 0 : 1));
    }
    if (count == 0) {
      forbidFrom(0, first);
      if (rules.maxInitialTimestamp >= 0 &&
          rules.maxInitialTimestamp < width - first) {
        forbidFrom(first + rules.maxInitialTimestamp + 1, width);
      }
    }
  }

  /// Leaves times alone where one of them is likelier than any other token.
  void preferTimes() {
    int64_t first = std::min(rules.timestampBegin, width);
    Exponentials times(scores + first, width - first);
    float text = never;
    for (int64_t i = 0; i < first; ++i) {
      text = isGreater(scores[i], text) ? scores[i] : text;
    }
    if (times.isDistribution() &&
        times.greatest + static_cast<float>(std::log(times.sum)) > text) {
      forbidFrom(0, first);
    }
  }

  void divideByTemperature() {
    float temperature = static_cast<float>(rules.temperature);
    for (int64_t i = 0; i < width; ++i) {
      scores[i] /= temperature;
    }
  }

  /// Of the scores that equal the last of the best k, all are kept.
  void keepTopK() {
    int64_t k = std::max(rules.topK, rules.minKept);
    if (k >= width) {
      return;
    }
    findGreatest(
        width, k, [&](int64_t i) { return scores[i]; }, scratch.ranked);
    float least = scratch.ranked[k - 1].first;
    for (int64_t i = 0; i < width; ++i) {
      scores[i] = scores[i] < least ? never : scores[i];
    }
  }

  /// Removes what, counted from the least score on, has together at most a
  /// probability of 1 - topP.
  void keepTopP() {
    Exponentials sums(scores, width);
    if (!sums.isDistribution()) {
      return;
    }
    double rest = listTokens(sums);
    float removable = static_cast<float>(1 - rules.topP);
    std::vector<int32_t> &order = scratch.order;
    std::vector<float> &kept = scratch.values;
    auto isLess = [&](int32_t a, int32_t b) {
      return scores[a] != scores[b] ? scores[a] < scores[b] : a < b;
    };
    std::make_heap(order.begin(), order.end(), isLess);
    kept.clear();
    // From the greatest on, which go to the end of `order`; most draws need
    // few of them.
    size_t count = 0;
    while (count < order.size() &&
           (static_cast<int64_t>(count) < rules.minKept ||
            static_cast<float>(rest) > removable)) {
      float score = scores[order.front()];
      rest -= sums.probability(score);
      kept.push_back(score);
      std::pop_heap(order.begin(), order.end() - static_cast<int64_t>(count),
                    isLess);
      ++count;
    }
    std::fill_n(scores, width, never);
    for (size_t i = 0; i < count; ++i) {
      scores[order[order.size() - 1 - i]] = kept[i];
    }
  }

  /// Removes what is less likely than minP times the likeliest.
  void keepMinP() {
    Exponentials sums(scores, width);
    if (!sums.isDistribution()) {
      return;
    }
    float least =
        static_cast<float>(rules.minP) * sums.probability(sums.greatest);
    int64_t k = std::min(rules.minKept, width);
    std::vector<float> &kept = scratch.values;
    kept.clear();
    findGreatest(
        width, k, [&](int64_t i) { return sums.probability(scores[i]); },
        scratch.ranked);
    for (int64_t i = 0; i < k; ++i) {
      kept.push_back(scores[scratch.ranked[i].second]);
    }
    for (int64_t i = 0; i < width; ++i) {
      scores[i] = sums.probability(scores[i]) < least ? never : scores[i];
    }
    for (int64_t i = 0; i < k; ++i) {
      scores[scratch.ranked[i].second] = kept[i];
    }
  }

private:
  void forbidFrom(int64_t begin, int64_t end) {
    for (int64_t i = begin; i < std::min(end, width); ++i) {
      scores[i] = never;
    }
  }
  bool isToken(int64_t token) const { return token >= 0 && token < width; }
  void set(int64_t token, float score) {
    if (isToken(token)) {
      scores[token] = score;
    }
  }

  /// Lists the tokens that may come; returns the sum of their probabilities.
  double listTokens(const Exponentials &sums) {
    double total = 0;
    scratch.order.clear();
    for (int64_t i = 0; i < width; ++i) {
      if (scores[i] != never) {
        scratch.order.push_back(static_cast<int32_t>(i));
        total += sums.probability(scores[i]);
      }
    }
    return total;
  }

  const ScoreRules &rules;
  const TokenRow &row;
  float *scores;
  int64_t width;
  ScoreScratch &scratch;
};

} // namespace

bool ScoreRules::changesNothing() const {
  bool hasEnd = !eos.empty() && (minLength > 0 || minNewTokens > 0);
  bool isWarped =
      isSampled && (temperature != 1 || topK > 0 || topP < 1 || minP > 0);
  bool isPenalized =
      repetitionPenalty != 1 || presencePenalty != 0 || frequencyPenalty != 0;
  return !isPenalized && noRepeatNgram == 0 && !hasEnd && forcedBos < 0 &&
         forcedEos < 0 && !isWarped && bias.empty() && allowed.empty() &&
         suppressed.empty() && notFirst.empty() && timestampBegin == 0;
}

void logSoftmax(float *scores, int64_t width) {
  Exponentials sums(scores, width);
  float log = static_cast<float>(std::log(sums.sum));
  for (int64_t i = 0; i < width; ++i) {
    scores[i] = scores[i] - sums.greatest - log;
  }
}

void processScores(const ScoreRules &rules, const TokenRow &row, float *scores,
                   int64_t width, ScoreScratch &scratch) {
  Processor processor(rules, row, scores, width, scratch);
  processor.addBias();
  if (!rules.allowed.empty()) {
    processor.forbidUnlisted();
  }
  if (rules.repetitionPenalty != 1) {
    processor.penalizeRepetitions();
  }
  if (rules.presencePenalty != 0 || rules.frequencyPenalty != 0) {
    processor.penalizeNewTokens();
  }
  if (rules.noRepeatNgram > 0 && row.length >= rules.noRepeatNgram) {
    processor.forbidRepeatedNgrams();
  }
  if (row.length < rules.minLength ||
      row.length - row.promptLength < rules.minNewTokens) {
    processor.forbid(rules.eos);
  }
  if (rules.forcedBos >= 0 && row.length == 1) {
    processor.force(rules.forcedBos);
  }
  if (rules.forcedEos >= 0 && row.length == rules.maxLength - 1) {
    processor.force(rules.forcedEos);
  }
  processor.forbid(rules.suppressed);
  bool isForced = rules.forcedBos >= 0 && row.promptLength == 1;
  if (row.length == row.promptLength + isForced) {
    processor.forbid(rules.notFirst);
  }
  if (rules.timestampBegin > 0) {
    processor.keepTimesInOrder();
    processor.preferTimes();
  }
  if (!rules.isSampled) {
    return;
  }
  if (rules.temperature != 1) {
    processor.divideByTemperature();
  }
  if (rules.topK > 0) {
    processor.keepTopK();
  }
  if (rules.topP < 1) {
    processor.keepTopP();
  }
  if (rules.minP > 0) {
    processor.keepMinP();
  }
}

} // namespace tfc::rt
