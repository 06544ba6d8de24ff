// "normalizer", and the patterns that several parts have.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadParts.h"
#include "runtime/text/Utf8.h"

namespace tfc::text {

Pattern readPattern(const FileNode &node) {
  node.allow({"String", "Regex"});
  if (!node.has("String")) {
    return unwrap(node.at("Regex"), Pattern::parse(node.string("Regex")));
  }
  std::u32string text = readCharacters(node, "String");
  if (text.empty()) {
    node.at("String").fail("a text that is not empty");
  }
  return Pattern::literal(text);
}

std::u32string readCharacters(const FileNode &node, const char *key) {
  return decodeChecked(node.string(key));
}

static NormalizerPtr readBert(const FileNode &node) {
  node.allow(
      {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  BertOptions options;
  options.cleanText = node.boolean("clean_text");
  options.chinese = node.boolean("handle_chinese_chars");
  options.lowercase = node.boolean("lowercase");
  options.stripAccents = node.boolean("strip_accents", options.lowercase);
  return makeBert(options);
}

static NormalizerPtr readCharsMap(const FileNode &node, bool isOfPieces) {
  node.allow({"precompiled_charsmap"});
  FileNode map = node.at("precompiled_charsmap");
  std::string bytes = unwrap(map, decodeBase64(map.asString()));
  return makeCharsMap(unwrap(map, CharsMap::read(bytes)), isOfPieces);
}

NormalizerPtr readNormalizer(const FileNode &node, bool isOfPieces) {
  if (node.isNull()) {
    return nullptr;
  }
  std::string type = node.type();
  if (type == "Sequence") {
    node.allow({"normalizers"});
    std::vector<NormalizerPtr> parts;
    for (const FileNode &item : node.at("normalizers").items()) {
      if (item.isNull()) {
        item.fail("a normalizer");
      }
      parts.push_back(readNormalizer(item, isOfPieces));
    }
    return makeSequence(std::move(parts));
  }
  static const std::pair<const char *, NormalForm> forms[] = {
      {"NFC", NormalForm::Nfc},
      {"NFD", NormalForm::Nfd},
      {"NFKC", NormalForm::Nfkc},
      {"NFKD", NormalForm::Nfkd}};
  for (auto [name, form] : forms) {
    if (type == name) {
      node.allow({});
      return makeNormalForm(form);
    }
  }
  if (type == "BertNormalizer") {
    return readBert(node);
  }
  if (type == "Lowercase") {
    node.allow({});
    return makeLowercase();
  }
  if (type == "StripAccents") {
    node.allow({});
    return makeStripAccents();
  }
  if (type == "Strip") {
    node.allow({"strip_left", "strip_right"});
    return makeStrip(node.boolean("strip_left"), node.boolean("strip_right"));
  }
  if (type == "Prepend") {
    node.allow({"prepend"});
    return makePrepend(readCharacters(node, "prepend"));
  }
  if (type == "Replace") {
    node.allow({"pattern", "content"});
    return makeReplace(readPattern(node.at("pattern")),
                       readCharacters(node, "content"));
  }
  if (type == "Precompiled") {
    return readCharsMap(node, isOfPieces);
  }
  if (type == "ByteLevel") {
    node.allow({});
    return makeByteLevelNormalizer();
  }
  node.at("type").fail(rt::Code::Unsupported,
                       "expected a known normalizer, got " +
                           rt::quoteName(type));
}

} // namespace tfc::text
