// One entry of weights.map: its form, and what it says of a parameter.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spec/SpecFields.h"
#include "compiler/spec/read/SpecReader.h"
#include "compiler/spec/weights/ResolveWeights.h"

#include <algorithm>

namespace tfc::spec {

static bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

std::vector<std::string> textsOf(const Json &value) {
  std::vector<std::string> texts;
  if (value.isString()) {
    texts.push_back(value.text);
  }
  for (const Json &item : value.items) {
    texts.push_back(item.text);
  }
  return texts;
}

std::pair<std::string, std::string> cutLast(const std::string &name) {
  size_t dot = name.rfind('.');
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string packKey(const std::string &stem) {
  auto [parent, last] = cutLast(stem);
  if ((endsWith(parent, ".attn") || endsWith(parent, ".cross")) &&
      (last == "q" || last == "k" || last == "v")) {
    return parent + ".qkv";
  }
  bool isFfn = endsWith(parent, ".ffn") || endsWith(parent, ".moe") ||
               endsWith(parent, ".moe.shared");
  if (isFfn && (last == "gate" || last == "up")) {
    return parent + ".gate_up";
  }
  return "";
}

/// A source that is a list of parts says nothing else.
static bool checkPartsForm(const Member &member, bool exact,
                           Diagnostics &diagnostics) {
  const Json &value = member.value;
  auto fail = [&](const Place &place, const std::string &expected,
                  const std::string &got) {
    report(diagnostics, place, BadSource,
           "expected " + expected + ", got " + got);
    return false;
  };
  if (!exact) {
    return fail(value.place,
                "a key that ends in .weight or .bias (\"parts\" are tensors)",
                "a stem");
  }
  for (const Member &other : value.members) {
    if (other.key != "parts") {
      return fail(other.keyPlace, "nothing beside \"parts\"",
                  inQuotes(other.key));
    }
  }
  for (const Json &part : value.find("parts")->items) {
    const Json *first = part.find("first_row");
    const Json *stored = part.find("stored_rows");
    if (!first != !stored || (first && !part.find("tensor"))) {
      return fail(part.place,
                  "\"first_row\" and \"stored_rows\" together, with "
                  "\"tensor\"",
                  stored && first ? "no tensor" : "one of them");
    }
  }
  return true;
}

bool checkSourceForm(const Member &member, Diagnostics &diagnostics) {
  const Json &value = member.value;
  bool exact = endsWith(member.key, ".weight") || endsWith(member.key, ".bias");
  bool packed =
      endsWith(member.key, ".qkv") || endsWith(member.key, ".gate_up");
  const Json *tensor = value.find("tensor"), *pack = value.find("pack");
  const Json *first = value.find("first_row");
  const Json *stored = value.find("stored_rows");
  auto fail = [&](const std::string &expected, const std::string &got) {
    report(diagnostics, value.place, BadSource,
           "expected " + expected + ", got " + got);
    return false;
  };
  if (exact && !tensor && !value.find("parts")) {
    return fail("{\"tensor\": ...} (the key names one tensor)",
                value.isObject() ? "a stem" : describe(value));
  }
  if (!exact && tensor) {
    return fail("a stem (the key stands for .weight and .bias; a key that ends "
                "in one of them takes a tensor)",
                "a tensor");
  }
  if (value.find("parts")) {
    return checkPartsForm(member, exact, diagnostics);
  }
  if (value.isObject() && !tensor == !value.find("stem")) {
    return fail("\"stem\" or \"tensor\"", tensor ? "both" : "neither");
  }
  if (packed && !pack) {
    return fail("{\"stem\": ..., \"pack\": [...]} (the key stands for several "
                "parameters)",
                value.isObject() ? "no pack" : describe(value));
  }
  if (pack && !packed) {
    return fail("no \"pack\" (only keys that end in .qkv or .gate_up have it)",
                describe(*pack));
  }
  if (const Json *groups = value.find("groups"); groups && !pack && !first) {
    return fail("no \"groups\" (only rows of a larger tensor have them)",
                describe(*groups));
  }
  if (!first != !stored || (first && !tensor)) {
    return fail("\"first_row\" and \"stored_rows\" together, with \"tensor\"",
                !tensor ? "a stem" : "one of them");
  }
  return true;
}

namespace {

class SourceReader {
public:
  SourceReader(const Member &member, Slot &slot, Diagnostics &diagnostics)
      : key(member.key), value(member.value), slot(slot),
        diagnostics(diagnostics) {}

  bool read(const RowsOf &rowsOf) {
    Parameter &parameter = slot.parameter;
    if (const Json *parts = value.find("parts")) {
      return readParts(*parts);
    }
    const Json *tensor = value.find("tensor"), *stem = value.find("stem");
    for (const std::string &name : textsOf(tensor ? *tensor
                                           : stem ? *stem
                                                  : value)) {
      if (!checkName(name)) {
        return false;
      }
      std::string own = withPlace(name);
      parameter.patterns.push_back(tensor ? own : own + "." + slot.part);
    }
    parameter.inOut =
        parameter.rank == 2 && wordOf(value, "layout", "out_in") == "in_out";
    parameter.stacked = flagOf(value, "stacked", false);
    if (parameter.stacked && parameter.experts == 0) {
      return fail(value.find("stacked")->place, BadSource,
                  "expected no \"stacked\" (" + parameter.name +
                      " is of no experts), got " +
                      describe(*value.find("stacked")));
    }
    parameter.fillZeros =
        slot.tiedTo.empty() && wordOf(value, "optional", "") == "zeros";
    if (!readColumns()) {
      return false;
    }
    if (const Json *pack = value.find("pack")) {
      return readPack(*pack, sizeOf(value, "groups").value_or(1), rowsOf);
    }
    const Json *first = value.find("first_row");
    return !first || readRows(*first);
  }

private:
  const std::string &key;
  const Json &value;
  Slot &slot;
  Diagnostics &diagnostics;

  bool fail(const Place &place, Code code, std::string message) {
    report(diagnostics, place, code, std::move(message));
    return false;
  }

  /// Tensors, or rows of them, one below the other.
  bool readParts(const Json &parts) {
    Parameter &parameter = slot.parameter;
    if (parameter.experts > 0 || !slot.tiedTo.empty()) {
      return fail(parts.place, Unsupported,
                  "expected one source (" + parameter.name +
                      " has no parts in this tfc), got " + describe(parts));
    }
    int64_t rows = 0;
    for (const Json &json : parts.items) {
      StoredPart part;
      const Json *tensor = json.find("tensor");
      for (const std::string &name :
           tensor ? textsOf(*tensor) : std::vector<std::string>()) {
        if (!checkName(name)) {
          return false;
        }
        part.patterns.push_back(withPlace(name));
      }
      part.rows = part.storedRows = sizeOf(json, "rows").value_or(1);
      if (const Json *first = json.find("first_row")) {
        part.firstRow = first->integer;
        part.storedRows = json.find("stored_rows")->integer;
        if (part.storedRows - part.rows < part.firstRow) {
          return fail(json.place, BadSource,
                      "expected rows within \"stored_rows\" (" +
                          std::to_string(part.storedRows) + "), got " +
                          std::to_string(part.rows) + " from row " +
                          std::to_string(part.firstRow));
        }
      }
      rows += part.rows;
      parameter.parts.push_back(std::move(part));
    }
    return rows == parameter.rows ||
           fail(parts.place, BadSource,
                "expected parts of " + std::to_string(parameter.rows) +
                    " rows together (those of " + parameter.name + "), got " +
                    std::to_string(rows));
  }

  /// The first columns of a wider tensor.
  bool readColumns() {
    Parameter &parameter = slot.parameter;
    const Json *stored = value.find("stored_cols");
    parameter.storedCols = sizeOf(value, "stored_cols").value_or(0);
    if (!stored || (parameter.rank == 2 && value.find("tensor") &&
                    parameter.storedCols >= parameter.cols)) {
      return true;
    }
    return fail(stored->place, BadSource,
                "expected at least " + std::to_string(parameter.cols) +
                    " (the columns of " + parameter.name +
                    "), of a \"tensor\" that is a matrix, got " +
                    describe(*stored));
  }

  bool readRows(const Json &first) {
    Parameter &parameter = slot.parameter;
    parameter.firstRow = first.integer;
    parameter.storedRows = value.find("stored_rows")->integer;
    parameter.groups = sizeOf(value, "groups").value_or(1);
    if (parameter.groups == parameter.rows && parameter.groups > 1 &&
        parameter.storedRows % parameter.groups == 0 &&
        parameter.firstRow < parameter.storedRows / parameter.groups) {
      parameter.rowStep = parameter.storedRows / parameter.groups;
      parameter.groups = 1;
      return true;
    }
    for (int64_t rows : {parameter.rows, parameter.storedRows}) {
      if (!checkGroups(rows, parameter.groups)) {
        return false;
      }
    }
    int64_t most = (parameter.storedRows - parameter.rows) / parameter.groups;
    if (parameter.storedRows < parameter.rows) {
      return fail(value.find("stored_rows")->place, BadSource,
                  "expected at least " + std::to_string(parameter.rows) +
                      " (the rows of " + parameter.name + "), got " +
                      std::to_string(parameter.storedRows));
    }
    return parameter.firstRow <= most ||
           fail(first.place, BadSource,
                "expected at most " + std::to_string(most) +
                    " (stored_rows, less the " +
                    std::to_string(parameter.rows) + " rows of " +
                    parameter.name + "), got " + describe(first));
  }

  bool checkGroups(int64_t rows, int64_t groups) {
    if (groups > maxGroups) {
      return fail(value.find("groups")->place, BadSource,
                  "expected at most " + std::to_string(maxGroups) +
                      " groups of several rows, got " + std::to_string(groups));
    }
    if (groups > 1 && slot.parameter.experts > 0) {
      return fail(value.find("groups")->place, Unsupported,
                  "expected no groups of rows of experts (not supported by "
                  "this tfc), got " +
                      std::to_string(groups));
    }
    return rows % groups == 0 ||
           fail(value.find("groups")->place, BadSource,
                "expected a divisor of " + std::to_string(rows) + " (rows of " +
                    slot.parameter.name + "), got " + std::to_string(groups));
  }

  /// The rows of the slot within a tensor that has several parameters, one
  /// after the other, or of each its share in every group.
  bool readPack(const Json &pack, int64_t groups, const RowsOf &rowsOf) {
    auto [parent, last] = cutLast(slot.stem);
    std::vector<std::string> names = textsOf(pack);
    int64_t rows = 0;
    bool inTurn = true;
    for (size_t i = 0; i < names.size(); ++i) {
      auto known = rowsOf.find(parent + "." + names[i]);
      bool again = std::count(names.begin(), names.end(), names[i]) > 1;
      if (known == rowsOf.end() || again) {
        return fail(
            pack.items[i].place, BadSource,
            std::string("expected every parameter of the layer ") +
                (again ? "once" : "by its name (there is none of this one)") +
                ", got \"" + names[i] + "\"");
      }
      inTurn &= groups > 1 && known->second == groups;
      if (!inTurn && !checkGroups(known->second, groups)) {
        return false;
      }
      if (names[i] == last) {
        slot.parameter.firstRow = rows;
      }
      rows += known->second / groups;
    }
    slot.parameter.storedRows = rows * groups;
    slot.parameter.groups = inTurn ? 1 : groups;
    slot.parameter.rowStep = inTurn ? rows : 1;
    return true;
  }

  /// Whether each head may have a tensor of its own: all of them are listed.
  bool isOfHeads() const {
    constexpr int64_t most = 1024;
    return slot.parameter.heads > 0 && slot.parameter.heads <= most &&
           !value.find("pack") && !value.find("first_row");
  }

  /// Whether each expert has a tensor of its own.
  bool isOfExperts() const {
    return slot.parameter.experts > 0 && !flagOf(value, "stacked", false);
  }

  /// Whether the entry is for the slot's run alone.
  bool isOfRun() const {
    return slot.stem != slot.common &&
           key.compare(0, slot.stem.size(), slot.stem) == 0;
  }

  /// Whether the entry is for all pieces of a vocabulary, or layers of a step.
  bool isOfPieces() const {
    return slot.piece >= 0 && key.compare(0, slot.stem.size(), slot.stem) != 0;
  }

  /// {k} and {n} are known here.
  std::string withPlace(std::string name) const {
    for (auto [word, number] :
         {std::pair("{k}", slot.place), std::pair("{n}", slot.piece)}) {
      for (size_t at = 0; (at = name.find(word, at)) != name.npos;) {
        name.replace(at, 3, std::to_string(number));
      }
    }
    return name;
  }

  /// Placeholders: {p}, {i}, exactly where layers differ, {k}, exactly where
  /// those of a group do, {e}, exactly where experts do, {n}, exactly where an
  /// entry is for all pieces of a vocabulary, and {h}.
  bool checkName(const std::string &name) {
    bool layered = slot.parameter.firstLayer >= 0;
    int64_t layers = isOfRun() ? slot.parameter.layers : slot.stackLayers;
    std::string got = ", got " + inQuotes(name);
    for (size_t at = 0; (at = name.find_first_of("{}", at)) != name.npos;) {
      std::string word = name.substr(at, 3);
      if ((word == "{h}" && isOfHeads()) || (word == "{e}" && isOfExperts()) ||
          (word == "{k}" && slot.places > 0) ||
          (word == "{n}" && isOfPieces())) {
        at += word.size();
        continue;
      }
      if (word == "{h}" || word == "{g}" || word == "{k}") {
        return fail(value.place, Unsupported,
                    "expected no " + word + " (not supported by this tfc)" +
                        got);
      }
      if (word != "{p}" && word != "{i}") {
        return fail(value.place, BadPattern,
                    "expected the placeholders {p} and {i} only" + got);
      }
      at += word.size();
    }
    if (isOfExperts() && name.find("{e}") == name.npos) {
      return fail(value.place, BadPattern,
                  "expected {e} in the name (" +
                      std::to_string(slot.parameter.experts) +
                      " experts would read the same tensor), or \"stacked\"" +
                      got);
    }
    if (slot.places > 1 && !isOfRun() && name.find("{k}") == name.npos) {
      return fail(value.place, BadPattern,
                  "expected {k} in the name (all " +
                      std::to_string(slot.places) +
                      " layers of a group would read the same tensor)" + got);
    }
    if (isOfPieces() && name.find("{n}") == name.npos) {
      return fail(
          value.place, BadPattern,
          "expected {n} in the name (all pieces of the vocabulary would "
          "read the same tensor)" +
              got);
    }
    bool hasIndex = name.find("{i}") != name.npos;
    if (layered && layers > 1 && !hasIndex) {
      return fail(value.place, BadPattern,
                  "expected {i} in the name (" + std::to_string(layers) +
                      " layers would read the same tensor)" + got);
    }
    if (!layered && hasIndex) {
      return fail(value.place, BadPattern,
                  "expected no {i} (" + slot.stem + " is in no layer)" + got);
    }
    if (name.empty() || name.size() > 1000) {
      return fail(value.place, BadPattern,
                  "expected a name of 1 to 1000 bytes" + got);
    }
    return true;
  }
};

} // namespace

bool readSource(const Member &member, const RowsOf &rowsOf, Slot &slot,
                Diagnostics &diagnostics) {
  return SourceReader(member, slot, diagnostics).read(rowsOf);
}

} // namespace tfc::spec
