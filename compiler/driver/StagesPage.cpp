// `tfc inspect --stages`: the IR of every stage, side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/StagesPage.h"

#include "compiler/driver/Compile.h"
#include "compiler/driver/CompileProgram.h"
#include "compiler/driver/FindTargets.h"
#include "compiler/driver/LocatedLines.h"
#include "compiler/driver/OutputFile.h"
#include "compiler/driver/ReadModel.h"
#include "compiler/driver/WriteText.h"
#include "compiler/driver/WrittenModel.h"
#include "compiler/pipeline/Road.h"
#include "runtime/tools/Page.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tfc;

namespace {

/// Keeps the text of every stage.
class StageTexts : public ProgramWatcher {
public:
  void seeStage(StringRef name, ModuleOp module) override {
    stages.emplace_back(name.str(), printLocated(module));
  }
  std::vector<std::pair<std::string, std::vector<LocatedLine>>> stages;
};

/// What comes from one path: the lines of each stage.
struct Part {
  std::string path;
  std::vector<std::vector<std::string>> stages;
};

} // namespace

/// The parts by path, in the order in which stages name them; "" is what no
/// path of the spec is. A line that comes from several is in the first one's
/// part, and the others say so.
static std::vector<Part> sortLines(const StageTexts &texts) {
  std::vector<Part> parts;
  llvm::StringMap<size_t> places;
  size_t count = texts.stages.size();
  auto add = [&](const std::string &path, size_t stage,
                 const std::string &line) {
    auto [place, isNew] = places.try_emplace(path, parts.size());
    if (isNew) {
      parts.push_back({path, std::vector<std::vector<std::string>>(count)});
    }
    std::vector<std::string> &lines = parts[place->second].stages[stage];
    if (lines.empty() || lines.back() != line) {
      lines.push_back(line);
    }
  };
  for (size_t stage = 0; stage < count; ++stage) {
    for (const LocatedLine &line : texts.stages[stage].second) {
      if (line.paths.empty()) {
        add("", stage, line.text);
        continue;
      }
      add(line.paths.front(), stage, line.text);
      for (const std::string &other : ArrayRef(line.paths).drop_front()) {
        add(other, stage, "// with " + line.paths.front());
      }
    }
  }
  return parts;
}

static std::string drawStages(const StageTexts &texts,
                              const WrittenModel &written,
                              const std::string &program) {
  // More lines of a stage than that are for --stop-after.
  constexpr size_t most = 200;
  tools::Page page("stages of " + written.model().name + ", " + program);
  page.paragraph("A part for each path of the spec that the IR's locations "
                 "name: the lines that come from it, stage by stage.");
  std::vector<Part> parts = sortLines(texts);
  std::vector<std::string> names;
  for (const auto &[path, lines] : parts) {
    names.push_back(path.empty() ? "the program" : path);
  }
  page.links(names);
  size_t number = 0;
  for (const auto &[path, stages] : parts) {
    page.target(number, names[number]);
    ++number;
    for (const std::string &place : written.describe(path)) {
      page.paragraph(place);
    }
    std::vector<std::pair<std::string, std::string>> columns;
    for (size_t stage = 0; stage < stages.size(); ++stage) {
      const std::vector<std::string> &lines = stages[stage];
      if (lines.empty()) {
        continue;
      }
      std::string text = llvm::join(
          ArrayRef(lines).take_front(std::min(lines.size(), most)), "\n");
      if (lines.size() > most) {
        text += "\n... and " + std::to_string(lines.size() - most) + " lines";
      }
      columns.emplace_back(texts.stages[stage].first, text);
    }
    page.columns(columns);
  }
  return page.finish();
}

int tfc::runInspectStages(const std::string &path,
                          const CompileOptions &options,
                          const std::string &html) {
  auto fail = [](const Twine &message, int code) {
    llvm::errs() << "tfc: error: " << message << '\n';
    return code;
  };
  if (int code = checkTextOutput(html, listModelFiles(path), options.force,
                                 llvm::errs())) {
    return code;
  }
  std::optional<WrittenModel> written = WrittenModel::read(
      path, {options.dtype, options.cache, false, options.group}, llvm::errs());
  if (!written) {
    return kBadInput;
  }
  auto targets = findTargets(written->model(), options);
  if (!targets) {
    return fail(llvm::toString(targets.takeError()), kBadCommandLine);
  }
  const TargetInfo &target = targets->back();
  ProgramCompiler program(written->model(), options,
                          pipelineFor(written->model(), options, target), "");
  StageTexts texts;
  program.watch(texts);
  if (failed(
          program.lower(findRoad(program.pipeline).arrows.back().to->name))) {
    llvm::errs() << program.messages;
    return fail("this spec was read without error, so the fault is tfc's; "
                "please report it with the spec and the lines above",
                kInternalError);
  }
  return writeText(html, drawStages(texts, *written, target.programName()),
                   llvm::errs());
}
