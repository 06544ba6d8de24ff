// "decoder" and "post_processor".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/text/ReadParts.h"

namespace tfc::text {

namespace {

constexpr uint64_t maxId = maxTokens - 1;

/// ["[SEP]", 102].
uint32_t readTokenPair(const FileNode &node) {
  std::vector<FileNode> items = node.items();
  if (items.size() != 2 || !items[0].isString()) {
    node.fail("a token and its id");
  }
  return static_cast<uint32_t>(items[1].asInteger(maxId));
}

std::vector<TemplatePart> readTemplate(const FileNode &node,
                                       const FileNode &special, bool isPair) {
  constexpr size_t most = 100;
  std::vector<TemplatePart> parts;
  if (node.items().size() > most) {
    node.fail(rt::concat("at most ", most, " parts"));
  }
  for (const FileNode &item : node.items()) {
    item.allow({"Sequence", "SpecialToken"});
    bool isSequence = item.has("Sequence");
    FileNode inner = item.at(isSequence ? "Sequence" : "SpecialToken");
    inner.allow({"id", "type_id"});
    TemplatePart part;
    part.type = static_cast<uint32_t>(inner.integer("type_id", 1 << 20));
    if (isSequence) {
      part.sequence = static_cast<int32_t>(isPair ? inner.word("id", {"A", "B"})
                                                  : inner.word("id", {"A"}));
    } else {
      FileNode token = special.at(inner.string("id").c_str());
      token.allow({"id", "ids", "tokens"});
      for (const FileNode &id : token.at("ids").items()) {
        part.ids.push_back(static_cast<uint32_t>(id.asInteger(maxId)));
      }
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

TemplatePart idPart(uint32_t id, uint32_t type) { return {-1, type, {id}}; }

/// [CLS] A [SEP] B [SEP].
void readBert(const FileNode &node, PostProcessor &to) {
  node.allow({"sep", "cls"});
  uint32_t sep = readTokenPair(node.at("sep"));
  uint32_t cls = readTokenPair(node.at("cls"));
  to.hasTemplate = true;
  to.single = {idPart(cls, 0), {0, 0, {}}, idPart(sep, 0)};
  to.pair = {
      idPart(cls, 0), {0, 0, {}}, idPart(sep, 0), {1, 1, {}}, idPart(sep, 1)};
}

/// <s> A </s></s> B </s>, all of type 0.
void readRoberta(const FileNode &node, PostProcessor &to) {
  node.allow({"sep", "cls", "trim_offsets", "add_prefix_space"});
  uint32_t sep = readTokenPair(node.at("sep"));
  uint32_t cls = readTokenPair(node.at("cls"));
  to.hasTemplate = to.keepsTypes = true;
  to.single = {idPart(cls, 0), {0, 0, {}}, idPart(sep, 0)};
  to.pair = {idPart(cls, 0), {0, 0, {}}, idPart(sep, 0),
             idPart(sep, 0), {1, 0, {}}, idPart(sep, 0)};
  bool addsPrefixSpace = node.boolean("add_prefix_space", true);
  if (node.boolean("trim_offsets", true)) {
    to.trims.push_back(addsPrefixSpace);
  }
}

} // namespace

void readPostProcessor(const FileNode &node, PostProcessor &to) {
  if (node.isNull()) {
    return;
  }
  std::string type = node.type();
  if (type == "Sequence") {
    node.allow({"processors"});
    for (const FileNode &item : node.at("processors").items()) {
      readPostProcessor(item, to);
    }
    return;
  }
  if (type == "ByteLevel") {
    node.allow({"add_prefix_space", "trim_offsets", "use_regex"});
    bool addsPrefixSpace = node.boolean("add_prefix_space");
    if (node.boolean("trim_offsets")) {
      to.trims.push_back(addsPrefixSpace);
    }
    return;
  }
  if (to.hasTemplate) {
    node.fail(rt::Code::Unsupported,
              "expected one template in a sequence, got a second one");
  }
  if (type == "BertProcessing") {
    readBert(node, to);
  } else if (type == "RobertaProcessing") {
    readRoberta(node, to);
  } else if (type == "TemplateProcessing") {
    node.allow({"single", "pair", "special_tokens"});
    FileNode special = node.at("special_tokens");
    to.hasTemplate = to.keepsTypes = true;
    to.single = readTemplate(node.at("single"), special, false);
    to.pair = readTemplate(node.at("pair"), special, true);
  } else {
    node.at("type").fail(rt::Code::Unsupported,
                         "expected a known post-processor, got " +
                             rt::quoteName(type));
  }
}

void readDecoder(const FileNode &node, std::vector<DecoderPtr> &to) {
  constexpr uint64_t most = 1 << 20;
  std::string type = node.type();
  if (type == "Sequence") {
    node.allow({"decoders"});
    for (const FileNode &item : node.at("decoders").items()) {
      readDecoder(item, to);
    }
  } else if (type == "ByteLevel") {
    node.allow({"add_prefix_space", "trim_offsets", "use_regex"});
    to.push_back(makeByteLevelDecoder());
  } else if (type == "WordPiece") {
    node.allow({"prefix", "cleanup"});
    to.push_back(
        makeWordPieceDecoder(node.string("prefix"), node.boolean("cleanup")));
  } else if (type == "Metaspace") {
    node.allow({"replacement", "prepend_scheme", "split", "add_prefix_space",
                "str_rep"});
    bool isNever = node.word("prepend_scheme", {"always", "first", "never"},
                             size_t(0)) == 2;
    isNever |= !node.boolean("add_prefix_space", true);
    to.push_back(makeMetaspaceDecoder(node.character("replacement"), !isNever));
  } else if (type == "ByteFallback") {
    node.allow({});
    to.push_back(makeByteFallbackDecoder());
  } else if (type == "Fuse") {
    node.allow({});
    to.push_back(makeFuseDecoder());
  } else if (type == "Strip") {
    node.allow({"content", "start", "stop"});
    to.push_back(
        makeStripDecoder(node.character("content"),
                         static_cast<uint32_t>(node.integer("start", most)),
                         static_cast<uint32_t>(node.integer("stop", most))));
  } else if (type == "Replace") {
    node.allow({"pattern", "content"});
    FileNode pattern = node.at("pattern");
    pattern.allow({"String"});
    constexpr size_t longest = 1000;
    if (node.string("content").size() > longest) {
      node.at("content").fail(rt::concat("at most ", longest, " bytes"));
    }
    to.push_back(
        makeReplaceDecoder(pattern.string("String"), node.string("content")));
  } else if (type == "BPEDecoder") {
    node.allow({"suffix"});
    to.push_back(makeBpeDecoder(node.string("suffix")));
  } else {
    node.at("type").fail(rt::Code::Unsupported,
                         "expected a known decoder, got " +
                             rt::quoteName(type));
  }
}

} // namespace tfc::text
