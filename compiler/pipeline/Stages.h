// The stage table: what the IR is between the arrows of the pipeline.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_PIPELINE_STAGES_H
#define TFC_COMPILER_PIPELINE_STAGES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tfc {

/// One stage. The IR after it consists of ops of `dialects` and of `ops`.
struct Stage {
  llvm::StringRef name;
  llvm::StringRef summary;
  llvm::ArrayRef<llvm::StringRef> dialects;
  /// Single ops of other dialects.
  llvm::ArrayRef<llvm::StringRef> ops;
  /// The pass that must have got rid of everything else.
  llvm::StringRef lastPass;
};

/// All stages, in the order of the pipeline.
llvm::ArrayRef<Stage> getStages();

/// The stage called `name`, or null.
const Stage *findStage(llvm::StringRef name);

/// The table as a Markdown page (docs/reference/stages.md), with the passes of
/// the arrows that lead to each stage.
void printStages(llvm::raw_ostream &os);

} // namespace tfc

#endif // TFC_COMPILER_PIPELINE_STAGES_H
