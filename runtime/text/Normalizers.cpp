// The normalizers, each a few lines over a rewriter.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Normalizers.h"

#include "runtime/text/ByteLevel.h"
#include "runtime/text/UnicodeTables.h"

#include <algorithm>

namespace tfc::text {

namespace {

/// A normalizer that is a function.
template <typename F> class Made : public Normalizer {
public:
  explicit Made(F function) : function(std::move(function)) {}
  rt::Status apply(TracedText &text, Budget &budget) const override {
    return function(text, budget);
  }

private:
  F function;
};

template <typename F> NormalizerPtr make(F function) {
  return std::make_unique<Made<F>>(std::move(function));
}

template <typename F> void dropIf(TracedText &text, F isGone) {
  if (std::none_of(text.chars.begin(), text.chars.end(), isGone)) {
    return;
  }
  Rewriter rewriter(text);
  while (!rewriter.atEnd()) {
    if (isGone(rewriter.peek())) {
      rewriter.drop();
    } else {
      rewriter.keep();
    }
  }
  text = rewriter.take();
}

void toLowerCase(TracedText &text) {
  bool isSimple = true;
  for (char32_t &c : text.chars) {
    if (c < 0x80) {
      c = c >= U'A' && c <= U'Z' ? c + 32 : c;
    } else {
      std::u32string_view to = lowerCase(c);
      isSimple &= to.size() <= 1;
      c = to.size() == 1 ? to[0] : c;
    }
  }
  if (isSimple) {
    return;
  }
  Rewriter rewriter(text);
  while (!rewriter.atEnd()) {
    char32_t c = rewriter.peek();
    std::u32string_view to = c < 0x80 ? std::u32string_view() : lowerCase(c);
    rewriter.replace(to.empty() ? c : to[0]);
    for (char32_t more : to.substr(to.empty() ? 0 : 1)) {
      rewriter.insert(more);
    }
  }
  text = rewriter.take();
}

void cleanText(TracedText &text) {
  static const CharacterSet &gone = namedSet("bert.gone");
  static const CharacterSet &space = namedSet("bert.space");
  dropIf(text, [](char32_t c) { return gone.has(c); });
  for (char32_t &c : text.chars) {
    c = space.has(c) ? U' ' : c;
  }
}

void spaceChinese(TracedText &text) {
  static const CharacterSet &chinese = namedSet("bert.chinese");
  if (std::none_of(text.chars.begin(), text.chars.end(),
                   [](char32_t c) { return chinese.has(c); })) {
    return;
  }
  Rewriter rewriter(text);
  while (!rewriter.atEnd()) {
    char32_t c = rewriter.peek();
    if (!chinese.has(c)) {
      rewriter.keep();
      continue;
    }
    rewriter.replace(U' ');
    rewriter.insert(c);
    rewriter.insert(U' ');
  }
  text = rewriter.take();
}

void strip(TracedText &text, bool left, bool right) {
  static const CharacterSet &space = namedSet("white_space");
  size_t begin = 0, end = text.size();
  while (left && begin < end && space.has(text.chars[begin])) {
    ++begin;
  }
  while (right && end > begin && space.has(text.chars[end - 1])) {
    --end;
  }
  if (begin != 0 || end != text.size()) {
    TracedText rest;
    rest.append(text, begin, end);
    text = std::move(rest);
  }
}

rt::Status replaceMatches(TracedText &text, const Pattern &pattern,
                          const std::u32string &content, Budget &budget) {
  auto matches = pattern.find(text.chars, budget);
  if (!matches) {
    return std::move(matches.error());
  }
  size_t most = text.size() + matches->size() * content.size();
  if (rt::Status status = checkSize(most); !status) {
    return status;
  }
  Rewriter rewriter(text);
  for (const Match &match : *matches) {
    if (!match.isMatch) {
      rewriter.keepUntil(match.end);
      continue;
    }
    rewriter.drop(match.end - match.begin);
    for (char32_t c : content) {
      rewriter.insert(c);
    }
  }
  text = rewriter.take();
  return {};
}

} // namespace

rt::Status checkSize(size_t numCharacters) {
  return numCharacters <= maxCharacters
             ? rt::Status()
             : rt::makeError(rt::Code::Exhausted, "expected a text of at most ",
                             maxCharacters, " characters, got one that the ",
                             "tokenizer makes longer");
}

void prepend(TracedText &text, std::u32string_view prefix) {
  if (text.size() != 0) {
    text.chars.insert(0, prefix);
    text.origins.insert(text.origins.begin(), prefix.size(), text.origins[0]);
  }
}

NormalizerPtr makeNormalForm(NormalForm form) {
  return make([form](TracedText &text, Budget &) -> rt::Status {
    normalize(text, form);
    return {};
  });
}

NormalizerPtr makeLowercase() {
  return make([](TracedText &text, Budget &) -> rt::Status {
    toLowerCase(text);
    return {};
  });
}

NormalizerPtr makeStripAccents() {
  return make([](TracedText &text, Budget &) -> rt::Status {
    static const CharacterSet &accent = namedSet("accent");
    dropIf(text, [](char32_t c) { return accent.has(c); });
    return {};
  });
}

NormalizerPtr makeStrip(bool left, bool right) {
  return make([=](TracedText &text, Budget &) -> rt::Status {
    strip(text, left, right);
    return {};
  });
}

NormalizerPtr makePrepend(std::u32string prefix) {
  return make(
      [prefix = std::move(prefix)](TracedText &text, Budget &) -> rt::Status {
        prepend(text, prefix);
        return {};
      });
}

NormalizerPtr makeReplace(Pattern pattern, std::u32string content) {
  return make([pattern = std::move(pattern),
               content = std::move(content)](TracedText &text, Budget &budget) {
    return replaceMatches(text, pattern, content, budget);
  });
}

NormalizerPtr makeCharsMap(CharsMap map, bool takesLongest) {
  return make([map = std::move(map), takesLongest](TracedText &text, Budget &) {
    return takesLongest ? map.applyLongest(text) : map.apply(text);
  });
}

NormalizerPtr makeBert(BertOptions options) {
  return make([options](TracedText &text, Budget &) -> rt::Status {
    static const CharacterSet &mark = namedSet("bert.mark");
    if (options.cleanText) {
      cleanText(text);
    }
    if (options.chinese) {
      spaceChinese(text);
    }
    if (options.stripAccents) {
      normalize(text, NormalForm::Nfd);
      dropIf(text, [](char32_t c) { return mark.has(c); });
    }
    if (options.lowercase) {
      toLowerCase(text);
    }
    return {};
  });
}

NormalizerPtr makeByteLevelNormalizer() {
  return make([](TracedText &text, Budget &) -> rt::Status {
    text = toByteLevel(text, 0, text.size());
    return {};
  });
}

NormalizerPtr makeSequence(std::vector<NormalizerPtr> parts) {
  return make([parts = std::move(parts)](TracedText &text,
                                         Budget &budget) -> rt::Status {
    for (const NormalizerPtr &part : parts) {
      rt::Status status = part->apply(text, budget);
      status = status ? checkSize(text.size()) : std::move(status);
      if (status && !budget.pass(text.size())) {
        status = budget.status();
      }
      if (!status) {
        return status;
      }
    }
    return {};
  });
}

} // namespace tfc::text
