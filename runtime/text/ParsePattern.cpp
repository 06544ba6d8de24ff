// From the text of a pattern to its tree: alternatives, loops, groups. Classes
// are read in ParseClass.cpp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ParseClass.h"
#include "runtime/text/PatternTree.h"
#include "runtime/text/Utf8.h"

namespace tfc::text {

namespace {

constexpr int maxDepth = 50;
constexpr uint32_t maxCount = 1000; // of a loop's bounds
constexpr size_t maxNodes = 20000;
constexpr int maxLoops = 1000;

PatternNodePtr makeNode(PatternNode::Kind kind) {
  auto node = std::make_unique<PatternNode>();
  node->kind = kind;
  return node;
}

class Parser : public ClassParser {
public:
  using ClassParser::ClassParser;

  PatternNodePtr parse() {
    PatternNodePtr root = parseEither(0);
    if (!atEnd()) {
      fail("expected the end of the pattern, got a closing parenthesis");
    }
    return root;
  }

private:
  PatternNodePtr parseEither(int depth) {
    if (depth > maxDepth) {
      fail(rt::concat("expected groups at most ", maxDepth, " deep, got more"));
    }
    PatternNodePtr node = makeNode(PatternNode::Either);
    // An option that is switched on inside a group ends with it.
    bool outer = ignoresCase;
    node->parts.push_back(parseSequence(depth));
    while (take(U'|')) {
      node->parts.push_back(parseSequence(depth));
    }
    ignoresCase = outer;
    return node->parts.size() == 1 ? std::move(node->parts[0])
                                   : std::move(node);
  }

  PatternNodePtr parseSequence(int depth) {
    PatternNodePtr node = makeNode(PatternNode::Sequence);
    char32_t before = 0;
    while (!atEnd() && peek() != U'|' && peek() != U')') {
      if (++numNodes > maxNodes) {
        fail(rt::concat("expected at most ", maxNodes, " parts, got more"));
      }
      checkFolding(before, peek());
      before = peek();
      node->parts.push_back(parseLoops(parseAtom(depth)));
    }
    return node;
  }

  /// Where case is ignored, two letters may also match one of other scripts.
  void checkFolding(char32_t before, char32_t c) {
    auto lower = [](char32_t x) { return x < 0x80 ? x | 0x20 : x; };
    before = lower(before);
    c = lower(c);
    bool isPair = (before == U's' && (c == U's' || c == U't')) ||
                  (before == U'f' && (c == U'f' || c == U'i' || c == U'l'));
    if (ignoresCase && isPair) {
      unsupported("two letters that case folding makes one of");
    }
  }

  PatternNodePtr parseLoops(PatternNodePtr node) {
    for (int nested = 0;;) {
      uint32_t least = 0, most = Pattern::unlimited;
      bool isInterval = false;
      if (take(U'*')) {
      } else if (take(U'+')) {
        least = 1;
      } else if (take(U'?')) {
        most = 1;
      } else if (takeInterval(least, most)) {
        isInterval = true;
      } else {
        return node;
      }
      PatternNodePtr loop = makeNode(PatternNode::Loop);
      loop->least = least;
      loop->most = most;
      // Behind {n} a question mark, and behind an interval a plus, is a loop of
      // its own.
      if (!(isInterval && least == most) && take(U'?')) {
        loop->greed = PatternStep::Lazy;
      } else if (!isInterval && take(U'+')) {
        loop->greed = PatternStep::Possessive;
      }
      loop->parts.push_back(std::move(node));
      node = std::move(loop);
      if (++numLoops > maxLoops || ++nested > maxDepth) {
        fail("expected fewer loops");
      }
    }
  }

  /// {n}, {n,}, {,n} or {n,m}; anything else is text.
  bool takeInterval(uint32_t &least, uint32_t &most) {
    size_t begin = position();
    if (!take(U'{')) {
      return false;
    }
    bool hasLeast = takeNumber(least), hasComma = take(U','), hasMost = false;
    if (hasComma) {
      hasMost = takeNumber(most);
    } else {
      most = least;
    }
    if (!(hasLeast || hasMost) || !take(U'}')) {
      least = 0;
      most = Pattern::unlimited;
      moveTo(begin);
      return false;
    }
    least = hasLeast ? least : 0;
    if (least > most) {
      fail("expected an interval from the lesser number to the greater");
    }
    return true;
  }

