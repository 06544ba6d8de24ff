// Decoders that look at tokens one by one. What deals in bytes is in
// ByteDecoders.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Decoders.h"

#include "runtime/text/MadeDecoder.h"
#include "runtime/text/TracedText.h"
#include "runtime/text/Utf8.h"

#include <algorithm>
#include <array>

namespace tfc::text {

static void checkGrown(size_t size) {
  if (size > maxCharacters) {
    throw DecoderFault{rt::makeError(
        rt::Code::Exhausted, "expected tokens that the decoder makes at most ",
        maxCharacters, " bytes longer, got others")};
  }
}

size_t replaceAll(std::string &text, const LiteralFinder<char> &from,
                  std::string_view to) {
  size_t at = from.size() == 0 ? std::string::npos : from.find(text, 0);
  if (at == std::string::npos) {
    return 0;
  }
  std::string out;
  size_t done = 0, before = text.size();
  for (; at != std::string::npos; at = from.find(text, done)) {
    out.append(text, done, at - done).append(to);
    done = at + from.size();
    if (to.size() > from.size()) {
      checkGrown(out.size());
    }
  }
  text = out.append(text, done, std::string::npos);
  return std::max(text.size(), before) - before;
}

namespace {

/// English, as BERT's tokenizer writes it.
void cleanUp(std::string &text) {
  using Pair = std::pair<LiteralFinder<char>, const char *>;
  static const std::vector<Pair> pairs = [] {
    std::vector<Pair> made;
    for (auto [from, to] : std::initializer_list<std::array<const char *, 2>>{
             {" .", "."},
             {" ?", "?"},
             {" !", "!"},
             {" ,", ","},
             {" ' ", "'"},
             {" n't", "n't"},
             {" 'm", "'m"},
             {" do not", " don't"},
             {" 's", "'s"},
             {" 've", "'ve"},
             {" 're", "'re"}}) {
      made.emplace_back(LiteralFinder<char>(from), to);
    }
    return made;
  }();
  for (const auto &[from, to] : pairs) {
    replaceAll(text, from, to);
  }
}

class WordPieceStage : public TokenStage {
public:
  WordPieceStage(std::string prefix, bool cleansUp)
      : prefix(std::move(prefix)), cleansUp(cleansUp) {}

private:
  void take(std::string token, const TextSink &out) override {
    if (!isFirst) {
      bool continues = token.compare(0, prefix.size(), prefix) == 0;
      token = continues ? token.substr(prefix.size()) : " " + token;
    }
    isFirst = false;
    if (cleansUp) {
      cleanUp(token);
    }
    out({std::move(token)});
  }

  std::string prefix;
  bool cleansUp, isFirst = true;
};

class MetaspaceStage : public DecoderStage {
public:
  MetaspaceStage(char32_t replacement, bool prepends)
      : mark(encodeUtf8({&replacement, 1})), prepends(prepends) {}

  void push(TextPart part, const TextSink &out) override {
    numTokens += part.begins;
    // What was put before the first word goes.
    replaceAll(part.text, mark, prepends && numTokens == 1 ? "" : " ");
    out(std::move(part));
  }

private:
  LiteralFinder<char> mark;
  bool prepends;
  uint64_t numTokens = 0;
};

class FuseStage : public DecoderStage {
public:
  void push(TextPart part, const TextSink &out) override {
    out({std::move(part.text), isFirst, false});
    isFirst = false;
  }
  void finish(const TextSink &out) override { out({"", isFirst, true}); }

private:
  bool isFirst = true;
};

/// Where nothing goes at the end of a token, its text need not wait for it.
class StripStartStage : public DecoderStage {
public:
  StripStartStage(char32_t character, uint32_t most) : most(most) {
    appendUtf8(mark, character);
  }

