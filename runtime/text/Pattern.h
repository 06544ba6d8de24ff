// Regular expressions of tokenizer files, as Oniguruma reads them in Ruby's
// syntax: alternatives from left to right, with backtracking. Patterns come
// from files, so their size, depth and steps have limits.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TEXT_PATTERN_H
#define TFC_RUNTIME_TEXT_PATTERN_H

#include "runtime/text/Budget.h"
#include "runtime/text/CharacterSet.h"
#include "runtime/text/LiteralFinder.h"

namespace tfc::text {

/// A part of a text that a pattern matches, or that lies between two of those.
struct Match {
  size_t begin = 0, end = 0;
  bool isMatch = false;
};

/// One instruction; `next` is the one behind unless it says otherwise.
struct PatternStep {
  enum Kind {
    One,    // a character of `set`
    Repeat, // `least` to `most` characters of `set`
    Split,  // first at `a`; if that fails at `b`
    Jump,   // to `a`
    Look,   // the steps to Done behind it match here, or not; then to `a`
    Atomic, // the steps to Done behind it, without a second try; then to `a`
    Mark,   // remembers the place in slot `set`
    Again,  // to `a`; where the place is still that of slot `set`, to `b`
    LineBegin,
    LineEnd,
    TextBegin,
    TextEnd,
    WordEdge,
    Done
  };
  enum Greed { Greedy, Lazy, Possessive };

  Kind kind = Done;
  Greed greed = Greedy;
  bool isNegative = false; // of Look and WordEdge
  bool isBehind = false;   // of Look: `least` to `most` characters before
  uint32_t set = 0;        // of One and Repeat; a slot of Mark and Again
  /// Of Repeat `a` is its number among those without an end that are in no
  /// other such loop and matched with the rest, or Pattern::unlimited.
  uint32_t a = 0, b = 0;
  uint32_t least = 0, most = 0;
};

class Pattern {
public:
  static constexpr uint32_t unlimited = ~uint32_t(0);

  /// Errors: InvalidArgument for what is no pattern, Unsupported for what this
  /// matcher has not; both name the place.
  static rt::Result<Pattern> parse(std::string_view text);
  /// A pattern that is this text, whatever characters it has.
  static Pattern literal(std::u32string_view text);

  /// The matches, from left to right, and all that is between them; an empty
  /// text is one part that does not match. Errors: those of the budget.
  rt::Result<std::vector<Match>> find(std::u32string_view text,
                                      Budget &budget) const;

private:
  friend class PatternMatcher;

  std::vector<PatternStep> steps;
  std::vector<CharacterSet> sets;
  uint32_t numSlots = 0;
  uint32_t numRuns = 0;          // of Repeats that have a number
  LiteralFinder<char32_t> plain; // when the pattern is a text
  /// Characters that a match may begin with; without: any, or an empty match.
  bool hasFirst = false;
  CharacterSet first;
};

} // namespace tfc::text

#endif // TFC_RUNTIME_TEXT_PATTERN_H
