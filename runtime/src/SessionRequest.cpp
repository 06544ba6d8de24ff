// How a request becomes a sequence of a session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Decoding.h"
#include "runtime/src/Session.h"

#include <algorithm>
#include <cmath>
#include <iterator>

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

Status Session::setRules(Prompt &prompt,
                         const tfc_decoding_options *decoding) const {
  tfc_decoding_options how =
      decoding ? *decoding : defaultDecoding(model.table());
  if (!decoding) {
    how.num_beams = 1;
  }
  Status status = checkDecoding(how, entry.inputs[ids].limit);
  if (status && (how.num_beams > 1 || how.num_return_sequences > 1)) {
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

Status Session::checkBias(const RequestOptions &options) const {
  Faults faults;
  int64_t width = entry.outputs[model.logitsPort()].width;
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
  Faults faults;
  faults.add(checkBias(options));
  faults.add(setRules(*prompt, options.decoding));
  if (faults.any()) {
    return faults.take().error();
  }
  return add(std::move(*prompt));
}

uint64_t Session::add(Prompt prompt) {
  Sequence sequence;
  sequence.next = std::move(prompt);
  std::lock_guard<std::mutex> lock(mutex);
  sequence.id = lastId + 1;
  arrivals.push_back(std::move(sequence));
  return ++lastId;
}

Session::Sequence *Session::find(uint64_t id) {
  auto found = std::find_if(sequences.begin(), sequences.end(),
                            [&](const Sequence &s) { return s.id == id; });
  return found == sequences.end() ? nullptr : &*found;
}

static Error unknownSequence(uint64_t id) {
  return makeError(Code::NotFound, "expected a sequence of the session, got ",
                   id);
}

Status Session::remove(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  auto arrived = std::find_if(arrivals.begin(), arrivals.end(),
                              [&](const Sequence &s) { return s.id == id; });
  if (id != 0 && arrived != arrivals.end()) {
    arrivals.erase(arrived);
    return {};
  }
  Sequence *found = id == 0 ? nullptr : find(id);
  bool hasLeft = std::count(departures.begin(), departures.end(), id) != 0;
  if (!found || hasLeft) {
    return unknownSequence(id);
  }
  if (isStepping) {
    departures.push_back(id);
    return {};
  }
  release(*found);
  found->id = 0;
  eraseReleased();
  return {};
}

/// Under the lock, between steps.
void Session::takeArrivals() {
  sequences.reserve(sequences.size() + arrivals.size());
  std::move(arrivals.begin(), arrivals.end(), std::back_inserter(sequences));
  arrivals.clear();
}

/// A step has ended: who was to leave meanwhile does.
void Session::leave() noexcept {
  std::lock_guard<std::mutex> lock(mutex);
  for (Sequence &sequence : sequences) {
    if (std::count(departures.begin(), departures.end(), sequence.id) != 0) {
      release(sequence);
      sequence.id = 0;
    }
  }
  departures.clear();
  eraseReleased();
  isStepping = false;
}

int64_t Session::numSequences() const {
  std::lock_guard<std::mutex> lock(mutex);
  return static_cast<int64_t>(sequences.size() + arrivals.size());
}

Result<uint64_t> Session::fork(uint64_t id,
                               const tfc_decoding_options *decoding) {
  std::lock_guard<std::mutex> lock(mutex);
  takeArrivals();
  Sequence *found = find(id);
  if (id == 0 || !found) {
    return unknownSequence(id);
  }
  Sequence copy = *found;
  copy.blocks.clear();
  Status status = decoding ? setRules(copy.next, decoding) : Status();
  if (!status) {
    return std::move(status.error());
  }
  copy.id = lastId + 1;
  BlockTable blocks;
  blocks.reserve(found->blocks.size());
  size_t place = static_cast<size_t>(found - sequences.data());
  sequences.push_back(std::move(copy));
  // From here on nothing fails.
  runner.cache.share(sequences[place].blocks, blocks);
  sequences.back().blocks = std::move(blocks);
  return ++lastId;
}

} // namespace tfc::rt
