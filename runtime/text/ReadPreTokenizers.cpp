// "pre_tokenizer".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadParts.h"

namespace tfc::text {

/// A splitter at the characters of a set.
static PreTokenizerPtr splitAt(const char *set, Behavior behavior) {
  const CharacterSet &characters = namedSet(set);
  return makeSplitAt([&characters](char32_t c) { return characters.has(c); },
                     behavior);
}

static Behavior readBehavior(const FileNode &node,
                             std::optional<size_t> otherwise = {}) {
  // In the order of the enumeration.
  return static_cast<Behavior>(
      node.word("behavior",
                {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext",
                 "Contiguous"},
                otherwise));
}

static PreTokenizerPtr readMetaspace(const FileNode &node) {
  node.allow({"replacement", "prepend_scheme", "split", "add_prefix_space",
              "str_rep"});
  size_t scheme =
      node.word("prepend_scheme", {"always", "first", "never"}, size_t(0));
  // Older files have this instead of the scheme.
  if (!node.boolean("add_prefix_space", true)) {
    if (node.has("prepend_scheme") && scheme != 2) {
      node.at("prepend_scheme").fail("never (add_prefix_space is false)");
    }
    scheme = 2;
  }
  return makeMetaspace(node.character("replacement"),
                       static_cast<Prepend>(scheme),
                       node.boolean("split", true));
}

PreTokenizerPtr readPreTokenizer(const FileNode &node) {
  if (node.isNull()) {
    return nullptr;
  }
  std::string type = node.type();
  if (type == "Sequence") {
    node.allow({"pretokenizers"});
    std::vector<PreTokenizerPtr> parts;
    for (const FileNode &item : node.at("pretokenizers").items()) {
      if (item.isNull()) {
        item.fail("a pre-tokenizer");
      }
      parts.push_back(readPreTokenizer(item));
    }
    return makeSequence(std::move(parts));
  }
  if (type == "BertPreTokenizer") {
    node.allow({});
    std::vector<PreTokenizerPtr> parts;
    parts.push_back(splitAt("white_space", Behavior::Removed));
    parts.push_back(splitAt("bert.punctuation", Behavior::Isolated));
    return makeSequence(std::move(parts));
  }
  if (type == "WhitespaceSplit") {
    node.allow({});
    return splitAt("white_space", Behavior::Removed);
  }
  if (type == "Whitespace") {
    node.allow({});
    return makeWords();
  }
  if (type == "Punctuation") {
    node.allow({"behavior"});
    return splitAt("bert.punctuation",
                   readBehavior(node, size_t(Behavior::Isolated)));
  }
  if (type == "Digits") {
    node.allow({"individual_digits"});
    return splitAt("numeric", node.boolean("individual_digits")
                                  ? Behavior::Isolated
                                  : Behavior::Contiguous);
  }
  if (type == "CharDelimiterSplit") {
    node.allow({"delimiter"});
    char32_t delimiter = node.character("delimiter");
    return makeSplitAt([=](char32_t c) { return c == delimiter; },
                       Behavior::Removed);
  }
  if (type == "Split") {
    node.allow({"pattern", "behavior", "invert"});
    return makeSplit(readPattern(node.at("pattern")), readBehavior(node),
                     node.boolean("invert"));
  }
  if (type == "ByteLevel") {
    node.allow({"add_prefix_space", "trim_offsets", "use_regex"});
    return makeByteLevel(node.boolean("add_prefix_space"),
                         node.boolean("use_regex", true));
  }
  if (type == "Metaspace") {
    return readMetaspace(node);
  }
  node.at("type").fail(rt::Code::Unsupported,
                       "expected a known pre-tokenizer, got " +
                           rt::quoteName(type));
}

} // namespace tfc::text
