// What of a library a machine runs: programs, threads, memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_MACHINEREPORT_H
#define TFC_RUNTIME_TOOLS_MACHINEREPORT_H

#include "runtime/src/Error.h"

#include <string>
#include <vector>

namespace tfc::tools {

struct MachineReport {
  std::string text;                // lines
  std::vector<std::string> faults; // why it will not do
};

/// Looks at a library without loading weights: which program runs here and what
/// the machine lacks for the others, how many threads there are, and what
/// weights, a step and a sequence take of memory beside what there is. Errors:
/// those of Module::open.
rt::Result<MachineReport> reportMachine(const std::string &library);

} // namespace tfc::tools

#endif // TFC_RUNTIME_TOOLS_MACHINEREPORT_H
