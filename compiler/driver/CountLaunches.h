// How often a step's host code launches kernels of a device.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_COUNTLAUNCHES_H
#define TFC_COMPILER_DRIVER_COUNTLAUNCHES_H

#include "compiler/cost/Step.h"
#include "compiler/spec/ModelSpec.h"
#include "runtime/src/load/Module.h"

#include "llvm/Support/Error.h"

namespace tfc {

/// Launches of one step.
struct LaunchCounts {
  uint64_t launches = 0, blocks = 0;
  uint64_t kernels = 0; // different ones
};

/// A model compiled for a device, whose host code runs here: it computes
/// addresses and grids and follows no pointer but the step's own, so it needs
/// no device, and a host that takes notes in place of launching.
class LaunchCounter {
public:
  /// `target`: one of a device, as of tfc compile --target. Errors: what the
  /// compiler said, this machine's being unable to run the host code.
  static llvm::Expected<std::unique_ptr<LaunchCounter>>
  create(const spec::ModelSpec &model, const std::string &target);

  /// Of entry `name` in a step that wants `rows` rows of its outputs; nothing
  /// where there is no such entry.
  std::optional<LaunchCounts> count(llvm::StringRef name,
                                    const cost::Step &step, int64_t rows) const;
  /// The program's name.
  std::string program() const { return table().name; }

private:
  const tfc_program_v0 &table() const { return module->table().programs[0]; }

  std::unique_ptr<rt::Module> module;
};

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_COUNTLAUNCHES_H
