// What a model is compiled for.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_COMPILER_DRIVER_FINDTARGETS_H
#define TFC_COMPILER_DRIVER_FINDTARGETS_H

#include "compiler/driver/Options.h"
#include "compiler/spec/ModelSpec.h"
#include "compiler/target/TargetInfo.h"

namespace tfc {

/// What `model` is compiled for by `options`, which may name no target. The
/// error says what is expected.
llvm::Expected<std::vector<TargetInfo>>
findTargets(const spec::ModelSpec &model, const CompileOptions &options);

/// Of `targets`, what a library is to have programs for: where `cuda` was asked
/// for, and products are of 16 bits or of integers, also the program for 9.0
/// alone, in the place of another one's binary for it.
std::vector<TargetInfo> addExactTargets(std::vector<TargetInfo> targets,
                                        const spec::ModelSpec &model,
                                        const CompileOptions &options);

} // namespace tfc

#endif // TFC_COMPILER_DRIVER_FINDTARGETS_H
