// What each op of an entry costs in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_COSTSHEET_H
#define TFC_COMPILER_COST_COSTSHEET_H

#include "compiler/cost/Machine.h"
#include "compiler/cost/Step.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace tfc::cost {

/// An op of the model: all ops of linalg that bear its path and stand side by
/// side, as one kernel would do them.
struct OpCost {
  std::string path;
  int64_t count = 0; // how often: once a layer
  Work work;         // of all times
  double seconds = 0;
  bool isArithmeticBound = false; // most of its time
};

struct CostSheet {
  std::string entry;
  int64_t tokens = 0, wanted = 0;
  std::vector<OpCost> ops; // in the order of the program
  Work total;
  double seconds = 0;
};

/// Counts `entry`, a function of the stage linalg after cse. `isNarrow`:
/// products are of 16-bit matrices. Reports an op whose sizes do not follow
/// from the step.
mlir::FailureOr<CostSheet> countCosts(mlir::func::FuncOp entry,
                                      const Step &step, int64_t wanted,
                                      const Machine &machine, bool isNarrow);

/// A table: an op a line, and the sum.
void printCosts(const CostSheet &sheet, llvm::raw_ostream &os);

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_COSTSHEET_H
