// Reads how tokens are chosen.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"

#include <limits>

namespace tfc::rt {

tfc_decoding_options defaultDecoding(const tfc_module_v0 &table) {
  const tfc_generation_v0 &from = *table.generation;
  tfc_decoding_options options{};
  options.struct_size = sizeof(options);
  options.forced_bos = from.forced_bos;
  options.forced_eos = from.forced_eos;
  options.min_length = from.min_length;
  options.no_repeat_ngram = from.no_repeat_ngram;
  options.repetition_penalty = from.repetition_penalty;
  options.num_beams = from.num_beams;
  options.num_return_sequences = 1;
  options.early_stopping = from.early_stopping;
  options.do_sample = from.do_sample;
  options.top_k = from.top_k;
  options.length_penalty = from.length_penalty;
  options.temperature = from.temperature;
  options.top_p = from.top_p;
  options.min_p = from.min_p;
  options.suppress = from.suppress;
  options.n_suppress = from.n_suppress;
  options.begin_suppress = from.begin_suppress;
  options.n_begin_suppress = from.n_begin_suppress;
  options.max_initial_timestamp = -1;
  return options;
}

namespace {

class Checker {
public:
  Faults faults;

  template <typename T>
  void expect(bool isGood, const char *name, const char *expected, T got) {
    if (!isGood) {
      faults.add(makeError(Code::InvalidArgument, name, ": expected ", expected,
                           ", got ", got));
    }
  }

  void expectToken(const char *name, int64_t token, int64_t vocabulary) {
    if (token < -1 || token >= vocabulary) {
      faults.add(makeError(Code::InvalidArgument, name, ": expected -1 or a ",
                           "token id below ", vocabulary, ", got ", token));
    }
  }

  void expectTokens(const char *name, const int64_t *tokens, uint32_t count,
                    int64_t vocabulary) {
    expect(tokens || count == 0, name, "tokens", "null");
    for (uint32_t i = 0; tokens && i < count; ++i) {
      expect(tokens[i] >= 0 && tokens[i] < vocabulary, name,
             concat("token ids from 0 to ", vocabulary - 1).c_str(), tokens[i]);
    }
  }

  void expectShare(const char *name, double value) {
    // A NaN is no share either.
    expect(value >= 0 && value <= 1, name, "a number from 0 to 1", value);
  }

  void expectFloat(const char *name, double value) {
    expect(std::isfinite(static_cast<float>(value)), name,
           "a number that a float can be", value);
  }

