// The roads' stages as documentation, with the passes as the arrows have them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Road.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tfc;

/// "a{options},func.func(b{options})" -> {"a", "b"}
static SmallVector<std::string> namesOf(StringRef pipeline) {
  SmallVector<std::string> names;
  std::string name;
  int64_t depth = 0;
  for (char c : pipeline) {
    depth += (c == '{') - (c == '}');
    if (depth > 0 || c == '}') {
      continue;
    }
    if (c == '(') {
      name.clear(); // of an op, whose passes follow
    } else if (c != ',' && c != ')') {
      name += c;
    } else if (!name.empty()) {
      names.push_back(std::move(name));
      name.clear();
    }
  }
  return names;
}

/// The passes of the road's arrow to `stage`, in order. Of the check that ends
/// it nothing is said: all arrows have one.
static std::string listPasses(const Road &road, const Stage &stage) {
  const Arrow *arrow = llvm::find_if(
      road.arrows, [&](const Arrow &each) { return each.to == &stage; });
  OpPassManager pm(ModuleOp::getOperationName());
  arrow->build(pm, road.getExample());
  std::string text;
  llvm::raw_string_ostream stream(text);
  pm.printAsTextualPipeline(stream);
  SmallVector<std::string> names = namesOf(text);
  llvm::erase(names, "tfc-verify-stage");
  return llvm::join(names, ", ");
}

/// Roads that have the same passes to `stage` are named together, and not at
/// all where all that pass it have them.
static std::string describePasses(const Stage &stage) {
  std::vector<std::pair<std::string, SmallVector<std::string>>> roads;
  for (const Road *road : listRoads()) {
    if (!llvm::is_contained(road->listStages(), &stage) ||
        road->arrows.front().from == &stage) {
      continue;
    }
    std::string passes = listPasses(*road, stage);
    auto same = llvm::find_if(
        roads, [&](const auto &known) { return known.first == passes; });
    if (same == roads.end()) {
      same = roads.insert(roads.end(), {passes, {}});
    }
    same->second.push_back(road->name.str());
  }
  if (roads.empty()) {
    return "the frontend";
  }
  SmallVector<std::string> parts;
  for (auto &[passes, names] : roads) {
    bool isOnly = roads.size() == 1;
    parts.push_back((isOnly ? "" : llvm::join(names, ", ") + ": ") + passes);
  }
  return llvm::join(parts, "; ");
}

/// The roads that pass `stage`; "all" where every one does.
static std::string describeRoads(const Stage &stage) {
  SmallVector<StringRef> names;
  for (const Road *road : listRoads()) {
    if (llvm::is_contained(road->listStages(), &stage)) {
      names.push_back(road->name);
    }
  }
  return names.size() == listRoads().size() ? "all" : llvm::join(names, ", ");
}

void tfc::printStages(llvm::raw_ostream &os) {
  os << "# Stages\n\nMade by `tfc --print-stages=md`. A road is the stages "
        "that programs of a kind\nof target pass at a level of `--opt`: "
        "`none` and `full` for CPUs, `cuda none` and\n`cuda full` for "
        "devices. Each arrow is a pipeline `tfc-<stage>-to-<stage>`\nof "
        "`tfc-opt`, for what the module's `transformer.target` says; `tfc "
        "compile\n--stop-after=<stage>` prints the IR after a stage, which "
        "`tfc-verify-stage` checks.\nWith `--taps`, `tfc-insert-taps` runs "
        "before the first arrow.\n\n"
        "| Stage | Roads | The IR after it | Dialects and ops | Passes that "
        "lead here |\n|---|---|---|---|---|\n";
  for (const Stage *stage : listStages(listRoads())) {
    os << "| `" << stage->name << "` | " << describeRoads(*stage) << " | "
       << stage->summary << " | ";
    llvm::interleaveComma(stage->dialects, os);
    if (!stage->ops.empty()) {
      os << "; ";
      llvm::interleaveComma(stage->ops, os,
                            [&](StringRef op) { os << '`' << op << '`'; });
    }
    os << " | " << describePasses(*stage) << " |\n";
  }
}
