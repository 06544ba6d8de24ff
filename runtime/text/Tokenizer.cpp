// The way of a text: added tokens, normalizer, pre-tokenizer, model,
// post-processor; and back.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Tokenizer.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/DecodeStream.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace tfc::text {

static rt::Result<TracedText> traceText(std::string_view text) {
  if (text.size() > maxCharacters) {
    return rt::makeError(rt::Code::InvalidArgument, "expected a text of at ",
                         "most ", maxCharacters, " bytes, got ", text.size());
  }
  auto chars = decodeUtf8(text);
  if (!chars) {
    return std::move(chars.error());
  }
  TracedText traced;
  traced.chars = std::move(*chars);
  traced.origins.resize(traced.size());
  for (uint32_t i = 0; i < traced.size(); ++i) {
    traced.origins[i] = {i, i + 1};
  }
  return traced;
}

/// Counts what byte level tokenizers do not count as a token's place.
void Tokenizer::countSpaces(std::u32string_view text, Token &token) const {
  static const CharacterSet &space = namedSet("white_space");
  auto isSpace = [&](char32_t c) {
    return c == characterOfByte(' ') || space.has(c);
  };
  auto left = std::find_if_not(text.begin(), text.end(), isSpace);
  auto right = std::find_if_not(text.rbegin(), text.rend(), isSpace);
  token.leftSpaces = static_cast<uint32_t>(left - text.begin());
  token.rightSpaces = static_cast<uint32_t>(right - text.rbegin());
}

rt::Result<Tokens> Tokenizer::encodeOne(std::string_view text,
                                        const EncodeOptions &options) const {
  auto traced = traceText(text);
  if (!traced) {
    return std::move(traced.error());
  }
  auto pieces = parts.added.split(std::move(*traced), parts.normalizer.get(),
                                  options.specialAsText);
  if (!pieces) {
    return std::move(pieces.error());
  }
  if (parts.preTokenizer) {
    rt::Status status = parts.preTokenizer->apply(*pieces);
    if (!status) {
      return std::move(status.error());
    }
  }
  bool trims = parts.postProcessor.trimsOffsets;
  std::u32string_view chars = pieces->text.chars;
  const std::vector<Span> &origins = pieces->text.origins;
  Tokens tokens;
  std::vector<WordToken> words;
  for (const Piece &piece : pieces->pieces) {
    std::u32string_view word =
        chars.substr(piece.begin, piece.end - piece.begin);
    words.clear();
    if (piece.token >= 0) {
      words.push_back({static_cast<uint32_t>(piece.token), 0,
                       static_cast<uint32_t>(word.size())});
    } else {
      rt::Status status = parts.model->encode(word, words);
      if (!status) {
        return std::move(status.error());
      }
    }
    for (const WordToken &from : words) {
      Token token;
      token.id = from.id;
      token.origin = {origins[piece.begin + from.begin].begin,
                      origins[piece.begin + from.end - 1].end};
      if (trims) {
        countSpaces(word.substr(from.begin, from.end - from.begin), token);
      }
      tokens.push_back(token);
    }
  }
  return tokens;
}

rt::Result<Tokens> Tokenizer::encode(std::string_view text,
                                     std::optional<std::string_view> pair,
                                     const EncodeOptions &options) const {
  auto first = encodeOne(text, options);
  if (!first) {
    return std::move(first.error());
  }
  std::optional<Tokens> second;
  if (pair) {
    auto tokens = encodeOne(*pair, options);
    if (!tokens) {
      return std::move(tokens.error());
    }
    second = std::move(*tokens);
  }
  size_t special = options.addSpecial ? countSpecial(second.has_value()) : 0;
  rt::Status status = truncate(options.truncation, special, *first, second);
  if (!status) {
    return std::move(status.error());
  }
  return parts.postProcessor.apply(std::move(*first), std::move(second),
                                   options.addSpecial);
}

std::string Tokenizer::decode(const std::vector<uint32_t> &ids,
                              bool skipSpecial) const {
  DecodeStream stream(*this, skipSpecial, /*isWhole=*/true);
  std::string text;
  for (uint32_t id : ids) {
    text += stream.push(id);
  }
  return text + stream.finish();
}

const std::string *Tokenizer::token(uint32_t id) const {
  const AddedToken *added = parts.added.find(id);
  return added ? &added->shown : parts.model->vocabulary().text(id);
}

uint32_t Tokenizer::find(std::string_view text) const {
  for (const AddedToken &token : parts.added.all()) {
    if (token.text == text) {
      return token.id;
    }
  }
  return parts.model->vocabulary().find(text);
}

bool Tokenizer::isSpecial(uint32_t id) const {
  const AddedToken *added = parts.added.find(id);
  return added && added->special && added->shown == added->text;
}

uint32_t Tokenizer::limit() const {
  auto limit = static_cast<uint32_t>(parts.model->vocabulary().limit());
  for (const AddedToken &token : parts.added.all()) {
    limit = std::max(limit, token.id + 1);
  }
  return limit;
}

} // namespace tfc::text
