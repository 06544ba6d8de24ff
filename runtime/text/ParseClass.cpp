// Escapes and classes: \p{L}, \s, [^\r\n\p{N}], [a-z&&[^aeiou]].
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ParseClass.h"

#include "runtime/text/PropertyNames.h"
#include "runtime/text/Utf8.h"

#include <cstring>

namespace tfc::text {

namespace {
constexpr int maxClassDepth = 20;
constexpr size_t maxSets = 2000;

void addSet(CharacterSet &set, const CharacterSet &other, bool isNegative) {
  if (!isNegative) {
    set.add(other);
    return;
  }
  CharacterSet inverse = other;
  inverse.invert();
  set.add(inverse);
}
} // namespace

uint32_t ClassParser::keep(CharacterSet set) {
  if (sets.size() >= maxSets) {
    fail(rt::concat("expected at most ", maxSets, " classes, got more"));
  }
  sets.push_back(std::move(set));
  return static_cast<uint32_t>(sets.size() - 1);
}

void ClassParser::addCharacter(CharacterSet &set, char32_t c) const {
  if (ignoresCase && c >= 0x80) {
    unsupported("a character beyond ASCII where case is ignored");
  }
  set.add(c);
  if (ignoresCase) {
    addFolded(set);
  }
}

/// Upper and lower case of ASCII, and the two characters beyond it that fold
/// to one of those.
void ClassParser::addFolded(CharacterSet &set) const {
  for (char32_t c = U'a'; c <= U'z'; ++c) {
    if (set.has(c) || set.has(c - 32)) {
      set.add(c);
      set.add(c - 32);
    }
  }
  if (set.has(U's')) {
    set.add(0x17f);
  }
  if (set.has(U'k')) {
    set.add(0x212a);
  }
}

void ClassParser::addNamed(CharacterSet &set, const char *name,
                           bool isNegative) const {
  addSet(set, namedSet(name), isNegative);
}

void ClassParser::addProperty(CharacterSet &set, bool isNegative) {
  std::string name;
  if (take(U'{')) {
    isNegative ^= take(U'^');
    while (!take(U'}')) {
      appendUtf8(name, next());
    }
  } else {
    appendUtf8(name, next());
  }
  NamedSet found = findProperty(name);
  if (!found.set) {
    unsupported("the property " + rt::quoteName(name));
  }
  if (ignoresCase && found.dependsOnCase) {
    unsupported("a property of case where case is ignored");
  }
  addSet(set, *found.set, isNegative);
}

char32_t ClassParser::readHex(size_t most) {
  char32_t value = 0;
  size_t count = 0;
  for (; count < most && !atEnd(); ++count) {
    char32_t c = peek();
    char32_t lower = c | 0x20;
    bool isDigit = c >= U'0' && c <= U'9';
    if (!isDigit && !(c < 0x80 && lower >= U'a' && lower <= U'f')) {
      break;
    }
    value = value * 16 + (isDigit ? c - U'0' : lower - U'a' + 10);
    next();
  }
  if (count == 0 || value > lastCharacter) {
    fail("expected the number of a character in hexadecimal digits");
  }
  return value;
}

std::optional<char32_t> ClassParser::readEscape(CharacterSet &set,
                                                bool isInClass) {
  char32_t c = next();
  switch (c) {
  case U's':
  case U'S':
    addNamed(set, "pattern.space", c == U'S');
    return std::nullopt;
  case U'd':
  case U'D':
    addNamed(set, "Nd", c == U'D');
    return std::nullopt;
  case U'w':
  case U'W':
    addSet(set, isInClass ? *findClass("word").set : namedSet("pattern.word"),
           c == U'W');
    return std::nullopt;
  case U'h':
  case U'H':
    addNamed(set, "pattern.hex", c == U'H');
    return std::nullopt;
  case U'p':
  case U'P':
    addProperty(set, c == U'P');
    return std::nullopt;
  case U'n':
    return U'\n';
  case U'r':
    return U'\r';
  case U't':
    return U'\t';
  case U'f':
    return U'\f';
  case U'v':
    return U'\v';
  case U'a':
    return U'\a';
  case U'e':
    return char32_t(0x1b);
  case U'x': {
    if (!take(U'{')) {
      return readHex(2);
    }
    char32_t value = readHex(8);
    if (!take(U'}')) {
      fail("expected a closing brace");
    }
    return value;
  }
  case U'u':
    return readHex(4);
  default:
    break;
  }
  bool isLetter = c < 0x80 && ((c | 0x20) >= U'a' && (c | 0x20) <= U'z');
  if (isLetter || (c >= U'0' && c <= U'9')) {
    unsupported("an escaped " + std::string(1, static_cast<char>(c)));
  }
  return c;
}

void ClassParser::addPosix(CharacterSet &set) {
  std::string name;
  bool isNegative = take(U'^');
  while (!take(U':')) {
    appendUtf8(name, next());
  }
  if (!take(U']')) {
    fail("expected :] behind the name of a class");
  }
  NamedSet found = findClass(name);
  if (!found.set) {
    fail("expected the name of a class, got " + rt::quoteName(name));
  }
  if (ignoresCase && found.dependsOnCase) {
    unsupported("a class of case where case is ignored");
  }
  addSet(set, *found.set, isNegative);
}

/// Characters, ranges and classes, as far as && or the closing bracket.
CharacterSet ClassParser::parseUnion(int depth) {
  CharacterSet set;
  for (bool isFirst = true;; isFirst = false) {
    if (atEnd()) {
      fail("expected a closing bracket");
    }
    bool isAnd = peek() == U'&' && position() + 1 < text.size() &&
                 text[position() + 1] == U'&';
    if (isAnd || (peek() == U']' && !isFirst)) {
      return set;
    }
    if (take(U'[')) {
      if (take(U':')) {
        addPosix(set);
      } else {
        set.add(parseClass(depth + 1));
      }
      continue;
    }
    std::optional<char32_t> from = take(U'\\')
                                       ? readEscape(set, /*isInClass=*/true)
                                       : std::optional<char32_t>(next());
    if (!from) {
      continue;
    }
    bool isRange = !atEnd() && peek() == U'-' && position() + 1 < text.size() &&
                   text[position() + 1] != U']';
    if (!isRange) {
      addCharacter(set, *from);
      continue;
    }
    next();
    CharacterSet other;
    std::optional<char32_t> to = take(U'[') ? std::nullopt
                                 : take(U'\\')
                                     ? readEscape(other, /*isInClass=*/true)
                                     : std::optional<char32_t>(next());
    if (!to || *to < *from) {
      fail("expected a range from the lesser character to the greater");
    }
    if (ignoresCase && *to >= 0x80) {
      unsupported("a character beyond ASCII where case is ignored");
    }
    set.add(*from, *to);
    if (ignoresCase) {
      addFolded(set);
    }
  }
}

CharacterSet ClassParser::parseClass(int depth) {
  if (depth > maxClassDepth) {
    fail(rt::concat("expected classes at most ", maxClassDepth,
                    " deep, got more"));
  }
  bool isNegative = take(U'^');
  CharacterSet set = parseUnion(depth);
  while (!take(U']')) {
    // parseUnion stopped at &&.
    next();
    next();
    set.intersect(parseUnion(depth));
  }
  if (isNegative) {
    set.invert();
  }
  return set;
}

} // namespace tfc::text
