// What decoders are made of: stages that see whole tokens, and decoders that
// are a function.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_MADEDECODER_H
#define TFC_RUNTIME_TEXT_MADEDECODER_H

#include "runtime/text/Decoders.h"

namespace tfc::text {

/// A stage that wants a token whole.
class TokenStage : public DecoderStage {
public:
  void push(TextPart part, const TextSink &out) final {
    if (part.begins && part.ends) {
      take(std::move(part.text), out);
      return;
    }
    if (part.begins) {
      text = std::move(part.text);
    } else {
      text += part.text;
    }
    if (part.ends) {
      take(std::move(text), out);
    }
  }

private:
  virtual void take(std::string token, const TextSink &out) = 0;

  std::string text; // of a token that has not ended
};

template <typename F> class MadeDecoder : public Decoder {
public:
  MadeDecoder(F function, bool joins)
      : function(std::move(function)), joins(joins) {}
  DecoderStagePtr start(bool isWhole) const override {
    return function(isWhole);
  }
  bool joinsTokens() const override { return joins; }

private:
  F function;
  bool joins;
};

/// `function(isWhole)` makes a stage.
template <typename F> DecoderPtr makeDecoder(F function, bool joins = false) {
  return std::make_unique<MadeDecoder<F>>(std::move(function), joins);
}

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_MADEDECODER_H
