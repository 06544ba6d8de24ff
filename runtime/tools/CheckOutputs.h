// That what tfc-run writes is none of what it reads.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TFC_RUNTIME_TOOLS_CHECKOUTPUTS_H
#define TFC_RUNTIME_TOOLS_CHECKOUTPUTS_H

#include "runtime/src/Error.h"
#include "runtime/tools/CommandLine.h"

namespace tfc::run {

/// InvalidArgument when the file for the outputs is, under whatever name, the
/// library, the inputs, the packed weights, or a file of the checkpoint.
rt::Status checkOutputs(const CommandLine &line);

} // namespace tfc::run

#endif // TFC_RUNTIME_TOOLS_CHECKOUTPUTS_H
