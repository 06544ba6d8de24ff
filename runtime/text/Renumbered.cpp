// Pieces of sentencepiece, whose ids are those of another vocabulary.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/TokenModel.h"
#include "runtime/text/Utf8.h"

namespace tfc::text {

namespace {

class Renumbered : public TokenModel {
public:
  Renumbered(Vocabulary vocabulary, uint32_t unknown, TokenModelPtr given)
      : TokenModel(std::move(vocabulary)), unknown(unknown),
        pieces(std::move(given)) {}

  rt::Status encode(std::u32string_view word, std::vector<WordToken> &out,
                    Budget &budget) const override {
    static thread_local std::vector<WordToken> found;
    found.clear();
    rt::Status status = pieces->encode(word, found, budget);
    if (!status) {
      return status;
    }
    for (const WordToken &piece : found) {
      uint32_t id = words.find(
          encodeUtf8(word.substr(piece.begin, piece.end - piece.begin)));
      out.push_back(
          {id == Vocabulary::none ? unknown : id, piece.begin, piece.end});
    }
    return {};
  }

private:
  uint32_t unknown;
  TokenModelPtr pieces;
};

} // namespace

TokenModelPtr makeRenumbered(Vocabulary vocabulary, uint32_t unknown,
                             TokenModelPtr pieces) {
  return std::make_unique<Renumbered>(std::move(vocabulary), unknown,
                                      std::move(pieces));
}

} // namespace tfc::text
