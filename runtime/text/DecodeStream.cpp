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
  for (const DecoderPtr &decoder : tokenizer.decoders()) {
    stages.push_back(decoder->start(isWhole));
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

std::string DecodeStream::push(uint32_t id) {
  std::string text;
  const std::string *token = tokenizer.token(id);
  if (token && !(skipSpecial && tokenizer.isSpecial(id))) {
    feed(0, {*token}, text);
  }
  return text;
}

std::string DecodeStream::finish() {
  std::string text;
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    stages[stage]->finish(
        [&](TextPart part) { feed(stage + 1, std::move(part), text); });
  }
  return text;
}

} // namespace tfc::text
