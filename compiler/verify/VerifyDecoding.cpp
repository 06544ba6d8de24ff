// The steps of a session as the interpreter takes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/verify/VerifyDecoding.h"

using namespace mlir;
using namespace tfc;
using transformer::Fill;

/// Appends what the ports of an entry get for `tokens` from position `past` on.
static void addTokens(const EntryInfo &info, const std::vector<int64_t> &tokens,
                      int32_t past, reference::Step &step) {
  for (transformer::InputAttr input : info.inputs) {
    std::vector<int32_t> &values = step.inputs[input.getName().str()];
    for (auto [i, token] : llvm::enumerate(tokens)) {
      values.push_back(input.getName() == info.idsName()
                           ? static_cast<int32_t>(token)
                       : input.getFill() == Fill::Position ||
                               input.getFill() == Fill::FromMask
                           ? past + static_cast<int32_t>(i)
                       : input.getFill() == Fill::FromPad
                           ? static_cast<int32_t>(info.pad) + 1 + past +
                                 static_cast<int32_t>(i)
                       : input.getFill() == Fill::Absent ? -1
                                                         : 0);
    }
  }
}

void DecodeSteps::add(int64_t id, const std::vector<int64_t> &tokens) {
  if (!encode) {
    sequences.push_back({id, 0, 0, tokens});
    return;
  }
  prompts.push_back({id, tokens});
  sequences.push_back(
      {id, 0, static_cast<int32_t>(tokens.size()), {info.decoderStart}});
}

std::optional<reference::Step> DecodeSteps::nextEncode() {
  if (prompts.empty()) {
    return std::nullopt;
  }
  reference::Step step;
  // Its value is in the cross cache; no output is wanted.
  step.outputs = {""};
  int32_t tokens = 0;
  for (const Prompt &prompt : prompts) {
    auto count = static_cast<int32_t>(prompt.tokens.size());
    step.sequences.push_back({prompt.id, tokens, count, 0, count, count});
    tokens += count;
    addTokens(*encode, prompt.tokens, 0, step);
  }
  prompts.clear();
  return step;
}

reference::Step DecodeSteps::next(const std::string &output) {
  reference::Step step;
  step.outputs = {output};
  int32_t tokens = 0;
  for (const Decoding &sequence : sequences) {
    auto count = static_cast<int32_t>(sequence.tokens.size());
    step.sequences.push_back({sequence.id, tokens, count, sequence.past,
                              sequence.past + count, sequence.sourceCount});
    tokens += count;
    step.rows.push_back(tokens - 1);
    addTokens(info, sequence.tokens, sequence.past, step);
  }
  return step;
}

void DecodeSteps::advance(int64_t id, int64_t token) {
  for (Decoding &sequence : sequences) {
    if (sequence.id == id) {
      sequence.past += static_cast<int32_t>(sequence.tokens.size());
      sequence.tokens = {token};
    }
  }
}