  void push(TextPart part, const TextSink &out) override {
    left = part.begins ? most : left;
    size_t at = 0;
    while (left > 0 && at < part.text.size()) {
      bool isMark = part.text.compare(at, mark.size(), mark) == 0;
      left = isMark ? left - 1 : 0;
      at += isMark ? mark.size() : 0;
    }
    part.text.erase(0, at);
    out(std::move(part));
  }

private:
  std::string mark;
  uint32_t most, left = 0;
};

class StripStage : public TokenStage {
public:
  StripStage(char32_t character, uint32_t start, uint32_t stop)
      : character(character), start(start), stop(stop) {}

private:
  void take(std::string token, const TextSink &out) override {
    std::u32string text = decodeChecked(token);
    size_t begin = 0, end = text.size();
    while (begin < std::min<size_t>(start, end) && text[begin] == character) {
      ++begin;
    }
    while (text.size() - end < stop && end > begin &&
           text[end - 1] == character) {
      --end;
    }
    out({encodeUtf8(std::u32string_view(text).substr(begin, end - begin))});
  }

  char32_t character;
  uint32_t start, stop;
};

class ReplaceStage : public TokenStage {
public:
  ReplaceStage(const LiteralFinder<char> &pattern, const std::string &content)
      : pattern(pattern), content(content) {}

private:
  void take(std::string token, const TextSink &out) override {
    // Stage after stage could double it, and token after token.
    grown += replaceAll(token, pattern, content);
    checkGrown(grown);
    out({std::move(token)});
  }

  const LiteralFinder<char> &pattern;
  const std::string &content;
  size_t grown = 0;
};

/// Behind a word is a space, but not behind the last one: a token waits for
/// the next.
class BpeStage : public TokenStage {
public:
  explicit BpeStage(const LiteralFinder<char> &suffix) : suffix(suffix) {}

  void finish(const TextSink &out) override { give("", out); }

private:
  void take(std::string token, const TextSink &out) override {
    give(" ", out);
    waiting = std::move(token);
    isWaiting = true;
  }
  void give(const char *space, const TextSink &out) {
    if (isWaiting) {
      replaceAll(waiting, suffix, space);
      out({std::move(waiting)});
    }
    isWaiting = false;
  }

  const LiteralFinder<char> &suffix;
  std::string waiting;
  bool isWaiting = false;
};

class JoinStage : public TokenStage {
  void take(std::string token, const TextSink &out) override {
    out({isFirst ? std::move(token) : " " + token});
    isFirst = false;
  }

  bool isFirst = true;
};

} // namespace

DecoderPtr makeWordPieceDecoder(std::string prefix, bool cleansUp) {
  return makeDecoder(
      [=](bool) { return std::make_unique<WordPieceStage>(prefix, cleansUp); });
}

DecoderPtr makeMetaspaceDecoder(char32_t replacement, bool prepends) {
  return makeDecoder([=](bool) {
    return std::make_unique<MetaspaceStage>(replacement, prepends);
  });
}

DecoderPtr makeFuseDecoder() {
  return makeDecoder([](bool) { return std::make_unique<FuseStage>(); },
                     /*joins=*/true);
}

DecoderPtr makeStripDecoder(char32_t character, uint32_t start, uint32_t stop) {
  return makeDecoder([=](bool) -> DecoderStagePtr {
    if (stop == 0) {
      return std::make_unique<StripStartStage>(character, start);
    }
    return std::make_unique<StripStage>(character, start, stop);
  });
}

DecoderPtr makeReplaceDecoder(std::string pattern, std::string content) {
  // Stages look at what the decoder has.
  return makeDecoder([finder = LiteralFinder<char>(pattern),
                      content = std::move(content)](bool) -> DecoderStagePtr {
    return std::make_unique<ReplaceStage>(finder, content);
  });
}

DecoderPtr makeBpeDecoder(std::string suffix) {
  return makeDecoder(
      [finder = LiteralFinder<char>(suffix)](bool) -> DecoderStagePtr {
        return std::make_unique<BpeStage>(finder);
      });
}

DecoderPtr makeJoinDecoder() {
  return makeDecoder([](bool) { return std::make_unique<JoinStage>(); });
}

} // namespace tfc::text
