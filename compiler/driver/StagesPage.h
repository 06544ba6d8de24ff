// `tfc inspect --stages`: the IR of every stage, side by side.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_STAGESPAGE_H
#define TFC_COMPILER_DRIVER_STAGESPAGE_H

#include "compiler/driver/Options.h"

namespace tfc {

/// `tfc inspect SPEC|DIR --stages --html PAGE`: a page with a part for every
/// path of the spec that locations name, where it is written, and the lines of
/// each stage that come from it beside each other. Of several targets, of the
/// most demanding. Returns an ExitCode; what may be written over:
/// checkTextOutput.
int runInspectStages(const std::string &path, const CompileOptions &options,
                     const std::string &html);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_STAGESPAGE_H
