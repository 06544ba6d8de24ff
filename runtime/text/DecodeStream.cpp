// Pushes tokens through the stages.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/DecodeStream.h"

namespace tfc::text {

DecodeStream::DecodeStream(const Tokenizer &tokenizer, bool skipSpecial,
                           bool isWhole)
    : tokenizer(tokenizer), skipSpecial(skipSpecial), isWhole(isWhole) {
  restart();
}

void DecodeStream::restart() {
  stages.clear();
  const std::vector<DecoderPtr> &decoders = tokenizer.decoders();
  for (size_t i = 0; i < decoders.size(); ++i) {
    // Where the next one looks at tokens they must be those of `tokenizers`.
    bool isSeen = i + 1 < decoders.size() && !decoders[i + 1]->joinsTokens();
    stages.push_back(decoders[i]->start(isWhole || isSeen));
  }
  if (!tokenizer.hasDecoder()) {
    stages.push_back(makeJoinDecoder()->start(isWhole));
  }
}

void DecodeStream::feed(size_t stage, TextPart part, std::string &text) {
  if (stage == stages.size()) {
    text += part.text;
    return;
  }
  stages[stage]->push(std::move(part), [&](TextPart next) {
    feed(stage + 1, std::move(next), text);
  });
}

rt::Result<std::string> DecodeStream::push(uint32_t id) {
  std::string text;
  const std::string *token = tokenizer.token(id);
  if (!token || (skipSpecial && tokenizer.isSpecial(id))) {
    return text;
  }
  try {
    feed(0, {*token}, text);
  } catch (DecoderFault &fault) {
    return std::move(fault.error);
  }
  return text;
}

rt::Result<std::string> DecodeStream::finish() {
  std::string text;
  try {
    for (size_t stage = 0; stage < stages.size(); ++stage) {
      stages[stage]->finish(
          [&](TextPart part) { feed(stage + 1, std::move(part), text); });
    }
  } catch (DecoderFault &fault) {
    return std::move(fault.error);
  }
  return text;
}

} // namespace tfc::text
