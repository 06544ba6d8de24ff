// Finds a pattern in a text: the steps are followed until one fails, and then
// from the last choice that is left.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Pattern.h"

#include <algorithm>

namespace tfc::text {

namespace {

constexpr size_t maxChoices = 1 << 22;
constexpr size_t nowhere = ~size_t(0);

} // namespace

class PatternMatcher {
public:
  PatternMatcher(const Pattern &pattern, std::u32string_view text,
                 Budget &budget)
      : pattern(pattern), text(text), slots(pattern.numSlots, nowhere),
        failed(pattern.numRuns), budget(budget) {}

  bool isExhausted() const { return exhausted; }

  /// The end of the match that begins at `begin`, or nowhere.
  size_t matchAt(size_t begin) {
    choices.clear();
    size_t end = run(0, begin);
    numMatches += end != nowhere;
    return end;
  }

private:
  struct Choice {
    enum Kind { Place, Fewer, More, Slot } kind;
    uint32_t step;   // to go on with; of a slot its number
    size_t at;       // to go on at; of a slot what it was
    size_t last = 0; // of a repeat: where it ends at the least, or the most
  };

  /// Where an endless Repeat began and how far its characters went; the rest of
  /// the pattern was behind none of them.
  struct Failure {
    size_t begin = 1, end = 0;
    size_t numMatches = 0; // before it; any later one makes it void
  };

  size_t run(uint32_t step, size_t at, size_t wanted = nowhere);
  bool advance(uint32_t &step, size_t &at);
  bool goBack(size_t base, uint32_t &step, size_t &at);
  bool repeat(const PatternStep &here, uint32_t &step, size_t &at);
  bool look(const PatternStep &here, uint32_t body, size_t at);
  bool isAtEdge(const PatternStep &here, size_t at) const;
  bool isWord(size_t at) const {
    static const CharacterSet &word = namedSet("pattern.word");
    return at < text.size() && word.has(text[at]);
  }

  void choose(Choice choice) {
    if (choices.size() >= maxChoices) {
      exhausted = true;
      budget.exhaust();
      return;
    }
    choices.push_back(choice);
  }

