// `tfc doctor`: what of a model this machine runs, and whether it can.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_DOCTORCOMMAND_H
#define TFC_COMPILER_DRIVER_DOCTORCOMMAND_H

#include "compiler/driver/Options.h"

#include <string>

namespace tfc {

struct DoctorOptions {
  CompileOptions compile; // of a folder
  /// Of a library, for the self-test; "": drawn ones.
  std::string weights;
  bool noSelfTest = false;
};

/// `tfc doctor FOLDER|LIBRARY`: prints which program of the library (of a
/// folder that which `tfc run` would use, compiled where the cache has none)
/// runs here and what the machine lacks for the others; how many threads it
/// gets; the memory that weights, a step and a sequence need, beside what there
/// is; and whether the programs that run here agree, in a process of its own.
/// Returns an ExitCode: 1 where something is wrong, named on standard error.
int runDoctor(const std::string &path, DoctorOptions options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_DOCTORCOMMAND_H
