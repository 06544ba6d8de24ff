// A road: the stages that a program of one kind passes, and the arrows between.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pipeline/Road.h"

#include "compiler/fusion/Passes.h"
#include "compiler/host/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace tfc;
using llvm::StringRef;

PipelineOptions Road::getExample() const {
  return {*TargetInfo::findProgram(example), opt};
}

llvm::SmallVector<const Stage *> Road::listStages() const {
  llvm::SmallVector<const Stage *> stages = {arrows.front().from};
  for (const Arrow &arrow : arrows) {
    stages.push_back(arrow.to);
  }
  return stages;
}

const Stage *Road::findStage(StringRef name) const {
  for (const Stage *stage : listStages()) {
    if (stage->name == name) {
      return stage;
    }
  }
  return nullptr;
}

const Arrow *Road::findArrow(StringRef from, StringRef to) const {
  auto arrow = llvm::find_if(arrows, [&](const Arrow &each) {
    return each.from->name == from && each.to->name == to;
  });
  return arrow == arrows.end() ? nullptr : arrow;
}

llvm::ArrayRef<const Road *> tfc::listRoads() {
  static const Road *const roads[] = {&cpuPlainRoad, &cpuRoad, &cudaPlainRoad,
                                      &cudaRoad};
  return roads;
}

llvm::SmallVector<const Stage *>
tfc::listStages(llvm::ArrayRef<const Road *> roads) {
  llvm::SmallVector<const Stage *> all;
  for (const Road *road : roads) {
    llvm::SmallVector<const Stage *> stages = road->listStages();
    auto place = all.end();
    for (const Stage *stage : llvm::reverse(stages)) {
      auto known = llvm::find(all, stage);
      place = known != all.end() ? known : all.insert(place, stage);
    }
  }
  return all;
}

const Road &tfc::findRoad(const PipelineOptions &options) {
  return **llvm::find_if(listRoads(), [&](const Road *road) {
    return road->kind == options.target.kind && road->opt == options.opt;
  });
}

void tfc::buildRanks(mlir::OpPassManager &pm, int64_t ranks) {
  pm.addPass(createDecomposeFfnPass());
  SplitRanksPassOptions options;
  options.ranks = ranks;
  pm.addPass(createSplitRanksPass(options));
}

void tfc::buildTaps(mlir::OpPassManager &pm) {
  pm.addPass(createInsertTapsPass());
}
