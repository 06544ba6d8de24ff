// tfc-opt as a part of tfc: for machines that have no LLVM and one program.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_TOOLS_OPTMAIN_H
#define TFC_COMPILER_TOOLS_OPTMAIN_H

namespace tfc {

/// Whether the program was called as tfc-opt.
bool isCalledAsOpt(int argc, char **argv);

/// tfc-opt's main with the dialects and passes that tfc has anyhow, which are
/// those of its stages, and not all of MLIR's: its exit status.
int runAsOpt(int argc, char **argv);

} // namespace tfc

#endif // TFC_COMPILER_TOOLS_OPTMAIN_H
