// Characters of a pattern: escapes and classes in brackets; and the place in
// the pattern that its parser is at.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PARSECLASS_H
#define TFC_RUNTIME_TEXT_PARSECLASS_H

#include "runtime/src/Error.h"
#include "runtime/text/CharacterSet.h"

namespace tfc::text {

/// Thrown inside the parser, caught at its border.
struct PatternFault {
  rt::Error error;
};

class ClassParser {
public:
  ClassParser(std::u32string_view text, std::vector<CharacterSet> &sets)
      : text(text), sets(sets) {}

protected:
  bool atEnd() const { return at >= text.size(); }
  size_t position() const { return at; }
  void moveTo(size_t place) { at = place; }
  char32_t peek() const { return text[at]; }
  char32_t next() {
    if (atEnd()) {
      fail("expected more, got the end of the pattern");
    }
    return text[at++];
  }
  bool take(char32_t c) {
    bool isThere = !atEnd() && text[at] == c;
    at += isThere;
    return isThere;
  }
  [[noreturn]] void fail(const std::string &what) const {
    throw PatternFault{rt::makeError(rt::Code::InvalidArgument, "character ",
                                     at, " of the pattern: ", what)};
  }
  [[noreturn]] void unsupported(const std::string &what) const {
    throw PatternFault{rt::makeError(
        rt::Code::Unsupported, "character ", at,
        " of the pattern: expected what this matcher has, got ", what)};
  }

  /// A class, whose opening bracket has been read.
  CharacterSet parseClass(int depth);
  /// What follows a backslash: one character, or characters added to `set`.
  std::optional<char32_t> readEscape(CharacterSet &set, bool isInClass);
  /// A character, and its others where case is ignored.
  void addCharacter(CharacterSet &set, char32_t c) const;
  /// The set's number.
  uint32_t keep(CharacterSet set);

  bool ignoresCase = false;

private:
  CharacterSet parseUnion(int depth);
  void addProperty(CharacterSet &set, bool isNegative);
  void addNamed(CharacterSet &set, const char *name, bool isNegative) const;
  void addPosix(CharacterSet &set);
  void addFolded(CharacterSet &set) const;
  char32_t readHex(size_t most);

  std::u32string_view text;
  std::vector<CharacterSet> &sets;
  size_t at = 0;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PARSECLASS_H
