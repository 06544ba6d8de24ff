// What is said of an op or a function of a compiled program: where it is
// written, what became of it at each stage and by which passes, its tile, its
// cost, its functions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_EXPLANATION_H
#define TFC_COMPILER_DRIVER_EXPLANATION_H

#include "compiler/driver/ProgramTrace.h"
#include "compiler/driver/StepCosts.h"
#include "compiler/driver/WrittenModel.h"

namespace tfc {

/// An op's time in a workload of tfc-bench.
struct MeasuredOp {
  std::string workload;
  std::vector<std::string> paths;
  double seconds = 0;
  /// Of what the machine allows, 0 to 1; 0 where its work is not known.
  double share = 0;
};

/// The costs of a step, whose name the lines bear.
struct CostOfStep {
  std::string name;
  std::vector<EntryCost> entries;
};

/// All that is known of a program.
struct Explained {
  const WrittenModel &written;
  const TargetInfo &target;
  const ProgramTrace &trace;
  std::vector<CostOfStep> costs;
  std::vector<MeasuredOp> measured;
  /// Whether the costs' times are a machine's.
  bool hasMachine = false;
};

/// The paths that a line of a cost sheet is of: three of
/// "decoder.layers.attn.q + k + v".
std::vector<std::string> pathsOfCost(llvm::StringRef line);

/// A line an op, with its tile and its function.
void printOverview(const Explained &of, llvm::raw_ostream &os);

/// Of the op called `path` and what is below it. False, with nothing printed,
/// where no stage has one.
bool explainOp(const Explained &of, const std::string &path,
               llvm::raw_ostream &os);

/// Of the function or kernel called so, or the only one whose name has `name`
/// in it. False, with nothing printed, where there is none, or are several.
bool explainFunction(const Explained &of, llvm::StringRef name,
                     llvm::raw_ostream &os);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_EXPLANATION_H
