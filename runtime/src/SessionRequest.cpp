// How a request becomes a sequence of a session.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Decoding.h"
#include "runtime/src/Session.h"

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

Result<uint64_t> Session::add(const TokenList &tokens,
                              const TokenList &decoderTokens,
                              int64_t maxNewTokens,
                              std::optional<std::vector<int64_t>> eos,
                              const tfc_decoding_options *decoding) {
  Result<Prompt> prompt = readPrompt(tokens, decoderTokens, maxNewTokens);
  if (!prompt) {
    return std::move(prompt.error());
  }
  const tfc_module_v0 &table = model.table();
  prompt->eos = eos ? std::move(*eos)
                    : std::vector<int64_t>(table.eos, table.eos + table.n_eos);
  tfc_decoding_options how = decoding ? *decoding : defaultDecoding(table);
  if (!decoding) {
    how.num_beams = 1;
  }
  Status status = checkDecoding(how, entry.inputs[ids].limit);
  if (status && (how.num_beams > 1 || how.num_return_sequences > 1)) {
    status = makeError(Code::Unsupported, "expected one beam and one returned ",
                       "sequence in a session, got ", how.num_beams, " and ",
                       how.num_return_sequences);
  }
  if (!status) {
    return std::move(status.error());
  }
  prompt->choice.rules = makeScoreRules(
      how, prompt->eos, prompt->choice.promptLength, maxNewTokens);
  prompt->choice.seed = how.seed;
  return add(std::move(*prompt));
}

} // namespace tfc::rt