  /// Above 0 as a float too, which is what it is computed with.
  void expectPositive(const char *name, double value) {
    float used = static_cast<float>(value);
    expect(used > 0 && std::isfinite(used), name,
           value > 0 ? "a number above 0 as a float" : "a number above 0",
           value);
  }
};

} // namespace

Status checkDecoding(const tfc_decoding_options &options, int64_t vocabulary) {
  Checker checker;
  checker.expectToken("forced_bos", options.forced_bos, vocabulary);
  checker.expectToken("forced_eos", options.forced_eos, vocabulary);
  checker.expectTokens("suppress", options.suppress, options.n_suppress,
                       vocabulary);
  checker.expectTokens("begin_suppress", options.begin_suppress,
                       options.n_begin_suppress, vocabulary);
  checker.expect(
      options.timestamp_begin >= 0 && options.timestamp_begin < vocabulary,
      "timestamp_begin", concat("0 or a token id below ", vocabulary).c_str(),
      options.timestamp_begin);
  checker.expect(options.max_initial_timestamp >= -1, "max_initial_timestamp",
                 "a number from -1 on", options.max_initial_timestamp);
  for (auto [name, value] :
       {std::pair("min_length", options.min_length),
        std::pair("min_new_tokens", options.min_new_tokens),
        std::pair("no_repeat_ngram", options.no_repeat_ngram)}) {
    checker.expect(value >= 0, name, "a number from 0 on", value);
  }
  checker.expectPositive("repetition_penalty", options.repetition_penalty);
  checker.expectFloat("presence_penalty", options.presence_penalty);
  checker.expectFloat("frequency_penalty", options.frequency_penalty);
  checker.expect(options.num_beams >= 1 && options.num_beams <= 1024,
                 "num_beams", "a number from 1 to 1024", options.num_beams);
  uint32_t numReturned = options.num_return_sequences;
  checker.expect(numReturned >= 1, "num_return_sequences", "at least 1",
                 numReturned);
  checker.expect(numReturned <= 1024, "num_return_sequences", "at most 1024",
                 numReturned);
  bool isGreedy = options.num_beams == 1 && options.do_sample == 0;
  checker.expect(!isGreedy || numReturned <= 1, "num_return_sequences",
                 "1 (without beams and draws all would be the same)",
                 numReturned);
  checker.expect(options.num_beams <= 1 || numReturned <= options.num_beams,
                 "num_return_sequences", "at most num_beams", numReturned);
  checker.expect(options.early_stopping <= TFC_EARLY_NEVER, "early_stopping",
                 "0, 1 or 2", options.early_stopping);
  checker.expect(std::isfinite(options.length_penalty), "length_penalty",
                 "a number", options.length_penalty);
  if (options.do_sample != 0) {
    checker.expectPositive("temperature", options.temperature);
    checker.expectShare("top_p", options.top_p);
    checker.expectShare("min_p", options.min_p);
  }
  return checker.faults.take();
}

/// No sequence is longer: row numbers have 32 bits. A prompt fits, since its
/// ids are in memory.
static int64_t lengthAfter(int64_t promptLength, int64_t maxNewTokens) {
  constexpr int64_t longest = std::numeric_limits<int32_t>::max();
  return maxNewTokens > longest - promptLength ? longest
                                               : promptLength + maxNewTokens;
}

ScoreRules makeScoreRules(const tfc_decoding_options &options,
                          const std::vector<int64_t> &eos, int64_t promptLength,
                          int64_t maxNewTokens) {
  ScoreRules rules;
  rules.eos = eos;
  rules.repetitionPenalty = options.repetition_penalty;
  rules.presencePenalty = options.presence_penalty;
  rules.frequencyPenalty = options.frequency_penalty;
  rules.noRepeatNgram = options.no_repeat_ngram;
  rules.minNewTokens = options.min_new_tokens;
  rules.minLength = options.min_new_tokens > 0 ? 0 : options.min_length;
  rules.forcedBos = options.forced_bos;
  rules.forcedEos = options.forced_eos;
  rules.maxLength = lengthAfter(promptLength, maxNewTokens);
  rules.suppressed.assign(options.suppress,
                          options.suppress + options.n_suppress);
  rules.notFirst.assign(options.begin_suppress,
                        options.begin_suppress + options.n_begin_suppress);
  rules.timestampBegin = options.timestamp_begin;
  rules.maxInitialTimestamp = options.max_initial_timestamp;
  rules.isSampled = options.do_sample != 0;
  rules.temperature = options.temperature;
  rules.topK = options.top_k;
  rules.topP = options.top_p;
  rules.minP = options.min_p;
  if (options.num_beams > 1) {
    // With every end token one that goes on.
    rules.minKept = std::max<int64_t>(2, static_cast<int64_t>(eos.size()) + 1);
  }
  return rules;
}

BeamOptions makeBeamOptions(const tfc_decoding_options &options,
                            const std::vector<int64_t> &eos,
                            int64_t promptLength, int64_t maxNewTokens) {
  BeamOptions beams;
  beams.numBeams = options.num_beams;
  beams.maxLength = lengthAfter(promptLength, maxNewTokens);
  beams.lengthPenalty = options.length_penalty;
  beams.earlyStopping = static_cast<EarlyStopping>(options.early_stopping);
  beams.eos = eos;
  return beams;
}

} // namespace tfc::rt
