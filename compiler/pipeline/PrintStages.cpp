// The stage table as documentation, with the passes as the pipelines have them.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Pipelines.h"
#include "compiler/pipeline/Stages.h"

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

/// The passes of the arrow to `stage`, in order; "" where the road has none.
/// Of the check that ends it nothing is said: all arrows have one.
static std::string listPasses(const PipelineOptions &road, StringRef stage) {
  for (const Arrow &arrow : getArrows(road)) {
    if (arrow.stage == stage) {
      OpPassManager pm(ModuleOp::getOperationName());
      arrow.build(pm, road);
      std::string text;
      llvm::raw_string_ostream stream(text);
      pm.printAsTextualPipeline(stream);
      SmallVector<std::string> names = namesOf(text);
      llvm::erase(names, "tfc-verify-stage");
      return llvm::join(names, ", ");
    }
  }
  return "";
}

static std::string nameOf(const PipelineOptions &road) {
  std::string level = transformer::stringifyOptLevel(road.opt).str();
  return (road.target.isDevice() ? "cuda " : "") + level;
}

/// Roads that have the same passes are named together, and not at all where
/// every one that leads here has them.
static std::string describePasses(StringRef stage) {
  std::vector<std::pair<std::string, std::vector<std::string>>> roads;
  for (const PipelineOptions &road : listRoads()) {
    if (std::string passes = listPasses(road, stage); !passes.empty()) {
      auto same = llvm::find_if(
          roads, [&](const auto &known) { return known.first == passes; });
      if (same == roads.end()) {
        same = roads.insert(roads.end(), {passes, {}});
      }
      same->second.push_back(nameOf(road));
    }
  }
  if (roads.empty()) {
    return "the frontend";
  }
  SmallVector<std::string> parts;
  for (auto &[passes, names] : roads) {
    bool isOnly = names.size() == listRoads().size();
    parts.push_back((isOnly ? "" : llvm::join(names, ", ") + ": ") + passes);
  }
  return llvm::join(parts, "; ");
}

void tfc::printStages(llvm::raw_ostream &os) {
  os << "# Stages\n\nMade by `tfc --print-stages=md`. Each arrow is a pipeline "
        "`tfc-<stage>-to-<stage>`\nof `tfc-opt`, for what the module's "
        "`transformer.target` says; `tfc compile\n--stop-after=<stage>` prints "
        "the IR after a stage, which `tfc-verify-stage` checks.\nWith "
        "`--taps`, "
        "`tfc-insert-taps` runs before the first arrow.\n\n"
        "| Stage | The IR after it | Dialects and ops | Passes that lead here "
        "|\n|---|---|---|---|\n";
  for (const Stage &stage : getStages()) {
    os << "| `" << stage.name << "` | " << stage.summary << " | ";
    llvm::interleaveComma(stage.dialects, os);
    if (!stage.ops.empty()) {
      os << "; ";
      llvm::interleaveComma(stage.ops, os,
                            [&](StringRef op) { os << '`' << op << '`'; });
    }
    os << " | " << describePasses(stage.name) << " |\n";
  }
}
