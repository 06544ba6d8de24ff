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

Tokenizer::Tokenizer(TokenizerParts given) : parts(std::move(given)) {
  if (!parts.postProcessor.trims.empty()) {
    spaces.resize(parts.model->vocabulary().limit());
    for (const Vocabulary::Entry &entry : parts.model->vocabulary().all()) {
      spaces[entry.id] = countSpaces(decodeChecked(entry.text));
    }
  }
}

Tokenizer::Spaces Tokenizer::countSpaces(std::u32string_view text) {
  static const CharacterSet &space = namedSet("white_space");
  auto isSpace = [&](char32_t c) {
    return c == characterOfByte(' ') || space.has(c);
  };
  auto left = std::find_if_not(text.begin(), text.end(), isSpace);
  auto right = std::find_if_not(text.rbegin(), text.rend(), isSpace);
  return {static_cast<uint32_t>(left - text.begin()),
          static_cast<uint32_t>(right - text.rbegin())};
}

/// Those of the token's own text, which an unknown word mostly has not.
Tokenizer::Spaces Tokenizer::spacesOf(const WordToken &token,
                                      std::u32string_view word,
                                      bool isAdded) const {
  bool isWord = isAdded || parts.model->isShownAsWord(token.id);
  return isWord ? countSpaces(word.substr(token.begin, token.end - token.begin))
                : spaces[token.id];
}

/// The words of a text.
rt::Result<Pieces> Tokenizer::cut(std::string_view text,
                                  const EncodeOptions &options,
                                  Budget &budget) const {
  auto traced = traceText(text);
  if (!traced) {
    return std::move(traced.error());
  }
  auto pieces = parts.added.split(std::move(*traced), parts.normalizer.get(),
                                  options.specialAsText, budget);
  if (pieces && parts.preTokenizer) {
    rt::Status status = parts.preTokenizer->apply(*pieces, budget);
    if (!status) {
      return std::move(status.error());
    }
  }
  return pieces;
}

rt::Result<Tokens> Tokenizer::encodeOne(std::string_view text,
                                        const EncodeOptions &options,
                                        Budget &budget) const {
  auto pieces = cut(text, options, budget);
  if (!pieces) {
    return std::move(pieces.error());
  }
  std::u32string_view chars = pieces->text.chars;
  const std::vector<Span> &origins = pieces->text.origins;
  Tokens tokens;
  std::vector<WordToken> words;
  for (const Piece &piece : pieces->pieces) {
    std::u32string_view word =
        chars.substr(piece.begin, piece.end - piece.begin);
    words.clear();
    if (!budget.pass(word.size())) {
      return std::move(budget.status().error());
    }
    if (piece.token >= 0) {
      words.push_back({static_cast<uint32_t>(piece.token), 0,
                       static_cast<uint32_t>(word.size())});
    } else {
      rt::Status status = parts.model->encode(word, words, budget);
      if (!status) {
        return std::move(status.error());
      }
    }
    for (const WordToken &from : words) {
      Token token;
      token.id = from.id;
      token.origin = {origins[piece.begin + from.begin].begin,
                      origins[piece.begin + from.end - 1].end};
      if (!parts.postProcessor.trims.empty()) {
        Spaces around = spacesOf(from, word, piece.token >= 0);
        token.leftSpaces = around.left;
        token.rightSpaces = around.right;
      }
      tokens.push_back(token);
    }
  }
  return tokens;
}

rt::Result<Tokens> Tokenizer::encode(std::string_view text,
                                     std::optional<std::string_view> pair,
                                     const EncodeOptions &options) const {
  Budget budget(text.size() + (pair ? pair->size() : 0), options.shouldStop);
  auto first = encodeOne(text, options, budget);
  if (!first) {
    return std::move(first.error());
  }
  std::optional<Tokens> second;
  if (pair) {
    auto tokens = encodeOne(*pair, options, budget);
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

rt::Result<std::string> Tokenizer::decode(const std::vector<uint32_t> &ids,
                                          bool skipSpecial) const {
  DecodeStream stream(*this, skipSpecial, /*isWhole=*/true);
  std::string text;
  auto add = [&](rt::Result<std::string> more) -> rt::Status {
    if (!more) {
      return std::move(more.error());
    }
    text += *more;
    return checkSize(text.size());
  };
  for (uint32_t id : ids) {
    if (rt::Status status = add(stream.push(id)); !status) {
      return std::move(status.error());
    }
  }
  if (rt::Status status = add(stream.finish()); !status) {
    return std::move(status.error());
  }
  return text;
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
  return added && added->isSkipped;
}

uint32_t Tokenizer::limit() const {
  auto limit = static_cast<uint32_t>(parts.model->vocabulary().limit());
  for (const AddedToken &token : parts.added.all()) {
    limit = std::max(limit, token.id + 1);
  }
  return limit;
}

} // namespace tfc::text
