// Tokens become text as they come: a stream through a tokenizer's decoder.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_DECODESTREAM_H
#define TFC_RUNTIME_TEXT_DECODESTREAM_H

#include "runtime/text/Tokenizer.h"

namespace tfc::text {

/// What push() and finish() give is, put together, the text of all tokens. One
/// exception: bytes that a model writes and that are no text become U+FFFD each
/// with all that they stand beside, unless that has been shown already.
class DecodeStream {
public:
  /// The tokenizer must outlive the stream. `isWhole`: nobody looks before the
  /// end. A stream that gave an error is done until restart().
  DecodeStream(const Tokenizer &tokenizer, bool skipSpecial,
               bool isWhole = false);

  /// What the text has more by this token; an id without a token is passed
  /// over. Errors: Exhausted, when the text grows beyond what is sensible.
  rt::Result<std::string> push(uint32_t id);
  /// What was held back; the stream is done until restart(). Errors: as push().
  rt::Result<std::string> finish();
  void restart();

private:
  void feed(size_t stage, TextPart part, std::string &text);

  const Tokenizer &tokenizer;
  bool skipSpecial, isWhole;
  std::vector<DecoderStagePtr> stages;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_DECODESTREAM_H
