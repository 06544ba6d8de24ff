// The steps of a session as the interpreter takes them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_VERIFY_VERIFYDECODING_H
#define TFC_COMPILER_VERIFY_VERIFYDECODING_H

#include "compiler/verify/VerifyBatch.h"

namespace tfc {

/// Sequences that a session decodes. Mirrors what each step is made of.
class DecodeSteps {
public:
  /// The entry that steps, and the one that encodes its prompts or null.
  DecodeSteps(const EntryInfo &info, const EntryInfo *encode)
      : info(info), encode(encode) {}

  /// A prompt that the next step takes in, at positions 0, 1, ...; with an
  /// encoder, the decoder begins with the model's start token.
  void add(int64_t id, const std::vector<int64_t> &tokens);
  /// What the encoder does before the next step: the prompts that are new.
  /// Nothing when there is no encoder or no new prompt.
  std::optional<reference::Step> nextEncode();
  /// The next step of all sequences, for the rows of `output`.
  reference::Step next(const std::string &output);
  /// The token that the step gave a sequence; the next step takes it in.
  void advance(int64_t id, int64_t token);

private:
  struct Decoding {
    int64_t id;
    int32_t past, sourceCount;
    std::vector<int64_t> tokens;
  };
  struct Prompt {
    int64_t id;
    std::vector<int64_t> tokens;
  };
  const EntryInfo &info;
  const EntryInfo *encode;
  std::vector<Decoding> sequences;
  std::vector<Prompt> prompts; // that wait for the encoder
};

} // namespace tfc

#endif // TFC_COMPILER_VERIFY_VERIFYDECODING_H
