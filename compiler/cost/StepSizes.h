// The sizes of values that a step makes static.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_COST_STEPSIZES_H
#define TFC_COMPILER_COST_STEPSIZES_H

#include "compiler/cost/Step.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace tfc::cost {

/// Knows how many rows everything in an entry has.
class StepSizes {
public:
  /// `entry`: a function of the stage linalg. `wanted`: the rows that the
  /// caller asks for.
  StepSizes(mlir::func::FuncOp entry, const Step &step, int64_t wanted)
      : step(step), entry(entry), wanted(wanted) {}

  /// In a loop: its counter in the trip that is looked at.
  void bind(mlir::Value counter, int64_t value) { numbers[counter] = value; }

  /// An index, as far as it follows from the step; else nothing.
  std::optional<int64_t> evaluate(mlir::Value index) const;
  /// Of dimension `number` of a tensor or a memref; nothing where it follows
  /// from data.
  std::optional<int64_t> extent(mlir::Value shaped, int64_t number) const;
  /// How many elements a tensor has.
  std::optional<double> elements(mlir::Value shaped) const;
  /// How many bytes. Values that the ops of the model hand on are f32 in the
  /// IR and as wide as the step says here.
  std::optional<double> bytes(mlir::Value shaped) const;
  /// How wide an element of this type is: see `bytes`.
  double elementBytes(mlir::Type type) const;

  const Step step;

private:
  mlir::func::FuncOp entry;
  int64_t wanted;
  llvm::DenseMap<mlir::Value, int64_t> numbers;
};

} // namespace tfc::cost

#endif // TFC_COMPILER_COST_STEPSIZES_H
