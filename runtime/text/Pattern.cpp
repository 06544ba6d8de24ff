// Writes a pattern's tree down as steps.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Pattern.h"

#include "runtime/text/PatternTree.h"
#include "runtime/text/Utf8.h"

#include <algorithm>

namespace tfc::text {

namespace {

constexpr size_t maxSteps = 50000;

/// Thrown by a loop of loops that would become too long.
struct TooLong {};

class Writer {
public:
  explicit Writer(std::vector<PatternStep> &steps) : steps(steps) {}
  uint32_t numSlots = 0, numRuns = 0;

  void write(const PatternNode &node) {
    switch (node.kind) {
    case PatternNode::Empty:
      break;
    case PatternNode::One:
      steps[add(PatternStep::One)].set = node.set;
      break;
    case PatternNode::Edge:
      steps[add(node.edge)].isNegative = node.isNegative;
      break;
    case PatternNode::Sequence:
      for (const PatternNodePtr &part : node.parts) {
        write(*part);
      }
      break;
    case PatternNode::Either:
      writeEither(node);
      break;
    case PatternNode::Loop:
      writeLoop(node);
      break;
    case PatternNode::Look:
    case PatternNode::Atomic:
      writeApart(node.kind == PatternNode::Look ? PatternStep::Look
                                                : PatternStep::Atomic,
                 node, [&] { write(*node.parts[0]); });
      break;
    }
  }

  size_t add(PatternStep::Kind kind) {
    if (steps.size() >= maxSteps) {
      throw TooLong();
    }
    steps.emplace_back();
    steps.back().kind = kind;
    return steps.size() - 1;
  }

private:
  uint32_t here() const { return static_cast<uint32_t>(steps.size()); }

  template <typename F>
  void writeApart(PatternStep::Kind kind, const PatternNode &node, F body) {
    size_t at = add(kind);
    steps[at].isNegative = node.isNegative;
    steps[at].isBehind = node.isBehind;
    steps[at].least = node.least;
    steps[at].most = node.most;
    ++nested;
    body();
    --nested;
    add(PatternStep::Done);
    steps[at].a = here();
  }

  void writeEither(const PatternNode &node) {
    std::vector<size_t> jumps;
    for (size_t i = 0; i < node.parts.size(); ++i) {
      bool isLast = i + 1 == node.parts.size();
      size_t split = isLast ? 0 : add(PatternStep::Split);
      uint32_t begin = here();
      write(*node.parts[i]);
      if (!isLast) {
        jumps.push_back(add(PatternStep::Jump));
        steps[split].a = begin;
        steps[split].b = here();
      }
    }
    for (size_t jump : jumps) {
      steps[jump].a = here();
    }
  }

  void writeLoop(const PatternNode &node) {
    const PatternNode &body = *node.parts[0];
    if (body.kind == PatternNode::One) {
      PatternStep &step = steps[add(PatternStep::Repeat)];
      step.set = body.set;
      step.least = node.least;
      step.most = node.most;
      step.greed = node.greed;
      bool isRun = nested == 0 && node.most == Pattern::unlimited;
      step.a = isRun ? numRuns++ : Pattern::unlimited;
      return;
    }
    if (node.greed == PatternStep::Possessive) {
      PatternNode atomic;
      writeApart(PatternStep::Atomic, atomic, [&] { writeRounds(node); });
      return;
    }
    writeRounds(node);
  }

  void writeRounds(const PatternNode &node) {
    const PatternNode &body = *node.parts[0];
    for (uint32_t i = 0; i < node.least; ++i) {
      write(body);
    }
    std::vector<size_t> splits;
    auto split = [&] {
      splits.push_back(add(PatternStep::Split));
      return splits.back();
    };
    size_t again = 0;
    if (node.most == Pattern::unlimited) {
      uint32_t loop = static_cast<uint32_t>(split()), slot = numSlots++;
      steps[add(PatternStep::Mark)].set = slot;
      ++nested;
      write(body);
      --nested;
      again = add(PatternStep::Again);
      steps[again].set = slot;
      steps[again].a = loop;
      steps[again].b = here();
    } else {
      for (uint32_t i = node.least; i < node.most; ++i) {
        split();
        write(body);
      }
    }
    for (size_t at : splits) {
      uint32_t round = static_cast<uint32_t>(at + 1);
      bool isLazy = node.greed == PatternStep::Lazy;
      steps[at].a = isLazy ? here() : round;
      steps[at].b = isLazy ? round : here();
    }
  }

  std::vector<PatternStep> &steps;
  int nested = 0; // endless loops, and what is matched apart
};

} // namespace

rt::Result<Pattern> Pattern::parse(std::string_view text) {
  auto characters = decodeUtf8(text);
  if (!characters) {
    return std::move(characters.error());
  }
  Pattern pattern;
  auto tree = parsePattern(*characters, pattern.sets);
  if (!tree) {
    return std::move(tree.error());
  }
  Writer writer(pattern.steps);
  try {
    writer.write(**tree);
    writer.add(PatternStep::Done);
  } catch (const TooLong &) {
    return rt::makeError(rt::Code::InvalidArgument,
                         "expected a pattern of at most ", maxSteps,
                         " steps, its loops written out, got more");
  }
  pattern.numSlots = writer.numSlots;
  pattern.numRuns = writer.numRuns;
  pattern.hasFirst = addFirst(**tree, pattern.sets, pattern.first);
  return pattern;
}

Pattern Pattern::literal(std::u32string_view text) {
  Pattern pattern;
  pattern.plain = LiteralFinder<char32_t>(text);
  return pattern;
}

} // namespace tfc::text
