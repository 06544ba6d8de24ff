// What the entries of a model cost in a step.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_STEPCOSTS_H
#define TFC_COMPILER_DRIVER_STEPCOSTS_H

#include "compiler/cost/CostSheet.h"
#include "compiler/spec/ModelSpec.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace tfc {

/// What is asked of a model: the prompt of `sequences` sequences, `tokens` new
/// ones of each, or the next token of each, its `tokens`-th.
struct WantedStep {
  bool isPrefill = true;
  int64_t sequences = 1, tokens = 1;

  /// "prefill:BxN" or "decode:BxN", of no more than 2^24 tokens; nothing
  /// otherwise.
  static std::optional<WantedStep> parse(llvm::StringRef text);
  std::string text() const;
};

/// An entry's part of a step.
struct EntryCost {
  cost::Step step;
  int64_t rows = 0; // that are asked for
  cost::CostSheet sheet;
};

/// A model at the stage linalg, as any optimised program has it.
class StepCosts {
public:
  /// `model` must outlive it. Null where a pass fails, which is tfc's fault.
  static std::unique_ptr<StepCosts> create(const spec::ModelSpec &model);

  /// Of every entry that has a part of the step, in order. Fails where an op's
  /// sizes do not follow from it, which is tfc's fault, too.
  mlir::FailureOr<std::vector<EntryCost>>
  count(const WantedStep &wanted, const cost::Machine &machine) const;

  /// Whether products are of 16 bits, as those of a device with integers are.
  /// Of a CPU's integers the peak is not known: they are shown as if f32.
  bool isNarrow(const cost::Machine &machine) const;

private:
  explicit StepCosts(const spec::ModelSpec &model);

  const spec::ModelSpec &model;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_STEPCOSTS_H
