// What is said of an op or a function of a compiled program.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Explanation.h"

#include "compiler/driver/ExplainTile.h"
#include "runtime/tools/FormatText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <algorithm>
#include <tuple>

using namespace tfc;
using llvm::StringRef;
using tools::formatText;

std::vector<std::string> tfc::pathsOfCost(StringRef line) {
  llvm::SmallVector<StringRef> parts;
  line.split(parts, " + ");
  std::vector<std::string> paths;
  StringRef stem = parts.front().rsplit('.').first;
  for (StringRef part : parts) {
    bool isLeaf = !part.contains('.') && !paths.empty();
    paths.push_back(isLeaf ? (stem + "." + part).str() : part.str());
  }
  return paths;
}

/// Numbers up to six digits as they are.
static std::string amount(double value, const char *unit) {
  const char *const factors[] = {"", " thousand", " million", " billion",
                                 " trillion"};
  size_t factor = 0;
  while (value >= 999999.5 && factor + 1 < std::size(factors)) {
    value /= 1000;
    ++factor;
  }
  return formatText("%.0f%s %s", value, factors[factor], unit);
}

namespace {

/// Prints of some paths, and of those below them, what is known.
class Explainer {
public:
  Explainer(const Explained &of, std::vector<std::string> roots,
            llvm::raw_ostream &os)
      : of(of), roots(std::move(roots)), os(os) {}

  void print() {
    printWritten();
    printParameters();
    printStages();
    printTiles();
    printCosts();
    printMeasured();
    printFunctions();
  }

private:
  bool isWanted(StringRef path) const {
    return llvm::any_of(
        roots, [&](const std::string &root) { return isBelow(path, root); });
  }
  bool isWanted(const std::vector<std::string> &paths) const {
    return llvm::any_of(
        paths, [&](const std::string &path) { return isWanted(path); });
  }

  /// The label stands at the first line of its part.
  void line(const std::string &text) {
    os << llvm::left_justify(label, 10) << ' ' << text << '\n';
    label = "";
  }
  /// Lines of a part, of which a screen has room for so many.
  void part(const char *name, const std::vector<std::string> &lines,
            size_t most) {
    label = name;
    for (size_t i = 0; i < lines.size() && i < most; ++i) {
      line(lines[i]);
    }
    if (lines.size() > most) {
      line("and " + std::to_string(lines.size() - most) + " more");
    }
  }

  void printWritten();
  void printParameters();
  void printStages();
  std::string listOps(const ProgramTrace::Stage &stage) const;
  void printTiles();
  void printCosts();
  void printMeasured();
  void printFunctions();

  const Explained &of;
  std::vector<std::string> roots;
  llvm::raw_ostream &os;
  const char *label = "";
};

} // namespace

void Explainer::printWritten() {
  std::vector<std::string> lines;
  for (const std::string &root : roots) {
    for (std::string &place : of.written.describe(root)) {
      if (!llvm::is_contained(lines, place)) {
        lines.push_back(std::move(place));
      }
    }
  }
  part("written", lines, 8);
}

void Explainer::printParameters() {
  std::vector<std::string> lines;
  for (const spec::Parameter &each : of.written.model().parameters) {
    if (!isWanted(each.name) || !each.tiedTo.empty()) {
      continue;
    }
    std::string text = each.name + " [" + std::to_string(each.rows);
    text += each.rank == 2 ? " x " + std::to_string(each.cols) + "]" : "]";
    if (each.firstLayer >= 0) {
      text += " of " + std::to_string(each.layers) + " layers";
    }
    if (!each.patterns.empty()) {
      text += ", stored as " + each.patterns.front();
    }
    lines.push_back(text);
  }
  part("reads", lines, 4);
}

/// Ops that say what is done come before those of the arithmetic in them.
static bool isStructure(StringRef op) {
  StringRef dialect = op.split('.').first;
  return dialect == "transformer" || dialect == "linalg" || dialect == "scf" ||
         dialect == "gpu" || dialect == "vector";
}