  const Pattern &pattern;
  std::u32string_view text;
  std::vector<size_t> slots;
  std::vector<Choice> choices;
  std::vector<Failure> failed; // by the number of a Repeat
  Budget &budget;
  size_t numMatches = 0;
  bool exhausted = false;
};

/// The end of what the steps from `step` match, `wanted` where that is given.
size_t PatternMatcher::run(uint32_t step, size_t at, size_t wanted) {
  size_t base = choices.size();
  for (;;) {
    if (exhausted || !budget.spend(1)) {
      exhausted = true;
      return nowhere;
    }
    bool isDone = pattern.steps[step].kind == PatternStep::Done;
    if (isDone && (wanted == nowhere || at == wanted)) {
      // What is left of the choices is nobody's any more.
      choices.resize(base);
      return at;
    }
    if ((isDone || !advance(step, at)) && !goBack(base, step, at)) {
      return nowhere;
    }
  }
}

/// One step from `at`; false: it fails.
bool PatternMatcher::advance(uint32_t &step, size_t &at) {
  const PatternStep &here = pattern.steps[step];
  switch (here.kind) {
  case PatternStep::One:
    if (at >= text.size() || !pattern.sets[here.set].has(text[at])) {
      return false;
    }
    ++at;
    ++step;
    return true;
  case PatternStep::Repeat:
    return repeat(here, step, at);
  case PatternStep::Split:
    choose({Choice::Place, here.b, at});
    step = here.a;
    return true;
  case PatternStep::Jump:
    step = here.a;
    return true;
  case PatternStep::Look:
    if (look(here, step + 1, at) == here.isNegative) {
      return false;
    }
    step = here.a;
    return true;
  case PatternStep::Atomic: {
    size_t end = run(step + 1, at);
    if (end == nowhere) {
      return false;
    }
    at = end;
    step = here.a;
    return true;
  }
  case PatternStep::Mark:
    choose({Choice::Slot, here.set, slots[here.set]});
    slots[here.set] = at;
    ++step;
    return true;
  case PatternStep::Again:
    step = slots[here.set] == at ? here.b : here.a;
    return true;
  default:
    ++step;
    return isAtEdge(here, at);
  }
}

/// To the last choice above `base`; false when there is none.
bool PatternMatcher::goBack(size_t base, uint32_t &step, size_t &at) {
  while (choices.size() > base) {
    Choice &last = choices.back();
    if (last.kind == Choice::Slot) {
      slots[last.step] = last.at;
      choices.pop_back();
      continue;
    }
    step = last.step;
    at = last.at;
    if (last.kind == Choice::Fewer && last.at > last.last) {
      --last.at;
    } else if (last.kind == Choice::More && last.at < last.last) {
      ++last.at;
    } else {
      choices.pop_back();
    }
    return true;
  }
  return false;
}

bool PatternMatcher::repeat(const PatternStep &here, uint32_t &step,
                            size_t &at) {
  const CharacterSet &set = pattern.sets[here.set];
  // From further on its characters go as far, and the rest fails as it did.
  Failure *failure = here.a == Pattern::unlimited ? nullptr : &failed[here.a];
  if (failure && failure->numMatches == numMatches && failure->begin <= at &&
      at <= failure->end) {
    return false;
  }
  size_t most = std::min<uint64_t>(text.size(), uint64_t(at) + here.most);
  size_t least = at + here.least, end = at;
  while (end < most && set.has(text[end])) {
    ++end;
  }
  exhausted |= !budget.spend((end - at) / 8);
  if (failure) {
    *failure = {at, end, numMatches};
  }
  if (end < least) {
    return false;
  }
  ++step;
  at = end;
  if (here.greed == PatternStep::Lazy) {
    at = least;
    if (end > least) {
      choose({Choice::More, step, least + 1, end});
    }
  } else if (here.greed == PatternStep::Greedy && end > least) {
    choose({Choice::Fewer, step, end - 1, least});
  }
  return true;
}

bool PatternMatcher::look(const PatternStep &here, uint32_t body, size_t at) {
  if (!here.isBehind) {
    return run(body, at) != nowhere;
  }
  for (size_t length = here.least; length <= here.most && length <= at;
       ++length) {
    if (run(body, at - length, at) == at) {
      return true;
    }
  }
  return false;
}

bool PatternMatcher::isAtEdge(const PatternStep &here, size_t at) const {
  switch (here.kind) {
  case PatternStep::LineBegin:
    // Behind the very last line end no line begins.
    return at == 0 || (at < text.size() && text[at - 1] == U'\n');
  case PatternStep::LineEnd:
    return at == text.size() || text[at] == U'\n';
  case PatternStep::TextBegin:
    return at == 0;
  case PatternStep::TextEnd:
    return at == text.size();
  default:
    return ((at > 0 && isWord(at - 1)) != isWord(at)) != here.isNegative;
  }
}

rt::Result<std::vector<Match>> Pattern::find(std::u32string_view text,
                                             Budget &budget) const {
  std::vector<Match> found;
  size_t end = 0; // of the last match
  auto add = [&](size_t begin, size_t to) {
    if (begin > end) {
      found.push_back({end, begin, false});
    }
    found.push_back({begin, to, true});
    end = to;
  };
  if (!budget.pass(text.size() + 1)) {
    return std::move(budget.status().error());
  }
  if (plain.size() != 0) {
    for (size_t at = plain.find(text, 0); at != text.npos;
         at = plain.find(text, end)) {
      add(at, at + plain.size());
    }
  } else {
    PatternMatcher matcher(*this, text, budget);
    bool hasEnded = false;
    for (size_t at = 0; at <= text.size() && !text.empty(); ++at) {
      if (hasFirst && (at == text.size() || !first.has(text[at]))) {
        continue;
      }
      size_t to = matcher.matchAt(at);
      if (matcher.isExhausted()) {
        return std::move(budget.status().error());
      }
      // An empty match right behind another one is none.
      if (to == nowhere || (to == at && hasEnded && at == end)) {
        continue;
      }
      add(at, to);
      hasEnded = true;
      // On from its end, which the loop steps to.
      at = to - 1;
    }
  }
  if (end < text.size() || text.empty()) {
    found.push_back({end, text.size(), false});
  }
  return found;
}

} // namespace tfc::text