  bool takeNumber(uint32_t &number) {
    if (atEnd() || peek() < U'0' || peek() > U'9') {
      return false;
    }
    number = 0;
    while (!atEnd() && peek() >= U'0' && peek() <= U'9') {
      number = number * 10 + (next() - U'0');
      if (number > maxCount) {
        fail(rt::concat("expected at most ", maxCount, " repetitions"));
      }
    }
    return true;
  }

  PatternNodePtr parseAtom(int depth) {
    switch (peek()) {
    case U'(':
      next();
      return parseGroup(depth);
    case U'[': {
      next();
      return oneOf(parseClass(0));
    }
    case U'^':
      next();
      return edge(PatternStep::LineBegin);
    case U'$':
      next();
      return edge(PatternStep::LineEnd);
    case U'.': {
      next();
      CharacterSet any;
      any.add(U'\n');
      any.invert();
      return oneOf(std::move(any));
    }
    case U'*':
    case U'+':
    case U'?':
      fail("expected something to repeat");
    case U'\\':
      next();
      return parseEscaped();
    default: {
      CharacterSet set;
      addCharacter(set, next());
      return oneOf(std::move(set));
    }
    }
  }

  PatternNodePtr parseEscaped() {
    if (take(U'A')) {
      return edge(PatternStep::TextBegin);
    }
    if (take(U'z')) {
      return edge(PatternStep::TextEnd);
    }
    if (take(U'b')) {
      return edge(PatternStep::WordEdge);
    }
    if (take(U'B')) {
      PatternNodePtr node = edge(PatternStep::WordEdge);
      node->isNegative = true;
      return node;
    }
    CharacterSet set;
    if (std::optional<char32_t> single = readEscape(set, /*isInClass=*/false)) {
      addCharacter(set, *single);
    }
    return oneOf(std::move(set));
  }

  PatternNodePtr parseGroup(int depth) {
    PatternNodePtr node;
    bool outer = ignoresCase;
    if (take(U'?')) {
      if (take(U'>')) {
        node = makeNode(PatternNode::Atomic);
      } else if (take(U'=')) {
        node = makeNode(PatternNode::Look);
      } else if (take(U'!')) {
        node = makeNode(PatternNode::Look);
        node->isNegative = true;
      } else if (take(U'<')) {
        node = makeNode(PatternNode::Look);
        node->isBehind = true;
        node->isNegative = take(U'!');
        if (!node->isNegative && !take(U'=')) {
          unsupported("a named group");
        }
      } else if (!take(U':')) {
        bool isOn = !take(U'-');
        if (!take(U'i')) {
          unsupported("this kind of group");
        }
        ignoresCase = isOn;
        if (take(U')')) {
          return makeNode(PatternNode::Empty);
        }
        if (!take(U':')) {
          unsupported("this kind of group");
        }
      }
    }
    PatternNodePtr body = parseEither(depth + 1);
    ignoresCase = outer;
    if (!take(U')')) {
      fail("expected a closing parenthesis");
    }
    if (!node) {
      return body;
    }
    if (node->isBehind) {
      PatternLength length = lengthOf(*body);
      if (length.most > 255) {
        unsupported("a look behind of more than 255 characters");
      }
      node->least = static_cast<uint32_t>(length.least);
      node->most = static_cast<uint32_t>(length.most);
    }
    node->parts.push_back(std::move(body));
    return node;
  }

  PatternNodePtr edge(PatternStep::Kind kind) {
    PatternNodePtr node = makeNode(PatternNode::Edge);
    node->edge = kind;
    return node;
  }

  PatternNodePtr oneOf(CharacterSet set) {
    PatternNodePtr node = makeNode(PatternNode::One);
    node->set = keep(std::move(set));
    return node;
  }

  size_t numNodes = 0;
  int numLoops = 0;
};

} // namespace

rt::Result<PatternNodePtr> parsePattern(std::u32string_view text,
                                        std::vector<CharacterSet> &sets) {
  try {
    return Parser(text, sets).parse();
  } catch (const PatternFault &fault) {
    return fault.error;
  }
}

} // namespace tfc::text