std::string Explainer::listOps(const ProgramTrace::Stage &stage) const {
  std::map<std::string, int64_t> counts;
  for (const auto &[path, ops] : stage.ops) {
    if (isWanted(path)) {
      for (const auto &[name, count] : ops) {
        if (!StringRef(name).ends_with(".yield")) {
          counts[name] += count;
        }
      }
    }
  }
  std::vector<std::pair<std::string, int64_t>> list(counts.begin(),
                                                    counts.end());
  llvm::sort(list, [](const auto &a, const auto &b) {
    return std::make_tuple(!isStructure(a.first), -a.second, a.first) <
           std::make_tuple(!isStructure(b.first), -b.second, b.first);
  });
  constexpr size_t most = 4;
  std::string text;
  int64_t rest = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i >= most) {
      rest += list[i].second;
      continue;
    }
    text += (i ? ", " : "") + list[i].first;
    if (list[i].second > 1) {
      text += " x " + std::to_string(list[i].second);
    }
  }
  if (rest > 0) {
    text += " and " + std::to_string(rest) + " others";
  }
  return text.empty() ? "none" : text;
}

void Explainer::printStages() {
  for (size_t number = 0; number < of.trace.stages.size(); ++number) {
    const ProgramTrace::Stage &stage = of.trace.stages[number];
    std::string passes;
    for (const ProgramTrace::Pass &pass : of.trace.passes) {
      bool hasChanged = pass.to == number &&
                        llvm::any_of(pass.paths, [&](const std::string &path) {
                          return isWanted(path);
                        });
      if (hasChanged) {
        passes += (passes.empty() ? "by " : ", ") + pass.name;
      }
    }
    label = stage.name.c_str();
    line(listOps(stage));
    if (!passes.empty()) {
      line("  " + passes);
    }
  }
}

void Explainer::printTiles() {
  std::vector<std::string> lines, others;
  for (const ProgramTrace::Tile &tile : of.trace.tiles) {
    if (!isWanted(tile.path) || llvm::is_contained(lines, tile.attribute)) {
      continue;
    }
    lines.push_back(tile.attribute);
    if (tile.weightBits != 0 && others.empty()) {
      others = explainTile(of.target, tile.weightBits);
    }
  }
  if (!others.empty()) {
    lines.push_back(others.front());
    others.erase(others.begin());
  }
  part("tile", lines, 5);
  part("not taken", others, 5);
}

void Explainer::printCosts() {
  std::vector<std::string> lines;
  for (const CostOfStep &step : of.costs) {
    for (const EntryCost &entry : step.entries) {
      for (const cost::OpCost &op : entry.sheet.ops) {
        if (!isWanted(pathsOfCost(op.path))) {
          continue;
        }
        std::string text = step.name + ": " +
                           amount(op.work.operations(), "operations") + ", " +
                           amount(op.work.bytes, "bytes") +
                           formatText(", %.2f a byte", op.work.intensity());
        if (op.count > 1) {
          text +=
              formatText(", in %lld layers", static_cast<long long>(op.count));
        }
        if (of.hasMachine) {
          text += formatText("; at least %.3f us (%s)", op.seconds * 1e6,
                             op.isArithmeticBound ? "arithmetic" : "memory");
        }
        lines.push_back(text + (roots.size() > 1 || op.path != roots.front()
                                    ? " [" + op.path + "]"
                                    : ""));
      }
    }
  }
  part("costs", lines, 8);
}

void Explainer::printMeasured() {
  std::vector<std::string> lines;
  for (const MeasuredOp &op : of.measured) {
    if (!isWanted(op.paths)) {
      continue;
    }
    std::string text =
        op.workload + formatText(": %.3f us a step", op.seconds * 1e6);
    if (op.share > 0) {
      text +=
          formatText(", %.0f %% of what that machine allows", op.share * 100);
    }
    lines.push_back(text);
  }
  part("measured", lines, 6);
}

