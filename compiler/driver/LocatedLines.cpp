// Reads what MLIR prints with locations: "op ... loc(#loc7)" and, at the end,
// "#loc7 = loc(fused[#loc2, "decoder.layers.attn.q"])".
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/LocatedLines.h"

#include "compiler/driver/ProgramTrace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tfc;

static constexpr StringRef kMark = " loc(";

namespace {

class Reader {
public:
  explicit Reader(StringRef text) {
    SmallVector<StringRef> all;
    text.split(all, '\n', -1, /*KeepEmpty=*/false);
    for (StringRef line : all) {
      auto [name, value] = line.split(" = loc(");
      if (line.starts_with("#loc") && !value.empty()) {
        aliases[name] = value;
      }
    }
    for (StringRef line : all) {
      if (!line.starts_with("#loc")) {
        read(line);
      }
    }
    // Of what has none, as the head of a block, that of what it is in.
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].paths.empty() && parents[i]) {
        lines[i].paths = lines[*parents[i]].paths;
      }
    }
  }

  std::vector<LocatedLine> lines;

private:
  void read(StringRef line);
  void collect(StringRef location, std::vector<std::string> &paths,
               unsigned depth);

  llvm::StringMap<StringRef> aliases;
  /// Lines whose regions are open: more than one where an op has several.
  std::vector<std::vector<size_t>> open;
  std::vector<std::optional<size_t>> parents; // of each line
};

} // namespace

/// The names in a location, those of its aliases too.
void Reader::collect(StringRef location, std::vector<std::string> &paths,
                     unsigned depth) {
  constexpr unsigned deepest = 16;
  while (!location.empty() && depth < deepest) {
    size_t at = location.find_first_of("\"#");
    if (at == StringRef::npos) {
      return;
    }
    bool isName = location[at] == '"';
    location = location.drop_front(at + (isName ? 1 : 0));
    StringRef word = isName
                         ? location.take_until([](char c) { return c == '"'; })
                         : location.take_while([](char c) {
                             return llvm::isAlnum(c) || c == '#';
                           });
    location = location.drop_front(
        std::min(location.size(), word.size() + (isName ? 1 : 0)));
    auto alias = aliases.find(word);
    if (isName) {
      paths.push_back(word.str());
    } else if (alias != aliases.end()) {
      collect(alias->second, paths, depth + 1);
    }
  }
}

void Reader::read(StringRef line) {
  constexpr size_t longest = 300;
  LocatedLine found;
  StringRef rest = line, last;
  while (true) {
    size_t at = rest.find(kMark);
    if (at == StringRef::npos) {
      break;
    }
    found.text += rest.take_front(at).str();
    rest = rest.drop_front(at + kMark.size());
    last = rest.take_until([](char c) { return c == ')'; });
    rest = rest.drop_front(std::min(rest.size(), last.size() + 1));
  }
  found.text += rest.str();
  // Of arguments only where nothing stands behind it.
  bool isOfLine = rest.empty() && !last.empty();
  if (isOfLine) {
    std::vector<std::string> paths;
    collect(last, paths, 0);
    found.paths = innermostOf(paths);
  }
  StringRef own = StringRef(found.text).trim();
  bool closes = own.starts_with("}"), opens = own.ends_with("{");
  if (found.text.size() > longest) {
    found.text.resize(longest);
    found.text += " ...";
  }
  std::vector<size_t> before;
  if (closes && !open.empty()) {
    before = std::move(open.back());
    open.pop_back();
  }
  parents.push_back(open.empty() ? std::nullopt
                                 : std::optional(open.back().front()));
  if (opens) {
    before.push_back(lines.size());
    open.push_back(std::move(before));
  } else {
    for (size_t opening : before) {
      lines[opening].paths = found.paths;
    }
  }
  lines.push_back(std::move(found));
}

std::vector<LocatedLine> tfc::printLocated(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().enableDebugInfo());
  return std::move(Reader(text).lines);
}
