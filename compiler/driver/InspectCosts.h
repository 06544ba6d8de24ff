// `tfc inspect --step`: what a step costs on a machine.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_INSPECTCOSTS_H
#define TFC_COMPILER_DRIVER_INSPECTCOSTS_H

#include <string>

namespace tfc {

struct CostOptions {
  /// "prefill:BxN": N new tokens of each of B sequences; "decode:BxN": the next
  /// token of each, the N-th that they have.
  std::string step;
  /// cost::findMachine's; "" is "cpu".
  std::string machine;
  std::string dtype; // "" as in the spec, as the next one
  std::string cache;
  int64_t group = 0; // as CompileOptions
};

/// `tfc inspect SPEC --step STEP --machine MACHINE`: a table on standard
/// output, an op a line: operations, bytes, and the time that the machine's
/// peaks allow. An encoder-decoder's `encode` takes N tokens of the source, its
/// `step` one token of the target (prefill) or the N-th (decode). Of a device
/// also the launches of the program that is compiled for it now. Returns an
/// ExitCode.
int runInspectCosts(const std::string &path, const CostOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_INSPECTCOSTS_H
