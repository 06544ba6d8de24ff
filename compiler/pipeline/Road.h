// A road: the stages that a program of one kind passes, and the arrows between.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_ROAD_H
#define TFC_COMPILER_PIPELINE_ROAD_H

#include "compiler/pipeline/ModuleTarget.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace tfc {

/// A stage of a road. The IR after it consists of ops of `dialects` and of
/// `ops`.
struct Stage {
  llvm::StringRef name;
  llvm::StringRef summary;
  llvm::ArrayRef<llvm::StringRef> dialects;
  /// Single ops of other dialects.
  llvm::ArrayRef<llvm::StringRef> ops;
  /// The pass that must have got rid of everything else.
  llvm::StringRef lastPass;
  /// What the stage promises beyond that, or null: reports what is not so.
  mlir::LogicalResult (*check)(mlir::ModuleOp) = nullptr;
};

/// An arrow: the stages it leads from and to, and the passes, the check of its
/// stage among them.
struct Arrow {
  const Stage *from;
  const Stage *to;
  void (*build)(mlir::OpPassManager &, const PipelineOptions &);
};

/// What programs of a kind of target go through at a level. The arrows are in
/// order, and the first starts at the stage `model`.
struct Road {
  llvm::StringRef name; // in documents: "none", "cuda full"
  TargetKind kind;
  OptLevel opt;
  /// A program that takes it, to list the passes for.
  llvm::StringRef example;
  llvm::ArrayRef<Arrow> arrows;

  PipelineOptions getExample() const;
  /// The stages, in order.
  llvm::SmallVector<const Stage *> listStages() const;
  /// The stage called `name`, or null where the road has none.
  const Stage *findStage(llvm::StringRef name) const;
  /// The arrow between two stages, or null.
  const Arrow *findArrow(llvm::StringRef from, llvm::StringRef to) const;
};

/// Each in a file of its own.
extern const Road cpuPlainRoad, cpuRoad, cudaPlainRoad, cudaRoad;

/// All roads; those of CPUs first, and the plain one of two first.
llvm::ArrayRef<const Road *> listRoads();

/// The stages of `roads`. What some of them lack comes before the stage at
/// which they meet again.
llvm::SmallVector<const Stage *> listStages(llvm::ArrayRef<const Road *> roads);

/// That of the programs that `options` asks for.
const Road &findRoad(const PipelineOptions &options);

/// Before the first arrow: taps behind every op, for a library that reports its
/// values, and for the interpreter that is run beside it.
void buildTaps(mlir::OpPassManager &pm);

/// Before those: the model as one of `ranks` ranks computes it. Fails, with an
/// error that says where, where they cannot share it.
void buildRanks(mlir::OpPassManager &pm, int64_t ranks);

/// The roads' stages as a Markdown page (docs/reference/stages.md), with the
/// passes of the arrows that lead to each.
void printStages(llvm::raw_ostream &os);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_ROAD_H
