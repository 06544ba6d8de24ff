// How a request becomes a sequence of a session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/choose/Decoding.h"
#include "runtime/src/session/Session.h"

#include <algorithm>
#include <cmath>

namespace tfc::rt {

Result<Prompt> Session::readPrompt(const TokenList &tokens,
                                   const TokenList &decoderTokens,
                                   int64_t maxNewTokens) const {
  if (!tokens.tokens || tokens.count < 1 || maxNewTokens < 1) {
    return makeError(Code::InvalidArgument,
                     "expected a prompt and new tokens, "
                     "at least 1 each, got ",
                     tokens.count, " and ", maxNewTokens);
  }
  if (model.encoder() && hasGiven(*model.encoder())) {
    return makeError(Code::Unsupported, model.path(), ": expected a model ",
                     "whose encoder reads token ids (a request has no rows of ",
                     "floats; tfc_generate takes them), got one of rows");
  }
  std::vector<tfc_tensor> tensors = {
      {"input_ids", TFC_I64, 2, {1, tokens.count, 0}, tokens.tokens}};
  if (decoderTokens.tokens) {
    tensors.push_back({"decoder_input_ids",
                       TFC_I64,
                       2,
                       {1, decoderTokens.count, 0},
                       decoderTokens.tokens});
  }
  Result<ModelInputs> inputs =
      readInputs(model, tensors.data(), static_cast<uint32_t>(tensors.size()));
  if (!inputs) {
    return std::move(inputs.error());
  }
  Status status = model.encoder() ? startDecoder(model, *inputs) : Status();
  if (!status) {
    return std::move(status.error());
  }
  const InputBatch &batch = inputs->decoder;
  Result<Prompt> prompt = promptOfRow(model, entry, batch, 0, maxNewTokens);
  if (prompt) {
    prompt->choice.tokens = batch.values[ids];
    prompt->choice.promptLength = batch.length;
    if (model.encoder()) {
      prompt->source = sourceOfRow(model, inputs->encoder, 0);
    }
  }
  return prompt;
}

Status Session::setRules(Prompt &prompt, const tfc_decoding_options *decoding,
                         bool hasBeams) const {
  tfc_decoding_options how =
      decoding ? *decoding : defaultDecoding(model.table());
  if (!decoding) {
    how.num_beams = 1;
  }
  Status status = checkDecoding(how, entry.inputs[ids].limit);
  if (status && !hasBeams &&
      (how.num_beams > 1 || how.num_return_sequences > 1)) {
    status = makeError(Code::Unsupported, "expected one beam and one returned ",
                       "sequence in a session, got ", how.num_beams, " and ",
                       how.num_return_sequences);
  }
  if (status) {
    Choice &choice = prompt.choice;
    auto bias = std::move(choice.rules.bias);
    choice.rules = makeScoreRules(how, prompt.eos, choice.promptLength,
                                  prompt.maxNewTokens);
    choice.rules.bias = std::move(bias);
    choice.seed = how.seed;
  }
  return status;
}

/// Those that the caller gives: a model's own are what it has.
Status Session::checkTokens(const RequestOptions &options) const {
  Faults faults;
  int64_t width = entry.outputs[model.logitsPort()].width;
  if (options.eos) {
    faults.add(checkTokenIds("eos", *options.eos, width));
  }
  for (const std::vector<int64_t> &stop : options.stops) {
    faults.add(checkTokenIds("stops", stop, width));
  }
  faults.add(checkTokenIds("head_rows", options.headRows, width));
  for (auto [token, bias] : options.bias) {
    if (token < 0 || token >= width || std::isnan(bias)) {
      faults.add(makeError(Code::InvalidArgument, "logit_bias: expected a ",
                           "token below ", width, " and a number, got ", token,
                           " and ", bias));
    }
  }
  return faults.take();
}

Result<uint64_t> Session::add(const TokenList &tokens,
                              const TokenList &decoderTokens,
                              int64_t maxNewTokens,
                              const RequestOptions &options) {
  Result<Prompt> prompt = prepare(tokens, decoderTokens, maxNewTokens, options);
  if (!prompt) {
    return std::move(prompt.error());
  }
  return add(std::move(*prompt), options);
}

Result<Prompt> Session::prepare(const TokenList &tokens,
                                const TokenList &decoderTokens,
                                int64_t maxNewTokens,
                                const RequestOptions &options) const {
  Result<Prompt> prompt = readPrompt(tokens, decoderTokens, maxNewTokens);
  if (!prompt) {
    return std::move(prompt.error());
  }
  const tfc_module_v0 &table = model.table();
  prompt->eos = options.eos
                    ? *options.eos
                    : std::vector<int64_t>(table.eos, table.eos + table.n_eos);
  prompt->stops = options.stops;
  prompt->choice.rules.bias = options.bias;
  prompt->numLogProbabilities = options.numLogProbabilities;
  std::vector<int32_t> &wishes = prompt->headRows;
  wishes.assign(options.headRows.begin(), options.headRows.end());
  std::sort(wishes.begin(), wishes.end());
  wishes.erase(std::unique(wishes.begin(), wishes.end()), wishes.end());
  Faults faults;
  faults.add(checkTokens(options));
  faults.add(setRules(*prompt, options.decoding, options.hasBeams));
  BlockCounts needed = neededAlone(*prompt);
  if (!engine.canHold(needed)) {
    faults.add(makeError(Code::Exhausted, "expected a prompt that the cache ",
                         "can hold, got one of ", prompt->values[ids].size(),
                         " tokens (", needed.self + needed.cross, " blocks)"));
  }
  if (faults.any()) {
    return faults.take().error();
  }
  return prompt;
}

/// The prompt's blocks, which the beams share, and of each those of its own
/// tokens, of which one may be a copy.
Result<uint64_t> Session::bytesOfBeams(const Prompt &prompt,
                                       int64_t numBeams) const {
  const BlockCache &cache = runner.cache;
  int64_t length = static_cast<int64_t>(prompt.values[ids].size());
  int64_t more =
      cache.blocksFor(std::min<int64_t>(prompt.maxNewTokens, INT32_MAX));
  BlockCounts needed = neededAlone(prompt);
  needed.self = cache.blocksFor(length) + numBeams * (more + 2);
  if (!engine.canHold(needed)) {
    return makeError(Code::Exhausted, "expected a beam search that the cache ",
                     "can hold, got one of ", numBeams, " beams behind ",
                     length, " tokens (", needed.self + needed.cross,
                     " blocks)");
  }
  return cache.bytesOf(needed.self) + engine.cross.bytesOf(needed.cross);
}

} // namespace tfc::rt
