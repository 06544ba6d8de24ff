// `tfc serve` and `tfc chat`: commands of the Python package.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_PYTHONCOMMAND_H
#define TFC_COMPILER_DRIVER_PYTHONCOMMAND_H

#include <string>
#include <vector>

namespace tfc {

/// Becomes `python3 -m tfcompiler WORDS`, of which the first is the command;
/// TFC_PYTHON names another interpreter. The package compiles with this program
/// unless TFC names one. Returns only when there is no interpreter: an
/// ExitCode.
int runPython(const std::vector<std::string> &words);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_PYTHONCOMMAND_H