void Explainer::printFunctions() {
  std::vector<std::pair<double, std::string>> found;
  for (const ProgramTrace::Function &function : of.trace.functions) {
    int64_t own = 0;
    for (const auto &[path, count] : function.ops) {
      own += isWanted(path) ? count : 0;
    }
    bool isCalled =
        llvm::any_of(function.callers,
                     [&](const std::string &path) { return isWanted(path); });
    if (own == 0 && !isCalled) {
      continue;
    }
    bool isShared = function.callers.size() > 1;
    std::string text =
        function.name +
        (isShared ? ", shared by " + std::to_string(function.callers.size())
                  : ": " + std::to_string(own) + " of " +
                        std::to_string(function.size) + " ops");
    double share = static_cast<double>(own) /
                   static_cast<double>(std::max<int64_t>(function.size, 1));
    found.emplace_back(isCalled && !isShared ? 2 + share
                       : isCalled            ? 1
                                             : share / 2,
                       text);
  }
  llvm::sort(found, [](const auto &a, const auto &b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> lines;
  for (auto &[order, text] : found) {
    lines.push_back(std::move(text));
  }
  part("functions", lines, 6);
}

static std::string programOf(const Explained &of) {
  return "program " + of.target.programName() + " of " +
         of.written.model().name;
}

bool tfc::explainOp(const Explained &of, const std::string &path,
                    llvm::raw_ostream &os) {
  bool isThere = llvm::any_of(of.trace.stages, [&](const auto &stage) {
    return llvm::any_of(stage.ops, [&](const auto &entry) {
      return isBelow(entry.first, path);
    });
  });
  if (isThere) {
    os << path << " in " << programOf(of) << '\n';
    Explainer(of, {path}, os).print();
  }
  return isThere;
}

static const ProgramTrace::Function *findFunction(const ProgramTrace &trace,
                                                  StringRef name) {
  const ProgramTrace::Function *found = nullptr;
  for (const ProgramTrace::Function &each : trace.functions) {
    if (each.name == name) {
      return &each;
    }
  }
  for (const ProgramTrace::Function &each : trace.functions) {
    if (StringRef(each.name).contains(name)) {
      if (found) {
        return nullptr;
      }
      found = &each;
    }
  }
  return found;
}

bool tfc::explainFunction(const Explained &of, StringRef name,
                          llvm::raw_ostream &os) {
  const ProgramTrace::Function *function = findFunction(of.trace, name);
  if (!function) {
    return false;
  }
  // Of a function that others share, those: its own locations are the first
  // one's.
  std::vector<std::string> roots(function->callers.begin(),
                                 function->callers.end());
  if (roots.size() < 2) {
    roots.clear();
    for (const auto &[path, count] : function->ops) {
      roots.push_back(path);
    }
  }
  os << function->name << ", a " << (function->isKernel ? "kernel" : "function")
     << " of " << programOf(of) << ": " << function->size << " ops, for "
     << llvm::join(roots, ", ") << '\n';
  Explainer(of, roots, os).print();
  return true;
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

/// What has most of an op's instructions to itself, or "".
static std::string functionOf(const ProgramTrace &trace,
                              const std::vector<std::string> &paths) {
  std::string best;
  int64_t most = 0;
  for (const ProgramTrace::Function &function : trace.functions) {
    int64_t own = 0, all = 0;
    for (const auto &[path, count] : function.ops) {
      own += llvm::is_contained(paths, path) ? count : 0;
      all += count;
    }
    if (2 * own > all && own > most) {
      best = function.name;
      most = own;
    }
  }
  return best;
}

static std::string tileOf(const ProgramTrace &trace,
                          const std::vector<std::string> &paths) {
  for (const ProgramTrace::Tile &tile : trace.tiles) {
    if (tile.weightBits != 0 && llvm::is_contained(paths, tile.path)) {
      StringRef rows = StringRef(tile.attribute).split("rows = ").second;
      return rows.take_while(llvm::isDigit).str() + " rows";
    }
  }
  return "";
}

void tfc::printOverview(const Explained &of, llvm::raw_ostream &os) {
  os << programOf(of) << ": " << of.trace.stages.size() << " stages, "
     << of.trace.passes.size() << " passes, " << of.trace.functions.size()
     << " functions\n";
  constexpr size_t most = 36;
  size_t lines = 0, width = 5;
  const CostOfStep &step = of.costs.front();
  for (const EntryCost &entry : step.entries) {
    for (const cost::OpCost &op : entry.sheet.ops) {
      width = std::max(width, op.path.size());
    }
  }
  os << llvm::left_justify("op (" + step.name + ")", width)
     << "  times  operations  tile    function\n";
  for (const EntryCost &entry : step.entries) {
    double all = std::max(entry.sheet.total.operations(), 1.0);
    for (const cost::OpCost &op : entry.sheet.ops) {
      if (++lines > most) {
        continue;
      }
      std::vector<std::string> paths = pathsOfCost(op.path);
      std::string share =
          formatText("%.1f %%", 100 * op.work.operations() / all);
      std::string text;
      llvm::raw_string_ostream(text)
          << llvm::left_justify(op.path, width)
          << llvm::right_justify(std::to_string(op.count), 7)
          << llvm::right_justify(share, 12) << "  "
          << llvm::left_justify(tileOf(of.trace, paths), 8)
          << functionOf(of.trace, paths);
      os << StringRef(text).rtrim() << '\n';
    }
  }
  if (lines > most) {
    os << "and " << lines - most << " more\n";
  }
}
