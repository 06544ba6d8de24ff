// Instantiates a family's table for one class.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/huggingface/MakeSpec.h"

#include "compiler/huggingface/CheckTensors.h"
#include "compiler/huggingface/SentenceModules.h"
#include "compiler/spec/family/Instantiate.h"

#include <algorithm>

using namespace tfc;
using namespace tfc::huggingface;
using spec::Json;

namespace {

const std::vector<spec::Member> &membersOf(const Json *object) {
  static const std::vector<spec::Member> none;
  return object ? object->members : none;
}

const std::vector<Json> &itemsOf(const Json *array) {
  static const std::vector<Json> none;
  return array ? array->items : none;
}

/// The names of tensors that an entry of weights.map reads, in order: {tensor}
/// as it is, a stem with `end` behind it, of parts the first of each.
std::vector<std::string> namesOf(const Json &source, const char *end) {
  if (const Json *then = source.find("$if") ? source.find("then") : nullptr) {
    return namesOf(*then, end);
  }
  if (const Json *parts = source.find("parts")) {
    std::vector<std::string> names;
    for (const Json &part : parts->items) {
      // One without a tensor is of zeros.
      if (part.find("tensor")) {
        names.push_back(namesOf(part, end).front());
      }
    }
    return names;
  }
  const Json *tensor = source.find("tensor"), *stem = source.find("stem");
  const Json &from = tensor ? *tensor : stem ? *stem : source;
  std::vector<std::string> names;
  std::vector<Json> one = {from};
  for (const Json &name : from.isArray() ? from.items : one) {
    names.push_back(name.text + (tensor ? "" : end));
  }
  return names;
}

std::string replaced(std::string text, const std::string &from,
                     const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

class Maker {
public:
  Maker(Source &source, const family::Table &table, std::string_view className)
      : source(source), root(table.root),
        outputsOfClass(*root.at({"classes", className})),
        make(root, source.configFile, source.config, source.diagnostics) {
    make.strict = source.strict;
    make.addRule("logits",
                 [this](const Json &hole) { return logitsRule(hole); });
    make.addRule("stored",
                 [this](const Json &hole) { return storedRule(hole); });
  }

  Json run(const std::set<std::string> &decided) {
    bool generates = findsGenerator();
    const Json *sides = root.find("both_sides");
    if (sides) {
      make.halvesWindows = readBothSides(source, *sides, generates);
      source.bothSides =
          make.halvesWindows || !readCausal(source, *sides, generates);
      make.bothSides = source.bothSides;
    }
    family::readCommonKeys(source.config, root.at({"spec", "kind"})->text,
                           decided);
    checkExpectations();
    made = *make.make(*root.find("spec"));
    checkTables();
    addOutputs();
    addIgnored();
    addTokensOf(generates);
    if (sides) {
      setCausal(made, !source.bothSides);
    }
    return std::move(made);
  }

private:
  Source &source;
  const Json &root;
  const Json &outputsOfClass;
  family::Instantiator make;
  Json made, heads = Json::object(), outputs = Json::object();
  std::set<std::string> usedHeads;

  const Json *findHead(std::string_view name) const {
    return root.find("heads") ? root.find("heads")->find(name) : nullptr;
  }

  /// "qa.start", "pooler?": the name of the head alone.
  static std::string headName(const std::string &value) {
    return value.substr(0, value.find_first_of(".?"));
  }

  bool findsGenerator() const {
    for (const spec::Member &output : outputsOfClass.members) {
      const Json *head = findHead(headName(output.value.text));
      if (head && head->find("generates")) {
        return true;
      }
    }
    return false;
  }

  /// Rows of the vocabulary; 0 where that is faulty, which the reader of specs
  /// says.
  int64_t vocab() const {
    const Json *rows = made.at({"dims", "vocab"});
    return rows && rows->isInteger() && rows->integer > 0 ? rows->integer : 0;
  }

  // ---- Keys with one value that tfc runs ----

  void checkExpectations() {
    for (const spec::Member &entry : membersOf(root.find("expect"))) {
      if (const Json *each = entry.value.find("each")) {
        const Json *why = entry.value.find("why");
        family::expectLayerTypes(source.config, each->text, entry.key,
                                 why ? why->text : "");
        continue;
      }
      if (const Json *where = entry.value.find("where")) {
        std::optional<Json> holds = make.make(*where);
        if (holds && holds->boolean) {
          expect(entry.key, *make.make(*entry.value.find("is")),
                 entry.value.find("why")->text);
        }
        source.config.ignore({entry.key});
        continue;
      }
      expect(entry.key, entry.value.items.at(0), entry.value.items.at(1).text);
    }
    for (const spec::Member &entry : membersOf(root.find("refuse"))) {
      source.config.refuseKey(entry.key, entry.value.text);
    }
    for (const Json &key : itemsOf(root.find("ignore_keys"))) {
      source.config.ignore({key.text});
    }
  }

  /// `wanted`: null for no content, a list for one of several values.
  void expect(const std::string &key, const Json &wanted,
              const std::string &why) {
    if (wanted.isNull()) {
      source.config.refuseContent(key, why);
      return;
    }
    if (wanted.isBoolean()) {
      source.config.expectBoolean(key, wanted.boolean, why);
      return;
    }
    const Json *found = source.config.value(key);
    std::vector<Json> all =
        wanted.isArray() ? wanted.items : std::vector{wanted};
    if (!found || std::find(all.begin(), all.end(), *found) != all.end()) {
      return;
    }
    std::string text;
    for (const Json &one : all) {
      text += (text.empty() ? "" : " or ") + spec::describe(one);
    }
    source.config.fault(key, "expected " + text + " (" + why + "), got " +
                                 spec::describe(*found));
  }

  // ---- Tensors ----

  /// Names of one table that a file may have more than once must agree.
  void checkTables() {
    const Json *shared = made.at({"weights", "map", "shared.token"});
    if (shared) {
      std::vector<std::string> names;
      for (const std::string &name : namesOf(*shared, ".weight")) {
        names.push_back(replaced(name, "{p}", ""));
      }
      checkCopies(source, names);
    }
  }

  bool isStored(const Json &head) const {
    for (const spec::Member &entry : membersOf(head.find("map"))) {
      for (const std::string &name : namesOf(entry.value, ".weight")) {
        if (storesTensor(source.files, replaced(name, "{p}", ""))) {
          return true;
        }
      }
    }
    return false;
  }

  /// The first of the names that is stored; the first one where none is.
  std::string chooseTensor(const Json &names) const {
    for (const Json &name : names.items) {
      if (source.files.find(name.text)) {
        return name.text;
      }
    }
    return names.isArray() ? names.items.front().text : names.text;
  }

  /// {"tensor", "axis", "size", "then", "else"}: what depends on how tensors
  /// are called, or how they lie.
  std::optional<Json> storedRule(const Json &hole) {
    const Json *axis = hole.find("axis");
    int64_t size = make.integer(hole, "size", 0, 0, INT64_MAX);
    const std::vector<Json> &names = hole.find("tensor")->items;
    bool isStored =
        std::any_of(names.begin(), names.end(), [&](const Json &name) {
          const rt::Tensor *tensor = source.files.find(name.text);
          auto place = static_cast<size_t>(axis ? axis->integer : 0);
          return tensor && (!axis || (place < tensor->shape.size() &&
                                      tensor->shape[place] == size));
        });
    return make.member(hole, isStored ? "then" : "else");
  }

  /// {"name", "tensor", "tied", "bias", "tied_by_default",
  /// "tied_unless_stored"}.
  std::optional<Json> logitsRule(const Json &hole) {
    Projection projection;
    projection.step = hole.find("name")->text;
    projection.tensor = chooseTensor(*hole.find("tensor"));
    projection.tied = hole.find("tied")->text;
    const Json *table = made.at({"weights", "map", projection.tied});
    projection.table =
        table ? replaced(namesOf(*table, ".weight").front(), "{p}", "") : "";
    const Json *byDefault = hole.find("tied_by_default");
    projection.tiedByDefault = !byDefault || byDefault->boolean;
    projection.tiedUnlessStored = hole.find("tied_unless_stored");
    Json logits = makeLogits(source, projection, std::max<int64_t>(vocab(), 1));
    if (const Json *bias = hole.find("bias")) {
      if (std::optional<Json> made = make.make(*bias)) {
        logits.set("bias", std::move(*made));
      }
    }
    return logits;
  }

  // ---- Heads ----

  /// Adds a head and those that it comes from; the name that it has in the
  /// spec.
  std::string addHead(const std::string &name) {
    const Json *head = findHead(name);
    if (!head) {
      return name; // a stack
    }
    const Json *as = head->find("as");
    std::string own = as ? as->text : name;
    if (!usedHeads.insert(name).second) {
      return own;
    }
    std::string from = addHead(head->find("from")->text);
    heads.set(own, makeObject({{"from", from},
                               {"steps", *make.make(*head->find("steps"))}}));
    Json *map = made.find("weights")->find("map");
    for (const spec::Member &entry : membersOf(head->find("map"))) {
      if (std::optional<Json> value = make.make(entry.value)) {
        map->set("heads." + own + "." + entry.key, std::move(*value));
      }
    }
    return own;
  }

  void addOutputs() {
    for (const spec::Member &output : outputsOfClass.members) {
      const std::string value = make.make(output.value)->text;
      std::string name = headName(value);
      bool isOptional = value.back() == '?';
      const Json *head = findHead(name);
      if (isOptional && !(head && isStored(*head))) {
        continue;
      }
      // Its rows may be other ones than those of the sentence.
      if (head && source.sentence) {
        continue;
      }
      size_t part = isOptional ? value.npos : value.find('.');
      outputs.set(output.key,
                  addHead(name) +
                      (part == value.npos ? "" : value.substr(part)));
    }
    if (source.sentence) {
      const std::string rows = outputs.find("last_hidden_state")->text;
      // All outputs of a decoder have the rows that one of them takes.
      if (rows == "decoder.hidden" && !source.bothSides) {
        outputs = Json::object();
      }
      heads.set("sentence",
                makeObject({{"from", rows.substr(0, rows.find('.'))},
                            {"steps", source.sentence->steps}}));
      for (const spec::Member &step : source.sentence->map.members) {
        made.find("weights")->find("map")->set("heads.sentence." + step.key,
                                               step.value);
      }
      outputs.set("sentence_embedding", "sentence");
    }
    made.set("heads", std::move(heads));
    made.set("outputs", std::move(outputs));
  }

  // ---- Tensors that may be there unread ----

  /// Whether a glob matches a name, under some prefix.
  bool isMatched(std::string name, const std::string &glob) const {
    name = replaced(replaced(name, "{i}", "0"), "{n}", "0");
    const Json *prefixes = made.at({"weights", "prefix"});
    std::vector<Json> none = {Json("")};
    for (const Json &prefix : prefixes ? prefixes->items : none) {
      if (matchesGlob(replaced(name, "{p}", prefix.text), glob)) {
        return true;
      }
    }
    return false;
  }

  /// Whether a glob matches the first name of something that is read.
  bool isRead(const std::string &glob) const {
    for (const spec::Member &entry : membersOf(made.at({"weights", "map"}))) {
      for (const char *end : {".weight", ".bias"}) {
        std::vector<std::string> names = namesOf(entry.value, end);
        if (!entry.value.find("parts")) {
          names.resize(1); // other names are what older files have
        }
        if (std::any_of(names.begin(), names.end(),
                        [&](const std::string &name) {
                          return isMatched(name, glob);
                        })) {
          return true;
        }
      }
    }
    return false;
  }

  /// Heads of other classes, and other names of what is read.
  void addIgnored() {
    Json *weights = made.find("weights");
    const Json *own = weights->find("ignore");
    std::vector<Json> globs = own ? own->items : std::vector<Json>();
    auto add = [&](std::string glob) {
      glob = replaced(replaced(glob, "{p}", "*"), "{n}", "*");
      bool known = std::any_of(globs.begin(), globs.end(),
                               [&](const Json &g) { return g.isString(glob); });
      if (!known && !isRead(glob)) {
        globs.push_back(glob);
      }
    };
    for (const spec::Member &head : membersOf(root.find("heads"))) {
      bool isUsed = usedHeads.count(head.key);
      for (const spec::Member &entry : membersOf(head.value.find("map"))) {
        std::vector<std::string> names = namesOf(entry.value, ".*");
        for (size_t i = isUsed ? 1 : 0; i < names.size(); ++i) {
          add(names[i]);
        }
      }
    }
    weights->set("ignore", Json::array(std::move(globs)));
  }

  // ---- Tokens and generation ----

  /// The ids that the table has where the user's files say nothing.
  std::vector<int64_t> idsOf(const char *name) const {
    const Json *given = root.at({"tokens", name});
    std::vector<int64_t> ids;
    for (const Json &id : itemsOf(given)) {
      ids.push_back(id.integer);
    }
    if (given && given->isInteger()) {
      ids.push_back(given->integer);
    }
    return ids;
  }

  int64_t forcedId(const char *name) const {
    const Json *id = root.at({"forced", name});
    return id ? id->integer : -1;
  }

  void addTokensOf(bool generates) {
    TokenDefaults defaults = {idsOf("pad"), idsOf("bos"), idsOf("eos"),
                              idsOf("decoder_start"), idsOf("mistaken_eos")};
    GenerationDefaults generation = {forcedId("bos"), forcedId("eos")};
    if (const Json *settings = root.find("generation")) {
      generation.settings = *settings;
    }
    if (made.find("decoder") && made.find("encoder")) {
      addTokens(source, vocab(), generates, defaults, generation, made);
      return;
    }
    Json ids = readTokens(source, vocab(), generates, defaults);
    // It means something to a decoder that reads an encoder alone.
    ids.remove("decoder_start");
    made.set("tokens", std::move(ids));
    if (generates) {
      made.set("generation", readGeneration(source, "lm", vocab(), generation));
    }
  }
};

} // namespace

std::string huggingface::guessClass(const family::Table &table,
                                    const rt::TensorFiles &files) {
  for (const Json &guess : itemsOf(table.root.find("guess"))) {
    const Json &names = guess.items.at(0);
    std::vector<Json> one = {names};
    const std::vector<Json> &all = names.isArray() ? names.items : one;
    if (std::all_of(all.begin(), all.end(), [&](const Json &name) {
          return name.text.empty() || storesTensor(files, name.text);
        })) {
      return guess.items.at(1).text;
    }
  }
  return "";
}

Json huggingface::makeSpec(Source &source, const family::Table &table,
                           std::string_view modelType,
                           std::string_view className) {
  std::set<std::string> decided = family::keysOf(table);
  for (const std::string &key : decided) {
    source.config.ignore({key});
  }
  Json body = Maker(source, table, className).run(decided);
  Json made = makeObject(
      {{"tfc", 1},
       {"name", std::string(modelType) + "-" + std::string(className)}});
  for (spec::Member &member : body.members) {
    made.set(member.key, std::move(member.value));
  }
  return made;
}
