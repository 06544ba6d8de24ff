// A text of which every character knows where it came from, and how it is
// changed: the parts of a pipeline say what they do to each character.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_TRACEDTEXT_H
#define TFC_RUNTIME_TEXT_TRACEDTEXT_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tfc::text {

/// Characters [begin, end) of the caller's text.
struct Span {
  uint32_t begin = 0, end = 0;
};

/// More characters than any text should have, grown by whatever a file says;
/// their places fit into 32 bits.
constexpr size_t maxCharacters = size_t(1) << 26;

struct TracedText {
  std::u32string chars;
  std::vector<Span> origins; // one a character

  size_t size() const { return chars.size(); }
  void clear() {
    chars.clear();
    origins.clear();
  }
  void reserve(size_t count) {
    chars.reserve(count);
    origins.reserve(count);
  }
  void push(char32_t c, Span origin) {
    chars += c;
    origins.push_back(origin);
  }
  /// Characters [begin, end) of another text.
  void append(const TracedText &from, size_t begin, size_t end) {
    chars.append(from.chars, begin, end - begin);
    origins.insert(origins.end(), from.origins.begin() + begin,
                   from.origins.begin() + end);
  }
};

/// A character of a changed text. `change` 0: it stands for the next one of the
/// text before; below 0: and for so many behind that one; above 0: it came in
/// between, and is where the one before it was.
struct Change {
  char32_t c;
  int32_t change;
};

/// Writes a changed text from front to back, giving each character the origin
/// that `tokenizers` gives it: of the first of the characters that it stands
/// for, or of the one before.
class Rewriter {
public:
  /// `from` must stay as it is until take().
  explicit Rewriter(const TracedText &from) : from(from) {
    out.reserve(from.size());
  }

  size_t position() const { return next; }
  bool atEnd() const { return next >= from.size(); }
  char32_t peek() const { return from.chars[next]; }

  void replace(char32_t c) {
    out.push(c, originOf(next));
    ++next;
  }
  void keep() { replace(from.chars[next]); }
  void keepUntil(size_t end) {
    out.append(from, next, end);
    next = end;
  }
  void drop(size_t count = 1) { next += count; }
  void insert(char32_t c) {
    // Before the first character there is nowhere: the start of the text.
    out.push(c, next == 0 ? Span{start(), start()} : originOf(next - 1));
  }
  TracedText take() { return std::move(out); }

private:
  Span originOf(size_t i) const {
    return i < from.size() ? from.origins[i] : Span{};
  }
  uint32_t start() const { return from.size() ? from.origins[0].begin : 0; }

  const TracedText &from;
  TracedText out;
  size_t next = 0;
};

/// A list of changes, made by parts that reorder or count for themselves.
inline void applyChanges(TracedText &text, const std::vector<Change> &changes) {
  Rewriter rewriter(text);
  for (const Change &change : changes) {
    if (change.change > 0) {
      rewriter.insert(change.c);
      continue;
    }
    rewriter.replace(change.c);
    rewriter.drop(static_cast<size_t>(-change.change));
  }
  text = rewriter.take();
}

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_TRACEDTEXT_H
