// `tfc compile`: a spec or a folder becomes a library.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_COMPILE_H
#define TFC_COMPILER_DRIVER_COMPILE_H

#include "compiler/driver/Options.h"
#include "compiler/spec/read/ReadSpec.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tfc {

/// Reads a spec and reports its diagnostics. Nothing when there is an error.
std::optional<spec::ModelSpec>
readSpecOrReport(const std::string &path, const spec::ReadOptions &options,
                 llvm::raw_ostream &errors);

/// Prints diagnostics to `errors`, one a line: errors as "tfc: error: ...",
/// warnings, unless they are left out, as "tfc: ...".
void report(const spec::Diagnostics &diagnostics, llvm::raw_ostream &errors,
            bool withWarnings = true);

/// Compiles `model` and writes the library, or with stopAfter the IR ("-" is
/// standard output), to `output`; nothing is written on failure. Returns an
/// ExitCode; messages go to `errors`.
int compileModel(const spec::ModelSpec &model, const CompileOptions &options,
                 const std::string &output, llvm::raw_ostream &errors);

/// `tfc compile SPEC|DIR -o OUTPUT`.
int runCompile(const std::string &path, CompileOptions options,
               const std::string &output);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_COMPILE_H
