// `tfc verify`: compiles a model with taps and as it is shipped, and compares
// both.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_VERIFYCOMMAND_H
#define TFC_COMPILER_DRIVER_VERIFYCOMMAND_H

#include "compiler/driver/Options.h"
#include "compiler/spec/ModelSpec.h"
#include "compiler/verify/Verify.h"

namespace tfc {

/// Compiles `model` into temporary libraries, as `compile` says (no target is
/// this machine's level), and runs verifyLibrary on them: one with taps, whose
/// every op is compared, then the one that compileModel makes of the same
/// options, whose outputs are. A model that rounds between ops (integers,
/// bf16, caches of 16 bits) is compared op by op of the library's own inputs,
/// and has one target. Returns an ExitCode: 1 also when a value differs.
int verifyModel(const spec::ModelSpec &model, CompileOptions compile,
                const VerifyOptions &options, llvm::raw_ostream &out,
                llvm::raw_ostream &errors);

/// `tfc verify SPEC|DIR --weights DIR`.
int runVerify(const std::string &path, const CompileOptions &compile,
              const VerifyOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_VERIFYCOMMAND_H
