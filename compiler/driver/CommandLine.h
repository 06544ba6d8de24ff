// The command line of `tfc`: owns every option.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_COMMANDLINE_H
#define TFC_COMPILER_DRIVER_COMMANDLINE_H

namespace tfc {

/// `tfc`'s main: parses the command line and runs the subcommand. Returns an
/// ExitCode.
int runTfc(int argc, char **argv);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_COMMANDLINE_H
