// A model, and where what it says is written: in a spec, in a family's table,
// in config.json.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/WrittenModel.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/spec/LocatePath.h"
#include "compiler/spec/family/FamilyTable.h"
#include "compiler/spec/read/ExpandSpec.h"
#include "runtime/src/files/Safetensors.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tfc;
using spec::Json;

/// The root of a built-in table; null where there is none of that name.
static Json loadRoot(llvm::StringRef name) {
  spec::Diagnostics ignored;
  std::optional<family::Table> table = family::loadTable(name.str(), ignored);
  return table ? std::move(table->root) : Json();
}

std::optional<WrittenModel> WrittenModel::read(const std::string &path,
                                               const spec::ReadOptions &options,
                                               llvm::raw_ostream &errors) {
  WrittenModel written;
  spec::Diagnostics diagnostics;
  std::string text, directory = path;
  written.isFolder = rt::isCheckpoint(path);
  if (written.isFolder) {
    auto imported = importFolder(path, diagnostics, errors);
    if (!imported) {
      return std::nullopt;
    }
    text = std::move(imported->spec);
    written.tree = std::move(imported->tree);
    written.table = loadRoot(imported->family);
  } else if (auto read =
                 spec::readTextFile(path, diagnostics, spec::maxSpecBytes)) {
    text = std::move(*read);
    directory = llvm::sys::path::parent_path(path).str();
  } else {
    report(diagnostics, errors);
    return std::nullopt;
  }
  written.spec =
      spec::readSpecText(path, text, directory, diagnostics, options);
  report(diagnostics, errors);
  if (!written.spec) {
    return std::nullopt;
  }
  if (!written.isFolder) {
    // It was read without error.
    Json root = *spec::parseJson(path, text, diagnostics);
    const Json *extends = root.find("extends");
    llvm::StringRef base = extends ? llvm::StringRef(extends->text) : "";
    if (base.consume_front("preset:")) {
      written.table = loadRoot(base);
    }
    std::vector<std::string> files;
    written.tree =
        *spec::expandSpec(std::move(root), directory, diagnostics, files);
  }
  return written;
}

/// "width 312, act "gelu", bias true": what an object says in single words.
static std::string describeMembers(const Json &object) {
  std::string text;
  for (const spec::Member &member : object.members) {
    const Json &value = member.value;
    if (value.isNumber() || value.isString() || value.isBoolean()) {
      std::string word = spec::writeJson(value);
      text += (text.empty() ? "" : ", ") + member.key + " " +
              llvm::StringRef(word).trim().str();
    }
  }
  return text;
}

static std::string describePlace(const Json &value) {
  std::string said = value.isObject()  ? describeMembers(value)
                     : value.isArray() ? ""
                                       : spec::describe(value);
  return value.place.file() + ":" + std::to_string(value.place.line) + ":" +
         std::to_string(value.place.column) + ": " + value.place.pointer() +
         (said.empty() ? "" : ": " + said);
}

/// The values below `value` that were written in config.json.
static void listConfigKeys(const Json &value, std::vector<std::string> &lines) {
  constexpr size_t most = 12;
  bool isKey = value.place.path && value.place.path->parent &&
               value.items.empty() && value.members.empty();
  if (isKey && lines.size() < most) {
    lines.push_back(describePlace(value));
  }
  for (const Json &item : value.items) {
    listConfigKeys(item, lines);
  }
  for (const spec::Member &member : value.members) {
    listConfigKeys(member.value, lines);
  }
}

std::vector<std::string> WrittenModel::describe(llvm::StringRef path) const {
  std::vector<std::string> lines;
  std::string_view name(path.data(), path.size());
  const Json *own = spec::locatePath(tree, name);
  if (own && !isFolder) {
    lines.push_back(describePlace(*own));
  }
  // Heads are members of a table itself, beside what its classes share.
  const Json *shared = table.find("spec");
  const Json *inTable = shared ? spec::locatePath(*shared, name) : nullptr;
  if (!inTable) {
    inTable = spec::locatePath(table, name);
  }
  if (inTable) {
    lines.push_back(describePlace(*inTable));
  }
  if (own && isFolder) {
    listConfigKeys(*own, lines);
  }
  return lines;
}
