// Trims offsets, cuts what is too long, puts texts and special tokens together.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/Encoding.h"

#include <algorithm>

namespace tfc::text {

namespace {

void trimOffsets(Tokens &tokens, bool addsPrefixSpace) {
  for (size_t i = 0; i < tokens.size(); ++i) {
    Token &token = tokens[i];
    uint32_t left = token.leftSpaces, right = token.rightSpaces;
    bool isFirst = i == 0 || token.origin.begin == 0;
    // One space is the one that was put there; of several none was.
    if (left == 1 && isFirst && addsPrefixSpace) {
      left = 0;
    }
    Span &origin = token.origin;
    origin.begin = std::min(origin.begin + left, origin.end);
    if (right > 0 && origin.end >= right) {
      origin.end = std::max(origin.end - right, origin.begin);
    }
  }
}

void cutTo(Tokens &tokens, size_t length, bool fromLeft) {
  if (length >= tokens.size()) {
    return;
  }
  if (fromLeft) {
    tokens.erase(tokens.begin(), tokens.end() - length);
  } else {
    tokens.resize(length);
  }
}

/// The lengths of both texts, of which the longer one is cut first.
void cutLongest(size_t limit, Tokens &first, Tokens &second, bool fromLeft) {
  size_t shorter = std::min(first.size(), second.size());
  size_t longer =
      shorter > limit ? shorter : std::max(shorter, limit - shorter);
  if (shorter + longer > limit) {
    shorter = limit / 2;
    longer = shorter + limit % 2;
  }
  bool isSecondLonger = first.size() <= second.size();
  cutTo(first, isSecondLonger ? shorter : longer, fromLeft);
  cutTo(second, isSecondLonger ? longer : shorter, fromLeft);
}

} // namespace

size_t PostProcessor::countSpecial(bool isPair) const {
  size_t count = 0;
  for (const TemplatePart &part : isPair ? pair : single) {
    count += part.ids.size();
  }
  return count;
}

Tokens PostProcessor::apply(Tokens first, std::optional<Tokens> second,
                            bool addSpecial) const {
  for (bool addsPrefixSpace : trims) {
    trimOffsets(first, addsPrefixSpace);
    if (second) {
      trimOffsets(*second, addsPrefixSpace);
    }
  }
  for (Token &token : first) {
    token.sequence = 0;
  }
  std::vector<TemplatePart> plain(second ? 2 : 1);
  for (size_t i = 0; i < plain.size(); ++i) {
    plain[i].sequence = plain[i].type = static_cast<uint32_t>(i);
  }
  for (size_t i = 0; second && i < second->size(); ++i) {
    (*second)[i].sequence = 1;
  }
  bool isPlain = !hasTemplate || (!addSpecial && !keepsTypes);
  Tokens all;
  for (const TemplatePart &part : isPlain ? plain : second ? pair : single) {
    if (part.sequence < 0) {
      for (size_t i = 0; addSpecial && i < part.ids.size(); ++i) {
        all.push_back({part.ids[i], part.type, {}, -1, 0, 0});
      }
      continue;
    }
    for (Token token : part.sequence == 0 ? first : *second) {
      token.type = part.type;
      all.push_back(token);
    }
  }
  return all;
}

rt::Status truncate(const Truncation &how, size_t special, Tokens &first,
                    std::optional<Tokens> &second) {
  size_t count = first.size() + (second ? second->size() : 0);
  if (how.maxTokens == 0 || count + special <= how.maxTokens) {
    return {};
  }
  if (how.what == TruncateWhat::Second && !second) {
    return rt::makeError(rt::Code::InvalidArgument,
                         "expected a second text (which was to be truncated), "
                         "got one alone");
  }
  bool isBoth = how.what == TruncateWhat::Longest && second;
  Tokens &target = how.what == TruncateWhat::Second ? *second : first;
  // What is not cut stays whole.
  size_t whole = special + (isBoth ? 0 : count - target.size());
  if (how.maxTokens < whole) {
    return rt::makeError(rt::Code::InvalidArgument, "expected a limit of ",
                         whole, " tokens or more (there are ", special,
                         " special ones, and ", whole - special,
                         " that are not to be cut), got ", how.maxTokens);
  }
  size_t limit = how.maxTokens - whole;
  if (isBoth) {
    cutLongest(limit, first, *second, how.fromLeft);
  } else {
    cutTo(target, limit, how.fromLeft);
  }
  return {};
}

} // namespace tfc::text
