// From tokens back to text: the "decoder" of a tokenizer, stage by stage, each
// of which gives on what it is sure of.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_DECODERS_H
#define TFC_RUNTIME_TEXT_DECODERS_H

#include "runtime/src/Error.h"
#include "runtime/text/LiteralFinder.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tfc::text {

/// A piece of a token's text. A token that has not ended goes on with the next
/// part, which does not begin then.
struct TextPart {
  std::string text;
  bool begins = true, ends = true;
};

using TextSink = std::function<void(TextPart)>;

/// A stage at work on one sequence of tokens.
class DecoderStage {
public:
  virtual ~DecoderStage() = default;
  virtual void push(TextPart part, const TextSink &out) = 0;
  /// All tokens have come.
  virtual void finish(const TextSink &out) {}
};

using DecoderStagePtr = std::unique_ptr<DecoderStage>;

/// Thrown by stages, caught by DecodeStream.
struct DecoderFault {
  rt::Error error;
};

/// What a file says of a stage; immutable. `isWhole`: tokens are given on only
/// as `tokenizers` has them; otherwise parts of them may be, the sooner to be
/// shown.
class Decoder {
public:
  virtual ~Decoder() = default;
  virtual DecoderStagePtr start(bool isWhole) const = 0;
  /// Whether it matters not how a text is cut into tokens.
  virtual bool joinsTokens() const { return false; }
};

using DecoderPtr = std::unique_ptr<Decoder>;

DecoderPtr makeByteLevelDecoder();
/// `cleansUp`: no spaces before points and in what English contracts.
DecoderPtr makeWordPieceDecoder(std::string prefix, bool cleansUp);
DecoderPtr makeMetaspaceDecoder(char32_t replacement, bool prepends);
DecoderPtr makeByteFallbackDecoder();
DecoderPtr makeFuseDecoder();
/// At most so many of a character at a token's beginning and end.
DecoderPtr makeStripDecoder(char32_t character, uint32_t start, uint32_t stop);
DecoderPtr makeReplaceDecoder(std::string pattern, std::string content);
DecoderPtr makeBpeDecoder(std::string suffix);
/// Spaces between tokens.
DecoderPtr makeJoinDecoder();

/// Every text that is found, from left to right, becomes `to`. Gives how much
/// the text has grown. Throws DecoderFault when it grows beyond what is
/// sensible.
size_t replaceAll(std::string &text, const LiteralFinder<char> &from,
                  std::string_view to);

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_DECODERS_H
